"""Resolve a link to the file of the mirror that it leads to."""

from __future__ import annotations

import fnmatch
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from crawler.mirror.mirror_files import OWN
from crawler.storage.states import SKIPPED
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.mirror.mirror_files import FileRow, FileTable
    from crawler.storage.database import Database

_PAGE_ENDINGS = frozenset("asp aspx cfm cgi do htm html jsp php php5 phtml pl shtml xhtml".split())
# "release-1.2", "John.Smithers" and "what..." end in none.
_ENDING = re.compile(r"[a-z][a-z0-9]{0,4}|[0-9][a-z][a-z0-9]?")
_BYTES = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:([kmgt])(i?))?b?", re.IGNORECASE)
_UNITS = " kmgt"

_RECENT = 50_000
_MAX_CHAIN = 20

_REDIRECTS_NOW = "SELECT target FROM redirects WHERE key = ?"
_REDIRECTED_ONCE = "SELECT target FROM file_redirects WHERE key = ?"
# The URL that represents one that a learned rule skipped.
_SKIPPED = (
    "SELECT url_groups.key FROM requests JOIN url_groups USING (group_digest)"  # noqa: S608
    f" WHERE requests.key = ? AND requests.state = {SKIPPED}"
)


class WantedNames:
    """Endings (``pdf``, ``.pdf``) and patterns (``*-large.*``) of names, upper case or lower.

    Args:
        accept: Comma-separated names; only these are fetched, and files that may be a page.
        reject: Comma-separated names; none of these is fetched.
    """

    def __init__(self, accept: str, reject: str) -> None:
        self._accept = _patterns(accept)
        self._reject = _patterns(reject)

    def allows(self, url: str) -> bool:
        """Return whether a URL is to be fetched."""
        if self._reject is None and self._accept is None:
            return True
        name = unquote(urlsplit(url).path.rpartition("/")[2]).lower()
        if self._reject is not None and self._reject.fullmatch(name):
            return False
        if self._accept is None:
            return True
        stem, _, ending = name.rpartition(".")
        may_be_page = not stem or ending in _PAGE_ENDINGS or not _ENDING.fullmatch(ending)
        return may_be_page or self._accept.fullmatch(name) is not None


def _patterns(written: str) -> re.Pattern[str] | None:
    parts = [part.strip().lower() for part in written.split(",") if part.strip()]
    if not parts:
        return None
    globs = (part if set(part) & set("*?[") else f"*.{part.lstrip('.')}" for part in parts)
    return re.compile("|".join(f"(?:{fnmatch.translate(glob)})" for glob in globs))


def byte_count(written: str) -> int:
    """Return the bytes of a size such as ``500M``, ``1.5 GB``, ``2GiB`` or ``20000``.

    M and MB are a million, MiB 1,024 times 1,024.

    Raises:
        ValueError: It is no size, or 0.
    """
    found = _BYTES.fullmatch(written.strip())
    count = 0
    if found is not None:
        power = _UNITS.index((found[2] or " ").lower())
        count = int(float(found[1]) * (1024 if found[3] else 1000) ** power)
    if count <= 0:
        raise ValueError(f"a size such as 500M or 2G is wanted, got {written!r}")
    return count


class Target(NamedTuple):
    """A file of the mirror."""

    id: int
    path: str


class Targets:
    """Resolves URLs to files; valid as long as no row of ``files`` changes.

    Args:
        database: The crawl's database.
        table: Table of the mirror's files.
        key: Function that returns the key of a URL or raises MalformedUrl.
    """

    def __init__(self, database: Database, table: FileTable, key: Callable[[str], bytes]) -> None:
        self._database = database
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
        now = self._one(_REDIRECTS_NOW, key)
        found = None if now is None else self._of_key(now, passed)
        if found is not None:
            return found
        row = self._table.of_key(key)
        if row is not None:
            return self._standing(row)
        further = self._one(_REDIRECTED_ONCE, key) or self._one(_SKIPPED, key)
        return None if further is None else self._of_key(further, passed)

    def _standing(self, row: FileRow) -> Target | None:
        for _ in range(_MAX_CHAIN):
            if row.state == OWN:
                return Target(row.id, row.path)
            other = None if row.stand_in is None else self._table.get(row.stand_in)
            if other is None:
                return None
            row = other
        return None

    def _one(self, sql: str, key: bytes) -> bytes | None:
        row = self._database.read(sql, (key,)).fetchone()
        return None if row is None else bytes(row[0])
