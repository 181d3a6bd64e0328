"""Sites whose pages link to views of themselves: what they say again, forms, and lists."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from crawler.urls.canonical import Canonicalizer
from rules_peers.simulated_site import SITE, Answer
from rules_peers.software_sites import LOGIN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CHILDREN = 3
_canonical = Canonicalizer()


class Views(NamedTuple):
    """The URLs of the pages of a site; ``N`` is the number of a page.

    Attributes:
        page: The URL of a page.
        same: URLs that say what the page says, but on pages that are exceptions.
        forms: URLs that show one form, or that want a user.
        lists: URLs that list what stands elsewhere, each page's its own: a history, who links here.
    """

    page: str
    same: Sequence[str] = ()
    forms: Sequence[str] = ()
    lists: Sequence[str] = ()


VIEWS = {
    "forum with a login a page": Views("/topic/N", (), ("/login?return=%2Ftopic%2FN",)),
    "forum with forms": Views(
        "/viewtopic.php?t=N",
        ("/viewtopic.php?p=N7", "/viewtopic.php?t=N&view=print"),
        ("/posting.php?mode=reply&t=N",),
    ),
    "wiki with do=": Views(
        "/doku.php?id=a:N",
        ("/doku.php?do=&id=a%3AN", "/doku.php?id=a:N&do=show"),
        ("/doku.php?id=a:N&do=edit",),
        ("/doku.php?id=a:N&do=revisions",),
    ),
    "wiki with do= and revisions": Views(
        "/doku.php?id=a:N",
        ("/doku.php?id=a:N&rev=10N", "/doku.php?id=a:N&rev=20N"),
        (),
        ("/doku.php?id=a:N&do=diff&rev=10N",),
    ),
    "shop with a cart": Views(
        "/product/N", ("/category/shoes/product/N", "/product/N?ref=list"), ("/cart/add?id=N",)
    ),
    "shop with reviews": Views(
        "/p/N.html",
        ("/p/N.html?tab=reviews", "/p/N.html?tab=questions", "/p/N.html?tab=delivery"),
        ("/review/write?product=N",),
    ),
    "news with comments": Views("/news/N", ("/news/N/amp",), ("/news/N/comment",)),
    "tracker with sorted lists": Views(
        "/bug/N", ("/bug/N?sort=oldest",), ("/bug/N/vote",), ("/bug/N/activity",)
    ),
}
"""Sites by name."""


class ViewedPages:
    """Numbered pages that lead to one another as in a tree, and to all views of themselves.

    What standard rules take for the page is never an exception: no crawl without Scrapy tries them.

    Args:
        views: Their URLs.
        seed: Chooses the exceptions.
        exceptions: How many of a hundred pages say something else at each of ``views.same``.
    """

    def __init__(
        self, views: Views, seed: int = 1, exceptions: float = 0.0, size: int = 315
    ) -> None:
        self._views = views
        count = round(size * exceptions / 100)
        differing = Random(seed).sample(range(1, size), count)
        self._said: dict[str, tuple[str, int]] = {}
        for number in range(size):
            self._said[_key(views.page, number)] = str(number), number
            for kind, url in enumerate(views.same):
                is_other = number in differing and not _is_standard(url, views.page)
                other = f" by {kind}" if is_other else ""
                self._said[_key(url, number)] = f"{number}{other}", number
            for kind, url in enumerate(views.lists):
                self._said[_key(url, number)] = f"list {kind} of {number}", -1
            for url in views.forms:
                self._said[_key(url, number)] = LOGIN, -1
        self._size = size
        self.seeds = [_written(views.page, 0)]
        self.truth = frozenset(said for said, number in self._said.values() if number >= 0)

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        said, number = self._said.get(_asked(url), (None, -1))
        if said is None:
            return None
        first = _CHILDREN * number + 1
        targets = [number, *range(first, min(first + _CHILDREN, self._size))]
        urls = (self._views.page, *self._views.same, *self._views.forms, *self._views.lists)
        links = [_written(one, target) for target in targets for one in urls]
        return Answer(said, links if number >= 0 else [self.seeds[0]])


def _is_standard(url: str, page: str) -> bool:
    return _canonical(_written(url, 1)) == _canonical(_written(page, 1))


def _written(url: str, number: int) -> str:
    return SITE + url.replace("N", str(number))


def _key(url: str, number: int) -> str:
    return _asked(_written(url, number))


def _asked(url: str) -> str:
    """Return what a server reads in a URL: neither order nor escapes of arguments."""
    parts = urlsplit(url)
    return f"{parts.path} {sorted(parse_qsl(parts.query))}"


class RepositoryBrowser:
    """Commits, each with a new text of one file, shown at each of them as ``?id=``.

    Contents are the commits with their folders, the texts of files, and their histories; each of
    the latter is there at every commit, and most say what they said at the one before.
    """

    _VIEWS = ("tree", "plain", "log")

    def __init__(self, seed: int = 1, commits: int = 45, files: int = 9) -> None:
        chance = Random(seed)
        versions, changed = [0] * files, []
        self._texts: list[list[int]] = []
        for _ in range(commits):
            file = chance.randrange(files)
            versions[file] += 1
            changed.append(file)
            self._texts.append(list(versions))
        self.seeds = [f"{SITE}/repo/"]
        names = [f"{view} {number}" for number in range(commits) for view in ("commit", "tree")]
        for view in ("tree", "log"):
            names += [
                f"{view} of {file} as of {text}"
                for texts in self._texts
                for file, text in enumerate(texts)
            ]
        self.truth = frozenset(names)

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        parts = urlsplit(url)
        view, _, name = parts.path.removeprefix("/repo/").partition("/")
        query = dict(parse_qsl(parts.query))
        last = len(self._texts) - 1
        commit = int(query["id"].removeprefix("c")) if "id" in query else last
        if not 0 <= commit <= last:
            return None
        if not name:
            return Answer(f"{view} {commit}" if view else "summary", self._links(commit))
        file = int(name.removeprefix("f"))
        said = f"{'log' if view == 'log' else 'tree'} of {file} as of {self._texts[commit][file]}"
        return Answer(said, self._links(commit, name))

    def _links(self, commit: int, name: str = "") -> list[str]:
        here = f"?id=c{commit}"
        shown = [name] if name else [f"f{file}" for file in range(len(self._texts[0]))]
        links = [f"{SITE}/repo/{view}/{one}{here}" for one in shown for view in self._VIEWS]
        links += [f"{SITE}/repo/{view}/{here}" for view in ("commit", "tree")]
        links += [f"{SITE}/repo/commit/?id=c{commit - 1}", f"{SITE}/repo/"]
        return links


_FACETS = {"colour": ("red", "blue", "grey"), "size": ("s", "m", "l"), "stuff": ("wool", "silk")}
_SORTS = ("price", "name", "new")


class FacetedShop:
    """Products, and lists of them by arguments: facets in any number, orders that do not matter."""

    def __init__(self, seed: int = 1, size: int = 120) -> None:
        chance = Random(seed)
        self._products = [
            {name: chance.choice(values) for name, values in _FACETS.items()} for _ in range(size)
        ]
        self.seeds = [f"{SITE}/shop"]
        chosen = [dict(some) for some in self._chosen()]
        self.truth = frozenset(
            [*(f"product {number}" for number in range(size)), *map(self._list, chosen)]
        )

    def _chosen(self) -> list[tuple[tuple[str, str], ...]]:
        pairs = [(name, value) for name, values in _FACETS.items() for value in values]
        some = [one for count in range(4) for one in combinations(pairs, count)]
        return [one for one in some if len(dict(one)) == len(one)]

    def _shown(self, chosen: dict[str, str]) -> list[int]:
        products = enumerate(self._products)
        return [number for number, one in products if chosen.items() <= one.items()]

    def _list(self, chosen: dict[str, str]) -> str:
        return f"list {self._shown(chosen)}"

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        parts = urlsplit(url)
        if parts.path.startswith("/product/"):
            return Answer(f"product {parts.path.rpartition('/')[2]}", self.seeds)
        query = dict(parse_qsl(parts.query))
        chosen = {name: query[name] for name in _FACETS if name in query}
        links = [f"{SITE}/product/{number}" for number in self._shown(chosen)]
        for name, values in _FACETS.items():
            others = [chosen | {name: value} for value in values] if name not in chosen else []
            links += [_with(other, query.get("sort")) for other in others]
        links += [_with(chosen, sort) for sort in _SORTS]
        return Answer(self._list(chosen), links)


def _with(chosen: dict[str, str], sort: str | None) -> str:
    arguments = [f"{name}={value}" for name, value in sorted(chosen.items())]
    arguments += [f"sort={sort}"] if sort else []
    return f"{SITE}/shop" + (f"?{'&'.join(arguments)}" if arguments else "")


def viewed(name: str, exceptions: float = 0.0) -> Callable[[int], ViewedPages]:
    """Return what makes a site of ``VIEWS`` of a seed."""
    return lambda seed: ViewedPages(VIEWS[name], seed, exceptions)
