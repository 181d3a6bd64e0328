"""Bodies of the hostile site: damaged, mislabelled and enormous as announced."""

from __future__ import annotations

import gzip
import http.client
import io
import json
import zlib
from typing import TYPE_CHECKING
from urllib.request import build_opener

import pytest

from tests.sites.asking import fetch
from tests.sites.prose import prose
from tests.sites.tricks import bodies

if TYPE_CHECKING:
    from tests.sites.hostile import HostileSite

pytestmark = pytest.mark.slow


class TestBodies:
    def test_empty(self, hostile_site: HostileSite) -> None:
        status, headers, body = fetch(hostile_site, "/empty")
        assert (status, headers["Content-Length"], body) == (200, "0", b"")

    def test_truncated_ends_before_its_length(self, hostile_site: HostileSite) -> None:
        with pytest.raises(http.client.IncompleteRead):
            fetch(hostile_site, "/truncated")

    def test_truncated_gzip_cannot_be_opened(self, hostile_site: HostileSite) -> None:
        _, headers, body = fetch(hostile_site, "/truncated-gzip")
        assert headers["Content-Encoding"] == "gzip"
        with pytest.raises(EOFError):
            gzip.decompress(body)

    def test_false_gzip_is_none(self, hostile_site: HostileSite) -> None:
        _, headers, body = fetch(hostile_site, "/false-gzip")
        assert headers["Content-Encoding"] == "gzip"
        assert body.startswith(b"<!DOCTYPE html>")

    @pytest.mark.parametrize(
        ("path", "declared", "true"),
        [
            ("/utf8-called-ascii", "us-ascii", "utf-8"),
            ("/latin1-called-utf8", "utf-8", "iso-8859-1"),
        ],
    )
    def test_charset_is_declared_wrongly(
        self, hostile_site: HostileSite, path: str, declared: str, true: str
    ) -> None:
        _, headers, body = fetch(hostile_site, path)
        assert headers["Content-Type"].endswith(declared)
        with pytest.raises(UnicodeDecodeError):
            body.decode(declared)
        assert bodies.FRENCH in body.decode(true)

    @pytest.mark.parametrize("path", ["/nested", "/nested-only"])
    def test_nested(self, hostile_site: HostileSite, path: str) -> None:
        body = fetch(hostile_site, path)[2]
        assert body.count(b"<div>") == body.count(b"</div>") == 10_000

    def test_huge_page_has_50_megabytes(self, hostile_site: HostileSite) -> None:
        with build_opener().open(hostile_site.at("/huge"), timeout=20) as response:
            assert (
                sum(len(piece) for piece in iter(lambda: response.read(2**20), b"")) == 50 * 2**20
            )

    def test_gzip_bomb_is_a_valid_stream_of_a_gigabyte(self, hostile_site: HostileSite) -> None:
        _, headers, body = fetch(hostile_site, "/gzip-bomb")
        assert headers["Content-Encoding"] == "gzip"
        assert len(body) < 2 * 2**20
        with gzip.open(io.BytesIO(body)) as opened:
            # Reading on to the end has gzip itself check length and checksum.
            assert sum(len(piece) for piece in iter(lambda: opened.read(2**24), b"")) == 2**30

    def test_no_content_type(self, hostile_site: HostileSite) -> None:
        _, headers, body = fetch(hostile_site, "/no-content-type")
        assert "Content-Type" not in headers
        assert b"<h1>" in body

    @pytest.mark.parametrize(
        ("path", "content_type", "magic"),
        [
            ("/image", "image/png", b"\x89PNG"),
            ("/paper", "application/pdf", b"%PDF"),
            ("/data", "application/json", b"{"),
            ("/binary-called-html", "text/html; charset=utf-8", b"\x89PNG"),
        ],
    )
    def test_not_html(
        self, hostile_site: HostileSite, path: str, content_type: str, magic: bytes
    ) -> None:
        _, headers, body = fetch(hostile_site, path)
        assert headers["Content-Type"] == content_type
        assert body.startswith(magic)

    def test_data_is_json(self, hostile_site: HostileSite) -> None:
        assert json.loads(fetch(hostile_site, "/data")[2]) == {"prose": prose("data")}

    def test_image_holds_a_pixel(self) -> None:
        start = bodies.PNG.index(b"IDAT") + 4
        assert zlib.decompressobj().decompress(bodies.PNG[start:]) == b"\x00\x80"
