"""Mirrors whose scripts need a server, or find by ``<base href>`` where they are."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.crawls.command import scrapy, start_scrapy
from tests.crawls.mirrored import check, host, mirror
from tests.sites.changing import ChangingSite, page
from tests.sites.needing import PIXEL
from tests.sites.prose import prose
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.browsing.walk import Browsers
    from tests.sites.hostile import Trick

pytestmark = pytest.mark.slow

MODULES = {
    "/js/main.js": "import {told} from './deep/told.js'; import {named} from 'named';"
    "const data = await (await fetch('/data.json?v=1')).json();"
    "document.querySelector('h1').textContent = [told, named, data.said].join(' ');",
    "/js/deep/told.js": "export const told = 'imported';",
    "/js/named.js": "export const named = 'mapped';",
}
HEAD = (
    '<script type="importmap">{"imports": {"named": "/js/named.js"}}</script>'
    '<script type="module" src="/js/main.js" integrity="" crossorigin></script>'
)


def _script(code: str) -> Trick:
    return lambda exchange: exchange.answer(code.encode(), "text/javascript")


@contextmanager
def modular_site() -> Iterator[ChangingSite]:
    with ChangingSite() as site:
        site.added["/"] = lambda exchange: exchange.answer(
            page(prose("home", 200), ["/a/"], head=HEAD)
        )
        site.put("/a/", "another", head=HEAD)
        for path, code in MODULES.items():
            site.added[path] = _script(code)
        site.added["/data.json"] = lambda exchange: exchange.answer(
            b'{"said": "fetched"}', "application/json"
        )
        yield site


@contextmanager
def serving(mirror: Path) -> Iterator[str]:
    """Serve a mirror on a free port; yield the address that the command prints."""
    process = start_scrapy("mirror", "serve", str(mirror), "--port", "0")
    try:
        assert process.stdout is not None
        yield process.stdout.readline().partition(" ")[0].rstrip("/")
    finally:
        os.killpg(process.pid, signal.SIGINT)
        out, errors = process.communicate(timeout=30)
        assert (out, errors, process.returncode) == ("", "", 0)


def test_modules_and_what_they_fetch_run_without_the_site(
    browsers: Browsers, tmp_path: Path
) -> None:
    mirror = tmp_path / "mirror"
    with modular_site() as site:
        done = scrapy("mirror", site.url, str(mirror))
        folder = host(site)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"mirror serve {mirror}" in done.stdout
    assert "mirror serve DIR" in (mirror / "index.html").read_text()
    assert scrapy("mirror", "check", str(mirror)).returncode == 0
    with serving(mirror) as address:
        for path in ("", "/a/"):
            url = f"{address}/{folder}{path}/index.html".replace("//index", "/index")
            wait_until(lambda: "imported mapped fetched" in browsers.online.view(url).text)  # noqa: B023
            assert not [each for each in browsers.online.view(url).failed if "favicon" not in each]


def test_files_have_their_types_and_ranges_and_nothing_else_is_served(tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    with ChangingSite(("/a", "/b?page=2")) as site:
        site.put("/a", "one")
        site.put("/b", "two")
        site.added["/style"] = lambda exchange: exchange.answer(b"p {color: red}", "text/css")
        site.put("/", "home", ["/a", "/b?page=2"], head="<link rel=stylesheet href=/style>")
        scrapy("mirror", site.url, str(mirror))
        folder = host(site)
    (mirror / "own.txt").write_text("mine")
    (mirror / folder / "a.html").rename(mirror / "moved.html")
    (mirror / folder / "a.html").symlink_to(mirror / "moved.html")
    with serving(mirror) as address:

        def status(path: str, **headers: str) -> tuple[int, str]:
            request = Request(address + path, headers=headers)  # our own server
            try:
                with urlopen(request) as answer:
                    return answer.status, answer.headers["Content-Type"]
            except HTTPError as error:
                return error.code, ""

        home = {"Referer": f"{address}/{folder}/index.html"}
        assert status("/") == (200, "text/html; charset=utf-8")
        assert status(f"/{folder}/style.css", Range="bytes=0-3") == (206, "text/css")
        assert status("/style", **home) == (200, "text/css")
        assert status("/b?page=2", **home)[0] == 200
        assert status("/b?page=2")[0] == 404
        dated = {"If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"}
        assert status(f"/{folder}/style.css", **dated) == (200, "text/css")
        with urlopen(address) as answer:
            assert answer.headers["Cache-Control"] == "no-store"
        assert status("/", Host="stranger.example")[0] == 403
        within = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
        assert status(f"/{folder}/style.css", **within)[0] == 403
        assert status("/nothing", Referer="http://[")[0] == 404
        for path in (
            "/own.txt",
            "/.mirror/crawl.db",
            "/../etc/passwd",
            "/%2e%2e/x",
            f"/{folder}/a",
        ):
            assert status(path)[0] == 404, path


# As Angular's router finds its route, and an application its files.
ROUTER = """
const strip = path => path.replace(/[/]index[.]html$/, '').replace(/[/]$/, '');
const base = strip(new URL(document.querySelector('base').getAttribute('href'), location).pathname);
const route = strip(location.pathname);
if (!route.startsWith(base)) throw Error('no route');
const views = {'': 'Home view', '/users/1.html': 'User view', '/users/1': 'User view'};
const view = views[route.slice(base.length)];
const image = document.createElement('img');
image.onload = () => { document.querySelector('h2').textContent = view; };
image.src = document.baseURI + 'pixel.png';
"""


def shell(title: str, more: str = "") -> bytes:
    return f"""<!DOCTYPE html><html><head><title>{title}</title><base href="/app/">
