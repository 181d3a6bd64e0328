"""Finish a mirror: rewrite links as relative, store the same bytes once, write entry pages."""

from __future__ import annotations

import time
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from crawler.mirror.documents.linked_document import DEAD, absolute_address, read_document
from crawler.mirror.documents.places import LinkRole
from crawler.mirror.errors import MirrorError
from crawler.mirror.file_store import ReadDocuments, file_content
from crawler.mirror.file_table import NOTHING_GONE, FileTable, Gone
from crawler.mirror.folder import MirrorFolder
from crawler.mirror.mirror_files import Targets, is_chosen, leave_one_file
from crawler.mirror.offline_search import OfflineSearch, remove_search, write_search
from crawler.mirror.paths import (
    SEARCH,
    STATE_FOLDER,
    VERSIONS,
    address_between,
    is_at,
    path_of,
)
from crawler.mirror.reports import write_changes, write_duplicates, write_entries, write_versions
from crawler.storage import meta_names
from crawler.storage.database import Database
from crawler.url_rules.learning.address import Address
from crawler.url_rules.rule_set import RuleSet
from crawler.url_rules.rule_store import RuleStore
from crawler.url_rules.variants import PageKeys
from crawler.urls.parts import MalformedUrl
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawler.mirror.documents.linked_document import DocumentLink, LinkedDocument
    from crawler.mirror.documents.places import Rewritten
    from crawler.mirror.file_table import FileRow

_ROOM = 2**20

_DOCUMENTS = "is_document = 1 AND state = 'own'"
_BATCH = 200


class Linker:
    """Rewrites documents so that their links lead to files, and marks the linked files.

    With a <base> of a kilobyte a hundred thousand short links become long URLs: a document grows to
    three times its size and a megabyte at most, further links to the network lead nowhere.

    The <base> of a page with scripts stays, as the same folder within the mirror: the router of an
    application finds by it where it is, and scripts what they load.
    """

    def __init__(self, targets: Targets, highest_id: int) -> None:
        self._targets = targets
        self.is_linked = bytearray(highest_id + 1)

    def rewritten(self, document: LinkedDocument, row: FileRow) -> Rewritten:
        room = 2 * document.size + _ROOM
        source, base = _seen_from(document, row.path)

        def address(link: DocumentLink) -> str | None:
            nonlocal room
            if link.url is None:
                return None
            target = self._targets.find(link.url)
            if link.kind is LinkRole.NAMED:  # it stays as written
                if target is not None and is_at(source, link.written, target.path):
                    self.is_linked[target.id] |= target.id != row.id
                return None
            if target is not None:
                self.is_linked[target.id] |= target.id != row.id
                return address_between(source, target.path, target.fragment or link.fragment)
            found = absolute_address(link)
            room -= len(found) - len(link.written)
            return found if room >= 0 else DEAD

        return document.rewrite(address, base)


def _seen_from(document: LinkedDocument, path: str) -> tuple[str, str | None]:
    """Return the place as from which a copy's URLs are relative, and its ``<base href>`` if any."""
    if document.keeps_base:
        with suppress(ValueError):
            folder = path_of(urljoin(document.base, ".")).rpartition("/")[0] + "/"
            if folder.partition("/")[0] == path.partition("/")[0]:
                return folder, address_between(path, folder) or "./"
    return path, None


@dataclass(frozen=True, slots=True)
class FinishedMirror:
    """The result of finishing a mirror.

    Attributes:
        documents: Number of documents that were read.
        rewritten: Number of documents that were written again.
        damaged: Paths of files that were changed by another program, left as they are.
        parts: Paths of files that came only in part.
        needs_server: Whether a page runs scripts that browsers load from no disk.
        size: Bytes of the files on the disk; those of hard links count once.
        gone: What became of the files of URLs that are gone.
        search: The search of the mirror, if it has one.
    """

    documents: int = 0
    rewritten: int = 0
    size: int = 0
    damaged: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    needs_server: bool = False
    gone: Gone = NOTHING_GONE
    search: OfflineSearch | None = None


