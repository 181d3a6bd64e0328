"""Sites that hand out a cookie and show a gate to those who have none."""

from __future__ import annotations

import re
import stat
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from http import HTTPStatus
from itertools import count
from threading import Event
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import crawl, killed, pages, scrapy
from tests.crawls.crawled import queried
from tests.crawls.mirrored import mirror
from tests.crawls.test_watch import let_a_day_pass, watch
from tests.sites.prose import document
from tests.sites.serving import NOT_FOUND, OF_EVERY_HOST, MadeSite, Request, Response
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PAGES = {f"/p{number}" for number in range(10)}
BRIEF_SECS = 5  # pages 0 to 3 come within it, on a busy machine too
GATES = ("home", "gate", "login", "way", "403", "200", "named", "numbered")
MANY = ("-s", "CONCURRENT_REQUESTS_PER_DOMAIN=8", "-s", "DOWNLOAD_DELAY=0")


class GatedSite(MadeSite):
    """Shows its pages to those who have the cookie of its entry.

    Args:
        gate: What others get: a redirect to ``home``, ``gate`` or ``login``, or the status of a
            text in place of the page, or a text that is ``named`` after it or ``numbered``.
        entry: The path that hands out the cookie.
        address: Of the interface; cookies are of an address, whatever its port.

    Attributes:
        gate: As it was given.
        is_closed: Whether everybody gets the gate, and no cookie.
        cookie: What the entry hands out.
        asked: How often each path was asked for.
    """

    def __init__(self, gate: str, entry: str = "/", address: str = "127.0.0.1") -> None:
        super().__init__((address,))
        self.gate, self._entry = gate, entry
        self.is_closed = False
        self.cookie = "seen=1; Path=/"
        self.asked: Counter[str] = Counter()
        self._refused = Event()

    def respond(self, request: Request) -> Response | None:
        path = request.target.partition("?")[0]
        self.asked[path] += 1
        if path == "/robots.txt":
            body = f"Sitemap: {self.origin}/map.xml\n".encode()
            return Response(body, content_type="text/plain")
        if path == "/map.xml":
            places = "".join(f"<url><loc>{self.origin}{one}</loc></url>" for one in sorted(PAGES))
            return Response(f"<urlset>{places}</urlset>".encode(), content_type="text/xml")
        if path in PAGES and (self.is_closed or "seen=1" not in request.cookie):
            self._refused.set()
            return self._closed(path)
        if path == self._entry:  # it takes its time; others would be asked for meanwhile
            self._refused.wait(1.0)
        headers = {} if self.is_closed or path != self._entry else {"Set-Cookie": self.cookie}
        if path in {"/", "/enter", "/gate", *PAGES}:
            links = "".join(f'<a href="{one}">{one}</a> ' for one in (*sorted(PAGES), "/enter"))
            more = links if path == "/" else ""
            return Response(document(f"Page {path} of {self.gate}", more), headers=headers)
        return NOT_FOUND

    def _closed(self, path: str) -> Response:
        targets = {"login": f"/gate?next={path}", "way": f"/gate?r={path}", "home": "/"}
        if self.gate in {*targets, "gate"}:
            return Response(status=302, headers={"Location": targets.get(self.gate, "/gate")})
        title = f"Please confirm your age at {self.gate}"
        texts = {"named": f"To see {path}", "numbered": f"Request {7919 * self.asked.total()}"}
        if self.gate in texts:
            return Response(document(title, f"<p>{texts[self.gate]}"))
        return Response(document(title), status=int(self.gate))


def shown(folder: Path) -> set[str]:
    """The pages whose own text is in a mirror, and to which its first page leads."""
    (index,) = folder.glob("127*/index.html")
    linked = re.findall(r'href="(p\d)\.html"', index.read_text())
    return {
        f"/{name}"
        for name in linked
        if f"<title>Page /{name} of " in (index.parent / f"{name}.html").read_text()
    }


