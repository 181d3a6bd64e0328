"""Check a mirror: every link, every file and every digest."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from crawler.mirror.documents.linked_document import DocumentType, LinkedDocument, document_type
from crawler.mirror.documents.places import LinkRole, PatchError, undo
from crawler.mirror.errors import MirrorError
from crawler.mirror.paths import CONTENTS, INDEX, OUR_FILES, OUR_FOLDERS, address_between
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawler.mirror.file_table import FileRow, FileTable
    from crawler.mirror.folder import MirrorFolder

LISTED = 20
"""List at most this many findings of each kind."""

_RECENT = 50_000
_BASE = "http://mirror.invalid/"
_HTML = "text/html; charset=utf-8"


@dataclass(slots=True)
class Check:
    """The result of a check.

    Attributes:
        files: Number of files of the mirror.
        links: Number of links within it.
        outward: Number of links that lead to the network.
        counts: Number of findings by kind.
        findings: First findings of each kind, in a readable form.
    """

    files: int = 0
    links: int = 0
    outward: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    findings: dict[str, list[str]] = field(default_factory=dict)

    @property
    def problems(self) -> int:
        return self.counts.total()

    def add(self, kind: str, what: str) -> None:
        self.counts[kind] += 1
        named = self.findings.setdefault(kind, [])
        if len(named) < LISTED:
            named.append(what)


class Checker:
    """Checks a mirror by the files on the disk; changes nothing.

    Args:
        table: Table of the mirror's files.
        folder: Folder of the mirror.
        watch: Called with the share that is done, 0 to 1, and words for what is being done.
    """

    def __init__(
        self, table: FileTable, folder: MirrorFolder, watch: Callable[[float, str], None]
    ) -> None:
        self._table = table
        self._folder = folder
        self._watch = watch
        self._check = Check()
        self._linked = bytearray(table.highest_id() + 1)
        self._fetched: set[str] = set()
        self._look_at = lru_cache(_RECENT)(self._find)

    def check(self) -> Check:
        """Check everything. Complexity: O(bytes of the mirror)."""
        total = self._table.count("state = 'own'")
        for number, row in enumerate(self._table.rows("state = 'own'")):
            self._file(row)
            if number % 100 == 0:
                self._watch(number / total, "checking")
        for name in (INDEX, CONTENTS):
            self._entry(name)
        self._unlinked()
        self._strangers()
        return self._check

    def _file(self, row: FileRow) -> None:
        self._check.files += 1
        try:
            if row.is_document or row.patch:
                self._document(row, self._folder.read(row.path))
            else:
                self._digest(row, self._folder.digest(row.path))
        except MirrorError as error:
            self._check.add("missing files", str(error))
            return
        if row.is_cut:
            self._check.add("files of which only a part came", f"{row.path} ({row.url})")

    def _document(self, row: FileRow, body: bytes) -> None:
        served = self._served(row, body)
        kind = document_type(served, row.url, row.content_type) if row.is_document else None
        if kind is not None:
            self._links(row.path, body, row.content_type, kind)

    def _digest(self, row: FileRow, digest: bytes) -> None:
        """Check a file whose bytes are as they were served."""
        if row.patch_of(digest) is None:
            self._check.add("files changed since they were written", row.path)
        elif digest != row.payload_digest:
            self._check.add("files from which the served bytes cannot be restored", row.path)

    def _served(self, row: FileRow, body: bytes) -> bytes:
        """Return the body as served, by which links are read, or the file if that is lost."""
        patch = row.patch_of(payload_digest(body))
        if patch is None:
            self._check.add("files changed since they were written", row.path)
            return body
        try:
            served = undo(body, patch)
        except PatchError:
            served = b""
        if payload_digest(served) != row.payload_digest:
            self._check.add("files from which the served bytes cannot be restored", row.path)
        return served

    def _entry(self, name: str) -> None:
        if self._folder.exists(name):
            self._links(name, self._folder.read(name), _HTML, DocumentType.HTML)
        elif name == INDEX:
            self._check.add("missing files", name)

    def _links(self, path: str, body: bytes, content_type: str | None, kind: DocumentType) -> None:
        missing = set[str]()
        for target in self._targets(path, body, content_type, kind):
            self._check.links += 1
            file_id, is_there = self._look_at(target)
            if file_id is not None:
                self._linked[file_id] = self._linked[file_id] or target != path
            if not is_there and target not in missing:
                missing.add(target)  # of many links between two files one tells
                self._check.add("links that lead to no file", f"{path} -> {target}")

    def _find(self, path: str) -> tuple[int | None, bool]:
        """Return the id of the mirror's file at a path, or None, and whether a file is there."""
        row = self._table.of_path(path)
        try:
            return None if row is None else row.id, self._folder.exists(path)
        except MirrorError:  # no file can have such a path
            return None, False

    def _targets(
        self, path: str, body: bytes, content_type: str | None, kind: DocumentType
    ) -> Iterator[str]:
        """Yield the paths that a file links to, as a browser would read it from the disk."""
        document = LinkedDocument(body, _BASE + address_between("", path), content_type, kind)
        for link in document.links:
            if link.url is None:
                continue
            if kind is DocumentType.SCRIPT and link.written.startswith("/"):
                # It is left as written, and leads to a file where the mirror is served.
                self._fetched.add(f"{path.partition('/')[0]}{link.written}")
            elif link.kind is LinkRole.NAMED:
                self._named(path, link.url)
            elif link.url.startswith(_BASE):
                yield unquote(urlsplit(link.url).path.removeprefix("/"))
            else:
                self._check.outward += 1

    def _named(self, path: str, url: str) -> None:
        """Note that a script names a file, if there is one."""
        if url.startswith(_BASE):
            file_id, _ = self._look_at(unquote(urlsplit(url).path.removeprefix("/")))
            if file_id is not None:
                self._linked[file_id] = 1

    def _unlinked(self) -> None:
        for row in self._table.rows("state = 'own'"):
            if not self._linked[row.id] and _at_host(row) not in self._fetched:
                self._check.add("files that no link leads to", row.path)

    def _strangers(self) -> None:
        for path in self._folder.paths():
            row = self._table.of_path(path)
            is_ours = path in OUR_FILES or path.partition("/")[0] in OUR_FOLDERS
            if not is_ours and (row is None or row.state != "own"):
                self._check.add("files that are not of the mirror", path)


def _at_host(row: FileRow) -> str:
    """Return the folder of a file's host with path and query of its URL."""
    parts = urlsplit(row.url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{row.path.partition('/')[0]}{parts.path}{query}"
