"""Requests of rendered pages go through the limits of their crawl."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from crawler.rendering.browser import tree_of
from crawler.spiders.page_rendering import render_options
from tests.crawler.rendering.pages import browsers_of, document, is_alive
from tests.sites.changing import ChangingSite
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.sites.exchange import Exchange

PROJECT = Path(__file__).parents[3]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path, as Chromium's sockets need."""
    with tempfile.TemporaryDirectory(prefix="r-") as name:
        yield Path(name)


def script(exchange: Exchange, text: str) -> None:
    headers = {"Access-Control-Allow-Origin": "*"}
    exchange.answer(text.encode(), "text/javascript", headers=headers)


def hold(exchange: Exchange) -> None:
    """Answer nothing as long as the site is there."""
    exchange.stage.closing.wait(60)


def command(site: ChangingSite, folder: Path, pages: Sequence[tuple[str, bytes]]) -> list[str]:
    listed = folder / "pages.json"
    listed.write_text(json.dumps([(url, body.decode()) for url, body in pages]))
    module = "tests.crawler.rendering.crawl_of_pages"
    chosen = [f"JOBDIR={folder / 'job'}", "LOG_LEVEL=INFO", "PROGRESS_ENABLED=False"]
    return [sys.executable, "-m", module, site.url, str(listed), str(folder / "out"), *chosen]


def crawl(
    site: ChangingSite, folder: Path, pages: Sequence[tuple[str, bytes]], *chosen: str
) -> list[dict[str, Any]]:
    done = subprocess.run(
        [*command(site, folder, pages), *chosen],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert not list(folder.glob("crawl-render-*"))
    return [json.loads(line) for line in (folder / "out").read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.usefixtures("rendering_browser")
def test_scripts_are_fetched_once_and_data_for_each_page(folder: Path) -> None:
    body = b'<p id=p>-</p><script src="/app.js"></script>'
    with ChangingSite() as site:
        site.added["/app.js"] = lambda exchange: script(
            exchange, "fetch('/moved').then(r => r.text()).then(t => p.textContent = t)"
        )
        site.added["/moved"] = lambda exchange: exchange.redirect("/data")
        site.added["/data"] = lambda exchange: script(exchange, "filled in")
        pages = [(site.at(f"/p{number}"), body) for number in range(4)]
        rendered = crawl(site, folder, pages)
        paths = site.paths()
    assert len(rendered) == 4
    assert all("filled in" in page["html"] for page in rendered)
    assert paths.count("/app.js") == 1
    assert 2 <= paths.count("/data") <= 4, "requests that are under way together have one answer"
    assert not [path for path in paths if path.startswith("/p")]


@pytest.mark.slow
@pytest.mark.usefixtures("rendering_browser")
def test_private_addresses_robots_and_forms_are_refused_within_the_browser(folder: Path) -> None:
    with ChangingSite() as site:
        for path in ("/secret", "/open", "/posted"):
            site.added[path] = lambda exchange: script(exchange, "reached")
        site.added["/robots.txt"] = lambda exchange: exchange.answer(
            b"User-agent: *\nDisallow: /secret\n", "text/plain"
        )
        site.added["/away"] = lambda exchange: exchange.redirect("http://[::1]:9/")
        elsewhere = site.at("/open").replace("127.0.0.1", "127.0.0.2")
        ask = "fetch('{}').then(r => r.text()).then(t => p.textContent = t).catch(e => p.id = 'no')"
        pages = [
            ("http://www.example.com/", document(ask.format(elsewhere))),
            (site.at("/a"), document(ask.format("/secret"))),
            (site.at("/b"), document("fetch('/posted', {method: 'PUT', body: 'x'})")),
            (site.at("/c"), document(ask.format("/away"))),
            (site.at("/d"), document(ask.format("/open"))),
        ]
        rendered = crawl(site, folder, pages)
        paths = site.paths()
    assert ["reached" in page["html"] for page in rendered] == [False, False, False, False, True]
    own, foreign = "subrequest failed", "data of another site failed"
    wanted = zip([foreign, own, own, own], rendered, strict=False)
    assert all(one in page["missed"] for one, page in wanted)
    assert paths.count("/open") == 1
    assert not {"/secret", "/posted"} & set(paths)


@pytest.mark.slow
@pytest.mark.usefixtures("rendering_browser")
def test_data_that_a_script_asks_for_by_post_are_had_and_none_of_a_click(folder: Path) -> None:
    def answer(exchange: Exchange) -> None:
        script(exchange, f"had {exchange.body.decode()}")

    ask = (
        "fetch('/data', {{method: 'POST', body: '{}'}}).then(r => r.text()).then(t => p.append(t))"
    )
    loads = document(ask.format("a query"))
    clicked = document(
        f"const b = document.createElement('b'); b.textContent = 'on'; b.style.cursor = 'pointer';"
        f"b.onclick = () => {ask.format('a click')}; document.body.append(b);"
    )
    with ChangingSite() as site:
        site.added["/data"] = answer
        first, second = crawl(site, folder, [(site.at("/a"), loads), (site.at("/b"), clicked)])
        posted = [one for one in site.asked if one.path == "/data"]
    assert "had a query" in first["html"]
    assert not first["missed"]
    assert not second["missed"], "what a click asks for is no part of the page"
    assert [one.method for one in posted] == ["POST"]


@pytest.mark.slow
@pytest.mark.usefixtures("rendering_browser")
def test_a_host_that_refuses_is_not_asked_by_pages_while_it_rests(folder: Path) -> None:
    busy = "fetch('/busy').finally(() => fetch('/more'))"
    with ChangingSite() as site:
        site.fail("/busy", 429)
        site.added["/more"] = lambda exchange: script(exchange, "more")
        (page,) = crawl(
            site,
            folder,
            [(site.at("/a"), document(busy))],
            "CRAWL_PAUSE_SECS=60",
            "CRAWL_RENDER_TIMEOUT_SECS=6",
        )
        assert "/more" not in site.paths()
    assert "subrequest failed" in page["missed"]


@pytest.mark.slow
@pytest.mark.usefixtures("rendering_browser")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_browser_outlives_its_crawl(how: signal.Signals, folder: Path) -> None:
    with ChangingSite() as site:
        page = (site.at("/a"), document("setInterval(() => p.textContent += '.', 10); fetch('/d')"))
        site.added["/d"] = hold
        crawling = subprocess.Popen(
            [*command(site, folder, [page]), "CRAWL_RENDER_TIMEOUT_SECS=5"],
            cwd=PROJECT,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": str(folder)},
        )
        wait_until(lambda: "/d" in site.paths(), crawling)
        started = [*browsers_of(crawling.pid), *tree_of(crawling.pid)[1:]]
        assert browsers_of(crawling.pid)
        crawling.send_signal(how)
        crawling.wait(60)
        wait_until(lambda: not any(map(is_alive, started)))
    if how is signal.SIGINT:
        assert not list(folder.glob("crawl-render-*"))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("CRAWL_RENDER_BEHAVIOURS", "scroll,jump", "scroll, click, routes, got jump"),
        ("CRAWL_RENDER_TIMEOUT_SECS", "0", "CRAWL_RENDER_TIMEOUT_SECS must be at least"),
        ("CRAWL_RENDER_MAX_REQUESTS", "some", "CRAWL_RENDER_MAX_REQUESTS must be a whole number"),
    ],
)
def test_a_bad_setting_is_named(name: str, value: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        render_options(Settings({name: value}))
