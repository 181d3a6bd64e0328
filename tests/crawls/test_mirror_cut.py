"""Mirrors of answers that are not whole: kept under a mark, told, and asked for again."""

from __future__ import annotations

import gzip
from itertools import chain
from typing import TYPE_CHECKING

import pytest

from tests.crawls.mirrored import Mirrored, check, mirror
from tests.sites.exchange import HTML
from tests.sites.needing import PIXEL, NeedingSite, body

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
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


def by_trailers(exchange: Exchange, content: bytes) -> None:
    half = content[: len(content) // 2]
    exchange.head(200, {"Content-Type": HTML, "Transfer-Encoding": "chunked"})
    exchange.wfile.write(b"%x\r\n%s\r\n0\r\nFatal error\r\n\r\n" % (len(half), half))


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


# More than these at a time would not all be named.
CUTS = (
    (by_length, by_chunks, by_trailers, by_status),
    (by_gzip, by_first_bytes_of_gzip, by_coding),
)


def pages_of(cuts: Iterable[Cut]) -> dict[str, Cut]:
    """A page for each way of cutting."""
    return {f"/small/{number}.html": how for number, how in enumerate(cuts)}


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


def path_of(found: Mirrored, site: NeedingSite, path: str = "/small/b.html") -> str:
    file = found.path_of(site.at(path))
    assert file is not None
    return file


def told(found: Mirrored, outcome: str) -> set[str]:
    return {change["url"] for change in found.json("changes.json")[outcome]}


def lead_to(site: NeedingSite, ways: Mapping[str, Cut]) -> None:
    """Add pages, which are whole as yet."""
    site.file("/small/", body("small", links(ways)))
    for path in ways:
        site.file(path, whole(path))


def cut_all(site: NeedingSite, ways: Mapping[str, Cut], times: int = 1000) -> None:
    for path, how in ways.items():
        cut(site, path, how, whole(path), times)


def links(paths: Iterable[str]) -> str:
    return " ".join(f'<a href="{path}">{path}</a>' for path in paths)


def whole(path: str) -> bytes:
    return body(path, '<a href="./">back</a>')


class TestFirstAnswers:
    @pytest.mark.parametrize("cuts", CUTS, ids=["on the way", "by its coding"])
    def test_a_part_is_kept_marked_and_told_until_the_whole_comes(
        self, site: NeedingSite, tmp_path: Path, cuts: tuple[Cut, ...]
    ) -> None:
        each = pages_of(cuts)
        lead_to(site, each)
        cut_all(site, each)
        for _ in range(2):  # a part that comes twice is no whole
            site.news()
            found = start(site, tmp_path / "m", status=1)
            asked = site.news()
            assert f"{len(each)} files are only parts of what the site has" in found.done.stdout
            assert told(found, "failed") == set(map(site.at, each))
            proof = check(found.folder)
            assert proof.returncode == 1
            for path in each:
                assert asked.count(path) >= 3, "it is asked for again"
                file = path_of(found, site, path)
                assert file in found.done.stdout
                assert found.read(file)
                assert file in proof.stdout
        for path in each:
            site.file(path, whole(path))
        found = start(site, tmp_path / "m")
        assert "only a part" not in found.done.stdout
        assert "only parts" not in found.done.stdout
        assert not told(found, "failed")
        assert WHOLE in check(found.folder).stdout
        for path in each:
            assert b"</html>" in found.read(path_of(found, site, path))
            name = path.removesuffix(".html")
            assert len([file for file in found.files if name in file]) == 1

    @pytest.mark.parametrize("is_cached", [False, True])
    def test_the_whole_comes_when_it_is_asked_for_again(
        self, site: NeedingSite, tmp_path: Path, is_cached: bool
    ) -> None:
        each = pages_of(chain(*CUTS))
        lead_to(site, each)
        cut_all(site, each, times=1)
        place = ("-s", f"HTTPCACHE_DIR={tmp_path / 'cache'}")
        cache = ("-s", "HTTPCACHE_ENABLED=True", *place) if is_cached else ()
        found = start(site, tmp_path / "m", *cache)
        for path in each:
            assert b"</html>" in found.read(path_of(found, site, path))
        assert check(found.folder).returncode == 0

    def test_a_part_takes_no_whole_files_place(self, site: NeedingSite, tmp_path: Path) -> None:
        each = pages_of(chain(*CUTS))
        lead_to(site, each)
        found = start(site, tmp_path / "m")
        before = {path: found.read(path_of(found, site, path)) for path in each}
        paths = {path: path_of(found, site, path) for path in each}
        for path, how in each.items():
            cut(site, path, how, body(f"{path} anew", '<a href="./">back</a>'))
        found = start(site, tmp_path / "m")
        assert {path: path_of(found, site, path) for path in each} == paths
        assert {path: found.read(path_of(found, site, path)) for path in each} == before
        assert told(found, "failed") == set(map(site.at, each))
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


def test_unasked_part_that_is_all_is_the_whole(site: NeedingSite, tmp_path: Path) -> None:
    headers = {"Content-Range": f"bytes 0-{len(PAGE) - 1}/{len(PAGE)}"}
    site.added["/small/b.html"] = lambda exchange: exchange.answer(PAGE, HTML, 206, headers)
    found = start(site, tmp_path / "m")
    assert site.news().count("/small/b.html") == 1
    assert check(found.folder).returncode == 0


def test_a_part_of_an_image_is_told(site: NeedingSite, tmp_path: Path) -> None:
    site.file("/small/", body("small", '<img src="b.png"><img src="/img/pixel.png">'))

    def serve(exchange: Exchange) -> None:
        exchange.head(200, {"Content-Type": "image/png", "Content-Length": str(len(PIXEL))})
        send_half(exchange, PIXEL)

    site.added["/small/b.png"] = serve
    found = start(site, tmp_path / "m", status=1)
    assert "1 file is only a part of what the site has" in found.done.stdout
    path = found.path_of(site.at("/small/b.png"))
    assert path is not None
    assert found.read(path) == PIXEL[: len(PIXEL) // 2]
    assert told(found, "failed") == {site.at("/small/b.png")}
    assert path in check(found.folder).stdout


def test_a_content_encoding_that_is_none_takes_nothing_away(
    site: NeedingSite, tmp_path: Path
) -> None:
    codings = ("utf-8", "none", "identity", "text/html")
    paths = {f"/small/{number}.html": coding for number, coding in enumerate(codings)}
    site.file("/small/", body("small", links(paths)))
    for path, coding in paths.items():
        site.added[path] = encoded(whole(path), coding)
    found = start(site, tmp_path / "m")
    for path in paths:
        assert b"</html>" in found.read(path_of(found, site, path))
    assert check(found.folder).returncode == 0


def encoded(content: bytes, coding: str) -> Callable[[Exchange], None]:
    return lambda exchange: exchange.answer(content, headers={"Content-Encoding": coding})


class TestLostConnections:
    def test_a_page_is_asked_for_again(self, site: NeedingSite, tmp_path: Path) -> None:
        start(site, tmp_path / "m")
        cut(site, "/small/b.html", lambda exchange, _: exchange.reset(), times=1)
        found = start(site, tmp_path / "m")
        assert not told(found, "gone")
        assert not told(found, "failed")

    def test_a_page_has_failed_and_is_kept(self, site: NeedingSite, tmp_path: Path) -> None:
        ends: dict[str, Cut] = {
            "/small/reset.html": lambda exchange, _: exchange.reset(),
            "/small/hang_up.html": lambda exchange, _: exchange.hang_up(),
        }
        lead_to(site, ends)
        before = start(site, tmp_path / "m")
        contents = {
            path_of(before, site, path): before.read(path_of(before, site, path)) for path in ends
        }
        for path, end in ends.items():
            cut(site, path, end)
        site.news()
        found = start(site, tmp_path / "m")
        asked = site.news()
        assert all(asked.count(path) >= 3 for path in ends)
        assert told(found, "failed") == set(map(site.at, ends))
        assert not told(found, "gone")
        assert {file: found.read(file) for file in contents} == contents
        assert check(found.folder).returncode == 0
