"""Store which short texts answer at which URLs of a host, and what the host says of unknown ones.

A cluster is one text with few words at one host. Its names and folders are counted no further than
the decision needs (``crawler.pages.walls``), so that a page costs a bounded number of statements.
"""

from __future__ import annotations

import json
import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

import xxhash

from crawler.frontier.order import host_number
from crawler.pages.verdicts import NEW, SAME_TEMPLATE, WALLS, listed
from crawler.reading.content_types import WallKind
from crawler.reading.wall_signs import returned_to
from crawler.storage.states import HASH_BYTES, PAGE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence, Set

    from crawler.pages.reasons import Stored
    from crawler.reading.reading import Link, WallSigns
    from crawler.storage.database import Database

MAX_NAMES = 12
"""Count the last names of paths of one cluster up to this many, since more decide nothing."""

_MAX_FOLDERS = 2
_MAX_LINKS = 50
"""Store the smallest hashes of links, at most this many: all of a page that has no more.

What another page has below the largest of them stands for its share of all hashes (bottom-k;
Cohen, Kaplan, PODC 2007).
"""
_MIN_NAME_CHARACTERS = 3

COLUMNS = "kind, links, names, folders, has_seed, verdict, reason, is_given"
"""The columns of ``wall_clusters`` in the order of ``WallCluster``, behind its id."""

_FIND = f"SELECT id, {COLUMNS} FROM wall_clusters WHERE host = ? AND skeleton = ?"
_MARKS = ", ".join("?" * (2 + len(COLUMNS.split(", "))))
_REPLACE = f"UPDATE wall_clusters SET ({COLUMNS}) = (?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?"
_OF_PAGE = """
SELECT skeleton, kind FROM wall_clusters
WHERE id = (SELECT cluster FROM wall_pages WHERE page = ?)
"""

_MAKE_DUE = """
UPDATE known SET due_at = 0 WHERE key IN (
  SELECT key FROM pages JOIN wall_pages ON wall_pages.page = pages.id
  WHERE cluster = ? AND latest = ?
)
"""
_NOTE_BEHIND = """
UPDATE known SET outcome = 'failed', since = visit, reason = ?, distance = NULL, similarity = NULL,
  is_near = 0 WHERE key = ?
"""
_MEMBERS = f"""
SELECT id FROM wall_pages JOIN pages ON pages.id = page
WHERE cluster = ? AND page > ? AND depth >= ? AND latest = 1
  AND pages.verdict NOT IN ({listed(WALLS)})
"""
_IS_OF_SEED = """
SELECT 1 FROM wall_pages JOIN pages ON pages.id = page
WHERE cluster = ? AND latest = 1 AND depth = 0 LIMIT 1
"""
_WALL_AT = f"""
SELECT cluster FROM wall_pages JOIN pages ON pages.id = wall_pages.page
WHERE url = ? AND verdict IN ({listed(WALLS)}) ORDER BY latest DESC, id DESC
"""
_AMONG = "IN (SELECT value FROM json_each(?))"
_DUPLICATES = f"SELECT id FROM pages WHERE latest = 1 AND duplicate_of {_AMONG}"
_NAME_NOWHERE = (
    f"""
UPDATE pages SET verdict = iif(verdict = '{SAME_TEMPLATE}', '{NEW}', verdict), resembles = NULL,
  distance = iif(verdict = '{SAME_TEMPLATE}', NULL, distance),
  similarity = iif(verdict = '{SAME_TEMPLATE}', NULL, similarity)
WHERE latest = 1 AND resembles {_AMONG}""",
    f"UPDATE pages SET part_of = NULL, containment = NULL WHERE latest = 1 AND part_of {_AMONG}",
    "UPDATE url_groups SET words = NULL, kept = NULL, similarity = NULL, page = NULL, links = NULL"
    f" WHERE page {_AMONG}",
)
_OLD_WALLS = f"""
SELECT id FROM pages WHERE key = ? AND id < ? AND latest = 0 AND verdict IN ({listed(WALLS)})
"""
_IS_OLD = f"""NOT EXISTS (
  SELECT 1 FROM pages
  WHERE pages.id = wall_pages.page AND (latest = 1 OR verdict IN ({listed(WALLS)})))"""
_FORGET = (
    f"""
DELETE FROM near_texts
WHERE page IN (
  SELECT replaced FROM wall_pages WHERE replaced IS NOT NULL AND {_IS_OLD}
  EXCEPT SELECT replaced FROM wall_pages WHERE NOT {_IS_OLD})
  AND NOT EXISTS (SELECT 1 FROM pages WHERE pages.id = near_texts.page AND latest = 1)""",
    f"DELETE FROM wall_pages WHERE {_IS_OLD}",
    f"""
DELETE FROM wall_clusters WHERE verdict IS NULL AND kind <> '{PAGE}'
  AND NOT EXISTS (SELECT 1 FROM wall_pages WHERE cluster = wall_clusters.id)""",
    "DELETE FROM wall_probes",
)

