"""Sites that are functions: what the page at a URL says, and where it leads, without a network."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import permutations
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import urljoin, urlsplit

from tests.sites.dynamic import CLUTTERED, DynamicSite, Options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SITE = "http://site.test"
PAGES = 315
_CHILDREN = 3


class Answer(NamedTuple):
    """A page.

    Attributes:
        content: The name of what it says; pages with one name say the same.
        links: The URLs that it links to.
    """

    content: str
    links: Sequence[str]


class SimulatedSite(Protocol):
    """A site without a network."""

    @property
    def seeds(self) -> Sequence[str]:
        """The URLs with which a crawl begins."""

    @property
    def truth(self) -> frozenset[str]:
        """The names of all contents that are to be found."""

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""


@dataclass
class Aliases:
    """Numbered pages, each under several URLs, that lead to one another as in a tree.

    Attributes:
        links: URLs by which a page links to another. ``N`` is its number, ``TOKEN`` a new id in
            each link, ``SLUG`` one of 196 pairs of words.
        pattern: A regular expression of all URLs. Its group ``n`` is the number of the page, its
            group ``v`` what matters on pages that are exceptions.
        variants: The values of the group ``v``.
        exceptions: How many of a hundred pages say something else for each variant.
        is_late: Whether only the last third of the pages has exceptions.
        seed: Chooses exceptions and ids.
    """

    links: Sequence[str]
    pattern: str
    variants: Sequence[str] = ()
    exceptions: float = 0.0
    is_late: bool = False
    seed: int = 1
    size: int = PAGES
    seeds: Sequence[str] = (f"{SITE}/",)
    truth: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._chance = Random(self.seed)
        self._read = re.compile(self.pattern)
        count = round(self.size * self.exceptions / 100)
        numbers = range(2 * self.size // 3 if self.is_late else 1, self.size)
        self._differing = set(self._chance.sample(numbers, min(count, len(numbers))))
        names = [str(number) for number in range(self.size)]
        names += [f"{n} {variant}" for n in self._differing for variant in self.variants]
        self.truth = frozenset(names)

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        is_seed = urlsplit(url).path in {"", "/"} and not urlsplit(url).query
        found = None if is_seed else self._read.fullmatch(url)
        if not is_seed and found is None:
            return None
        number = 0 if found is None else int(found["n"])
        variant = found["v"] if found is not None and "v" in self._read.groupindex else None
        if number >= self.size:
            return None
        first = _CHILDREN * number + 1
        targets = [*range(first, min(first + _CHILDREN, self.size)), *range(number)[-1:]]
        written = [self._write(link, target) for target in targets for link in self.links]
        is_other = variant and number in self._differing
        return Answer(f"{number} {variant}" if is_other else str(number), written)

    def _write(self, link: str, number: int) -> str:
        chance = self._chance
        values = {
            "N": str(number),
            "TOKEN": f"{chance.getrandbits(40):010x}",
            "SLUG": f"{chance.choice(_WORDS)}-{chance.choice(_WORDS)}",
        }
        return _VARIABLE.sub(lambda found: values[found[0]], link)


class Served:
    """The made site of the tests, asked without its server."""

    def __init__(self, options: Options) -> None:
        self._site = DynamicSite(options)
        self.seeds = [self._site.url]
        self.truth = self._site.truth

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        parts = urlsplit(url)
        target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        page = self._site.shown(target, parts.netloc)
        links = [urljoin(url, reference) for reference in page.references]
        return Answer(page.content, links) if page.status == 200 else None


_VARIABLE = re.compile(r"\b(?:N|TOKEN|SLUG)\b|(?<=_)TOKEN|(?<=_)N(?=_)")
_WORDS = "red green blue old new small large fast slow first last open wide long".split()

SHARES = ("facebook", "twitter", "email", "print")
_COLOURS, _SIZES, _STUFFS = ("red", "blue", "grey"), ("s", "m", "l", "xl"), ("wool", "silk", "jute")


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
        self.truth = frozenset("+".join(sorted(one)) for one in self._sets)

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
        return Answer("+".join(sorted(some)), links)


class Calendar:
    """Articles, and a calendar without an end of which one day in thirty has an entry."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = Random(seed)
        self.seeds = [f"{SITE}/"]
        self.truth = frozenset([*map(str, range(PAGES)), *(f"day {n}" for n in range(0, 300, 30))])

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
        if page is None or int(page[1] or 0) >= PAGES:
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