@pytest.mark.parametrize("gate", GATES)
def test_a_mirror_has_all_pages_whatever_interrupts_it(gate: str, tmp_path: Path) -> None:
    with GatedSite(gate) as site:
        mirror(f"{site.origin}/", tmp_path, "--max-pages", "3", *MANY)
        jar = tmp_path / ".mirror" / "cookies.txt"
        assert stat.S_IMODE(jar.stat().st_mode) == 0o600
        assert "\tseen\t1\n" in jar.read_text()
        mirror(f"{site.origin}/", tmp_path, *MANY)
        assert shown(tmp_path) == PAGES
        assert {site.asked[path] for path in PAGES} == {1}, "none met the gate"
        site.is_closed = True
        # A page that is refused has failed, and is no other one.
        status = 0 if gate == "403" else 1
        for _ in range(2):  # the second one goes on with the first
            update = mirror(f"{site.origin}/", tmp_path, *MANY, status=status)
            assert ("as behind a gate" in update.done.stderr) == bool(status)
            assert shown(tmp_path) == PAGES
        site.is_closed = False
        mirror(f"{site.origin}/", tmp_path, *MANY)
        assert shown(tmp_path) == PAGES


def crawl_all(sites: Iterable[GatedSite], folder: Path) -> dict[str, dict[str, str]]:
    """Crawl sites at once, and return the titles of their pages by gate and path."""
    with ExitStack() as stack:
        served = {site.gate: stack.enter_context(site) for site in sites}
        crawl(",".join(f"{site.origin}/" for site in served.values()), folder, *MANY)
    found = pages(folder)
    return {
        gate: {
            row["url"].removeprefix(site.origin): row["title"]
            for row in found
            if row["url"].startswith(f"{site.origin}/")
        }
        for gate, site in served.items()
    }


def test_pages_are_asked_again_with_a_cookie_that_came_late(tmp_path: Path) -> None:
    sites = [GatedSite(gate, "/enter", f"127.0.0.{number}") for number, gate in enumerate(GATES, 2)]
    titles = crawl_all(sites, tmp_path)
    for site in sites:
        wanted = {path: f"Page {path} of {site.gate}" for path in PAGES}
        assert titles[site.gate].items() >= wanted.items()
        assert site.asked.total() < 50, site.gate


class RenamedSite(GatedSite):
    """Has old URLs beside, each of which redirects to a page of its own."""

    def respond(self, request: Request) -> Response | None:
        _, kind, number = f"{request.target}//".split("/")[:3]
        if kind == "old":
            return Response(status=301, headers={"Location": f"/new/{number}"})
        if kind == "new":
            return Response(document(f"Page {number} of the new ones"))
        answer = super().respond(request)
        if request.target == "/" and answer is not None:
            links = "".join(f'<a href="/old/{one}">{one}</a> ' for one in range(100))
            return replace(answer, body=answer.body + links.encode())
        return answer


def test_a_gate_that_knows_the_way_back_is_found_among_redirects(tmp_path: Path) -> None:
    with RenamedSite("login", "/enter") as site:
        crawl(f"{site.origin}/", tmp_path, *MANY)
    titles = {row["url"].removeprefix(site.origin): row["title"] for row in pages(tmp_path)}
    assert titles.items() >= {path: f"Page {path} of login" for path in PAGES}.items()


class RowOfGatesSite(MadeSite):
    """Leads to one gate after the other, and each hands out the cookie that it asks for."""

    gates = ("consent", "age", "region")

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()

    def respond(self, request: Request) -> Response:
        path = request.target
        self.asked[path] += 1
        name = path.strip("/").partition("?")[0]
        if name in self.gates:
            text = f"<h1>Your {name}</h1><p>Do you tell us your {name}?</p>"
            return Response(text.encode(), headers={"Set-Cookie": f"{name}=1; Path=/"})
        if path not in {"/", *PAGES}:
            return NOT_FOUND
        for gate in self.gates:
            if gate not in request.cookie:
                return Response(status=302, headers={"Location": f"/{gate}?to={path}"})
        links = "".join(f'<a href="{one}">{one}</a> ' for one in sorted(PAGES))
        return Response(document(f"Page {path}", links if path == "/" else ""))