_LEADING_BACK = frozenset({WallKind.LOGIN, WallKind.CONSENT, WallKind.CAPTCHA})


class WallCluster(NamedTuple):
    """A row of ``wall_clusters``; hashes are of four bytes each."""

    id: int
    kind: str
    links: bytes
    names: bytes
    folders: bytes
    has_seed: int = 0
    verdict: str | None = None
    reason: Stored | None = None
    is_given: int = 0

    @property
    def is_page(self) -> bool:
        """Whether a user said that it is no wall."""
        return self.kind == PAGE

    @property
    def name_count(self) -> int:
        """Number of distinct last names of paths, ``MAX_NAMES`` at most."""
        return len(self.names) // HASH_BYTES

    @property
    def has_folders(self) -> bool:
        """Whether its URLs are in more than one folder."""
        return len(self.folders) > HASH_BYTES

    def count_own(self, links: Iterable[Link], url: str) -> int:
        """Count the links of a page that the first page with its text does not have.

        Where that one has more than are stored, the number is estimated, and 0 only where no other
        link is among the compared ones.
        """
        stored = _cut(self.links)
        found = _hashes(links, url, frozenset(stored))
        if len(stored) < _MAX_LINKS:
            return len(found)
        own = sum(one <= stored[-1] for one in found)
        share = (int.from_bytes(stored[-1]) + 1) / (1 << 8 * HASH_BYTES)
        return math.ceil(own / share)


class HostProbe(NamedTuple):
    """A URL that cannot exist.

    Attributes:
        url: The URL.
        skeleton: The skeleton of its host's answer, empty where that was no page or a long
            one; None before an answer came.
    """

    url: str
    skeleton: bytes | None = None