_ALIASES: dict[str, tuple[Sequence[str], str]] = {
    "matrix": ((f"{SITE}/a/N;sz=TOKEN",), r".*/a/(?P<n>\d+);sz=\w+"),
    "slug": ((f"{SITE}/p-N-SLUG",), r".*/p-(?P<n>\d+)-[\w-]+"),
    "id and slug": ((f"{SITE}/p/N/SLUG",), r".*/p/(?P<n>\d+)/[\w-]+"),
    "id in a name": ((f"{SITE}/doc_N_TOKEN.html",), r".*/doc_(?P<n>\d+)_\w+\.html"),
    "session in the path": ((f"{SITE}/s/TOKEN/N",), r".*/s/\w+/(?P<n>\d+)"),
    "session in the query": ((f"{SITE}/p?id=N&sid=TOKEN",), r".*/p\?id=(?P<n>\d+)&sid=\w+"),
    "endless next": ((f"{SITE}/p/N?next=/p/TOKEN",), r".*/p/(?P<n>\d+)\?next=.*"),
    "no duplicates": ((f"{SITE}/p/N",), r".*/p/(?P<n>\d+)"),
}
"""Sites by name: their links, and all their URLs; on none of them does the rest of a URL matter."""

_VARIED: dict[str, tuple[Sequence[str], str, Sequence[str]]] = {
    "print": (
        (f"{SITE}/p/N", f"{SITE}/print/p/N"),
        r".*test/(?:(?P<v>print)/)?p/(?P<n>\d+)",
        ("print",),
    ),
    "share": (
        (f"{SITE}/p/N", *(f"{SITE}/p/N?share={name}" for name in SHARES)),
        r".*/p/(?P<n>\d+)(?:\?share=(?P<v>\w+))?",
        SHARES,
    ),
    "slash": ((f"{SITE}/p/N", f"{SITE}/p/N/"), r".*/p/(?P<n>\d+)(?P<v>/?)", ("/",)),
    "index.html": (
        (f"{SITE}/p/N/", f"{SITE}/p/N/index.html"),
        r".*/p/(?P<n>\d+)/(?P<v>index.html)?",
        ("index.html",),
    ),
    "two hosts": (
        (f"{SITE}/p/N", "http://www.site.test/p/N"),
        r"http://(?P<v>www\.)?site.test/p/(?P<n>\d+)",
        ("www.",),
    ),
    "two schemes": (
        (f"{SITE}/p/N", "https://site.test/p/N"),
        r"http(?P<v>s)?://site.test/p/(?P<n>\d+)",
        ("s",),
    ),
    "AMP": ((f"{SITE}/p/N", f"{SITE}/p/N/amp"), r".*/p/(?P<n>\d+)(?:/(?P<v>amp))?", ("amp",)),
    "three hosts": (
        (f"{SITE}/p/N", "http://www.site.test/p/N", "http://cdn.site.test/p/N"),
        r"http://(?:(?P<v>www|cdn)\.)?site.test/p/(?P<n>\d+)",
        ("www", "cdn"),
    ),
}
"""Sites whose aliases may say something else on some pages: links, URLs, and the variants."""


def _aliases(name: str, **others: Any) -> Callable[[int], SimulatedSite]:
    links, pattern, variants = _VARIED.get(name) or (*_ALIASES[name], ())
    return lambda seed: Aliases(links, pattern, variants, seed=seed, **others)


def _made(**others: Any) -> Callable[[int], SimulatedSite]:
    return lambda seed: Served(replace(CLUTTERED, seed=seed, **others))


SIMULATED: dict[str, Callable[[int], SimulatedSite]] = {
    "made": _made(),
    "made, 12,000 contents": _made(boards=200),
    "made, one part": _made(boards=1, articles=300, authors=0),
    **{name: _aliases(name) for name in (*_ALIASES, *_VARIED)},
    "facets": Facets,
    "calendar": Calendar,
    "wiki": Wiki,
    **{
        f"{name}, {percent} % differ{late}": _aliases(name, exceptions=percent, is_late=bool(late))
        for name in _VARIED
        for percent in (1, 3, 10)
        for late in ("", ", late")
    },
}
"""Sites by name, given a seed."""
