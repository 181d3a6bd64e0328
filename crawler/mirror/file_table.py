"""Store the table of a mirror's files: the file of each URL, and the patch to undo its edits.

What is asked of files together with their pages is asked here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple

from crawler.mirror.paths import free_path, path_key
from crawler.pages.page_row import StoredUrl
from crawler.pages.reasons import in_words
from crawler.pages.verdicts import FAILED, GONE, STILL_AWAY, WITHOUT_PAGE, listed
from crawler.storage.states import HOLDS, REVOKED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence

    Run = Callable[[str, Sequence[object]], sqlite3.Cursor]

OWN = "own"
"""State of a URL that has a file."""

LINK = "link"
"""State of a URL that the file of another URL replaces; without one, links lead to the network."""

_BATCH = 200
_BELOW = "path_key > ? AND path_key < ?"


@dataclass(slots=True)
class FileRow:
    """The answer of a URL and the file that holds it; the columns of ``files``."""

    id: int
    key: bytes
    url: str
    path: str
    path_key: str
    content_type: str | None
    is_document: int = 0
    is_page: int = 0
    is_seed: int = 0
    payload_digest: bytes = b""
    state: str = OWN
    stand_in: int | None = None
    size: int = 0
    digest: bytes = b""
    patch: bytes = b""
    old_digest: bytes | None = None
    old_patch: bytes | None = None
    is_linked: int = 0
    is_cut: int = 0
    has_modules: int = 0

    def values(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in _COLUMNS)

    def patch_of(self, digest: bytes) -> bytes | None:
        """Return the patch of a file with this digest, or None if the mirror did not write it."""
        if digest == self.digest:
            return self.patch
        return self.old_patch if digest == self.old_digest else None


_COLUMNS = tuple(field.name for field in fields(FileRow))
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM files"
_CHANGED = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS)
_PUT = (
    f"INSERT INTO files VALUES ({', '.join('?' * len(_COLUMNS))})"
    f" ON CONFLICT (id) DO UPDATE SET {_CHANGED}"
)
_REPEATED = """
SELECT digest, path FROM files WHERE state = 'own' AND digest IN
  (SELECT digest FROM files WHERE state = 'own' GROUP BY digest HAVING count(*) > 1)
ORDER BY digest, id
"""

_PAGES = """
SELECT files.path, files.content_type, files.is_page, files.digest, files.size, files.url,
       pages.id, pages.title, pages.last_modified, pages.duplicate_of
FROM files LEFT JOIN pages ON pages.key = files.key AND pages.latest = 1
WHERE files.state = 'own' ORDER BY files.path
"""
_PARTS_OF_VISIT = """
SELECT pages.id, pages.key, pages.url, pages.depth, pages.verdict, known.referer FROM files
JOIN known ON known.key = files.key AND known.visit = ?
JOIN pages ON pages.key = files.key AND pages.latest = 1
WHERE files.is_cut AND files.state = 'own' ORDER BY pages.id
"""

# CROSS keeps the order: by the index of all duplicates every batch would look at each of them.
_REPEATING = """
SELECT one.id, other.id, one.url, other.url, one.payload_digest = other.payload_digest,
       pages.verdict
FROM files AS one
CROSS JOIN pages ON pages.key = one.key AND pages.latest = 1
CROSS JOIN pages AS kept ON kept.id = pages.duplicate_of AND kept.latest = 1
CROSS JOIN files AS other ON other.key = kept.key
WHERE one.id > ? AND one.id <> other.id AND one.is_seed = 0 AND one.state = 'own'
  AND other.state = 'own' AND one.is_cut = 0 AND other.is_cut = 0
ORDER BY one.id LIMIT 200
"""

# A page that was not requested since, or gave no answer, while the other one changed.
_REPEATS_NO_MORE = """
UPDATE files SET stand_in = NULL
WHERE state = 'link' AND NOT EXISTS (
  SELECT 1 FROM pages
  JOIN pages AS kept ON kept.id = pages.duplicate_of AND kept.latest = 1
  JOIN files AS other ON other.key = kept.key
  WHERE pages.key = files.key AND pages.latest = 1 AND other.id = files.stand_in)
"""

_GONE = f"FROM files JOIN known USING (key) WHERE files.state = 'own' AND known.outcome = '{GONE}'"
# A page that is still there may have left its file to one that is gone.
_IN_VAIN = f"""
files.id IN (SELECT files.id {_GONE}) AND files.id NOT IN (
  SELECT others.stand_in FROM files AS others
  JOIN known ON known.key = others.key AND known.outcome <> '{GONE}'
  WHERE others.stand_in IS NOT NULL)
"""

# Redirects that are new or lead elsewhere, and the rules.
_FOLLOWS_FROM = f"""
SELECT (SELECT count(*) FROM redirects LEFT JOIN file_redirects AS once USING (key)
        WHERE (once.target, once.fragment) IS NOT (redirects.target, redirects.fragment)),
       (SELECT count(*) || ' ' || coalesce(max(id), 0) FROM url_rules WHERE state = {HOLDS}),
       (SELECT count(*) FROM url_rules WHERE state = {REVOKED})
