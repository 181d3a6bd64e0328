"""Put aside links that may lead to no page, release others, and count what each kind led to.

Some look like files by their ending, which says little: ``/wiki/Node.js`` and
``/wiki/File:Boat.jpg`` are pages. Others stand where a page may be named, such as in a script. Some
links of each kind are requested, and the others put aside, stored one by one. If one of the answers
is a page, all links of its host with that ending are requested. Of places all are requested as
long as one in twenty leads to a new page.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from crawler.pages.page_row import newest_url
from crawler.url_rules.kinds import (
    PAGE_OF_FILE,
    PAGE_OF_LINK,
    PAGE_OF_PLACE,
    Kind,
    Kinds,
    Question,
    stored_kinds,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from crawler.storage.database import Database

    Read = Callable[..., sqlite3.Cursor]


FILE_PRIORITY = -10
"""Priority of such a link: below that of others, above that of a slow cluster."""

_FOLDERS = 2  # of a path: they tell the place of a file, with its ending
_BATCH = 200

_PUT_ASIDE = """
INSERT INTO file_links (key, kind, wider, url, depth, source) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET depth = min(depth, excluded.depth),
    kind = iif(kind = wider, excluded.kind, kind),
    wider = iif(kind = wider, excluded.wider, wider),
    url = iif(kind = wider, excluded.url, url)
