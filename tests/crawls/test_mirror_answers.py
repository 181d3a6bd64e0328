"""A mirror of a site with odd but common answers: each is stored as browsers would show it."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tests.crawls.mirrored import check, host, mirror
from tests.sites.needing import PIXEL, NeedingSite, body

if TYPE_CHECKING:
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
