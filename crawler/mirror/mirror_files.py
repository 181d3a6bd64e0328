"""Store the table of a mirror's files: the file of each URL, and the patch to undo its edits."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from crawler.mirror.paths import free_path, path_key
from crawler.storage import meta_names

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence

    from crawler.storage.database import Database

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