"""
_KINDS = "SELECT kind, wider, count(*) FROM file_links GROUP BY kind, wider ORDER BY 3 DESC, 2"
_NEXT_KIND = "SELECT kind, wider FROM file_links WHERE kind > ? ORDER BY kind LIMIT 1"
_OF_KIND = """
SELECT key, url, depth, source FROM file_links WHERE kind = ? AND wider = ? ORDER BY key LIMIT ?
"""
_GUESSES = """
SELECT wider, count(*) FROM file_links AS link
WHERE kind = wider AND NOT EXISTS (SELECT 1 FROM requests WHERE key = link.key)
GROUP BY wider
"""


class FileLinkKind(NamedTuple):
    """Links of one host with one ending in one folder, or from one kind of places.

    Attributes:
        name: Host, first folders of the path, ending, and signs that tell pages from files; or the
            host and the name of the places.
        wider: The host and the ending alone, or the name.
    """

    name: str
    wider: str

    @property
    def ending(self) -> str:
        """The ending without its dot, or the name of the places."""
        return self.wider.partition(" ")[2]

    @property
    def question(self) -> Question:
        return PAGE_OF_PLACE if self.name == self.wider else PAGE_OF_FILE

    def wanted(self, own: Kind, wider: Kind) -> int:
        """Return how many of its links that were put aside are to be requested after all.

        All are where such a link was a page, and some where too few were answered. Of places whose
        links are never answered, twice as many as are enough are requested.
        """
        if wider.pays(self.question):
            return _BATCH
        lacking = self.question.enough - (own.tried - own.gained)
        if self.question is PAGE_OF_PLACE:
            lacking = min(lacking, 2 * self.question.enough - own.met)
        return max(0, lacking)


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


class AsideLinks(NamedTuple):
    """Counts of the links that were put aside.

    Attributes:
        files: Those that need not be requested, by their ending.
        to_ask: Those that ``FileLinks.release`` is still to return, by their ending.
        guesses: Those of places that are not requested, by the kind of the places.
    """

    files: dict[str, int]
    to_ask: dict[str, int]
    guesses: dict[str, int]


def read_aside(read: Read) -> AsideLinks:
    """Count the links that were put aside, the most frequent endings first."""
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for kind, count, wanted in _stored(read):
        if kind.question is PAGE_OF_FILE:
            counts[wanted > 0][kind.ending] += count
    guesses: Counter[str] = Counter()
    for name, count in read(_GUESSES):
        guesses[FileLinkKind(name, name).ending] += count
    files, to_ask = (dict(one.most_common()) for one in counts)
    return AsideLinks(files, to_ask, dict(guesses))


def has_releasable(read: Read) -> bool:
    """Return whether links were put aside that may be pages after all. Complexity: O(links)."""
    return any(wanted for _, _, wanted in _stored(read))


def _stored(read: Read) -> Iterator[tuple[FileLinkKind, int, int]]:
    """Yield the kinds of links that were put aside, how many those are, and how many are wanted."""
    rows = read(_KINDS).fetchall()
    known = {
        (question, kind.name): kind
        for question in (PAGE_OF_FILE, PAGE_OF_PLACE)
        for kind in (stored_kinds(read, question, Kind) if rows else ())
    }
    for name, wider, count in rows:
        kind = FileLinkKind(name, wider)
        own, all_of_host = (known.get((kind.question, one)) or Kind(0, one) for one in kind)
        yield kind, count, kind.wanted(own, all_of_host)


def ending_of(url: str) -> str:
    """Return what follows the last dot before the query, in small letters."""
    return url.partition("?")[0].partition("#")[0].rpartition(".")[2].lower()


class FileLinks:
    """The table ``file_links``, and the kinds of links that may lead to no page.

    Args:
        endings: Endings of files, without the dot, in small letters; without any, no link looks
            like a file.
    """

    def __init__(self, database: Database, endings: frozenset[str]) -> None:
        self._database = database
        self._endings = endings
        questions = (PAGE_OF_FILE, PAGE_OF_PLACE)
        self._kinds = {question: Kinds(database, question, Kind) for question in questions}

    def kind(self, url: str) -> FileLinkKind | None:
        """Return the kind of a URL that looks like a file; None for one that does not."""
        ending = ending_of(url)
        if ending not in self._endings:
            return None
        parts = urlsplit(url)
        *folders, name = parts.path.lstrip("/").split("/")
        # File:Boat.jpg is the page that describes a file, in the folder of all pages.
        marks = (":" if ":" in name else "") + ("?" if parts.query else "")
        place = "/".join(["", *folders[:_FOLDERS]])
        return FileLinkKind(f"{parts.netloc}{place}/*{marks}.{ending}", f"{parts.netloc} {ending}")

    @staticmethod
    def place(url: str, name: str) -> FileLinkKind:
        """Return the kind of a link that stands in places of some name."""
        whole = f"{urlsplit(url).netloc.lower()} {name}"
        return FileLinkKind(whole, whole)

    def is_spent(self, kind: FileLinkKind, key: bytes) -> bool:
        """Count a link; return whether it need not be requested."""
        kinds, question = self._kinds[kind.question], kind.question
        if kinds[kind.wider].pays(question):
            return False
        own = kinds[kind.name]
        if own.met < question.enough:
            kinds.note_met(kind.name)
            return False
        return not (own.is_sampled(question, int.from_bytes(key[:4])) or self._is_known(key))

    def put_aside(
        self, kind: FileLinkKind, url: str, key: bytes, depth: int, source: str = ""
    ) -> bool:
        """Store a link that need not be requested; return whether it is one."""
        if not self.is_spent(kind, key):
            return False
        self._database.write(_PUT_ASIDE, (key, *kind, url, depth, source))
        return True

    def note(self, kind: FileLinkKind, *, is_page: bool) -> None:
        """Note whether a link of a kind led to a page, of a place to a new one."""
        kinds = self._kinds[kind.question]
        for name in dict.fromkeys(kind):
            kinds.note_try(name, is_gain=is_page)

    def release(self) -> list[Released]:
        """Remove and return links that may be pages after all, some at a time, with depths.

        They are links of a host and an ending with at least one page, or of a kind with too few
        requests that succeeded. The caller queues them before the next commit.
        """
        released: list[Released] = []
        kind = self._after("")
        while kind is not None and len(released) < _BATCH:
            released += self._taken(kind)
            kind = self._after(kind.name)
        return released

    def _after(self, name: str) -> FileLinkKind | None:
        """Return the kind that comes next by its name, which tells its wider one."""
        row = self._database.read(_NEXT_KIND, (name,)).fetchone()
        return None if row is None else FileLinkKind(*row)

    def _taken(self, kind: FileLinkKind) -> list[Released]:
        """Remove and return links of a kind that are to be requested after all, some at a time."""
        kinds = self._kinds[kind.question]
        wanted = kind.wanted(kinds[kind.name], kinds[kind.wider])
        found = self._database.read(_OF_KIND, (*kind, wanted)).fetchall() if wanted else []
        if found:
            kinds.note_met(kind.name, len(found))
            keys = [row[:1] for row in found]
            self._database.write_many("DELETE FROM file_links WHERE key = ?", keys)
        place = kind.ending if kind.question is PAGE_OF_PLACE else None
        return [Released(url, depth, place, source) for _, url, depth, source in found]

    def _is_known(self, key: bytes) -> bool:
        """Return whether an earlier visit requested a link: then this one does."""
        return newest_url(self._database.read, key) is not None


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


def read_links(connection: sqlite3.Connection) -> dict[str, LinkCount]:
    """Return the counts of a crawl by kind, those with most URLs first."""
    read = connection.execute
    found = {
        kind.name: LinkCount(kind.met, kind.tried, kind.gained)
        for kind in stored_kinds(read, PAGE_OF_LINK, Kind)
    }
    for name, aside in read_aside(read).guesses.items():
        found[name] = found.get(name, LinkCount())._replace(aside=aside)
    return dict(sorted(found.items(), key=lambda item: -item[1].found))
