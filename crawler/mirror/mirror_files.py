"""Store the table of a mirror's files: the file of each URL, and the patch to undo its edits.

It is decided here which URLs have a file of their own, and which file a link leads to.
"""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from crawler.mirror.folder import MirrorFolder
from crawler.mirror.paths import STATE_FOLDER, free_path, path_key
from crawler.pages.verdicts import GONE, INEXACT
from crawler.storage import meta_names
from crawler.storage.database import open_for_reading
from crawler.storage.states import SKIPPED
from crawler.url_rules.variants import PageKeys
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from crawler.storage.database import Database

    Run = Callable[[str, Sequence[object]], sqlite3.Cursor]

_RECENT = 50_000
_MAX_CHAIN = 20

_REDIRECTS_NOW = "SELECT target, fragment FROM redirects WHERE key = ?"
_REDIRECTED_ONCE = "SELECT target, fragment FROM file_redirects WHERE key = ?"
# The URL that represents one that a learned rule skipped.
_SKIPPED = (
    "SELECT url_groups.key, '' FROM requests JOIN url_groups USING (group_digest)"
    f" WHERE requests.key = ? AND requests.state = {SKIPPED}"
)

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


def leave_gone_out(database: Database, *, removes: bool) -> Gone:
    """Count the files of URLs that are gone, and take them out of the mirror if that is asked for.

    They are kept where they are half of all files or more: the site is rather broken. Files are
    removed by ``leave_one_file``, which follows.

    Args:
        database: The crawl's database.
        removes: Whether they are taken out.
    """
    count = int(database.read(f"SELECT count(*) {_GONE}").fetchone()[0])
    if not count or not removes:
        return Gone(kept=count)
    whole = int(database.read("SELECT count(*) FROM files WHERE state = 'own'").fetchone()[0])
    if 2 * count >= whole:
        return Gone(kept=count, are_too_many=True)
    sql = f"UPDATE files SET state = '{LINK}', stand_in = NULL, size = 0 WHERE {_IN_VAIN}"
    removed = database.write(sql).rowcount
    return Gone(kept=count - removed, removed=removed, are_needed=removed < count)


def leave_one_file(
    database: Database,
    table: FileTable,
    folder: MirrorFolder,
    by_rules: Callable[[str], object],
) -> None:
    """Leave one file to URLs of one page: by a learned rule, or a folder and its index.

    Any other page keeps its file, whatever it repeats. Rows are changed and committed first, files
    removed afterwards, also those that a killed process left behind.

    Args:
        database: The crawl's database.
        table: Table of the mirror's files.
        folder: Folder of the mirror.
        by_rules: Function that returns the same for two URLs of one page by the learned rules.
    """
    database.write(_REPEATS_NO_MORE)
    last = 0
    while batch := database.read(_REPEATING, (last,)).fetchall():
        for last, kept_id, url, kept_url, has_same_bytes, verdict in batch:
            is_same = has_same_bytes and is_same_folder(url, kept_url)
            if is_same or (verdict not in INEXACT and by_rules(url) == by_rules(kept_url)):
                _replace(table, last, kept_id)
    database.commit()
    for row in table.rows("state <> 'own'"):
        if folder.exists(row.path):
            folder.remove(row.path)


def _replace(table: FileTable, file_id: int, kept_id: int) -> None:
    row, kept = table.get(file_id), table.get(kept_id)
    # An earlier one of the batch may have taken the file that this one repeats.
    if row is not None and kept is not None and kept.state == OWN:
        row.state, row.stand_in, row.size = LINK, kept_id, 0
        table.put(row)


def is_same_folder(url: str, other: str) -> bool:
    """Return whether one URL is a folder and the other its index: ``/a/`` and ``/a/index.html``."""
    if len(url) > len(other):
        url, other = other, url
    rest = other.removeprefix(url)
    return url.endswith("/") and rest.partition(".")[0] == "index" and "/" not in rest


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


