"""``crawl-once mirror single-file``: the page, from one file, as Chromium shows it served."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING

import pytest
from PIL import Image, ImageChops

from tests.crawls.command import scrapy
from tests.sites.needing import PIXEL, NeedingSite, body

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browsing.walk import Browsers

pytestmark = pytest.mark.slow

CSS = b"""@import "more.css"; main { background: #24a url(../img/back.svg) no-repeat;
color: #fff } h1 { font-size: 40px }"""
DIGEST = base64.b64encode(hashlib.sha256(CSS).digest()).decode()
HEAD = f"""<base href="/docs/">
<link rel="stylesheet" href="../style/main.css" integrity="sha256-{DIGEST}" crossorigin>
<script src="/script.js"></script><script type="module" src="/app.js"></script>
<meta http-equiv="Content-Security-Policy" content="img-src 'self'">"""
MAIN = """<p id="part" style="background: url(&quot;/img/back.svg&quot;)">styled</p>
<a href="#part">here</a> <a href="b.html#x">b</a> <img src="/img/back.svg">
<img src=/img/pixel.png srcset="/img/pixel.png 1x"><iframe src="frame"></iframe>
<p id="loaded"></p><img src="/img/none.png" alt="none">"""
FRAME = '<img src="/img/back.svg"><a href="/docs/">up</a><iframe src="/docs/inner"></iframe>'
MORE = b"""@import "main.css"; article { padding: 3em; border: 9px solid #284 }"""
SVG = b"""<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
width="60" height="60"><rect width="60" height="60" fill="#a62"/>
<image width="30" height="30" xlink:href="pixel.png"/></svg>"""


def difference(one: Path, other: Path) -> float:
    """Return the share of pixels that differ."""
    with Image.open(one) as first, Image.open(other) as second:
        assert first.size == second.size
        found = ImageChops.difference(first.convert("L"), second.convert("L"))
    return 1 - found.histogram()[0] / (found.width * found.height)


def test_the_page_shows_the_same_without_a_network(tmp_path: Path, browsers: Browsers) -> None:
    out = tmp_path / "page.html"
    with NeedingSite() as site:
        site.file("/docs/", body("single", MAIN, HEAD))
        site.file("/docs/frame", body("frame", FRAME))
        site.file("/docs/inner", body("inner", "the frame of a frame"))
        site.file("/style/main.css", CSS, "text/css")
        site.file("/style/more.css", MORE, "text/css")
        site.file("/img/back.svg", SVG, "image/svg+xml")
        site.file("/img/pixel.png", PIXEL, "image/png")
        site.file("/app.js", b'import { say } from "./part.js"; say();', "text/javascript")
        part = b"export const say = () => { document.getElementById('loaded').append('loaded') };"
        site.file("/part.js", part, "text/javascript")
        done = scrapy("mirror", "single-file", f"{site.url}docs/#part", str(out))
        assert done.returncode == 0, done.stderr
        assert f"{site.origin}/img/none.png" in done.stdout
        assert not [path for path in site.paths() if path.startswith("/docs/b")], "one page alone"
        served = browsers.online.view(f"{site.url}docs/")
        browsers.online.screenshot(tmp_path / "served.png")
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".html"] == ["page.html"]
    shown = browsers.offline.view(out.as_uri())
    browsers.offline.screenshot(tmp_path / "shown.png")
    assert shown.text == served.text
    assert "loaded" in shown.text
    assert shown.looks == served.looks
    assert shown.images == served.images
    assert difference(tmp_path / "shown.png", tmp_path / "served.png") < 0.01, "but for smoothing"
    assert set(shown.failed) == {f"{site.origin}/img/none.png"}
    assert f"{out.as_uri()}#part" in shown.links
    assert f"{site.origin}/docs/b.html#x" in shown.links
    assert base64.b64encode(PIXEL) in out.read_bytes()
    assert b"the frame of a frame" in framed(framed(out.read_bytes()))


def framed(document: bytes) -> bytes:
    """The document in the frame of another one."""
    found = re.search(rb'<iframe src="data:[^"]*;base64,([^"]*)"', document)
    assert found is not None
    return base64.b64decode(found[1])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("http://127.0.0.1:9/",), "a URL and a file are needed, such as page.html"),
        (("http://127.0.0.1:9/", "http://127.0.0.1:8/", "x.html"), "a URL and a file are needed"),
        (("http://127.0.0.1:9/,http://127.0.0.1:8/", "x.html"), "a URL and a file are needed"),
        (("http://127.0.0.1:9/", "nowhere/x.html"), "nowhere/x.html: is a directory, or in none"),
        (("http://127.0.0.1:9/", "x.html", "--format", "zip"), "unknown option --format"),
        (("nowhere",), "a URL is needed, got nowhere"),
    ],
)
def test_what_is_wrong_is_one_line(arguments: tuple[str, ...], words: str) -> None:
    done = scrapy("mirror", "single-file", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