def test_all_gates_in_a_row_are_passed(tmp_path: Path) -> None:
    with RowOfGatesSite() as site:
        crawl(f"{site.origin}/", tmp_path, *MANY)
    titles = {row["url"].removeprefix(site.origin): row["title"] for row in pages(tmp_path)}
    assert titles.items() >= {path: f"Page {path}" for path in ("/", *PAGES)}.items()


class ReloadedSite(RowOfGatesSite):
    """Gives a cookie with a page that reloads itself, and its pages to those who have it.

    Args:
        refresh: The header ``Refresh`` of that page, "" without one.
    """

    def __init__(self, refresh: str) -> None:
        super().__init__()
        self._refresh = refresh

    def respond(self, request: Request) -> Response:
        if "passed=1" in request.cookie or request.target not in {"/", *PAGES}:
            return super().respond(replace(request, cookie="consent age region"))
        headers = {"Set-Cookie": "passed=1; Path=/"}
        headers |= {"Refresh": self._refresh} if self._refresh else {}
        script = "<script>location.reload()</script>"
        return Response(f"<p>Checking your browser ...</p>{script}".encode(), headers=headers)


@pytest.mark.parametrize("refresh", ["", "1", "0; url=/"])
def test_a_seed_that_gives_a_cookie_and_leads_nowhere_is_asked_again(
    refresh: str, tmp_path: Path
) -> None:
    with ReloadedSite(refresh) as site:
        crawl(f"{site.origin}/", tmp_path, *MANY)
    titles = {row["url"].removeprefix(site.origin): row["title"] for row in pages(tmp_path)}
    assert titles.items() >= {path: f"Page {path}" for path in ("/", *PAGES)}.items()


class RestlessSite(RowOfGatesSite):
    """Leads from all its pages but one to a page that says something else each time."""

    cookie = "seen=1; Path=/"

    def respond(self, request: Request) -> Response:
        self.asked[request.target] += 1
        if request.target == "/":
            links = "".join(f'<a href="{one}">{one}</a> ' for one in sorted(PAGES))
            return Response(document("Home", links))
        if request.target in PAGES:
            return Response(status=302, headers={"Location": "/today"})
        if request.target == "/today":
            text = document(f"Offer {self.asked.total()}")
            return Response(text, headers={"Set-Cookie": self.cookie} if self.cookie else {})
        return NOT_FOUND


@pytest.mark.parametrize("cookie", ["seen=1; Path=/", ""])
def test_redirects_to_what_always_changes_are_asked_again_a_few_times(
    tmp_path: Path, cookie: str
) -> None:
    with RestlessSite() as site:
        site.cookie = cookie
        crawl(f"{site.origin}/", tmp_path, *MANY)
    assert sum(site.asked[path] for path in PAGES) <= 3 * len(PAGES)


@pytest.mark.parametrize("attributes", ["Domain=localhost; HttpOnly", "Path=/; Secure"])
def test_cookies_of_this_machine_are_sent_there(attributes: str, tmp_path: Path) -> None:
    with GatedSite("gate") as site:
        site.origin = f"http://localhost:{site.port}"
        site.cookie = f"seen=1; {attributes}"
        crawl(f"{site.origin}/", tmp_path, "-a", "max_pages=3", *MANY)
        crawl(f"{site.origin}/", tmp_path, *MANY)
    titles = {row["title"] for row in pages(tmp_path)}
    assert titles >= {f"Page {path} of gate" for path in PAGES}


