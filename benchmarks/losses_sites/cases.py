"""The sites, and how each is crawled."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from losses_sites.served import WORDS, Page, Site, page
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_PAGES = 2_000
"""Pages after which a crawl without an end is stopped."""


@dataclass(frozen=True, slots=True)
class Case:
    """A site and the crawls that are made of it, one after the other, into one directory.

    Attributes:
        name: What it shows.
        site: Make it.
        visits: Arguments of each crawl.
        change: Change the site before a visit, given by its number; the first is 0.
        stop_secs: Stop the first crawl so long when half of the pages were asked for.
    """

    name: str
    site: Callable[[], Site]
    visits: Sequence[Sequence[str]] = ((),)
    change: Callable[[Site, int], None] | None = None
    stop_secs: float = 0.0


def _listed(site: Site, links: Sequence[str], size: int = 50) -> Site:
    """Put pages with links before the others, the first of them at ``/``."""
    parts = [[f"/list/{n}" for n in range(1, -(-len(links) // size))], *_cut(links, size)]
    home = [*parts[0], *(parts[1] if len(parts) > 1 else [])]
    site.pages["/"] = page("home", home)
    for number, part in enumerate(parts[2:], 1):
        site.pages[f"/list/{number}"] = page(f"list {number}", part)
    return site


def _cut(links: Sequence[str], size: int) -> list[list[str]]:
    return [list(links[start : start + size]) for start in range(0, len(links), size)]


def spellings(query: str, *, robots: str = "", status: int = 200) -> Site:
    """Forty pages, each linked first by a spelling that is refused, then as it is."""
    site = Site()
    site.robots = robots
    for number in range(40):
        content = f"article {number}"
        site.pages[f"/p{number}"] = page(content)
        other = page(content) if status == 200 else Page(None, b"expired", status)
        site.pages[f"/p{number}?{query}"] = other
    plain = [f"/p{number}" for number in range(40)]
    refused = [f"{link}?{query}" for link in plain]
    pairs = [link for pair in zip(refused[:20], plain[:20], strict=True) for link in pair]
    return _listed(site, [*pairs, *refused[20:], *plain[20:]], 20)


def odd_hosts() -> Site:
    """Forty pages behind hosts that a browser reads and a resolver does not."""
    site = Site()
    for number in range(40):
        site.pages[f"/p{number}"] = page(f"article {number}")
    hosts = (f"@127.0.0.1:{site.port}", f":@127.0.0.1:{site.port}", f"127.0.0.1.:{site.port}")
    odd = [f"http://{hosts[number % 3]}/p{number}" for number in range(40)]
    return _listed(site, [*odd, *(f"/p{number}" for number in range(20))], 40)


def rare_argument() -> Site:
    """400 articles under two values of an argument that matters on 12 of them."""
    site, links = Site(), []
    matters = set(random.Random(1).sample(range(150, 400), 12))
    for number in range(400):
        site.pages[f"/a?id={number}&view=full"] = page(f"article {number}")
        other = f"comments {number}" if number in matters else f"article {number}"
        site.pages[f"/a?id={number}&view=talk"] = page(other)
        links += [f"/a?id={number}&view=full", f"/a?id={number}&view=talk"]
    return _listed(site, links, 50)


def rare_path() -> Site:
    """300 articles with a copy below ``/print/`` that says something else on 7 of them."""
    site, links = Site(), []
    matters = set(random.Random(2).sample(range(150, 300), 7))
    for number in range(300):
        site.pages[f"/a/{number}"] = page(f"article {number}")
        other = f"appendix {number}" if number in matters else f"article {number}"
        site.pages[f"/print/a/{number}"] = page(other)
        links += [f"/a/{number}", f"/print/a/{number}"]
    return _listed(site, links, 50)


def rare_host() -> Site:
    """300 articles on two hosts, of which 7 say something else on the second."""
    site, links = Site(addresses=2), []
    matters = set(random.Random(3).sample(range(150, 300), 7))
    for number in range(300):
        site.pages[f"127.0.0.1/a/{number}"] = page(f"article {number}")
        other = f"edition {number}" if number in matters else f"article {number}"
        site.pages[f"127.0.0.2/a/{number}"] = page(other)
        links += [f"http://127.0.0.{host}:{site.port}/a/{number}" for host in (1, 2)]
    return _listed(site, links, 50)


def busy() -> Site:
    """41 pages on a site that answers 429 beyond ten requests in three seconds."""
    site = Site()
    site.limit = (10, 3.0)
    for number in range(40):
        site.pages[f"/p{number}"] = page(f"article {number}")
    return _listed(site, [f"/p{number}" for number in range(40)])


def tree() -> Site:
    """400 pages, each of which takes a moment to read."""
    site, links = Site(), []
    for number in range(400):
        site.pages[f"/p{number}"] = page(f"article {number}", text=prose(str(number), 2_000))
        links.append(f"/p{number}")
    return _listed(site, links)


def endings() -> Site:
    """Thirty pages whose URLs end as files do."""
    site = Site()
    names = ("/wiki/Node{}.js", "/wiki/File:Boat{}.jpg", "/packages/tool{}.deb")
    links = [names[number % 3].format(number) for number in range(30)]
    for number, link in enumerate(links):
        site.pages[link] = page(f"article {number}")
    return _listed(site, links)


def slow_parents() -> Site:
    """Ten pages that are found too deep first, since the short way to them answers late."""
    site = Site()
    numbers = range(10)
    site.pages["/"] = page("home", ["/quick", *(f"/slow{n}" for n in range(4))])
    site.pages["/quick"] = page("quick", ["/quicker"])
    site.pages["/quicker"] = page("quicker", [f"/page{n}" for n in numbers])
    for n in range(4):
        late = page(f"slow {n}", [f"/page{one}" for one in numbers if one % 4 == n])
        site.pages[f"/slow{n}"] = Page(late.content, late.body, delay_secs=2.0)
    for n in numbers:
        site.pages[f"/page{n}"] = page(f"page {n}", [f"/child{n}"])
        site.pages[f"/child{n}"] = page(f"child {n}")
    return site


def beside() -> Site:
    """Twenty pairs of pages with one main text, and 150 to 200 other words that are visible."""
    site, links = Site(), []
    tags = [
        "<aside>{}</aside>",
        "<div class=related>{}</div>",
        "<figcaption>{}</figcaption>",
        '<div class="product-widget">{}</div>',
        '<div style="display:none">{}</div>',
    ]
    for number in range(20):
        said = prose(f"shared {number}", 141)
        for side in ("left", "right"):
            other = tags[number % 5].format(prose(f"{side} {number}", 150 + number * 2))
            link = f"/{side}/{number}"
            site.pages[link] = page(f"{side} {number}", text=said, extra=other)
            body = site.pages[link].body.replace(f"{side} {number}<".encode(), b"One title<")
            site.pages[link] = Page(f"{side} {number}", body)
            links.append(link)
    return _listed(site, links)


def wall() -> Site:
    """1,600 URLs behind one login page, whose words change before the second visit."""
    site = Site()
    links = [f"/account/{number}" for number in range(1_600)]
    _listed(site, links, 200)
    change_wall(site, 0)
    return site


def change_wall(site: Site, visit: int) -> None:
    """Let the login page say something else at each visit."""
    for number in range(1_600):
        shown = page("wall", text=prose(f"wall {visit}", WORDS))
        site.pages[f"/account/{number}"] = shown


def notice() -> Site:
    """Twenty pages that all show one notice at the second visit, and their own at the third."""
    site = Site()
    _listed(site, [f"/p{number}" for number in range(20)])
    change_notice(site, 0)
    return site


def change_notice(site: Site, visit: int) -> None:
    """Show the notice at the second visit."""
    for number in range(20):
        own = page(f"article {number}")
        site.pages[f"/p{number}"] = own if visit != 1 else page("notice")


class Endless(Site):
    """A hundred pages and a space of URLs without an end that all show one page."""

    def __init__(self, shape: str) -> None:
        super().__init__()
        self._shape = shape
        self._head = shape.partition("{}")[0]
        for number in range(100):
            self.pages[f"/p{number}"] = page(f"article {number}")
        _listed(self, [*(f"/p{number}" for number in range(100)), shape.format(1)])

    def find(self, host: str, target: str) -> Page | None:
        """See the base class."""
        target = unquote(target)
        found = re.match(r"\d+", target.removeprefix(self._head))
        if not target.startswith(self._head) or found is None:
            return super().find(host, target)
        number = int(found[0])
        links = [self._shape.format(number * 2 + one) for one in range(2)]
        return page("endless", links, text=prose("endless", WORDS))

    @property
    def truth(self) -> set[str]:
        """See the base class."""
        return {*super().truth, "endless"}


def half_alike() -> Site:
    """1,200 pages, every two of which share half of their words."""
    site, links = Site(), []
    shared = prose("shared by all", 200)
    for number in range(1_200):
        said = f"{shared} {prose(f'own {number}', 200)}"
        site.pages[f"/p{number}"] = page(f"article {number}", text=said)
        links.append(f"/p{number}")
    return _listed(site, links, 100)


def barren() -> Site:
    """Forty pages with a thousand links each to URLs that all show one page."""
    site = Site()
    _listed(site, [f"/hub/{number}" for number in range(40)])
    for number in range(40):
        links = [f"/day/{number * 1_000 + day}" for day in range(1_000)]
        site.pages[f"/hub/{number}"] = page(f"hub {number}", links)
        for link in links:
            site.pages[link] = page("day", text=prose("day", WORDS))
    return site


def huge() -> Site:
    """Four pages of fourteen million characters."""
    site = Site()
    for number in range(4):
        chance = random.Random(number)
        said = " ".join(f"{chance.getrandbits(40):x}" for _ in range(1_270_000))
        site.pages[f"/p{number}"] = page(f"article {number}", text=said)
    return _listed(site, [f"/p{number}" for number in range(4)])


def long_robots() -> Site:
    """Twenty pages behind a robots.txt of 64 kB."""
    site = Site()
    agents = "".join(f"User-agent: robot{number}\n" for number in range(1_300))
    rules = "".join(f"Disallow: /private/{number}/\n" for number in range(1_500))
    site.robots = f"{agents}User-agent: *\n{rules}"
    for number in range(20):
        site.pages[f"/p{number}"] = page(f"article {number}")
    return _listed(site, [f"/p{number}" for number in range(20)])


_CAP = ("-a", f"max_pages={MAX_PAGES}")
_REVISIT = ("-a", "revisit=yes")
_UTM = "utm_source=nav"

CASES: tuple[Case, ...] = (
    Case(
        "spelling forbidden by robots.txt",
        lambda: spellings(_UTM, robots="User-agent: *\nDisallow: /*?\n"),
    ),
    Case("spelling refused by deny", lambda: spellings(_UTM), (("-a", "deny=utm_"),)),
    Case("spelling that answers 403", lambda: spellings("PHPSESSID=old", status=403)),
    Case("host of an odd spelling", odd_hosts),
    Case("argument that matters on 12 of 400", rare_argument),
    Case("path that matters on 7 of 300", rare_path),
    Case("host that matters on 7 of 300", rare_host, (("-a", "scope=host"),)),
    Case("429 beyond 10 requests in 3 s", busy),
    Case("process stopped for 6 s", tree, (("-s", "READING_TIMEOUT_SECS=3"),), None, 6.0),
    Case("pages named like files", endings),
    Case("short way answers late", slow_parents, (("-a", "max_depth=3"),)),
    Case("one main text, other words beside it", beside),
    Case("login wall that changes", wall, ((), _REVISIT), change_wall),
    Case("notice for one visit", notice, ((), _REVISIT, _REVISIT), change_notice),
    Case("endless ?kN=1", lambda: Endless("/e?k{}=1"), (_CAP,)),
    Case("endless ?N", lambda: Endless("/e?{}"), (_CAP,)),
    Case("endless ?a[N]=1", lambda: Endless("/e?a[{}]=1"), (_CAP,)),
    Case("pages half alike", half_alike),
    Case("40,000 links to one page", barren, (_CAP,)),
    Case("texts of 14 MB", huge, (("-s", "READING_TIMEOUT_SECS=300"),)),
    Case("robots.txt of 64 kB", long_robots),
)