class Target(NamedTuple):
    """A file that a link leads to, and the fragment that redirects on the way named last."""

    id: int
    path: str
    fragment: str = ""


class Targets:
    """Resolves URLs to files; valid as long as no row of ``files`` changes.

    Args:
        read: Function that runs a query, of the crawl's ``Database`` or of a connection.
        table: Table of the mirror's files.
        key: Function that returns the key of a URL or raises MalformedUrl.
    """

    def __init__(self, read: Run, table: FileTable, key: Callable[[str], bytes]) -> None:
        self._read = read
        self._table = table
        self._key = key
        self.find = lru_cache(_RECENT)(self._find)

    def _find(self, url: str) -> Target | None:
        """Return the file that a link with this URL leads to, or None. Complexity: O(redirects)."""
        try:
            key = self._key(url)
        except MalformedUrl:
            return None
        return self._of_key(key, set())

    def _of_key(self, key: bytes, passed: set[bytes]) -> Target | None:
        """Return the file of a key: that of its present redirect, its own, that of an old redirect.

        Each key is visited once: present and old redirects may form a circle.
        """
        if key in passed or len(passed) >= _MAX_CHAIN:
            return None
        passed.add(key)
        found = self._behind(_REDIRECTS_NOW, key, passed)
        if found is not None:
            return found
        row = self._table.of_key(key)
        if row is not None:
            return self._standing(row)
        once = self._behind(_REDIRECTED_ONCE, key, passed)
        return self._behind(_SKIPPED, key, passed) if once is None else once

    def _behind(self, sql: str, key: bytes, passed: set[bytes]) -> Target | None:
        """Return the file of the key to which a query says that another one leads."""
        row = self._read(sql, (key,)).fetchone()
        found = None if row is None else self._of_key(bytes(row[0]), passed)
        if found is None or found.fragment:
            return found
        return found._replace(fragment=row[1])

    def _standing(self, row: FileRow) -> Target | None:
        for _ in range(_MAX_CHAIN):
            if row.state == OWN:
                return Target(row.id, row.path)
            other = None if row.stand_in is None else self._table.get(row.stand_in)
            if other is None:
                return None
            row = other
        return None


class OpenMirror(NamedTuple):
    """A mirror that is open for reading.

    Attributes:
        folder: Its folder.
        table: Table of its files.
        targets: Finds the file of a URL.
    """

    folder: MirrorFolder
    table: FileTable
    targets: Targets


@contextmanager
def open_mirror(root: Path) -> Iterator[OpenMirror]:
    """Open a mirror for reading.

    Raises:
        JobError: There is no mirror, or its database cannot be read.
    """
    with (
        closing(open_for_reading(root / STATE_FOLDER)) as connection,
        MirrorFolder(root, read_only=True) as folder,
    ):
        read = connection.execute
        table = FileTable(read)
        yield OpenMirror(folder, table, Targets(read, table, PageKeys(read)))


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


def is_chosen(database: Database, name: str) -> bool:
    """Return whether an option of the mirror that is ``yes`` or ``no`` is ``yes``."""
    options = json.loads(database.meta(meta_names.MIRROR_OPTIONS) or "{}")
    return bool(options.get(name) == "yes")


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

    def _change(self, sql: str, *values: object) -> None:
        assert self._write is not None
        self._write(sql, values)

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

    def free_path(self, url: str, media_type: str | None) -> str:
        """Return a path for a URL that has none yet."""
        return free_path(url, media_type, self._is_file, self._is_folder)

    def _is_file(self, key: str) -> bool:
        return self._is_any("path_key = ?", key)

    def _is_folder(self, key: str) -> bool:
        return self._is_any(_BELOW, f"{key}/", f"{key}0")

    def _is_any(self, condition: str, *values: object) -> bool:
        found = self._read(f"SELECT 1 FROM files WHERE {condition} LIMIT 1", values)
        return found.fetchone() is not None
