"""Mirrors of an application of scripts: from the disk, without scripts, they show the same."""

from __future__ import annotations

import base64
import contextlib
import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from crawler.rendering.browser import browser_path
from crawler.rendering.rendered_pages import Pictures, RenderOptions
from tests.crawls.command import scrapy
from tests.sites.changing import ChangingSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.sites.exchange import Exchange

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("rendering_browser")]

PAGES = 24
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
SHELL = (
    "<!DOCTYPE html><title>App</title><style>h1 { margin: 30px }</style><link rel=stylesheet "
    'href="/static/site.css"><div id=root></div><script src="/static/app.js"></script>'
)
STYLE = "body { font: 16px monospace } .photo { width: 64px; height: 48px; display: block }"
SCRIPT = """
const root = document.getElementById("root");
document.querySelector("style").sheet.insertRule("h1 { color: rgb(200, 0, 0) }", 1);
const made = document.createElement("style");
document.head.append(made);
made.sheet.insertRule("p { background: rgb(230, 240, 200); padding: 9px }");
const adopted = new CSSStyleSheet();
adopted.replaceSync("nav a { margin-right: 2em; color: green }");
document.adoptedStyleSheets = [adopted];
fetch("/data" + location.pathname).then((answer) => answer.json()).then((data) => {
  root.innerHTML = `<h1>${data.title}</h1><img class=photo src="/pictures/${data.picture}">
    <p>${data.text}</p><nav></nav><input><div id=shadowed></div>`;
  for (const link of data.links) {
    const anchor = document.createElement("a");
    anchor.href = link; anchor.textContent = link;
    root.querySelector("nav").append(anchor);
  }
  root.querySelector("input").value = data.title;
  const shadow = document.getElementById("shadowed").attachShadow({ mode: "open" });
  shadow.innerHTML = `<style>b { color: blue }</style><b>Shadow of ${data.title}</b>`;
  setTimeout(() => document.body.append("Shown a moment later"), 200);
});
"""


def serve(site: ChangingSite, pages: int) -> list[str]:
    """Add an application of pages that lead on to each other; return their paths."""
    paths = ["/", *(f"/page/{number}" for number in range(1, pages))]

    def data(exchange: Exchange) -> None:
        path = exchange.path.removeprefix("/data")
        number = paths.index(path)
        links = [paths[each] for each in (2 * number + 1, 2 * number + 2) if each < pages]
        said = {
            "title": f"Page {number}",
            "text": prose(path, 120),
            "picture": f"{number % 3}.png",
            "links": links,
        }
        exchange.answer(json.dumps(said).encode(), "application/json")

    for path in paths:
        site.added[path] = lambda exchange: exchange.answer(SHELL.encode())
        site.added[f"/data{path}"] = data
    for number in range(3):
        site.added[f"/pictures/{number}.png"] = lambda exchange: exchange.answer(PIXEL, "image/png")
    site.added["/static/app.js"] = lambda exchange: exchange.answer(
        SCRIPT.encode(), "text/javascript"
    )
    site.added["/static/site.css"] = lambda exchange: exchange.answer(STYLE.encode(), "text/css")
    return paths


@pytest.fixture
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path(RenderOptions()), chromium_sandbox=False
        )
        yield browser
        browser.close()


def seen(page: Any, url: str, wanted: str) -> tuple[str, bytes]:
    """Return what a window shows at a URL: its text and a picture of it."""
    page.goto(url, wait_until="load")
    page.wait_for_function(f"document.body.innerText.includes({wanted!r})")
    return page.inner_text("body"), page.screenshot(full_page=True, animations="disabled")


def test_every_page_opens_from_the_disk_as_it_was_shown(tmp_path: Path, chromium: Any) -> None:
    target = tmp_path / "mirror"
    with ChangingSite() as site:
        paths = serve(site, PAGES)
        done = scrapy("mirror", "--render", "auto", "--screenshots", site.url, str(target))
        assert done.returncode == 0, done.stderr
        asked = site.paths()
        files = {path: _file(target, path) for path in paths}
        online = chromium.new_context().new_page()
        offline = chromium.new_context(java_script_enabled=False, offline=True).new_page()
        for path in paths:
            wanted = "Shown a moment later"
            text, picture = seen(online, site.at(path), wanted)
            offline.goto(files[path].as_uri())
            assert offline.inner_text("body") == text, path
            assert offline.screenshot(full_page=True) == picture, path
    assert asked.count("/static/app.js") == 1
    assert not list(target.rglob("*.js")), "scripts have run, and are not needed"
    assert scrapy("mirror", "check", str(target)).returncode == 0
    pictures = list((target / ".mirror" / "screenshots").glob("*.webp"))
    assert len(pictures) == PAGES