def test_a_visit_of_a_crawl_ends_at_a_gate(tmp_path: Path) -> None:
    with GatedSite("200") as site:
        crawl(f"{site.origin}/", tmp_path, *MANY)
        before = pages(tmp_path)
        site.is_closed = True
        again = ("-a", f"url={site.origin}/", "-s", f"JOBDIR={tmp_path}", "-a", "revisit=yes")
        done = scrapy("crawl", "site", *again, *MANY)
        assert done.returncode == 1
        assert "known pages have one text now, as behind a gate" in done.stderr
    assert [row["text"] for row in pages(tmp_path)] == [row["text"] for row in before]


class NumberingSite(MadeSite):
    """Sets a cookie to the number of each page that it sends."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = count(1)

    def respond(self, request: Request) -> Response | None:
        if request.target in OF_EVERY_HOST:
            return NOT_FOUND
        links = "".join(f'<a href="/p{number}">{number}</a> ' for number in range(200))
        cookie = {"Set-Cookie": f"sent={next(self._numbers)}"}
        return Response(document(f"Page {request.target}", links), headers=cookie)


@pytest.mark.slow
def test_no_page_is_stored_without_the_cookies_that_came_before(tmp_path: Path) -> None:
    with NumberingSite() as site:
        options = ("-a", f"url={site.origin}/", "-s", f"JOBDIR={tmp_path}", *MANY)
        with killed("crawl", "site", *options):
            wait_until(lambda: stored(tmp_path) >= 30)
    jar = (tmp_path / "cookies.txt").read_text()
    assert int(jar.split("\tsent\t")[1]) >= stored(tmp_path)


def stored(folder: Path) -> int:
    """Return how many pages a crawl has committed."""
    if not (folder / "cookies.txt").exists():
        return 0
    ((count,),) = queried(folder, "SELECT count(*) FROM pages")
    return int(count)


@pytest.mark.slow
@pytest.mark.parametrize("gate", ["named", "403"])
def test_a_watch_tells_nothing_of_pages_behind_a_gate(gate: str, tmp_path: Path) -> None:
    folder = tmp_path / "job"
    with GatedSite(gate) as site:
        crawl(f"{site.origin}/", folder, *MANY)
        watch(folder)  # knows what there is
        for is_closed in (True, False):
            site.is_closed = is_closed
            let_a_day_pass(folder)
            done = watch(folder)
            assert "job: nothing changed" in done.stdout
            assert done.returncode == (is_closed and gate != "403"), done.stderr


class BriefSite(GatedSite):
    """A chain of pages, of which the middle one comes when the cookie of the entry has ended."""

    def __init__(self, gate: str, address: str) -> None:
        super().__init__(gate, address=address)
        self._refused.set()
        self._ends = 0.0

    def respond(self, request: Request) -> Response | None:
        number = request.target.removeprefix("/p")
        if request.target == "/" and request.cookie == "":
            self._ends = time.time() + BRIEF_SECS
            self.cookie = f"seen=1; Max-Age={BRIEF_SECS}"
        answer = NOT_FOUND if request.target == "/robots.txt" else super().respond(request)
        if answer is None or answer.status != HTTPStatus.OK or b"Page" not in answer.body:
            return answer
        if number == "4":
            wait_until(lambda: time.time() > self._ends + 1)
        following = f"/p{int(number) + 1}" if number.isdecimal() else "/p0"
        title = f"Page {request.target} of {self.gate}"
        return replace(answer, body=document(title, f'<a href="{following}">'))


def test_a_cookie_that_ends_is_fetched_again(tmp_path: Path) -> None:
    gates = ("home", "gate", "403", "200")
    sites = [BriefSite(gate, f"127.0.0.{number}") for number, gate in enumerate(gates, 2)]
    titles = crawl_all(sites, tmp_path)
    for site in sites:
        wanted = {path: f"Page {path} of {site.gate}" for path in PAGES}
        assert titles[site.gate].items() >= wanted.items()
        assert site.asked["/"] < 5, site.gate