class Finisher:
    """Brings all files of a mirror into agreement.

    Each document is restored as it was served and rewritten from that, so that it can be done as
    often as the mirror changes. The new state of a file is committed before the file is written,
    and the old state is kept beside it: a process may be killed at any moment.

    Args:
        database: The crawl's database.
        folder: Folder of the mirror.
        start: URL of the first seed.
        keys: Function that returns the key of the page that a URL leads to.
        watch: Called with the share that is done, 0 to 1, and words for what is being done.
        removes_gone: Whether files of URLs that are gone are taken out.
        read: Documents that this process has read.
    """

    def __init__(  # noqa: PLR0913
        self,
        database: Database,
        folder: MirrorFolder,
        start: str,
        keys: PageKeys,
        watch: Callable[[float, str], None],
        *,
        removes_gone: bool = False,
        read: ReadDocuments | None = None,
    ) -> None:
        self._database = database
        self._table = FileTable(database.read, database.write)
        self._folder = folder
        self._start = start
        self._keys = keys
        self._watch = watch
        self._removes_gone = removes_gone
        self._read = ReadDocuments() if read is None else read
        self._gone = NOTHING_GONE
        self._damaged: list[str] = []

    def finish(self) -> FinishedMirror:
        """Bring all files into agreement, unless nothing was stored since the last time.

        Raises:
            MirrorError: A file cannot be written.
            CrawlStorageError: The database cannot be written.
        """
        wanted = self._table.follows_from()
        self._gone = self._table.leave_gone_out(removes=self._removes_gone)
        if self._gone.removed:
            self._database.set_meta(meta_names.MIRROR_STALE, "1")
        if (
            self._database.meta(meta_names.MIRROR_STALE) == "0"
            and self._database.meta(meta_names.MIRROR_FINISHED) == wanted
        ):
            self._write_entries()  # one may have been removed
            return self._finished(0, 0)
        self._database.set_meta(meta_names.MIRROR_STALE, "1")
        self._table.note_redirects()
        self._database.commit()
        leave_one_file(self._database, self._table, self._folder, self._by_rules())
        documents, rewritten = self._rewrite_all()
        self._share()
        self._write_entries()
        self._database.set_meta(meta_names.MIRROR_STALE, "0")
        self._database.set_meta(meta_names.MIRROR_FINISHED, self._table.follows_from())
        self._database.commit()
        return self._finished(documents, rewritten)

    def _finished(self, documents: int, rewritten: int) -> FinishedMirror:
        parts = tuple(row.path for row in self._table.rows("state = 'own' AND is_cut = 1"))
        return FinishedMirror(
            documents=documents,
            rewritten=rewritten,
            size=self._size(),
            damaged=tuple(self._damaged),
            parts=parts,
            needs_server=self._table.has_modules(),
            gone=self._gone,
        )

    def _by_rules(self) -> Callable[[str], Address | str]:
        """Return what gives a page's URL after the learned rules."""
        rules = RuleSet()
        for rule in RuleStore(self._database):
            rules.add(rule)

        def by_rules(url: str) -> Address | str:
            try:
                address = Address.parse(self._keys.canonicalizer(url))
            except MalformedUrl:
                return url
            return rules.apply(address) if address.is_learnable else address

        return by_rules

    def _write_entries(self) -> None:
        target = self._targets().find(self._start)
        start = None if target is None else self._table.get(target.id)
        further = {SEARCH: "Search"} if is_chosen(self._database, "search") else {}
        if self._folder.exists(VERSIONS):
            further[VERSIONS] = "Earlier versions"
        write_entries(self._table, self._folder, start, further)

    def _targets(self) -> Targets:
        return Targets(self._database.read, self._table, self._keys)

    def _rewrite_all(self) -> tuple[int, int]:
        linker = Linker(self._targets(), self._table.highest_id())
        total = self._table.count(_DOCUMENTS)
        waiting: list[tuple[FileRow, bytes]] = []
        written = 0
        for count, row in enumerate(self._table.rows(_DOCUMENTS), 1):
            body = self._rewritten(linker, row)
            if body is not None:
                waiting.append((row, body))
                written += 1
            if len(waiting) >= _BATCH:
                self._write(waiting)
            if count % _BATCH == 0:
                self._watch(count / total, "rewriting links")
        self._write(waiting)
        self._note_linked(linker.is_linked)
        return total, written

    def _rewritten(self, linker: Linker, row: FileRow) -> bytes | None:
        """Return the new bytes of a file and update its row; None if it stays."""
        try:
            found = file_content(self._folder, row)
        except MirrorError:
            self._damaged.append(row.path)
            return None
        document = self._read.take(row, found.served)
        if document is None:
            document = read_document(found.served, row.url, row.content_type)
        if document is None:
            return None
        rewritten = linker.rewritten(document, row)
        digest = payload_digest(rewritten.body)
        if digest == row.digest and rewritten.patch == row.patch:
            # It may still have its old content: the last process was killed.
            return rewritten.body if row.old_digest is not None else None
        # Not the last recorded state: a killed process may not have written that.
        row.old_digest, row.old_patch = found.digest, found.patch
        row.digest, row.patch = digest, rewritten.patch
        row.size = len(rewritten.body)
        return rewritten.body

    def _write(self, waiting: list[tuple[FileRow, bytes]]) -> None:
        """Commit the new states of the files, then write them."""
        for row, _ in waiting:
            self._table.put(row)
        self._database.commit()
        for row, body in waiting:
            self._folder.write(row.path, body)
            self._table.note_written(row)
        waiting.clear()

    def _share(self) -> None:
        """Make files with the same bytes names of one file; leave those that were changed."""
        for digest, group in groupby(self._table.repeated(), itemgetter(0)):
            paths = [path for _, path in group]
            if len(set(map(self._inode, paths))) > 1:
                self._link(digest, paths)

    def _link(self, digest: bytes, paths: list[str]) -> None:
        kept: str | None = None
        for path in paths:
            try:
                is_same = self._folder.digest(path) == digest
            except MirrorError:
                continue
            if not is_same:
                continue
            if kept is None:
                kept = path
            elif self._folder.is_same(path, kept):
                self._folder.link(path, kept)

    def _inode(self, path: str) -> tuple[int, int] | None:
        try:
            status = self._folder.stat(path)
        except MirrorError:
            return None
        return status.st_dev, status.st_ino

    def _size(self) -> int:
        """Return the bytes of the files on the disk. Complexity: O(files)."""
        size, linked = 0, set()
        for row in self._table.rows("state = 'own'"):
            with suppress(MirrorError):
                status = self._folder.stat(row.path)
                inode = (status.st_dev, status.st_ino)
                if inode not in linked:
                    size += status.st_size
                if status.st_nlink > 1:
                    linked.add(inode)
        return size

    def _note_linked(self, is_linked: bytearray) -> None:
        for row in self._table.rows():
            if row.is_linked != is_linked[row.id]:
                self._table.note_linked(row, is_linked[row.id])


