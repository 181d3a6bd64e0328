"""Sites as functions: from a URL to what its page says and where it leads."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from crawler.url_rules.learning.address import Address

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    Site = Callable[[str, Random], tuple[str, list[str]]]

HOST = "http://site.test"


def _argument(url: str, name: str, default: str) -> str:
    values = Address.parse(url).values(name)
    return default if not values else values[0] or ""


def _number(url: str) -> int:
    return int(_argument(url, "id", "0"))


def _next(number: int, count: int, of: int) -> list[int]:
    return [(number * count + step) % of for step in range(1, count + 1)]


def session_in_query(url: str, random: Random) -> tuple[str, list[str]]:
    """A new session id in every link, and two kinds of page."""
    number = _number(url)
    kind = Address.parse(url).segments[0] or "page"
    links = [f"{HOST}/page?id={n}" for n in _next(number, 3, 150)]
    links += [f"{HOST}/picture?id={n}" for n in _next(number, 3, 150)]
    return f"{kind} {number}", [f"{link}&sid={random.getrandbits(64):x}" for link in links]


def session_in_path(url: str, random: Random) -> tuple[str, list[str]]:
    """A new session id in every link, as a folder."""
    last = Address.parse(url).segments[-1]
    number = int(last) if last.isdigit() else 0
    return f"page {number}", [
        f"{HOST}/s/{random.getrandbits(64):x}/{n}" for n in _next(number, 4, 150)
    ]


def argument_of_a_segment(url: str, random: Random) -> tuple[str, list[str]]:
    """A new token in every link, as an argument of a segment of the path."""
    number = int(Address.parse(url).segments[-1].partition(";")[0] or 0)
    links = [f"{HOST}/a/{n};sz={random.getrandbits(40):x}" for n in _next(number, 3, 150)]
    return f"page {number}", links


def words_behind_an_id(url: str, random: Random) -> tuple[str, list[str]]:
    """Any words behind the number of a page, in one segment with it."""
    number = int([*Address.parse(url).segments[-1].split("-"), "0", "0"][1])
    words = ["red", "blue", "old", "new", "large", "small", "wide"]
    return f"page {number}", [
        f"{HOST}/p-{n}-{random.choice(words)}-{random.choice(words)}" for n in _next(number, 3, 150)
    ]


def token_in_a_name(url: str, random: Random) -> tuple[str, list[str]]:
    """A new token in every link, in the middle of a name."""
    number = int([*Address.parse(url).segments[-1].split("_"), "0", "0"][1])
    links = [f"{HOST}/d_{n}_{random.getrandbits(40):x}.html" for n in _next(number, 3, 150)]
    return f"page {number}", links


def print_views(url: str, _: Random) -> tuple[str, list[str]]:
    """Every page again under /print/."""
    segments = Address.parse(url).segments
    number = int(segments[-1][1:-5]) if segments[-1].endswith(".html") else 0
    links = [f"{HOST}/doc/d{n % 9}/p{n}.html" for n in _next(number, 3, 200)]
    return f"page {number}", links + [link.replace("/doc/", "/print/doc/") for link in links]


def bare_print_views(url: str, _: Random) -> tuple[str, list[str]]:
    """Print views that lead nowhere and are linked first; pages lead to pages."""
    segments = Address.parse(url).segments
    number = int(segments[-1][1:-5]) if segments[-1].endswith(".html") else 0
    links = [f"{HOST}/doc/d{n % 9}/p{n}.html" for n in _next(number, 8, 400)]
    if segments[0] == "print":
        return f"page {number}", []
    return f"page {number}", [link.replace("/doc/", "/print/doc/") for link in links] + links


def folders(url: str, _: Random) -> tuple[str, list[str]]:
    """Every page as file, as folder, and as the folder's index."""
    segments = [s for s in Address.parse(url).segments if s not in {"", "index.html"}]
    number = int(segments[-1][1:]) if segments else 0
    ends = ("", "/", "/index.html")
    return f"page {number}", [
        f"{HOST}/c{n % 7}/d{n}{end}" for n in _next(number, 3, 150) for end in ends
    ]


def any_case(url: str, _: Random) -> tuple[str, list[str]]:
    """A server to which capital letters mean nothing."""
    segments = Address.parse(url).segments
    number = int(segments[-1][1:]) if len(segments) > 1 else 0
    names = ("Docs", "docs", "DOCS")
    return f"page {number}", [f"{HOST}/{w}/P{n}" for n in _next(number, 3, 150) for w in names]