class WallClusters:
    """The tables ``wall_clusters``, ``wall_pages`` and ``wall_probes``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, host: int, skeleton: bytes) -> WallCluster | None:
        row = self._database.read(_FIND, (host, skeleton)).fetchone()
        return None if row is None else WallCluster(*row)

    def begin(self, url: str, signs: WallSigns, links: Iterable[Link]) -> WallCluster:
        """Store the first page with a text; its URL is not counted yet."""
        few = b"".join(sorted(_hashes(links, url))[:_MAX_LINKS])
        number = self._database.write(
            f"INSERT INTO wall_clusters (host, skeleton, {COLUMNS})"
            " VALUES (?, ?, ?, ?, x'', x'', 0, NULL, NULL, 0)",
            (host_of(url), signs.skeleton, signs.kind, few),
        ).lastrowid
        return WallCluster(number or 0, signs.kind, few, b"", b"")

    def take_over(self, host: int, skeleton: bytes, other: WallCluster) -> int:
        """Store a cluster of another crawl, or add it to the one of that text; return its number.

        What a user said of a text decides before a verdict, and a verdict before none. URLs that
        two crawls met count together.
        """
        own = self.find(host, skeleton)
        if own is None:
            sql = f"INSERT INTO wall_clusters (host, skeleton, {COLUMNS}) VALUES ({_MARKS})"
            values = other._replace(is_given=0)[1:]
            return self._database.write(sql, (host, skeleton, *values)).lastrowid or 0
        chosen = max(own, other, key=lambda cluster: (cluster.is_page, cluster.verdict is not None))
        chosen = chosen._replace(has_seed=own.has_seed | other.has_seed, is_given=0)
        if own.kind == other.kind:
            names = _union(own.names, other.names, MAX_NAMES)
            folders = _union(own.folders, other.folders, _MAX_FOLDERS)
            chosen = chosen._replace(names=names, folders=folders)
        self._database.write(_REPLACE, (*chosen[1:], own.id))
        return own.id

    def signs_of(self, page_id: int) -> tuple[bytes, str] | None:
        """Return skeleton and kind of the cluster of a capture, or None."""
        row = self._database.read(_OF_PAGE, (page_id,)).fetchone()
        return None if row is None else (row[0], row[1])

    def count(self, cluster: WallCluster, url: str) -> WallCluster:
        """Store the last name and the folder of one more URL, as far as they count.

        Of a login, a consent or a captcha those count of the URL to which it leads in the end.
        """
        if cluster.kind in _LEADING_BACK:
            url = returned_to(url) or url
        path = _parts(url).path.rstrip("/")
        names = _joined(cluster.names, last_name(url), MAX_NAMES)
        folders = _joined(cluster.folders, path.rpartition("/")[0], _MAX_FOLDERS)
        if (names, folders) != (cluster.names, cluster.folders):
            self._database.write(
                "UPDATE wall_clusters SET names = ?, folders = ? WHERE id = ?",
                (names, folders, cluster.id),
            )
        return cluster._replace(names=names, folders=folders)

    def put_page(self, page_id: int, cluster: int, replaced: int | None = None) -> None:
        """Store that a capture has the text of a cluster; it may replace an earlier text."""
        sql = "INSERT OR REPLACE INTO wall_pages VALUES (?, ?, ?)"
        self._database.write(sql, (page_id, cluster, replaced))

    def replaced_by(self, page_id: int) -> int | None:
        """Return the capture whose place one with the text of a cluster took, or None."""
        return self._database.value("SELECT replaced FROM wall_pages WHERE page = ?", (page_id,))

    def has_seed(self, cluster: int) -> bool:
        """Return whether a seed has, or had, the text of a cluster, and remember that it has.

        Complexity: O(pages of the cluster) until one has.
        """
        sql = "SELECT has_seed FROM wall_clusters WHERE id = ?"
        if self._database.value(sql, (cluster,)):
            return True
        if self._database.value(_IS_OF_SEED, (cluster,)) is None:
            return False
        self._database.write("UPDATE wall_clusters SET has_seed = 1 WHERE id = ?", (cluster,))
        return True

    def ungiven(self) -> list[tuple[int, str, Stored]]:
        """Return number, verdict and reason of clusters whose pages do not all have the verdict."""
        sql = (
            "SELECT id, verdict, reason FROM wall_clusters"
            " WHERE verdict IS NOT NULL AND is_given = 0 ORDER BY id"
        )
        return self._database.read(sql).fetchall()

    def set_given(self, cluster: int) -> None:
        self._database.write("UPDATE wall_clusters SET is_given = 1 WHERE id = ?", (cluster,))

    def set_verdict(self, cluster: int, verdict: str, reason: Stored) -> None:
        self._database.write(
            "UPDATE wall_clusters SET verdict = ?, reason = ?, is_given = 0 WHERE id = ?",
            (verdict, reason, cluster),
        )

    def set_page(self, cluster: int) -> None:
        """Store that a text is that of a page, whatever it seems to be.

        Pages that said something else before, which is their text again, are fetched again.
        """
        self._database.write(
            "UPDATE wall_clusters SET verdict = NULL, reason = NULL, kind = ? WHERE id = ?",
            (PAGE, cluster),
        )
        self._database.write(_MAKE_DUE, (cluster, 0))

    def cluster_of(self, page_id: int) -> int | None:
        """Return the number of the cluster of a capture, or None."""
        return self._database.value("SELECT cluster FROM wall_pages WHERE page = ?", (page_id,))

    def members(
        self, cluster: int, after: int, most: int, *, min_depth: int, copies_only: bool
    ) -> list[int]:
        """Return the next newest captures of a cluster without the verdict, in their order."""
        copies = " AND duplicate_of IS NOT NULL" if copies_only else ""
        sql = f"{_MEMBERS}{copies} ORDER BY page LIMIT ?"
        return [page for (page,) in self._database.read(sql, (cluster, after, min_depth, most))]

    def duplicates_of(self, pages: Sequence[int]) -> set[int]:
        """Return the newest captures that repeat one of some pages."""
        return {page for (page,) in self._database.read(_DUPLICATES, (json.dumps(pages),))}

    def name_nowhere(self, pages: Sequence[int]) -> None:
        """Let no page resemble one of some pages or be a part of it, and no group be one."""
        for sql in _NAME_NOWHERE:
            self._database.write(sql, (json.dumps(pages),))

    def restore(self, page: int, wall: int) -> None:
        """Make a capture its page's newest again, in place of a wall."""
        sql = "UPDATE pages SET latest = (id = ?1) WHERE id IN (?1, ?2)"
        self._database.write(sql, (page, wall))

    def make_due(self, cluster: int) -> None:
        """Let all pages of a cluster be due at the next visit."""
        self._database.write(_MAKE_DUE, (cluster, 1))

    def make_page_due(self, key: bytes) -> None:
        self._database.write("UPDATE known SET due_at = 0 WHERE key = ?", (key,))

    def note_behind(self, key: bytes, page_id: int, reason: Stored) -> None:
        """Store that a wall came in place of a page, whose links are to be read again.

        Args:
            key: Key of the page.
            page_id: The capture of the wall.
            reason: Reason of the verdict.
        """
        self._database.write(_NOTE_BEHIND, (reason, key))
        self._database.write("DELETE FROM links WHERE key = ?", (key,))
        self.forget_walls(key, page_id)

    def forget_walls(self, key: bytes, before: int) -> None:
        """Delete the walls that came in place of a page before, each with its text."""
        old = self._database.read(_OLD_WALLS, (key, before)).fetchall()
        for table, name in (("near_texts", "page"), ("wall_pages", "page"), ("pages", "id")):
            self._database.write_many(f"DELETE FROM {table} WHERE {name} = ?", old)

    def begin_visit(self) -> None:
        """Forget which captures had a text that are no page's newest any more, and all probes.

        With them go the texts that no page has and that were not recognised.
        """
        for sql in _FORGET:
            self._database.write(sql)

    def suspected_hosts(self, worded: int, others: int) -> set[int]:
        """Return the hosts with a text at enough names to be probed, though its pages may not come.

        Args:
            worded: Names of a text with a wording.
            others: Names of any other text.
        """
        sql = (
            f"SELECT DISTINCT host FROM wall_clusters WHERE verdict IS NULL AND kind <> '{PAGE}'"
            " AND length(names) >= iif(kind = '', ?, ?)"
        )
        least = (others * HASH_BYTES, worded * HASH_BYTES)
        return {host for (host,) in self._database.read(sql, least)}

    def probe(self, host: int) -> HostProbe | None:
        """Return the URL by which a host is probed, with the answer; None where it is not."""
        sql = "SELECT url, skeleton FROM wall_probes WHERE host = ?"
        row = self._database.read(sql, (host,)).fetchone()
        return None if row is None else HostProbe(*row)

    def put_probe(self, probe: HostProbe) -> None:
        sql = "INSERT OR REPLACE INTO wall_probes VALUES (?, ?, ?)"
        self._database.write(sql, (host_of(probe.url), *probe))