def finish(
    root: Path,
    start: str,
    watch: Callable[[float, str], None],
    *,
    removes_gone: bool = False,
    read: ReadDocuments | None = None,
) -> FinishedMirror:
    """Rewrite links, store the same bytes once, write index.html and the reports.

    Args:
        root: Folder of the mirror; no other process may write to it.
        start: URL of the first seed.
        watch: Called with the share that is done, 0 to 1, and words for what is being done.
        removes_gone: Whether files of URLs that are gone are taken out.
        read: Documents that the crawl has read in this process.

    Raises:
        JobError: There is no mirror, or its database cannot be used.
        MirrorError: A file cannot be written.
    """
    with closing(Database(root / STATE_FOLDER)) as database, MirrorFolder(root) as folder:
        if is_chosen(database, "keep_versions"):
            write_versions(root, folder)
        keys = PageKeys(database.read)
        finisher = Finisher(
            database, folder, start, keys, watch, removes_gone=removes_gone, read=read
        )
        finished = finisher.finish()
        table = FileTable(database.read)
        date_files(table, folder)
        write_changes(table, folder, int(database.meta(meta_names.VISIT) or 0))
        write_duplicates(table, folder)
        if is_chosen(database, "search"):
            return replace(finished, search=write_search(database, folder))
        remove_search(folder)
        return finished


def date_files(table: FileTable, folder: MirrorFolder) -> None:
    """Give each file the time that the server said, so that listings and backups tell its age.

    Names of one file have one time: that of the last of them. Complexity: O(files).
    """
    now = time.time()
    for file in table.pages():
        secs = None if file.last_modified is None else said_time(file.last_modified)
        if secs is not None and secs <= now:
            with suppress(MirrorError):
                folder.date(file.path, secs)


def said_time(modified: str) -> float | None:
    """Return a Last-Modified in seconds since 1970; None for what is no time, or one before."""
    try:
        moment = parsedate_to_datetime(modified)
        if moment.tzinfo is None:  # of asctime, which is in UTC as well
            moment = moment.replace(tzinfo=UTC)
        secs = moment.timestamp()
    except (ValueError, OverflowError):  # a year of twenty digits
        return None
    return secs if secs >= 0 else None