def facets(url: str, _: Random) -> tuple[str, list[str]]:
    """Facets in the path in any order, of each kind one at most."""
    chosen = [segment for segment in Address.parse(url).segments if segment not in {"", "shop"}]
    further = [
        f"{kind}{value}"
        for kind in ("colour-", "size-", "cut-")
        if not any(name.startswith(kind) for name in chosen)
        for value in "abcde"
    ]
    orders = [order for name in further for order in permutations([*chosen, name])]
    return "+".join(sorted(chosen)), ["/".join([f"{HOST}/shop", *order]) for order in orders]


def routes(url: str, _: Random) -> tuple[str, list[str]]:
    """Ways from one town to another: there and back are two pages."""
    start, end = [*Address.parse(url).segments, "", ""][1:3]
    links = [f"{HOST}/way/{a}/{b}" for a in "abcdefgh" for b in "abcdefgh" if a != b]
    return f"way from {start} to {end}", links


def under_a_second_name(origin: str) -> Site:
    """The same site at another origin too."""

    def site(url: str, _: Random) -> tuple[str, list[str]]:
        number = int(Address.parse(url).segments[-1] or 0)
        links = [f"{host}/{n}" for n in _next(number, 3, 150) for host in (HOST, origin)]
        return f"page {number}", links

    return site


two_hosts = under_a_second_name("http://www.site.test")


def two_shapes(url: str, _: Random) -> tuple[str, list[str]]:
    """Every page as a file and as a query."""
    address = Address.parse(url)
    last = address.segments[-1]
    number = int(last[:-5]) if last.endswith(".html") else int(_argument(url, "t", "0"))
    return f"page {number}", [
        shape
        for n in _next(number, 3, 150)
        for shape in (f"{HOST}/topic/{n}.html", f"{HOST}/viewtopic.php?t={n}")
    ]


def first_page(url: str, _: Random) -> tuple[str, list[str]]:
    """Lists in which start=0 is what is shown without it."""
    number, start = _number(url), int(_argument(url, "start", "0"))
    links = [f"{HOST}/list?id={n}" for n in _next(number, 3, 100)]
    links += [f"{HOST}/list?id={number}&start={n}" for n in (0, 10, 20)]
    return f"list {number} from {start}", links


def beside(url: str, _: Random) -> tuple[str, list[str]]:
    """An argument that matters only beside another one."""
    number, view, page = _number(url), _argument(url, "view", "grid"), _argument(url, "page", "1")
    said = f"list {number} page {page}" if view == "list" else f"grid {number}"
    views = [(view, page) for view in ("grid", "list") for page in range(1, 5)]
    return said, [
        f"{HOST}/x?id={n}&view={view}&page={page}"
        for n in _next(number, 3, 80)
        for view, page in views
    ]


def no_duplicates(url: str, _: Random) -> tuple[str, list[str]]:
    """Every URL is another page."""
    number, kind = _number(url), _argument(url, "v", "")
    return f"page {number} {kind}", [
        f"{HOST}/x?id={n}&v={w}" for n in _next(number, 3, 200) for w in "abcd"
    ]


def soft_404(url: str, random: Random) -> tuple[str, list[str]]:
    """Of twenty ids nineteen lead to the same words; the id matters all the same."""
    number = _number(url)
    links = [f"{HOST}/view?id={random.randrange(1, 3000)}" for _ in range(20)]
    return f"page {number}" if number % 20 == 0 else "not found", links


def mostly_irrelevant(url: str, _: Random) -> tuple[str, list[str]]:
    """An argument that matters on one page in twenty."""
    number, value = _number(url), _argument(url, "v", "")
    said = f"page {number} {value}" if number % 20 == 7 else f"page {number}"
    links = [f"{HOST}/x?id={n}&v={w}" for n in _next(number, 3, 400) for w in "abcd"]
    return said, links


def at_random(url: str, random: Random) -> tuple[str, list[str]]:
    """Another page at each fetch."""
    links = [f"{HOST}/x?id={n}&v={w}" for n in _next(_number(url), 3, 200) for w in "ab"]
    return f"page {random.randrange(50)}", links


def ever_new(url: str, random: Random) -> tuple[str, list[str]]:
    """A new text at each fetch."""
    links = [f"{HOST}/x?id={n}&v={w}" for n in _next(_number(url), 3, 200) for w in "ab"]
    return f"page {random.random()}", links


def one_error_page(url: str, _: Random) -> tuple[str, list[str]]:
    """The same error with status 200 everywhere but at the start."""
    number = _number(url)
    links = [f"{HOST}/x{n % 40}?id={n}&v={w}" for n in _next(number, 5, 400) for w in "abc"]
    return "start" if Address.parse(url).segments == ("",) else "error", links
