"""Sites made by hand: the one of the tests, facets, a calendar, a wiki."""

from __future__ import annotations

import re
from itertools import permutations
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from rules_peers.simulated_site import SITE, Answer
from tests.sites.dynamic import DynamicSite

if TYPE_CHECKING:
    from tests.sites.dynamic import Options

_PAGES = 315
_SESSION = re.compile(r"(?:(?<=sid=)|(?<=/s/))[0-9a-f]{10}\b")
_COLOURS, _SIZES, _STUFFS = ("red", "blue", "grey"), ("s", "m", "l", "xl"), ("wool", "silk", "jute")


class Served:
    """The made site of the tests, on one host, asked without its server."""

    def __init__(self, options: Options) -> None:
        with DynamicSite(options) as site:
            self._site = site
        self._chance = Random(options.seed)
        self.seeds = [f"{SITE}/"]
        self.truth = site.truth

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        parts = urlsplit(url)
        page = self._site.shown(f"{parts.path or '/'}?{parts.query}")
        links = [urljoin(url, self._own_ids(reference)) for reference in page.references]
        return Answer(page.content, links) if page.status == 200 else None

    def _own_ids(self, reference: str) -> str:
        """Replace session ids, which the site takes from the system, by those of a seed."""
        return _SESSION.sub(lambda _: f"{self._chance.getrandbits(40):010x}", reference)


class Facets:
    """A shop whose facets stand in the path, in any order: ``/shop/wool/red/m``."""

    def __init__(self, seed: int = 1) -> None:
        self._seed = seed
        kinds = [_COLOURS, _SIZES, _STUFFS]
        chosen: list[tuple[str, ...]] = [()]
        for kind in kinds:
            chosen += [(*one, value) for one in chosen for value in kind]
        self._sets = {frozenset(one) for one in chosen}
        self._kinds = kinds
        self.seeds = [f"{SITE}/shop"]
        self.truth = frozenset(map(_name_of, self._sets))

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        names = [name for name in urlsplit(url).path.split("/") if name]
        some = frozenset(names[1:])
        if not names or names[0] != "shop" or some not in self._sets or len(some) < len(names) - 1:
            return None
        links = []
        for kind in self._kinds:
            if some.isdisjoint(kind):
                for value in kind:
                    orders = permutations([*names[1:], value])
                    links += ["/".join([f"{SITE}/shop", *order]) for order in orders]
        return Answer(_name_of(some), links)


def _name_of(facets: frozenset[str]) -> str:
    return "+".join(sorted(facets)) or "all"


class Calendar:
    """Articles, and a calendar without an end of which one day in thirty has an entry."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = Random(seed)
        self.seeds = [f"{SITE}/"]
        self.truth = frozenset([*map(str, range(_PAGES)), *(f"day {n}" for n in range(0, 300, 30))])

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        path = urlsplit(url).path
        day = re.fullmatch(r"/calendar/(\d+)", path)
        if day:
            number = int(day[1])
            links = [f"{SITE}/calendar/{number + step}" for step in (1, 2, 7, 30)]
            is_entry = number % 30 == 0 and number < 300
            return Answer(f"day {number}" if is_entry else "no entry", links)
        page = re.fullmatch(r"/(?:p/(\d+))?", path)
        if page is None or int(page[1] or 0) >= _PAGES:
            return None
        number = int(page[1] or 0)
        links = [f"{SITE}/p/{n}" for n in range(3 * number + 1, 3 * number + 4)]
        return Answer(str(number), [f"{SITE}/calendar/0", *links])


class Wiki:
    """Pages with a history: of each some revisions, differences, and views to edit it.

    The text of an old revision is the present one but where it was edited since: one page in four.
    What is to be found are the pages, and the revisions that say something else.
    """

    def __init__(self, seed: int = 1, size: int = 800) -> None:
        self._size = size
        self._chance = Random(seed)
        self._edited = set(self._chance.sample(range(size), size // 4))
        self.seeds = [f"{SITE}/wiki/0"]
        revisions = [f"{n} as of {one}" for n in self._edited for one in range(3)]
        self.truth = frozenset([*map(str, range(size)), *revisions])

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        parts = urlsplit(url)
        page = re.fullmatch(r"/wiki/(\d+)", parts.path)
        if page is None or int(page[1]) >= self._size:
            return None
        number = int(page[1])
        query = dict(one.split("=") for one in parts.query.split("&") if one)
        here = f"{SITE}/wiki/{number}"
        if query.get("action") in {"edit", "info"} or "returnto" in query:
            return Answer("log in", [])
        if "oldid" in query:
            content = f"{number} as of {query['oldid'][-1]}" if number in self._edited else page[1]
            return Answer(content, [here])
        if query.get("action") == "history":
            links = [f"{here}?oldid={number}{one}" for one in range(3)]
            return Answer(f"history {number}", links)
        first = 4 * number + 1
        links = [f"{SITE}/wiki/{n}" for n in range(first, min(first + 4, self._size))]
        links += [f"{here}?action={action}" for action in ("history", "edit", "info")]
        links += [f"{SITE}/wiki/0?returnto={number}"]
        return Answer(page[1], links)
