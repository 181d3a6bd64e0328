"""Mirrors that request the rest of a part by its range, and join it to the part."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pytest

from neardup.fingerprints.digest import payload_digest
from tests.crawls.mirrored import check
from tests.crawls.test_mirror_cut import PAGE, links, send_half, site, start, told, whole
from tests.sites.exchange import HTML
from tests.sites.needing import body

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.sites.exchange import Exchange
    from tests.sites.needing import NeedingSite

    Rest = Callable[[Exchange, bytes, int], None]

__all__ = ["site"]


class Resumable:
    """A file that breaks off when it is asked for as a whole, until it is asked for its rest.

    Args:
        content: The file.
        etag: Its ETag.
        rest: How it answers a request for its rest.
    """

    def __init__(self, content: bytes, rest: Rest, etag: str = '"v1"') -> None:
        self._content, self._rest, self._etag = content, rest, etag
        self._was_asked = False

    def __call__(self, exchange: Exchange) -> None:
        wanted = exchange.headers.get("Range")
        if wanted is not None:
            self._was_asked = True
            assert exchange.headers["If-Range"] == self._etag
            self._rest(exchange, self._content, int(wanted.removeprefix("bytes=").rstrip("-")))
        elif self._was_asked:
            self.send(exchange)
        else:
            length = str(len(self._content))
            headers = {"Content-Type": HTML, "Content-Length": length, "ETag": self._etag}
            exchange.head(200, headers)
            send_half(exchange, self._content)

    def send(self, exchange: Exchange) -> None:
        exchange.answer(self._content, headers={"ETag": self._etag})


def send_rest(
    exchange: Exchange, content: bytes, at: int, missing: int = 0, **headers: str
) -> None:
    """Send the bytes from a place on, without the last ones."""
    end = len(content)
    declared = {
        "Content-Type": HTML,
        "Content-Length": str(end - at),
        "Content-Range": f"bytes {at}-{end - 1}/{end}",
        "ETag": '"v1"',
    }
    exchange.head(206, declared | {name.replace("_", "-"): it for name, it in headers.items()})
    exchange.wfile.write(content[at : end - missing])
    exchange.hang_up()


def send_from_elsewhere(exchange: Exchange, content: bytes, at: int) -> None:
    send_rest(exchange, content, at - 5)


def send_of_another_version(exchange: Exchange, content: bytes, at: int) -> None:
    send_rest(exchange, content, at, ETag='"v2"')


def send_in_a_coding(exchange: Exchange, content: bytes, at: int) -> None:
    send_rest(exchange, content, at, Content_Encoding="gzip")


def refuse_range(exchange: Exchange, content: bytes, at: int) -> None:
    exchange.answer(b"", status=416, headers={"Content-Range": f"bytes */{at}"})


def send_whole(exchange: Exchange, content: bytes, at: int) -> None:
    exchange.answer(content, headers={"ETag": '"v2"'})


def break_off_again(exchange: Exchange, content: bytes, at: int) -> None:
    send_rest(exchange, content, at, missing=9)


class TestRests:
    RESTS: ClassVar[dict[str, tuple[Rest, int]]] = {
        "/small/rest.html": (send_rest, 1),
        "/small/version.html": (send_whole, 1),
        "/small/elsewhere.html": (send_from_elsewhere, 2),
        "/small/other.html": (send_of_another_version, 2),
        "/small/coding.html": (send_in_a_coding, 2),
        "/small/refused.html": (refuse_range, 2),
    }
    """How each answers a request for its rest, and the requests until the whole is there."""

    def test_rest_of_a_part_is_requested_and_joined_to_it(
        self, site: NeedingSite, tmp_path: Path
    ) -> None:
        site.file("/small/", body("small", links(self.RESTS)))
        for path, (rest, _) in self.RESTS.items():
            site.added[path] = Resumable(whole(path), rest)
        start(site, tmp_path / "m", status=1)
        site.news()
        found = start(site, tmp_path / "m")
        asked = site.news()
        for path, (_, requests) in self.RESTS.items():
            assert asked.count(path) == requests, path
            assert found.served[site.at(path)] == payload_digest(whole(path)), path
        assert not told(found, "failed")
        assert check(found.folder).returncode == 0

    def test_part_grows_from_run_to_run(self, site: NeedingSite, tmp_path: Path) -> None:
        content = whole("/small/b.html")
        site.added["/small/b.html"] = Resumable(content, break_off_again)
        start(site, tmp_path / "m", status=1)
        site.news()
        found = start(site, tmp_path / "m", status=1)
        assert site.news().count("/small/b.html") == 1
        assert found.served[site.at("/small/b.html")] == payload_digest(content[:-9])
        assert told(found, "failed") == {site.at("/small/b.html")}
        site.added["/small/b.html"] = Resumable(content, send_rest)
        found = start(site, tmp_path / "m")
        assert site.news().count("/small/b.html") == 1
        assert found.served[site.at("/small/b.html")] == payload_digest(content)

    def test_mirror_that_was_stopped_requests_it_when_it_goes_on(
        self, site: NeedingSite, tmp_path: Path
    ) -> None:
        linked = [f"/small/{number}.html" for number in range(9)]
        site.file("/small/", body("small", links(["/small/b.html", *linked])))
        for path in linked:
            site.file(path, whole(path))
        site.added["/small/b.html"] = Resumable(PAGE, send_rest)
        start(site, tmp_path / "m", "--max-pages", "4", "-s", "RETRY_TIMES=0", status=1)
        assert site.news().count("/small/b.html") == 1
        found = start(site, tmp_path / "m")
        assert "going on" in found.done.stdout
        assert site.news().count("/small/b.html") == 1
        assert found.served[site.at("/small/b.html")] == payload_digest(PAGE)
        assert check(found.folder).returncode == 0

    @pytest.mark.parametrize("case", ["weak", "recorded"])
    def test_whole_is_requested(self, site: NeedingSite, tmp_path: Path, case: str) -> None:
        """A weak ETag is of several versions; an archive is to have whole answers."""
        etag = 'W/"v1"' if case == "weak" else '"v1"'
        site.added["/small/b.html"] = Resumable(PAGE, send_rest, etag)
        start(site, tmp_path / "m", status=1)
        site.file("/small/b.html", PAGE)
        start(site, tmp_path / "m", *(["--warc"] if case == "recorded" else []))
        last = [asked for asked in site.asked if asked.path == "/small/b.html"][-1]
        assert "range" not in last.headers
