"""Name the faults of a site, hold what was found of them, and count the links to each page."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappush, heapreplace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawler.pages.page_row import newest_keys
from crawler.reading.link_kinds import PAGES, WRITTEN
from crawler.storage.states import SKIPPED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from crawler.pages.page_links import LinkGraph
    from crawler.urls.canonical import Canonicalizer


class FaultKind(NamedTuple):
    """The words about a fault.

    Attributes:
        heading: Its name for people.
        meaning: What it does to visitors, or how it is mended.
        relation: What the pages of an example are to it; empty where it has none.
        is_shared: Whether the detail of an example is what its pages have in common.
        asked_by: How to ask for it, where an ordinary crawl does not.
    """

    heading: str
    meaning: str
    relation: str = ""
    is_shared: bool = False
    asked_by: str = ""


FAULTS: dict[str, FaultKind] = {
    "broken_links": FaultKind(
        "Broken links", "A link leads to no page: mend it, or take it out.", "linked on"
    ),
    "fragments": FaultKind(
        "Links to places that are not there",
        "Nothing on the page has that name (id, or name of an anchor): visitors see its top.",
        "linked on",
        asked_by="crawl and mirror with --check-fragments",
    ),
    "external_links": FaultKind(
        "Dead links to other sites",
        "The other site has no page there, or does not answer: link elsewhere.",
        "linked on",
        asked_by="crawl-once links with --check-external N",
    ),
    "redirect_circles": FaultKind(
        "Redirects in a circle", "The URL leads back to itself: nobody sees a page.", "linked on"
    ),
    "redirect_chains": FaultKind(
        "Chains of redirects",
        "Each redirect costs a visitor a request: let the first one lead to the end.",
        "linked on",
    ),
    "redirected_links": FaultKind(
        "Links to URLs that redirect", "A link to the new URL spares a request.", "linked on"
    ),
    "canonicals": FaultKind(
        "Contradicting canonical URLs",
        "The page calls another one canonical (rel=canonical) that does not have its text.",
    ),
    "translations": FaultKind(
        "Contradicting translations",
        "The page names a translation (hreflang) that is no page, or does not name it back.",
    ),
    "orphans": FaultKind(
        "Pages without a link to them",
        "A sitemap, a feed or a guess led there: nobody comes there by following links.",
    ),
    "missing_titles": FaultKind(
        "Pages without a title", "Search results and tabs of browsers show the title."
    ),
    "repeated_titles": FaultKind(
        "Titles of several pages",
        "In a list nobody can tell these pages apart.",
        "title of",
        is_shared=True,
    ),
    "missing_descriptions": FaultKind(
        "Pages without a description",
        "Search engines show the description (meta name=description) below the title.",
    ),
    "repeated_descriptions": FaultKind(
        "Descriptions of several pages",
        "A description is to say what is on this page alone.",
        "description of",
        is_shared=True,
    ),
    "duplicates": FaultKind(
        "Pages at several URLs",
        "These URLs show one page, or nearly so: let the others redirect to it, or call it "
        "canonical.",
        "also at",
    ),
}
"""The words about each fault, by its name."""


@dataclass(frozen=True, slots=True)
class FaultPage:
    """A page that a fault concerns.

    Attributes:
        url: Its URL.
        text: What its link shows, or how it repeats another page; empty where there is neither.
    """

    url: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class FaultExample:
    """One case of a fault.

    Attributes:
        url: The URL with the fault.
        detail: What is wrong with it, or what several pages share.
        count: How many pages it concerns: those that link to it, repeat it or share it.
        pages: Some of them.
    """

    url: str
    detail: str = ""
    count: int = 0
    pages: tuple[FaultPage, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """The cases that were found of one fault.

    Attributes:
        name: A key of ``FAULTS``.
        count: How many cases there are.
        examples: Some of them.
    """

    name: str
    count: int
    examples: tuple[FaultExample, ...]

    @property
    def kind(self) -> FaultKind:
        return FAULTS[self.name]


class FaultExamples:
    """Collects cases of a fault, in bounded memory.

    Args:
        name: Name of the fault.
        most: Keep at most this many examples.
        largest_first: Whether those that concern the most pages are kept, else the first ones.
    """

    def __init__(self, name: str, most: int, *, largest_first: bool = False) -> None:
        self._name = name
        self._most = most
        self._largest_first = largest_first
        self._count = 0
        self._held: list[tuple[int, int, FaultExample]] = []

    def add(self, example: FaultExample) -> None:
        self._count += 1
        entry = (example.count if self._largest_first else 0, -self._count, example)
        if len(self._held) < self._most:
            heappush(self._held, entry)
        elif entry > self._held[0]:
            heapreplace(self._held, entry)

    def fault(self) -> Fault:
        """Return what was collected so far."""
        examples = tuple(example for *_, example in sorted(self._held, reverse=True))
        return Fault(self._name, self._count, examples)


_KEYS = f"""
SELECT key FROM redirects UNION SELECT key FROM requests WHERE state = {SKIPPED} AND key IS NOT NULL
"""
_REDIRECTS = "SELECT key, target FROM redirects"
_SKIPPED = f"""
SELECT requests.key, url_groups.key FROM requests
JOIN url_groups ON url_groups.group_digest = requests.group_digest
WHERE requests.state = {SKIPPED} AND requests.key IS NOT NULL
"""
_BATCH = 20_000
"""Look at this many links at once."""

_MAX_HOPS = 10
"""Follow this many redirects in a row."""

_MAX_MALFORMED = 10_000
"""Tell at most this many targets of links that are no URL."""


class Inlinks:
    """Counts the links to each URL, with their pages, and tells the pages that nothing leads to.

    A link of a page to itself counts for nothing, nor does one that is a guess or only says how
    the page is called elsewhere (``crawler.reading.link_kinds``). ``nofollow`` links count: people
    follow them.

    Args:
        connection: Connection from ``open_for_reading``.
        watched: Keys of URLs whose sources are collected, with whether what only names them
            (``WRITTEN``) counts too.
        most: Collect at most this many sources of a URL.

    Attributes:
        malformed: Number and first of the pages that link to what is no URL, by what they link to.
    """

    def __init__(
        self, connection: sqlite3.Connection, watched: Mapping[bytes, bool], most: int
    ) -> None:
        self._connection = connection
        self._most = most
        self._watched = watched
        self.malformed: dict[str, tuple[int, list[FaultPage]]] = {}
        others = (key for (key,) in connection.execute(_KEYS))
        self._known = np.unique(_numbers(chain(watched, newest_keys(connection.execute), others)))
        self._counts = np.zeros(len(self._known), dtype=np.int64)
        places = self._places(list(watched))
        self._sources: dict[int, list[FaultPage]] = {int(place): [] for place in places}

    def read(
        self, graph: LinkGraph, canonicalizer: Canonicalizer, advance: Callable[[], None]
    ) -> None:
        """Read all links.

        Args:
            graph: The links.
            canonicalizer: Makes the keys of URLs, as in the crawl.
            advance: Called after each page.

        Complexity: O(links * log URLs); 16 bytes of memory a URL, and the sources.
        """
        keys: list[bytes] = []
        sources: list[FaultPage] = []
        for page in graph.lists():
            met = {page.key}
            for url, _, kind, text in page.links:
                if not kind:
                    self._note_malformed(url, FaultPage(page.url, text))
                key = canonicalizer.key_of(url) if kind in PAGES or kind in WRITTEN else b""
                is_one = kind in PAGES or self._watched.get(key, False)
                if key and is_one and key not in met:
                    met.add(key)  # other spellings of it are links of their own
                    keys.append(key)
                    sources.append(FaultPage(page.url, text))
            if len(keys) >= _BATCH:
                self._note(keys, sources)
                keys.clear()
                sources.clear()
            advance()
        self._note(keys, sources)
        self._linked = self._pass_on()

    def _note_malformed(self, written: str, source: FaultPage) -> None:
        number, pages = self.malformed.get(written, (0, []))
        if number or len(self.malformed) < _MAX_MALFORMED:
            self.malformed[written] = number + 1, pages
            pages += [source] * (number < self._most)

    def of(self, key: bytes) -> tuple[int, tuple[FaultPage, ...]]:
        """Return how many pages link to a watched URL, and the first of them."""
        (place,) = self._places([key])
        if place < 0:
            return 0, ()
        return int(self._counts[place]), tuple(self._sources.get(int(place), ()))

    def are_linked(self, keys: list[bytes]) -> NDArray[np.bool_]:
        """Return of each page whether a link leads to it, also by redirects.

        A link that a learned rule skipped leads to the page that stands for it. A page that came
        after the links were read counts as linked.
        """
        places = self._places(keys)
        return np.where(places < 0, np.True_, self._linked[places])

    def _pass_on(self) -> NDArray[np.bool_]:
        linked = self._counts > 0
        for sql, hops in ((_SKIPPED, 1), (_REDIRECTS, _MAX_HOPS)):
            pairs = self._connection.execute(sql).fetchall()
            sources = self._places([source for source, _ in pairs])
            targets = self._places([target for _, target in pairs])
            met = (sources >= 0) & (targets >= 0)
            for _ in range(hops):
                before = linked.sum()
                linked[targets[met][linked[sources[met]]]] = True
                if linked.sum() == before:
                    break
        return linked

    def _note(self, keys: list[bytes], sources: list[FaultPage]) -> None:
        places = self._places(keys)
        np.add.at(self._counts, places[places >= 0], 1)
        for place, source in zip(places.tolist(), sources, strict=True):
            found = self._sources.get(place)
            if found is not None and len(found) < self._most:
                found.append(source)

    def _places(self, keys: list[bytes]) -> NDArray[np.int64]:
        """Return where keys stand among the known ones; -1 of those that are not."""
        numbers = _numbers(keys)
        places = np.searchsorted(self._known, numbers)
        places[places == len(self._known)] = 0
        if not len(self._known):
            return np.full(len(numbers), -1)
        found = self._known[places] == numbers
        return np.where(found, places, -1)


def _numbers(keys: Iterable[bytes]) -> NDArray[np.uint64]:
    """Return the first eight bytes of each key: two of a million keys share them by no chance."""
    return np.frombuffer(b"".join(key[:8] for key in keys), dtype="<u8").copy()