<link rel="icon" href="pixel.png"></head><body><h1>{title}</h1><h2>empty</h2>
<a href="users/1">user</a> <a href="./">home</a> <a href="/old">old</a> {more}
<p id="part">A part.</p><script>{ROUTER}</script></body></html>""".encode()


@contextmanager
def application() -> Iterator[ChangingSite]:
    with ChangingSite() as site:
        site.added["/app/"] = lambda exchange: exchange.answer(shell("Home"))
        site.added["/app/users/1"] = lambda exchange: exchange.answer(shell("User"))
        site.added["/app/pixel.png"] = lambda exchange: exchange.answer(PIXEL, "image/png")
        site.added["/old"] = lambda exchange: exchange.redirect("/app/users/1#part")
        yield site


def test_changes_name_failed_urls_that_never_had_a_file(tmp_path: Path) -> None:
    with application() as site:
        lost = '<a href="/lost">lost</a> <a href="/broken">broken</a> <img src="/none.png">'
        site.added["/app/"] = lambda exchange: exchange.answer(shell("Home", lost))
        site.added["/broken"] = lambda exchange: exchange.answer(b"", status=500)
        once = ("--scope", "host", "-s", "RETRY_ENABLED=False")
        for _ in range(2):
            found = mirror(f"{site.origin}/app/", tmp_path / "m", *once)
            changes = found.json("changes.json")
            reasons = {one["url"]: one["reason"] for one in changes["failed"]}
            assert reasons == {
                site.at("/lost"): "HTTP 404",
                site.at("/broken"): "HTTP 500",
                site.at("/none.png"): "HTTP 404",
            }
            assert changes["gone"] == []


def test_an_application_finds_its_route_and_files(browsers: Browsers, tmp_path: Path) -> None:
    with application() as site:
        found = mirror(f"{site.origin}/app/", tmp_path / "m", "--scope", "host")
    home, user = f"{host(site)}/app/index.html", f"{host(site)}/app/users/1.html"
    assert b'<base href="./">' in found.read(home)
    assert b'<base href="../">' in found.read(user)
    assert check(found.folder).returncode == 0
    for path, view in ((home, "Home view"), (user, "User view")):
        seen = browsers.offline.view((found.folder / path).as_uri())
        assert view in seen.text
        links = [link.rpartition("/app/")[2] for link in seen.links]
        assert links == ["users/1.html", "index.html", "users/1.html#part"]
    with serving(found.folder) as address:
        assert "User view" in browsers.online.view(f"{address}/{user}").text
