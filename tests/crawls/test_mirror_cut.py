"""``scrapy mirror`` of answers that are not whole: kept under a mark, told, and asked for again."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from tests.crawls.mirrored import Mirrored, check, mirror
from tests.sites.exchange import HTML
from tests.sites.needing import PIXEL, NeedingSite, body

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.sites.exchange import Exchange

    Cut = Callable[[Exchange, bytes], None]

QUICK = ("-s", "CRAWL_PAUSE_SECS=0.05")
PAGE = body("b", '<a href="./">back</a>')
WHOLE = "every link leads to a file"


def by_length(exchange: Exchange, content: bytes) -> None:
    exchange.head(200, {"Content-Type": HTML, "Content-Length": str(len(content))})
    send_half(exchange, content)


def by_chunks(exchange: Exchange, content: bytes) -> None:
    exchange.head(200, {"Content-Type": HTML, "Transfer-Encoding": "chunked"})
    send_half(exchange, b"%x\r\n" % len(content) + content)


def by_gzip(exchange: Exchange, content: bytes) -> None:
    packed = gzip.compress(content, 0)
    exchange.answer(packed[: len(packed) // 2], headers={"Content-Encoding": "gzip"})


def by_first_bytes_of_gzip(exchange: Exchange, content: bytes) -> None:
    exchange.answer(gzip.compress(content)[:12], headers={"Content-Encoding": "gzip"})


def by_status(exchange: Exchange, content: bytes) -> None:
    half = len(content) // 2
    headers = {"Content-Range": f"bytes 0-{half - 1}/{len(content)}"}
    exchange.answer(content[:half], status=206, headers=headers)


def by_coding(exchange: Exchange, content: bytes) -> None:
    packed = bytes(byte ^ 0xA5 for byte in content)
    exchange.answer(packed, headers={"Content-Encoding": "x-unheard-of"})


def send_half(exchange: Exchange, content: bytes) -> None:
    exchange.wfile.write(content[: len(content) // 2])
    exchange.wfile.flush()
    exchange.hang_up()


CUTS = (by_length, by_chunks, by_gzip, by_first_bytes_of_gzip, by_status, by_coding)


@pytest.fixture
def site() -> Iterator[NeedingSite]:
    with NeedingSite() as served:
        served.linked = ("/small/",)
        served.file("/small/", body("small", '<a href="b.html">b</a>'))
        served.file("/small/b.html", PAGE)
        yield served


def cut(site: NeedingSite, path: str, how: Cut, content: bytes = PAGE, times: int = 1000) -> None:
    """Send a part from now on, so many times, then the whole."""
    left = [times]

    def serve(exchange: Exchange) -> None:
        left[0] -= 1
        if left[0] >= 0:
            how(exchange, content)
        else:
            exchange.answer(content)

    site.added[path] = serve


def start(site: NeedingSite, folder: Path, *arguments: str, status: int = 0) -> Mirrored:
    return mirror(site.at("/small/"), folder, *QUICK, *arguments, status=status)


def path_of(found: Mirrored, site: NeedingSite) -> str:
    path = found.path_of(site.at("/small/b.html"))
    assert path is not None
    return path


def told(found: Mirrored, outcome: str) -> set[str]:
    return {change["url"] for change in found.json("changes.json")[outcome]}


@pytest.mark.parametrize("how", CUTS)
class TestFirstAnswers:
    def test_a_part_is_kept_marked_and_told_until_the_whole_comes(
        self, site: NeedingSite, tmp_path: Path, how: Cut
    ) -> None:
        cut(site, "/small/b.html", how)
        for _ in range(2):  # a part that comes twice is no whole
            site.news()
            found = start(site, tmp_path / "m", status=1)
            path = path_of(found, site)
            assert site.news().count("/small/b.html") >= 3, "it is asked for again"
            assert "1 file is only a part of what the site has" in found.done.stdout
            assert path in found.done.stdout
            assert found.read(path)
            assert told(found, "failed") == {site.at("/small/b.html")}
            proof = check(found.folder)
            assert proof.returncode == 1
            assert path in proof.stdout
        site.file("/small/b.html", PAGE)
        found = start(site, tmp_path / "m")
        path = path_of(found, site)
        assert b"</html>" in found.read(path)
        assert "only a part" not in found.done.stdout
        assert not told(found, "failed")
        assert WHOLE in check(found.folder).stdout
        assert len([file for file in found.files if "/b" in file]) == 1

    def test_the_whole_comes_when_it_is_asked_for_again(
        self, site: NeedingSite, tmp_path: Path, how: Cut
    ) -> None:
        cut(site, "/small/b.html", how, times=1)
        found = start(site, tmp_path / "m")
        assert b"</html>" in found.read(path_of(found, site))
        assert check(found.folder).returncode == 0

    def test_a_part_takes_no_whole_files_place(
        self, site: NeedingSite, tmp_path: Path, how: Cut
    ) -> None:
        found = start(site, tmp_path / "m")
        path = path_of(found, site)
        before = found.read(path)
        cut(site, "/small/b.html", how, body("b anew", '<a href="./">back</a>'))
        found = start(site, tmp_path / "m")
        assert path_of(found, site) == path
        assert found.read(path) == before
        assert told(found, "failed") == {site.at("/small/b.html")}
        assert check(found.folder).returncode == 0


def test_a_shorter_part_does_not_take_a_longer_ones_place(
    site: NeedingSite, tmp_path: Path
) -> None:
    cut(site, "/small/b.html", by_length)
    before = start(site, tmp_path / "m", status=1)
    longer = before.read(path_of(before, site))
    cut(site, "/small/b.html", lambda exchange, _: by_length(exchange, PAGE[: len(PAGE) // 2]))
    found = start(site, tmp_path / "m", status=1)
    assert found.read(path_of(found, site)) == longer


def test_a_part_of_an_image_is_told(site: NeedingSite, tmp_path: Path) -> None:
    site.file("/small/", body("small", '<img src="b.png"><img src="/img/pixel.png">'))

    def serve(exchange: Exchange) -> None:
        exchange.head(200, {"Content-Type": "image/png", "Content-Length": str(len(PIXEL))})
        send_half(exchange, PIXEL)

    site.added["/small/b.png"] = serve
    found = start(site, tmp_path / "m", status=1)
    path = found.path_of(site.at("/small/b.png"))
    assert path is not None
    assert found.read(path) == PIXEL[: len(PIXEL) // 2]
    assert told(found, "failed") == {site.at("/small/b.png")}
    assert path in check(found.folder).stdout


@pytest.mark.parametrize("coding", ["utf-8", "none", "identity", "text/html"])
def test_a_content_encoding_that_is_none_takes_nothing_away(
    site: NeedingSite, tmp_path: Path, coding: str
) -> None:
    site.added["/small/b.html"] = lambda exchange: exchange.answer(
        PAGE, headers={"Content-Encoding": coding}
    )
    found = start(site, tmp_path / "m")
    assert b"</html>" in found.read(path_of(found, site))
    assert check(found.folder).returncode == 0


class TestLostConnections:
    def test_a_page_is_asked_for_again(self, site: NeedingSite, tmp_path: Path) -> None:
        start(site, tmp_path / "m")
        cut(site, "/small/b.html", lambda exchange, _: exchange.reset(), times=1)
        found = start(site, tmp_path / "m")
        assert not told(found, "gone")
        assert not told(found, "failed")

    @pytest.mark.parametrize("end", ["reset", "hang_up"])
    def test_a_page_has_failed_and_is_kept(
        self, site: NeedingSite, tmp_path: Path, end: str
    ) -> None:
        before = start(site, tmp_path / "m")
        path = path_of(before, site)
        content = before.read(path)
        cut(site, "/small/b.html", lambda exchange, _: getattr(exchange, end)())
        site.news()
        found = start(site, tmp_path / "m")
        assert site.news().count("/small/b.html") >= 3
        assert told(found, "failed") == {site.at("/small/b.html")}
        assert not told(found, "gone")
        assert found.read(path) == content
        assert check(found.folder).returncode == 0
