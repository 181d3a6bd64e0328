"""Put aside links that look like files by their ending, and release those that may be pages.

An ending says little: ``/wiki/Node.js`` and ``/wiki/File:Boat.jpg`` are pages. So some links of
each kind are requested, and the others put aside, stored one by one. If one of the answers is a
page, all links of its host with that ending are requested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from crawler.storage.database import Database

FILE_PRIORITY = -10
"""Priority of such a link: below that of others, above that of a slow cluster."""

MIN_FILES = 59
"""Request at least this many links of a kind.

Where all of them are files, less than one in twenty of the others is a page, with a certainty of
95 %.
"""

SAMPLED_OF = 20
"""Request one in this many links that would be put aside."""

_MAX_KINDS = 10_000
_FOLDERS = 2
_BATCH = 200

_COUNT = """
INSERT INTO file_kinds (name, host, ending, asked, files, pages) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET asked = asked + excluded.asked, files = files + excluded.files,
    pages = pages + excluded.pages
"""
_PUT_ASIDE = """
INSERT INTO file_links (key, kind, host, ending, url, depth) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET depth = excluded.depth WHERE excluded.depth < depth
"""
_KNOWN = "SELECT 1 FROM pages WHERE key = ? LIMIT 1"
_OF_PAGES = """
SELECT key, url, depth FROM file_links
WHERE (host, ending) IN (SELECT host, ending FROM file_kinds WHERE pages > 0) LIMIT ?
"""
_UNKNOWN = """
SELECT name, files FROM file_kinds
WHERE files < ? AND EXISTS (SELECT 1 FROM file_links WHERE kind = name) LIMIT ?
"""
_IS_RELEASABLE = f"""(
    (host, ending) IN (SELECT host, ending FROM file_kinds WHERE pages > 0)
    OR kind IN (SELECT name FROM file_kinds WHERE files < {MIN_FILES})
)"""  # noqa: S608
PUT_ASIDE = f"""
SELECT ending, count(*) FROM file_links WHERE NOT {_IS_RELEASABLE}
GROUP BY ending ORDER BY 2 DESC, 1
"""  # noqa: S608
"""Count the links that need not be requested, by their ending."""

RELEASABLE = f"""
SELECT ending, count(*) FROM file_links WHERE {_IS_RELEASABLE} GROUP BY ending ORDER BY 2 DESC, 1
"""  # noqa: S608
"""Count the links that ``release`` is still to return, by their ending."""


class Kind(NamedTuple):
    """Links of one host with one ending, in one place of the site.

    Attributes:
        host: The host with its port.
        ending: The ending without its dot, in small letters.
        name: Host, first folders of the path, ending, and signs that tell pages from files.
    """

    host: str
    ending: str
    name: str


def has_releasable(database: Database) -> bool:
    """Return whether links were put aside that may be pages after all. Complexity: O(kinds)."""
    queries = ((_OF_PAGES, (1,)), (_UNKNOWN, (MIN_FILES, 1)))
    return any(database.read(sql, values).fetchone() for sql, values in queries)


def ending_of(url: str) -> str:
    """Return what follows the last dot before the query, in small letters."""
    return url.partition("?")[0].partition("#")[0].rpartition(".")[2].lower()


class FileLinks:
    """The tables ``file_kinds`` and ``file_links``.

    Args:
        endings: Endings of files, without the dot, in small letters; without any, no link looks
            like a file.
    """

    def __init__(self, database: Database, endings: frozenset[str]) -> None:
        self._database = database
        self._endings = endings
        self._asked: dict[str, int] = {}
        sql = "SELECT DISTINCT host, ending FROM file_kinds WHERE pages > 0"
        self._with_pages: set[tuple[str, str]] = set(database.read(sql).fetchall())

    def kind(self, url: str) -> Kind | None:
        """Return the kind of a URL that looks like a file; None for one that does not."""
        ending = ending_of(url)
        if ending not in self._endings:
            return None
        parts = urlsplit(url)
        *folders, name = parts.path.lstrip("/").split("/")
        # File:Boat.jpg is the page that describes a file, in the folder of all pages.
        marks = (":" if ":" in name else "") + ("?" if parts.query else "")
        place = "/".join(["", *folders[:_FOLDERS]])
        return Kind(parts.netloc, ending, f"{parts.netloc}{place}/*{marks}.{ending}")

    def put_aside(self, kind: Kind, url: str, key: bytes, depth: int) -> bool:
        """Store a link that need not be requested; return whether it is one."""
        if (kind.host, kind.ending) in self._with_pages:
            return False
        asked = self._count(kind)
        if asked < MIN_FILES:
            self._asked[kind.name] = asked + 1
            self._database.write(_COUNT, (kind.name, kind.host, kind.ending, 1, 0, 0))
            return False
        if int.from_bytes(key[:4]) % SAMPLED_OF == 0 or self._is_known(key):
            return False
        row = (key, kind.name, kind.host, kind.ending, url, depth)
        self._database.write(_PUT_ASIDE, row)
        return True

    def note(self, kind: Kind, *, is_page: bool) -> None:
        row = (kind.name, kind.host, kind.ending, 0, int(not is_page), int(is_page))
        self._database.write(_COUNT, row)
        if is_page:
            self._with_pages.add((kind.host, kind.ending))

    def release(self) -> list[tuple[str, int]]:
        """Remove and return links that may be pages after all, some at a time, with depths.

        They are links of a host and an ending with at least one page, or of a kind with too few
        requests that succeeded. The caller queues them before the next commit.
        """
        rows = self._database.read(_OF_PAGES, (_BATCH,)).fetchall()
        for name, files in self._database.read(_UNKNOWN, (MIN_FILES, _BATCH)).fetchall():
            sql = "SELECT key, url, depth FROM file_links WHERE kind = ? ORDER BY key LIMIT ?"
            rows += self._database.read(sql, (name, MIN_FILES - files)).fetchall()
        self._database.write_many(
            "DELETE FROM file_links WHERE key = ?", [(key,) for key, _, _ in rows]
        )
        return [(url, depth) for _, url, depth in rows]

    def _is_known(self, key: bytes) -> bool:
        """Return whether an earlier visit requested a link: then this one does."""
        return self._database.read(_KNOWN, (key,)).fetchone() is not None

    def _count(self, kind: Kind) -> int:
        found = self._asked.get(kind.name)
        if found is None:
            sql = "SELECT asked FROM file_kinds WHERE name = ?"
            row = self._database.read(sql, (kind.name,)).fetchone()
            if len(self._asked) >= _MAX_KINDS:
                del self._asked[next(iter(self._asked))]
            found = self._asked[kind.name] = 0 if row is None else int(row[0])
        return found
