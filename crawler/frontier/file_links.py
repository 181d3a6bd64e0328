"""Put aside links that may lead to no page, release others, and count what each kind led to.

Some look like files by their ending, which says little: ``/wiki/Node.js`` and
``/wiki/File:Boat.jpg`` are pages. Others stand where a page may be named, such as in a script. Some
links of each kind are requested, and the others put aside, stored one by one. If one of the answers
is a page, all links of its host with that ending are requested. Of places all are requested as
long as one in twenty leads to a new page.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from crawler.storage import meta_names
from crawler.storage.database import meta_of

if TYPE_CHECKING:
    import sqlite3

    from crawler.storage.database import Database


FILE_PRIORITY = -10
"""Priority of such a link: below that of others, above that of a slow cluster."""

MIN_FILES = 59
"""Request at least this many links of a kind.

Where all of them are files, less than one in twenty of the others is a page, with a certainty of
95 %.
"""

MIN_GUESSES = 29
"""Request at least this many links of a host that stand in places of one kind.

Where none of them leads to a new page, less than one in ten of the others does, with a certainty of
95 %. Where some are never answered, up to twice as many are requested.
"""

SAMPLED_OF = 20
"""Request one in this many links that look like files and would be put aside."""

GUESSES_SAMPLED_OF = 100
"""Request one in this many links of places that would be put aside."""

PAGES_OF = 20
"""Request all links of such places as lead to a new page once in this many times."""

_PLACE = ":"
"""Begins what stands for the ending of a link that was found in a place: no ending has it."""

_MAX_KINDS = 10_000
_FOLDERS = 2
_BATCH = 200

_COUNT = """
INSERT INTO file_kinds (name, host, ending, asked, files, pages) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET asked = asked + excluded.asked, files = files + excluded.files,
    pages = pages + excluded.pages
"""
_PUT_ASIDE = """
INSERT INTO file_links (key, kind, host, ending, url, depth, source)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET depth = min(depth, excluded.depth),
    kind = iif(substr(ending, 1, 1) = ':', excluded.kind, kind),
    host = iif(substr(ending, 1, 1) = ':', excluded.host, host),
    url = iif(substr(ending, 1, 1) = ':', excluded.url, url),
    ending = iif(substr(ending, 1, 1) = ':', excluded.ending, ending)