def wall_at(read: Callable[..., sqlite3.Cursor], url: str) -> int | None:
    """Return the number of the wall that answered at a URL, or None."""
    row = read(_WALL_AT, (url,)).fetchone()
    return None if row is None else int(row[0])


@lru_cache(64)
def host_of(url: str) -> int:
    """Return the number of a URL's host with its port; that of the whole where it is no URL."""
    return host_number(host_with_port(url) or url)


def host_with_port(url: str) -> str:
    """Return the host of a URL with its port; empty where it is no URL."""
    return _parts(url).netloc


def last_name(url: str) -> str:
    """Return the last name of a URL's path, unquoted; empty for the root."""
    return unquote(_parts(url).path.rstrip("/").rpartition("/")[2])


def unknown_urls(url: str) -> tuple[str, str]:
    """Return two URLs that look like nothing that a site has: at the root, and beside another URL.

    They are the same in every process.
    """
    parts = _parts(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    name = xxhash.xxh3_64_hexdigest(f"no such page at {origin}".encode())
    folder = parts.path.rstrip("/").rpartition("/")[0]
    return f"{origin}/{name}", f"{origin}{folder}/{name}"


def _parts(url: str) -> SplitResult:
    """Split a URL; items of other spiders and texts of a corpus may have any string for one."""
    try:
        return urlsplit(url)
    except ValueError:  # http://[ and http://exa℀mple
        return SplitResult("", "", url, "", "")


def _joined(hashes: bytes, name: str, most: int) -> bytes:
    """Return hashes with that of one more name, unless it is among them or there are enough."""
    one = xxhash.xxh3_64_digest(name.encode("utf-8", "surrogatepass"))[:HASH_BYTES]
    is_full = len(hashes) >= most * HASH_BYTES
    return hashes if is_full or one in _cut(hashes) else hashes + one


def _union(hashes: bytes, others: bytes, most: int) -> bytes:
    return b"".join(dict.fromkeys([*_cut(hashes), *_cut(others)]))[: most * HASH_BYTES]


def _cut(hashes: bytes) -> list[bytes]:
    return [hashes[at : at + HASH_BYTES] for at in range(0, len(hashes), HASH_BYTES)]


def _hashes(links: Iterable[Link], url: str, known: Set[bytes] = frozenset()) -> set[bytes]:
    """Return the first bytes of the keys of links, without known ones and repeats of ``url``."""
    own = set()
    for each in filter(None, (url, returned_to(url))):
        parts = _parts(each)
        own |= {each, parts.path, f"{parts.path}?{parts.query}"}
        name = last_name(each)
        if len(name) >= _MIN_NAME_CHARACTERS:
            own.add(name)
    further = [link for link in links if link.key[:HASH_BYTES] not in known]
    return {link.key[:HASH_BYTES] for link in further if not own & _ends(link.url)}


def _ends(url: str) -> set[str]:
    """Return what a URL may repeat another one in: its path, its last name, values of arguments.

    A name before the last one is that of a folder: what is in there is what a page leads on to.
    """
    parts = _parts(url)
    values = [unquote(value.partition("=")[2]) for value in re.split("[&;]", parts.query) if value]
    return {parts.path, last_name(url), *values, *map(last_name, values)} - {"", "/"}
