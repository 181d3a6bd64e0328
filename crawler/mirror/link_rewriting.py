"""When all is there: links are made relative, duplicates stood in for, entries listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.mirror.documents.linked_document import DEAD, absolute_address, read_document
from crawler.mirror.entries import write_entries
from crawler.mirror.errors import MirrorError
from crawler.mirror.file_store import STALE, held, holds, original
from crawler.mirror.mirror_files import SKIP
from crawler.mirror.paths import address_between
from crawler.mirror.stand_ins import StandIns
from crawler.mirror.targets import Targets
from neardup import payload_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.mirror.documents.edits import Rewritten
    from crawler.mirror.documents.linked_document import DocumentLink, LinkedDocument
    from crawler.mirror.folder import MirrorFolder
    from crawler.mirror.mirror_files import FileRow, FileTable
    from crawler.mirror.targets import Target
    from crawler.storage.database import Database

_ROOM = 2**20

_DOCUMENTS = "is_document = 1 AND state = 'own'"
_BATCH = 200
_FINISHED = "mirror_finished"
_GONE = "EXISTS (SELECT 1 FROM known WHERE known.key = files.key AND outcome = 'gone')"
# Redirects that are new or lead elsewhere, files that are gone, the rules.
_FOLLOWS_FROM = f"""
SELECT (SELECT count(*) FROM redirects LEFT JOIN file_redirects AS once USING (key)
        WHERE once.target IS NOT redirects.target),
       (SELECT count(*) FROM files WHERE {_GONE}),
       (SELECT count(*) || ' ' || coalesce(max(id), 0) FROM url_rules WHERE state = 1)
