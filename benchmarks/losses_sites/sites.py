"""Made sites, each of which once made a crawl lose pages, keep them twice or stand still."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

from losses_sites.served import WORDS, Page, Site, page
from tests.sites.dynamic import DynamicSite, Options
from tests.sites.endless import HOME, ITEMS, EndlessSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from tests.sites.serving import Request, Response


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
    site.set_robots(robots)
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


def small_differences() -> Site:
    """Four times thirty nameless pages on one template, told apart by what is no word in it."""
    site, wording = Site(), "".join(f"<p>{prose(f'wording {n}', 60)}</p>" for n in range(6))
    orders = list(permutations(("tea", "milk", "salt", "rice"), 4))
    for number in range(30):
        small = {
            "table": ("", f"<aside><table><tr><td>Size<td>{number + 3} cm</table></aside>"),
            "emoji": (f"<p>{chr(0x1F400 + number)}</p>", ""),
            "sign": (f"<p>a {chr(0x2264 + number)} b</p>", ""),
            "order": (f"<p>{', '.join(orders[number % 24])}</p>", ""),
        }
        for kind, (own, extra) in small.items():
            name = f"{kind} {number % 24 if kind == 'order' else number}"
            shown = page("Manual", text=f"{wording}{own}", extra=extra)
            site.pages[f"/{kind}/{number}"] = replace(shown, content=name)
    return _listed(site, list(site.pages))


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


def half_alike() -> Site:
    """1,200 pages, every two of which share half of their words."""
    site, links = Site(), []
    shared = prose("shared by all", 200)
    for number in range(1_200):
        said = f"{shared} {prose(f'own {number}', 200)}"
        site.pages[f"/p{number}"] = page(f"article {number}", text=said)
        links.append(f"/p{number}")
    return _listed(site, links, 100)


def long_texts(count: int, words: int, shared: float = 0.0) -> Site:
    """Pages of long words, eleven characters with the space; a share of them is the same in all."""
    site = Site()
    for number in range(count):
        drawn = random.Random(number), random.Random("shared")
        own, common = ([f"{one.getrandbits(40):x}" for _ in range(words)] for one in drawn)
        common[int(shared * words) :] = own[int(shared * words) :]
        # Pages of one name whose words are the same but for a tenth or less are one.
        name = "articles" if shared > 0.9 else f"article {number}"
        site.pages[f"/p{number}"] = page(name, text=" ".join(common))
    return _listed(site, [f"/p{number}" for number in range(count)])


class Twins(DynamicSite):
    """Articles under other addresses, all but a few of which show the same: a rule is learned.

    Args:
        part: Copies, prints, hosts or pairs, see ``tests.sites.dynamic.twins``.
        size: Articles.
        seed: Draws those that differ. Where they come late, a rule holds before one of them is met.
    """

    def __init__(self, part: str, size: int, seed: int = 1) -> None:
        super().__init__(Options(parts=(part,), size=size, seed=seed))

    @property
    def seeds(self) -> str:
        """See ``Measured``."""
        return ",".join(f"{origin}/" for origin in self.origins)

    @property
    def environment(self) -> Mapping[str, str]:
        """See ``Measured``."""
        return {}

    @property
    def total(self) -> int:
        """See ``Measured``."""
        return len(self.fetches)


class Endless(EndlessSite):
    """Sixty pages and 1,000 URLs that all show one page, each of which leads to further ones."""

    @property
    def seeds(self) -> str:
        """See ``Measured``."""
        return HOME

    @property
    def environment(self) -> Mapping[str, str]:
        """See ``Measured``."""
        return {"http_proxy": self.proxy}

    @property
    def truth(self) -> Set[str]:
        """See ``Measured``."""
        return {"Home", "Loop", *(f"Item {number}" for number in range(ITEMS))}

    def content_of(self, url: str) -> str | None:
        """See ``Measured``."""
        return self.title_of(url)


class Clocked(Site):
    """Short pages, each at three URLs, whose footers tell the time of the answer."""

    def __init__(self) -> None:
        super().__init__()
        links = []
        for number in range(30):
            link, said = f"/thing/{number}", prose(f"thing {number}", 12 + 2 * number)
            for target in (link, f"{link}?at=old", f"{link}?at=older"):
                self.pages[target] = page(f"thing {number}", text=said)
                links.append(target)
        _listed(self, links)

    def respond(self, request: Request) -> Response | None:
        """See ``MadeSite``."""
        found = super().respond(request)
        if found is None or request.target == "/robots.txt":
            return found
        footer = f"<footer>made at {time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime())}</footer>"
        return replace(found, body=found.body + footer.encode())


def passing() -> Site:
    """Forty pages that differ by a second alone, all of them near the time of their answers."""
    site, began = Site(), time.time() - 5
    for number in range(40):
        said = time.strftime("The build passed at %Y-%m-%d %H:%M:%S.", time.gmtime(began + number))
        body = f"<title>Builds</title><p>{said}</p>"
        site.pages[f"/build/{number}"] = Page(f"build {number}", body.encode())
    return _listed(site, list(site.pages))


def hubs(count: int, links: int) -> Site:
    """Pages with many links each, to URLs that all show one page."""
    site = Site()
    _listed(site, [f"/hub/{number}" for number in range(count)])
    for number in range(count):
        linked = [f"/day/{number * links + day}" for day in range(links)]
        site.pages[f"/hub/{number}"] = page(f"hub {number}", linked)
        for link in linked:
            site.pages[link] = page("day", text=prose("day", WORDS))
    return site


def slow_host() -> Site:
    """200 pages, and links to 40,000 on another host that wants two seconds between requests."""
    site = Site(addresses=2)
    site.set_robots("User-agent: *\nCrawl-delay: 2\n", "127.0.0.2")
    links = [f"/p{number}" for number in range(200)]
    for number, link in enumerate(links):
        site.pages[link] = page(f"article {number}")
    slow = range(40_000)
    for number in slow:
        site.pages[f"127.0.0.2/slow/{number}"] = Page(None, page(f"slow {number}").body)
    urls = [f"http://127.0.0.2:{site.port}/slow/{number}" for number in slow]
    site.pages["/slow"] = page("slow", urls)
    return _listed(site, ["/slow", *links])


def long_robots(kilobytes: int) -> Site:
    """Twenty pages behind a long robots.txt, half names of robots and half rules."""
    site = Site()
    lines = kilobytes * 21
    agents = "".join(f"User-agent: robot{number}\n" for number in range(lines))
    rules = "".join(f"Disallow: /private/{number}/\n" for number in range(lines))
    site.set_robots(f"{agents}User-agent: *\n{rules}")
    for number in range(20):
        site.pages[f"/p{number}"] = page(f"article {number}")
    return _listed(site, [f"/p{number}" for number in range(20)])


def outage() -> Site:
    """Forty pages on a server that closes every connection for four seconds in the middle."""
    site = Site()
    site.outage = (20, 4.0)
    for number in range(40):
        site.pages[f"/p{number}"] = page(f"article {number}")
    return _listed(site, [f"/p{number}" for number in range(40)])