def _file(target: Path, path: str) -> Path:
    (host,) = (folder for folder in target.iterdir() if folder.name.startswith("127.0.0.1"))
    return host / ("index.html" if path == "/" else f"{path[1:]}.html")


def test_a_visit_whose_data_fail_leaves_the_files(tmp_path: Path) -> None:
    target = tmp_path / "mirror"
    with ChangingSite() as site:
        paths = serve(site, 8)
        assert scrapy("mirror", site.url, "--render", "auto", str(target)).returncode == 0
        before = {path: _file(target, path).read_bytes() for path in paths}
        for path in paths:
            site.added[f"/data{path}"] = lambda exchange: exchange.answer(b"no", status=500)
        quick = ("-s", "RETRY_ENABLED=False")
        scrapy("mirror", "--render", "auto", *quick, site.url, str(target))
        after = {path: _file(target, path).read_bytes() for path in paths}
        told = scrapy("mirror", *quick, str(target)).stdout
        assert "as before: --render auto" in told
        again = {path: _file(target, path).read_bytes() for path in paths}
        scrapy("mirror", *quick, "--render", "no", site.url, str(target))
        plain = {path: _file(target, path).read_bytes() for path in paths}
    assert after == before
    assert again == before
    assert plain == before


def test_a_mirror_shows_what_scripts_fill_or_says_that_it_does_not(tmp_path: Path) -> None:
    with ChangingSite() as site:
        serve(site, 2)
        shown = scrapy("mirror", site.url, str(tmp_path / "shown"))
        blank = scrapy("mirror", site.url, str(tmp_path / "blank"), "--render", "no")
    assert shown.returncode == 0, shown.stderr
    assert prose("/page/1", 120)[:60] in _file(tmp_path / "shown", "/page/1").read_text()
    assert blank.returncode == 1
    assert "1 page without the text that scripts show in a browser (--render" in blank.stdout


@pytest.mark.parametrize("order", ["0", "Math.random() - .5"], ids=["as-written", "by-chance"])
def test_copies_of_a_page_that_its_own_scripts_fill_are_as_they_came(
    tmp_path: Path, order: str
) -> None:
    names = json.dumps([f"/pictures/{number}.png" for number in range(9)])
    page = (
        f"<title>Home</title><a href=/copy.html>Copy</a><p>{prose('home', 120)}</p>"
        f"<div id=sponsors></div><script>const names = {names}.sort(() => {order});"
        "document.getElementById('sponsors').innerHTML ="
        "names.map((name) => `<img src='${name}'> sponsor`).join('')</script>"
    )
    with ChangingSite() as site:
        for path in ("/", "/copy.html"):
            site.added[path] = lambda exchange: exchange.answer(page.encode())
        for _ in range(2):
            done = scrapy("mirror", site.url, str(tmp_path / "mirror"))
            assert done.returncode == 0, done.stdout + done.stderr
            for path in ("/", "/copy"):
                assert "<script>const" in _file(tmp_path / "mirror", path).read_text(), path
    with contextlib.closing(sqlite3.connect(tmp_path / "mirror/.mirror/crawl.db")) as database:
        sql = "SELECT verdict FROM pages WHERE latest = 1 AND url LIKE '%/copy.html'"
        ((verdict,),) = database.execute(sql)
    assert verdict in {"exact_duplicate", "near_duplicate"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--render", "auto", "--no-text"), "--no-text reads no page, and --render needs what is"),
        (
            ("--render", "auto", "-s", "CRAWL_RENDER_BROWSER=/none"),
            "--render auto: /none is no program",
        ),
        (("--render", "alwyas"), "--render must be auto, always or no, got 'alwyas'; did you"),
        (("--screenshots", "--render", "no"), "--screenshots takes pictures in a browser"),
    ],
)
def test_what_cannot_be_is_one_line(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    target = tmp_path / "mirror"
    done = scrapy("mirror", *arguments, "http://127.0.0.1:9/", str(target))
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not target.exists()


def test_the_same_picture_is_stored_once_and_an_old_one_goes(tmp_path: Path) -> None:
    pictures = Pictures(tmp_path)
    one, other = b"1" * 16, b"2" * 16
    assert pictures.find(one) is None
    pictures.put(one, b"red")
    pictures.put(other, b"red")
    first, second = pictures.find(one), pictures.find(other)
    assert first is not None
    assert second is not None
    assert first.samefile(second)
    pictures.put(one, b"blue")
    pictures.put(one, b"blue")
    assert first.read_bytes() == b"blue"
    assert second.read_bytes() == b"red"
    pictures.put(other, b"blue")
    names = list((tmp_path / "screenshots" / "pictures").iterdir())
    assert len(names) == 1, "red is a picture of no page"
