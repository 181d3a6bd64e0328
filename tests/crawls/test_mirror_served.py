"""Mirrors whose scripts need a server, as ``crawl-once mirror serve`` gives them one."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.crawls.command import scrapy, start_scrapy
from tests.sites.changing import ChangingSite, page
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
        host = site.at("/").removeprefix("http://").rstrip("/").replace(":", "+")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"mirror serve {mirror}" in done.stdout
    assert "mirror serve DIR" in (mirror / "index.html").read_text()
    assert scrapy("mirror", "check", str(mirror)).returncode == 0
    with serving(mirror) as address:
        for path in ("", "/a/"):
            url = f"{address}/{host}{path}/index.html".replace("//index", "/index")
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
        host = site.at("/").removeprefix("http://").rstrip("/").replace(":", "+")
    (mirror / "own.txt").write_text("mine")
    (mirror / host / "a.html").rename(mirror / "moved.html")
    (mirror / host / "a.html").symlink_to(mirror / "moved.html")
    with serving(mirror) as address:

        def status(path: str, **headers: str) -> tuple[int, str]:
            request = Request(address + path, headers=headers)  # our own server
            try:
                with urlopen(request) as answer:
                    return answer.status, answer.headers["Content-Type"]
            except HTTPError as error:
                return error.code, ""

        home = {"Referer": f"{address}/{host}/index.html"}
        assert status("/") == (200, "text/html; charset=utf-8")
        assert status(f"/{host}/style.css", Range="bytes=0-3") == (206, "text/css")
        assert status("/style", **home) == (200, "text/css")
        assert status("/b?page=2", **home)[0] == 200
        assert status("/b?page=2")[0] == 404
        dated = {"If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"}
        assert status(f"/{host}/style.css", **dated) == (200, "text/css")
        with urlopen(address) as answer:
            assert answer.headers["Cache-Control"] == "no-store"
        assert status("/", Host="stranger.example")[0] == 403
        within = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
        assert status(f"/{host}/style.css", **within)[0] == 403
        assert status("/nothing", Referer="http://[")[0] == 404
        for path in ("/own.txt", "/.mirror/crawl.db", "/../etc/passwd", "/%2e%2e/x", f"/{host}/a"):
            assert status(path)[0] == 404, path


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("serve",), "the directory of one mirror is needed, got none"),
        (("serve", "nowhere"), "no mirror in it"),
        (("--port", "1", "http://127.0.0.1:1/"), "unknown option --port"),
    ],
)
def test_wrong_arguments_are_told(arguments: tuple[str, ...], told: str) -> None:
    done = scrapy("mirror", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