"""  # noqa: S608


class Linker:
    """Rewrites documents so that their links lead to files, and notes to which.

    Behind a <base> of a kilobyte a hundred thousand short links become long URLs: a document
    grows to three times its size and a megabyte at most, further links to the network lead
    nowhere.
    """

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self.linked: set[int] = set()

    def rewritten(self, document: LinkedDocument, row: FileRow) -> Rewritten:
        """A document as it is to stand at its path."""
        room = 2 * document.size + _ROOM

        def address(link: DocumentLink) -> str | None:
            nonlocal room
            if link.url is None:
                return None
            target = self._targets.find(link.url)
            if target is not None:
                return self._between(link, row, target)
            found = absolute_address(link)
            room -= len(found) - len(link.written)
            return found if room >= 0 else DEAD

        return document.rewrite(address)

    def _between(self, link: DocumentLink, row: FileRow, target: Target) -> str:
        if target.id != row.id:
            self.linked.add(target.id)
        return address_between(row.path, target.path, link.fragment)

    def goals(self, document: LinkedDocument) -> list[int | str | None]:
        """Where the links of a document lead: ids of files, URLs that are in none."""
        found: list[int | str | None] = []
        for link in document.links:
            target = None if link.url is None else self._targets.find(link.url)
            found.append(link.url if target is None else target.id)
        return found


@dataclass(frozen=True, slots=True)
class Policy:
    """What the user wants of a mirror.

    Attributes:
        near_duplicates: One of ``stand_ins.NEAR_DUPLICATES``.
        share: One of ``stand_ins.SHARES``.
        remove_gone: Remove the files of pages that are not there any more.
    """

    near_duplicates: str
    share: str
    remove_gone: bool = False


@dataclass(frozen=True, slots=True)
class FinishedMirror:
    """What was done.

    Attributes:
        documents: That were looked at.
        rewritten: Of those, the ones that were written anew.
        damaged: Paths of files that somebody else changed, left as they are.
        stood_in: Files for which another one stands, or that are left out.
        parts: Paths of files of which only a part came.
    """

    documents: int = 0
    rewritten: int = 0
    damaged: tuple[str, ...] = ()
    stood_in: int = 0
    parts: tuple[str, ...] = ()


class Finisher:
    """Brings all files of a mirror into agreement.

    Each document is turned back into what was served and rewritten from that,
    so that it can be done as often as the mirror changes. What a file becomes
    is committed before it is written, and what it was is kept beside it: a
    process may be killed at any moment.

    Args:
        database: The crawl's database.
        table: The mirror's files.
        folder: Where they are.
        start: URL of the first seed.
        key: Gives the key of a URL; raises MalformedUrl.
        is_one: Whether learned rules take two URLs for one page.
        watch: Told how many documents are through, of how many.
    """

    def __init__(  # noqa: PLR0913  # what a mirror consists of
        self,
        database: Database,
        table: FileTable,
        folder: MirrorFolder,
        *,
        start: str,
        key: Callable[[str], bytes],
        is_one: Callable[[str, str], bool],
        watch: Callable[[int, int], None],
    ) -> None:
        self._database = database
        self._table = table
        self._folder = folder
        self._start = start
        self._key = key
        self._is_one = is_one
        self._watch = watch
        self._damaged: list[str] = []
        self._linked = bytearray()

    def finish(self, policy: Policy) -> FinishedMirror:
        """Do what is to be done; nothing where nothing was stored since the last time.

        Raises:
            MirrorError: A file cannot be written.
            StorageError: The database cannot.
        """
        wanted = self._standing_of(policy)
        if self._database.meta(STALE) == "0" and self._database.meta(_FINISHED) == wanted:
            self._write_entries()  # somebody may have removed one
            return FinishedMirror(parts=self._parts())
        self._database.set_meta(STALE, "1")
        self._note_redirects()
        if policy.remove_gone:
            self._remove_gone()
        stood_in = self._stand_in(policy)
        self._linked = bytearray(self._table.highest_id() + 1)
        documents, rewritten = self._rewrite_all()
        self._note_linked()
        self._write_entries()
        self._database.set_meta(STALE, "0")
        self._database.set_meta(_FINISHED, self._standing_of(policy))
        self._database.commit()
        return FinishedMirror(documents, rewritten, tuple(self._damaged), stood_in, self._parts())

    def _parts(self) -> tuple[str, ...]:
        return tuple(row.path for row in self._table.rows("state = 'own' AND is_cut = 1"))

    def _write_entries(self) -> None:
        target = self._targets().find(self._start)
        start = None if target is None else self._table.get(target.id)
        write_entries(self._table, self._folder, start)

    def _standing_of(self, policy: Policy) -> str:
        """What the mirror looks like follows from, besides what is in its files."""
        found = self._database.read(_FOLLOWS_FROM).fetchone()
        return repr((policy, tuple(found)))

    def _note_redirects(self) -> None:
        self._database.write(
            "INSERT OR REPLACE INTO file_redirects SELECT key, target FROM redirects"
        )
        self._database.commit()

    def _remove_gone(self) -> None:
        """Forget what the server says is not there."""
        for row in self._table.rows(f"state = 'own' AND {_GONE}"):
            row.state, row.size = SKIP, 0
            self._table.put(row)
        self._database.commit()
        # A row is forgotten after its file, which nobody would know to remove else.
        for row in self._table.rows(_GONE):
            if self._folder.exists(row.path):
                self._folder.remove(row.path)
            self._table.remove(row)
        self._database.commit()

    def _stand_in(self, policy: Policy) -> int:
        def lead_alike(one: int, other: int) -> bool:
            linker = Linker(self._targets())
            return self._goals(linker, one) == self._goals(linker, other)

        stand_ins = StandIns(
            self._database,
            self._table,
            self._folder,
            near_duplicates=policy.near_duplicates,
            share=policy.share,
            is_one=self._is_one,
            lead_alike=lead_alike,
        )
        return stand_ins.settle()

    def _targets(self) -> Targets:
        return Targets(self._database, self._table, self._key)

    def _goals(self, linker: Linker, file_id: int) -> list[int | str | None] | int:
        """Where a file's document leads; its own id where that cannot be told."""
        row = self._table.get(file_id)
        try:
            body = b"" if row is None else original(self._folder, row)
        except MirrorError:
            return file_id
        document = None if row is None else read_document(body, row.url, row.content_type)
        return file_id if document is None else linker.goals(document)

    def _rewrite_all(self) -> tuple[int, int]:
        linker = Linker(self._targets())
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
                self._mark(linker)
                self._watch(count, total)
        self._write(waiting)
        self._mark(linker)
        self._watch(total, total)
        return total, written

    def _mark(self, linker: Linker) -> None:
        for file_id in linker.linked:
            self._linked[file_id] = 1
        linker.linked.clear()

    def _rewritten(self, linker: Linker, row: FileRow) -> bytes | None:
        """The new bytes of a file, with its row changed to suit; None where it stays."""
        try:
            found = held(self._folder, row)
        except MirrorError:
            self._damaged.append(row.path)
            return None
        document = read_document(found.served, row.url, row.content_type)
        if document is None:
            return None
        rewritten = linker.rewritten(document, row)
        digest = payload_digest(rewritten.body)
        if digest == row.digest and rewritten.patch == row.patch:
            # It may still hold what it did before: the last process was killed.
            return rewritten.body if row.old_digest is not None else None
        # Not what was noted last: a process that was killed may not have come to write that.
        row.old_digest, row.old_patch = found.digest, found.patch
        row.digest, row.patch = digest, rewritten.patch
        row.size = len(rewritten.body)
        return rewritten.body

    def _write(self, waiting: list[tuple[FileRow, bytes]]) -> None:
        """Say first what the files are to become, then write them."""
        for row, _ in waiting:
            self._table.put(row)
        self._database.commit()
        for row, body in waiting:
            same = self._table.with_content(row.digest, len(body), row.id)
            # One that comes later is not written yet; one that somebody changed is not the same.
            if same is not None and same.id < row.id and holds(self._folder, same.path, body):
                self._folder.link(row.path, same.path)
            else:
                self._folder.write(row.path, body)
            row.old_digest = row.old_patch = None
            self._table.put(row)
        waiting.clear()

    def _note_linked(self) -> None:
        """Note to which files something leads."""
        for row in self._table.rows():
            linked = self._linked[row.id]
            if row.is_linked != linked:
                row.is_linked = linked
                self._table.put(row)
