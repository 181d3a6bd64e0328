"""Mirrors of odd but common answers, stored as browsers would show them, and of the same bytes."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from rich.filesize import decimal

from tests.crawls.mirrored import Mirrored, check, host, mirror
from tests.sites.needing import PIXEL, NeedingSite, body

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.sites.exchange import Exchange

ARCHIVE = gzip.compress(b"not much of an archive", mtime=0)
LISTING = b"<html><a href=never.html>This is how a link is written.</a>\n"


def nothing(exchange: Exchange) -> None:
    exchange.head(204)


def coded(exchange: Exchange) -> None:
    exchange.answer(ARCHIVE, "application/x-tar", headers={"Content-Encoding": "gzip"})


def padded(exchange: Exchange) -> None:
    exchange.head(200, {"Content-Type": "text/html", "Transfer-Encoding": "chunked"})
    content = body("padded", "")
    exchange.wfile.write(b"%x  \r\n%s\r\n0  \r\n\r\n" % (len(content), content))


def unmeasured(exchange: Exchange) -> None:
    exchange.head(200, {"Content-Type": "text/html", "Content-Length": "unknown"})
    exchange.wfile.write(body("unmeasured", ""))
    exchange.hang_up()


def preferred(exchange: Exchange) -> None:
    exchange.answer(b"", status=300, headers={"Location": "/odd/preferred.html"})


def backwards(exchange: Exchange) -> None:
    exchange.answer(b"", status=302, headers={"Location": "\\odd\\backwards.html"})


LINKED = (
    "nothing", "a.tar.gz", "padded", "unmeasured", "choice", "moved", "pixel.php", "listing.txt",
    "blank.html", "later.html",
)  # fmt: skip


def test_odd_answers_are_stored_as_browsers_take_them(tmp_path: Path) -> None:
    with NeedingSite() as site:
        site.linked = ("/odd/",)
        site.file("/odd/", body("odd", " ".join(f'<a href="{name}">x</a>' for name in LINKED)))
        site.added |= {
            "/odd/nothing": nothing,
            "/odd/a.tar.gz": coded,
            "/odd/padded": padded,
            "/odd/unmeasured": unmeasured,
            "/odd/choice": preferred,
            "/odd/moved": backwards,
        }
        for name in ("preferred", "backwards", "blank", "later"):
            site.file(f"/odd/{name}.html", body(name, ""))
        site.date("/odd/preferred.html", "Tue, 02 Jan 2024 03:04:05 GMT")
        site.date("/odd/backwards.html", f"Mon, 01 Jan {'9' * 20} 00:00:00 GMT")
        site.date("/odd/later.html", "Fri, 01 Jan 2100 00:00:00 GMT")
        site.file("/odd/pixel.php", PIXEL, "text/html")
        site.file("/odd/listing.txt", LISTING, "text/plain")
        found = mirror(site.at("/odd/"), tmp_path / "m")
        folder = f"{host(site)}/odd"
        assert found.addresses(f"{folder}/index.html") == [
            site.at("/odd/nothing"), "a.tar.gz", "padded.html", "unmeasured.html",
            "preferred.html", "backwards.html", "pixel.php.png", "listing.txt", "blank.html",
            "later.html",
        ]  # fmt: skip
        assert found.read(f"{folder}/a.tar.gz") == ARCHIVE
        assert found.read(f"{folder}/pixel.php.png") == PIXEL
        assert found.read(f"{folder}/listing.txt") == LISTING
        assert "/odd/never.html" not in site.news()
        assert check(found.folder).returncode == 0, check(found.folder).stdout
        dated = found.folder / f"{folder}/preferred.html"
        assert dated.stat().st_mtime == datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()
        to_come = datetime(2100, 1, 1, tzinfo=UTC).timestamp()
        assert (found.folder / f"{folder}/later.html").stat().st_mtime < to_come
        site.file("/odd/blank.html", b"")
        before = found.read(f"{folder}/blank.html")
        again = mirror(site.at("/odd/"), found.folder)
        assert dated.stat().st_mtime == datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()
        assert again.read(f"{folder}/blank.html") == before, "an empty answer takes no page's place"
        assert check(found.folder).returncode == 0, check(found.folder).stdout


STYLES = "".join(f'<link rel="stylesheet" href="/style/plain.css?v={n}">' for n in (1, 2))

CHARSET = '<meta charset="utf-8">'


@pytest.fixture
def site() -> Iterator[NeedingSite]:
    """Two pages of the same bytes and two styles of the same bytes, all with nothing to edit."""
    with NeedingSite() as served:
        served.linked = ("/docs/", "/same/one.html", "/styled")
        served.file("/style/plain.css", b"body { color: black }", "text/css")
        served.file("/styled", body("styled", "", STYLES))
        for name in ("one", "two"):
            served.file(f"/same/{name}.html", body("same", '<a href="two.html">two</a>', CHARSET))
        yield served


def inodes(found: Mirrored, *urls: str) -> set[int]:
    paths = [found.path_of(url) for url in urls]
    assert None not in paths
    return {(found.folder / str(path)).stat().st_ino for path in paths}


def bytes_on_disk(found: Mirrored) -> int:
    stats = [(found.folder / path).stat() for path in found.files if "/" in path]
    return sum({stat.st_ino: stat.st_size for stat in stats}.values())


def test_documents_that_need_no_edit_are_one_file(site: NeedingSite, tmp_path: Path) -> None:
    found = mirror(site.url, tmp_path / "m")
    styles = [site.at(f"/style/plain.css?v={number}") for number in (1, 2)]
    assert len(inodes(found, *styles)) == 1
    assert len(inodes(found, site.at("/same/one.html"), site.at("/same/two.html"))) == 1
    assert check(found.folder).returncode == 0, check(found.folder).stdout


def test_the_printed_size_is_that_of_the_disk(site: NeedingSite, tmp_path: Path) -> None:
    found = mirror(site.url, tmp_path / "m")
    assert f" other files, {decimal(bytes_on_disk(found))}\n" in found.done.stdout
    path = found.folder / str(found.path_of(site.at("/style/plain.css?v=2")))
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)  # as where a copy without hard links was made of the folder
    again = mirror(site.url, tmp_path / "m")
    assert f" other files, {decimal(bytes_on_disk(again))}\n" in again.done.stdout