"""
_KNOWN = "SELECT 1 FROM pages WHERE key = ? LIMIT 1"
_IS_OF_PLACE = f"substr(ending, 1, 1) = '{_PLACE}'"
_LEADS_TO_PAGES = f"pages > 0 AND (NOT {_IS_OF_PLACE} OR pages * {PAGES_OF} >= files)"
_LEAST = f"(CASE WHEN {_IS_OF_PLACE} THEN {MIN_GUESSES} ELSE {MIN_FILES} END)"
_OF_PAGES = f"""
SELECT key, url, depth, ending, source FROM file_links
WHERE (host, ending) IN (SELECT host, ending FROM file_kinds WHERE {_LEADS_TO_PAGES}) LIMIT ?
"""  # noqa: S608
_OF_KIND = """
SELECT key, url, depth, ending, source FROM file_links WHERE kind = ? ORDER BY key LIMIT ?
"""
_IS_UNKNOWN = f"files < {_LEAST} AND (NOT {_IS_OF_PLACE} OR asked < {2 * MIN_GUESSES})"
_UNKNOWN = f"""
SELECT name, iif({_IS_OF_PLACE}, min({_LEAST} - files, {2 * MIN_GUESSES} - asked), {_LEAST} - files)
FROM file_kinds
WHERE {_IS_UNKNOWN} AND EXISTS (SELECT 1 FROM file_links WHERE kind = name) LIMIT ?
"""  # noqa: S608
_IS_RELEASABLE = f"""(
    (host, ending) IN (SELECT host, ending FROM file_kinds WHERE {_LEADS_TO_PAGES})
    OR kind IN (SELECT name FROM file_kinds WHERE {_IS_UNKNOWN})
)"""  # noqa: S608
PUT_ASIDE = f"""
SELECT ending, count(*) FROM file_links WHERE NOT {_IS_RELEASABLE} AND NOT {_IS_OF_PLACE}
GROUP BY ending ORDER BY 2 DESC, 1
"""  # noqa: S608
"""Count the links that need not be requested, by their ending."""

GUESSES_ASIDE = f"""
SELECT substr(ending, 2), count(*) FROM file_links AS link
WHERE {_IS_OF_PLACE} AND NOT EXISTS (SELECT 1 FROM requests WHERE key = link.key)
GROUP BY 1
"""  # noqa: S608
"""Count the links that were put aside and are not requested, by the kind of their places."""

RELEASABLE = f"""
SELECT ending, count(*) FROM file_links WHERE {_IS_RELEASABLE} AND NOT {_IS_OF_PLACE}
GROUP BY ending ORDER BY 2 DESC, 1
"""  # noqa: S608
"""Count the links that ``release`` is still to return, by their ending."""


class Kind(NamedTuple):
    """Links of one host with one ending in one folder, or from one kind of places.

    Attributes:
        host: The host with its port.
        ending: The ending without its dot, in small letters; of a place a colon and its name.
        name: Host, first folders of the path, ending, and signs that tell pages from files.
    """

    host: str
    ending: str
    name: str

    @property
    def is_of_place(self) -> bool:
        return self.ending.startswith(_PLACE)

    @property
    def least(self) -> int:
        """The number of links that are requested in any case."""
        return MIN_GUESSES if self.is_of_place else MIN_FILES


class Released(NamedTuple):
    """A link that is to be requested after all.

    Attributes:
        url: Its URL.
        depth: Links that lead there from a seed.
        place: The kind of the places where it stood; None for one that looks like a file.
        source: URL of the page on which it was met; empty: that is not known.
    """

    url: str
    depth: int
    place: str | None
    source: str


def has_releasable(database: Database) -> bool:
    """Return whether links were put aside that may be pages after all. Complexity: O(kinds)."""
    queries = ((_OF_PAGES, (1,)), (_UNKNOWN, (1,)))
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
        # What ``_counted`` returns, by kind; the answers are kept up to date of places only.
        self._counts: dict[str, tuple[int, int, int]] = {}
        sql = f"SELECT host, ending FROM file_kinds WHERE pages > 0 AND NOT {_IS_OF_PLACE}"  # noqa: S608
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

    @staticmethod
    def place(url: str, name: str) -> Kind:
        """Return the kind of a link that stands in places of some name."""
        host = urlsplit(url).netloc.lower()
        return Kind(host, f"{_PLACE}{name}", f"{host} {name}")

    def is_spent(self, kind: Kind, key: bytes) -> bool:
        """Count a link; return whether it need not be requested."""
        if self._leads_to_pages(kind):
            return False
        asked, files, pages = self._counted(kind)
        if asked < kind.least:
            self._counts[kind.name] = asked + 1, files, pages
            self._database.write(_COUNT, (kind.name, kind.host, kind.ending, 1, 0, 0))
            return False
        sampled_of = GUESSES_SAMPLED_OF if kind.is_of_place else SAMPLED_OF
        return not (int.from_bytes(key[:4]) % sampled_of == 0 or self._is_known(key))

    def put_aside(self, kind: Kind, url: str, key: bytes, depth: int, source: str = "") -> bool:
        """Store a link that need not be requested; return whether it is one."""
        if not self.is_spent(kind, key):
            return False
        row = (key, kind.name, kind.host, kind.ending, url, depth, source)
        self._database.write(_PUT_ASIDE, row)
        return True

    def note(self, kind: Kind, *, is_page: bool) -> None:
        row = (kind.name, kind.host, kind.ending, 0, int(not is_page), int(is_page))
        if kind.is_of_place:
            asked, files, pages = self._counted(kind)
            self._counts[kind.name] = asked, files + row[4], pages + row[5]
        elif is_page:
            self._with_pages.add((kind.host, kind.ending))
        self._database.write(_COUNT, row)

    def release(self) -> list[Released]:
        """Remove and return links that may be pages after all, some at a time, with depths.

        They are links of a host and an ending with at least one page, or of a kind with too few
        requests that succeeded. The caller queues them before the next commit.
        """
        rows = self._database.read(_OF_PAGES, (_BATCH,)).fetchall()
        for name, missing in self._database.read(_UNKNOWN, (_BATCH,)).fetchall():
            found = self._database.read(_OF_KIND, (name, missing)).fetchall()
            rows += found
            self._count_asked(name, len(found))
        self._database.write_many("DELETE FROM file_links WHERE key = ?", [row[:1] for row in rows])
        return [
            Released(url, depth, _place_of(ending), source)
            for _, url, depth, ending, source in rows
        ]

    def _count_asked(self, name: str, count: int) -> None:
        """Count links of a kind that are requested after all."""
        sql = "UPDATE file_kinds SET asked = asked + ? WHERE name = ?"
        self._database.write(sql, (count, name))
        self._counts.pop(name, None)

    def _leads_to_pages(self, kind: Kind) -> bool:
        if not kind.is_of_place:
            return (kind.host, kind.ending) in self._with_pages
        _, files, pages = self._counted(kind)
        return pages > 0 and pages * PAGES_OF >= files

    def _counted(self, kind: Kind) -> tuple[int, int, int]:
        """Return how many links were requested, were no new page, and were one."""
        found = self._counts.get(kind.name)
        if found is None:
            sql = "SELECT asked, files, pages FROM file_kinds WHERE name = ?"
            row = self._database.read(sql, (kind.name,)).fetchone()
            if len(self._counts) >= _MAX_KINDS:  # what was held first is dropped
                del self._counts[next(iter(self._counts))]
            found = self._counts[kind.name] = row or (0, 0, 0)
        return found

    def _is_known(self, key: bytes) -> bool:
        """Return whether an earlier visit requested a link: then this one does."""
        return self._database.read(_KNOWN, (key,)).fetchone() is not None


def _place_of(ending: str) -> str | None:
    return ending[len(_PLACE) :] if ending.startswith(_PLACE) else None


class LinkCount(NamedTuple):
    """Counts of what the links of a kind led to.

    Attributes:
        found: URLs that a link of the kind was the first to lead to, within the scope.
        fetched: Those of them that were answered.
        new: Those whose page is kept.
        aside: URLs that are not requested, since too few of their kind led to a page.
    """

    found: int = 0
    fetched: int = 0
    new: int = 0
    aside: int = 0


class LinkCounts:
    """Counts by the kind of a link, in the table ``meta``.

    They are written with what they count: in the same transaction.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        stored = _stored(database.meta(meta_names.LINK_COUNTS))
        self._counts = {kind: list(count[:3]) for kind, count in stored.items()}
        self._is_changed = False
        database.before_commit.append(self._write)

    def note_found(self, kind: str) -> None:
        self._of(kind)[0] += 1

    def note_answer(self, kind: str, *, is_new: bool) -> None:
        count = self._of(kind)
        count[1] += 1
        count[2] += is_new

    def _of(self, kind: str) -> list[int]:
        self._is_changed = True
        return self._counts.setdefault(kind, [0, 0, 0])

    def _write(self) -> None:
        if self._is_changed:
            self._is_changed = False
            self._database.set_meta(meta_names.LINK_COUNTS, json.dumps(self._counts))


def read_links(connection: sqlite3.Connection) -> dict[str, LinkCount]:
    """Return the counts of a crawl by kind, those with most URLs first."""
    found = _stored(meta_of(connection.execute, meta_names.LINK_COUNTS))
    for kind, aside in connection.execute(GUESSES_ASIDE):
        found[kind] = found.get(kind, LinkCount())._replace(aside=aside)
    return dict(sorted(found.items(), key=lambda item: -item[1].found))


def _stored(value: str | None) -> dict[str, LinkCount]:
    counts: dict[str, list[int]] = json.loads(value or "{}")
    return {kind: LinkCount(*count) for kind, count in counts.items()}
