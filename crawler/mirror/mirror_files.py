"""Decide which URLs of a mirror have a file of their own, and which file a link leads to."""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from crawler.mirror.file_table import LINK, OWN, FileTable
from crawler.mirror.folder import MirrorFolder
from crawler.mirror.paths import STATE_FOLDER
from crawler.pages.verdicts import INEXACT
from crawler.storage import meta_names
from crawler.storage.database import open_for_reading
from crawler.storage.states import SKIPPED
from crawler.url_rules.variants import PageKeys
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from crawler.mirror.file_table import FileRow, Run
    from crawler.storage.database import Database

_RECENT = 50_000
_MAX_CHAIN = 20

_REDIRECTS_NOW = "SELECT target, fragment FROM redirects WHERE key = ?"
_REDIRECTED_ONCE = "SELECT target, fragment FROM file_redirects WHERE key = ?"
# The URL that represents one that a learned rule skipped.
_SKIPPED = (
    "SELECT url_groups.key, '' FROM requests JOIN url_groups USING (group_digest)"
    f" WHERE requests.key = ? AND requests.state = {SKIPPED}"
)


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
    table.forget_other_originals()
    for file_id, kept_id, url, kept_url, has_same_bytes, verdict in table.repeating():
        is_same = has_same_bytes and is_same_folder(url, kept_url)
        if is_same or (verdict not in INEXACT and by_rules(url) == by_rules(kept_url)):
            _replace(table, file_id, kept_id)
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
        connection: Its database.
    """

    folder: MirrorFolder
    table: FileTable
    targets: Targets
    connection: sqlite3.Connection


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
        yield OpenMirror(folder, table, Targets(read, table, PageKeys(read)), connection)


def is_chosen(database: Database, name: str) -> bool:
    """Return whether an option of the mirror that is ``yes`` or ``no`` is ``yes``."""
    options = json.loads(database.meta(meta_names.MIRROR_OPTIONS) or "{}")
    return bool(options.get(name) == "yes")