"""
_NOTE_REDIRECTS = """
INSERT OR REPLACE INTO file_redirects SELECT key, target, fragment FROM redirects
"""

# Columns are named as in the files of reports. What never was there has failed, and is not gone.
_CHANGES = f"""
SELECT pages.url AS url, CASE files.state WHEN 'own' THEN files.path END AS path,
       known.distance AS distance, known.similarity AS similarity, known.reason AS reason,
       known.moved_to AS moved_to, files.is_cut AS is_part
FROM known
JOIN pages ON pages.key = known.key AND pages.latest = 1
LEFT JOIN files ON files.key = known.key
WHERE known.visit = ? AND ? = CASE
    WHEN known.outcome = '{GONE}' AND files.key IS NULL
        AND pages.verdict IN ({listed(WITHOUT_PAGE)}) THEN '{FAILED}'
    WHEN {STILL_AWAY} THEN '' ELSE known.outcome END
ORDER BY pages.id
"""
_DUPLICATES = """
SELECT one.url AS url, other.url AS stands_for_it, other.path AS path, pages.verdict AS why,
       pages.distance AS distance, pages.similarity AS similarity
FROM files AS one
LEFT JOIN files AS other ON other.id = one.stand_in
LEFT JOIN pages ON pages.key = one.key AND pages.latest = 1
WHERE one.state <> 'own' ORDER BY one.id
"""
_MISSING = f"""
SELECT verdict, reason, count(*) FROM pages WHERE latest = 1 AND verdict IN ({listed(WITHOUT_PAGE)})
AND key NOT IN (SELECT key FROM files) GROUP BY 1, 2 ORDER BY 1, 2
"""


class Gone(NamedTuple):
    """Files of URLs that the site answers with 404 or 410.

    Attributes:
        kept: Number of those that stay in the mirror.
        removed: Number of those that were taken out.
        are_too_many: Whether they stay since they are half of all files or more.
        are_needed: Whether they stay since pages that are still there have no other file.
    """

    kept: int = 0
    removed: int = 0
    are_too_many: bool = False
    are_needed: bool = False


NOTHING_GONE = Gone()


class PageFile(NamedTuple):
    """A file of a mirror with what is known of its page.

    Attributes:
        page: ``pages.id`` of the newest capture of its page; None where none is stored.
        last_modified: When the server said that it was changed last.
        duplicate_of: ``pages.id`` of the page that its page repeats.
    """

    path: str
    content_type: str | None
    is_page: int
    digest: bytes
    size: int
    url: str
    page: int | None
    title: str | None
    last_modified: str | None
    duplicate_of: int | None


class FileTable:
    """Reads and writes ``files``.

    Args:
        read: Function that runs a query, of the crawl's ``Database`` or of a connection.
        write: Function that runs a statement, or None for reading alone.
    """

    def __init__(self, read: Run, write: Run | None = None) -> None:
        self._read = read
        self._write = write
        row = read("SELECT coalesce(max(id), 0) + 1 FROM files", ()).fetchone()
        self._next_id = int(row[0])

    def new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def of_key(self, key: bytes) -> FileRow | None:
        return self._one("key = ?", key)

    def of_path(self, path: str) -> FileRow | None:
        row = self._one("path_key = ?", path_key(path))
        return row if row is not None and row.path == path else None

    def below(self, folder: str) -> FileRow | None:
        """Return any file below a folder, such as that of a host, or None."""
        key = path_key(folder)
        return self._one(_BELOW, f"{key}/", f"{key}0")

    def get(self, file_id: int) -> FileRow | None:
        return self._one("id = ?", file_id)

    def with_content(self, digest: bytes, size: int, other_than: int) -> FileRow | None:
        """Return another file with exactly these bytes, or None."""
        condition = "digest = ? AND size = ? AND id <> ? AND state = 'own'"
        return self._one(condition, digest, size, other_than)

    def _one(self, condition: str, *values: object) -> FileRow | None:
        sql = f"{_SELECT} WHERE {condition} LIMIT 1"
        row = self._read(sql, values).fetchone()
        return None if row is None else FileRow(*row)

    def _change(self, sql: str, *values: object) -> int:
        """Run a statement; return how many rows it changed."""
        assert self._write is not None
        return self._write(sql, values).rowcount

    def put(self, row: FileRow) -> None:
        self._change(_PUT, *row.values())

    def note_written(self, row: FileRow) -> None:
        """Forget the state that a file had before it was written again."""
        row.old_digest = row.old_patch = None
        self._change("UPDATE files SET old_digest = NULL, old_patch = NULL WHERE id = ?", row.id)

    def note_linked(self, row: FileRow, is_linked: int) -> None:
        """Note whether other files have a link to a file."""
        row.is_linked = is_linked
        self._change("UPDATE files SET is_linked = ? WHERE id = ?", is_linked, row.id)

    def remove(self, row: FileRow) -> None:
        self._change("DELETE FROM files WHERE id = ?", row.id)
        self._change("DELETE FROM file_parts WHERE id = ?", row.id)

    def put_part(self, row: FileRow, etag: str | None) -> None:
        """Store the version that a part is of, None where the rest of it cannot be requested."""
        if etag is None:
            self._change("DELETE FROM file_parts WHERE id = ?", row.id)
        else:
            self._change("INSERT OR REPLACE INTO file_parts VALUES (?, ?)", row.id, etag)

    def etag_of_part(self, row: FileRow) -> str | None:
        found = self._read("SELECT etag FROM file_parts WHERE id = ?", (row.id,)).fetchone()
        return None if found is None else str(found[0])

    def rows(self, condition: str = "1") -> Iterator[FileRow]:
        """Yield all rows in the order of their ids; safe beside writes.

        Args:
            condition: Condition in SQL, of our own making.
        """
        last = 0
        sql = f"{_SELECT} WHERE id > ? AND ({condition}) ORDER BY id LIMIT {_BATCH}"
        while batch := self._read(sql, (last,)).fetchall():
            yield from (FileRow(*row) for row in batch)
            last = batch[-1][0]

    def repeated(self) -> Iterator[tuple[bytes, str]]:
        """Yield digest and path of files with the same digest as others; not beside writes."""
        yield from self._read(_REPEATED, ())

    def has_modules(self) -> bool:
        """Return whether a page runs scripts that browsers load from no disk."""
        return self._one("has_modules = 1 AND state = 'own'") is not None

    def highest_id(self) -> int:
        return self._next_id - 1

    def count(self, condition: str = "1") -> int:
        sql = f"SELECT count(*) FROM files WHERE {condition}"
        return int(self._read(sql, ()).fetchone()[0])

    def size(self) -> int:
        """Return the bytes of all files together."""
        return int(self._read("SELECT coalesce(sum(size), 0) FROM files", ()).fetchone()[0])

    def free_path(self, url: str, media_type: str | None) -> str:
        """Return a path for a URL that has none yet."""
        return free_path(url, media_type, self._is_file, self._is_folder)

    def _is_file(self, key: str) -> bool:
        return self._one("path_key = ?", key) is not None

    def _is_folder(self, key: str) -> bool:
        return self._one(_BELOW, f"{key}/", f"{key}0") is not None

    def pages(self) -> Iterator[PageFile]:
        """Yield the files that URLs have of their own by path, with their pages."""
        return (PageFile(*row) for row in self._read(_PAGES, ()))

    def parts_of_visit(self, visit: int) -> list[StoredUrl]:
        """Return the URLs that only sent parts in a visit so far."""
        return [StoredUrl(*row) for row in self._read(_PARTS_OF_VISIT, (visit,))]

    def repeating(self) -> Iterator[tuple[int, int, str, str, int, str]]:
        """Yield files of pages that repeat one with a file, safe beside writes.

        Each with its id and that of the other, their URLs, whether they have the same bytes, and
        the verdict.
        """
        last = 0
        while batch := self._read(_REPEATING, (last,)).fetchall():
            yield from batch
            last = batch[-1][0]

    def forget_other_originals(self) -> None:
        """Let no file stand for a page that does not repeat it any more."""
        self._change(_REPEATS_NO_MORE)

    def leave_gone_out(self, *, removes: bool) -> Gone:
        """Count the files of URLs that are gone, and take them out if that is asked for.

        They are kept where they are half of all files or more: the site is rather broken. The
        files themselves are removed by ``leave_one_file``, which follows.
        """
        count = int(self._read(f"SELECT count(*) {_GONE}", ()).fetchone()[0])
        if not count or not removes:
            return Gone(kept=count)
        if 2 * count >= self.count("state = 'own'"):
            return Gone(kept=count, are_too_many=True)
        sql = f"UPDATE files SET state = '{LINK}', stand_in = NULL, size = 0 WHERE {_IN_VAIN}"
        removed = self._change(sql)
        return Gone(kept=count - removed, removed=removed, are_needed=removed < count)

    def follows_from(self) -> str:
        """Return the state that the files depend on, besides their own content."""
        return repr(tuple(self._read(_FOLLOWS_FROM, ()).fetchone()))

    def note_redirects(self) -> None:
        """Remember the redirects of this visit beside those of earlier ones."""
        self._change(_NOTE_REDIRECTS)

    def changes(self, visit: int, outcome: str) -> sqlite3.Cursor:
        """Return the pages with an outcome in a visit; the columns are named as in changes.json."""
        return self._read(_CHANGES, (visit, outcome))

    def duplicates(self) -> sqlite3.Cursor:
        """Return the pages without a file; the columns are named as in duplicates.json."""
        return self._read(_DUPLICATES, ())

    def missing(self) -> dict[tuple[str, str], int]:
        """Return the numbers of URLs without a file by verdict and reason, the most first."""
        counts: Counter[tuple[str, str]] = Counter()
        for verdict, reason, count in self._read(_MISSING, ()):
            counts[verdict, in_words(reason) or "?"] += count
        return dict(counts.most_common())
