from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.sitemaps import SitemapContent, SitemapLimits, read_sitemap

LIMITS = SitemapLimits(max_bytes=2**20)
SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
MAP = f"<urlset {SPACE}><url><loc> http://a/?x=1&amp;y=2\n</loc></url><url><loc>/b</loc></url>"
LOCATIONS = ("http://a/?x=1&y=2", "/b")


def content(body: bytes | str, limits: SitemapLimits = LIMITS) -> SitemapContent | None:
    return read_sitemap(body.encode() if isinstance(body, str) else body, limits)


@pytest.mark.parametrize(
    "body",
    [
        f"{MAP}</urlset>",
        f'<?xml version="1.0"?><!-- x -->{MAP}</urlset>',
        gzip.compress(f"{MAP}</urlset>".encode()),
        MAP,  # cut off
        f"{MAP}<url><loc>/half",
        f"{MAP}<url><lastmod>2024</lastmod></url><url><loc/></url></urlset>",
        f"{MAP}<url><image><loc>/image</loc></image></url></urlset>",
        f"{MAP}</urlset>".encode("utf-16"),
    ],
)
def test_locations_are_read(body: bytes | str) -> None:
    found = content(body)
    assert found is not None
    assert found.locations == LOCATIONS
    assert not found.is_index


def test_an_index_is_told_apart() -> None:
    found = content(f"<sitemapindex {SPACE}><sitemap><loc>/a</loc></sitemap></sitemapindex>")
    assert found == SitemapContent(is_index=True, locations=("/a",))


@pytest.mark.parametrize(
    "body", ["", "words", "<html><p>x", b"\x1f\x8b\x08" + b"x" * 99, gzip.compress(bytes(2**22))]
)
def test_what_is_no_sitemap_is_none(body: bytes | str) -> None:
    assert content(body) is None


def test_so_many_locations_are_taken() -> None:
    body = "<urlset>" + "".join(f"<url><loc>/{number}</loc></url>" for number in range(10))
    found = content(body, SitemapLimits(2**20, max_urls=3))
    assert found == SitemapContent(is_index=False, locations=("/0", "/1", "/2"), is_cut=True)
    assert content(body, SitemapLimits(2**20, max_urls=10)) == SitemapContent(
        is_index=False, locations=tuple(f"/{number}" for number in range(10))
    )


def test_so_many_elements_are_read() -> None:
    found = content("<urlset>" + "<a/>" * 1000, SitemapLimits(2**20, max_urls=10))
    assert found == SitemapContent(is_index=False, locations=(), is_cut=True)


def test_a_location_that_is_too_long_is_left_out() -> None:
    body = f"<urlset><url><loc>/{'x' * 9000}</loc></url><url><loc>/b</loc></url></urlset>"
    assert content(body) == SitemapContent(is_index=False, locations=("/b",))


@pytest.mark.parametrize("where", ["file:///etc/passwd", "http://127.0.0.1:1/"])
def test_nothing_outside_the_file_is_loaded(where: str) -> None:
    entity = f'<!ENTITY b SYSTEM "{where}">'
    found = content(f"<!DOCTYPE x [{entity}]><urlset><url><loc>/&b;</loc></url></urlset>")
    assert found is not None
    assert found.locations in {("/",), ()}


def test_a_billion_laughs_are_not_laughed() -> None:
    names = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    start = f'<!DOCTYPE x [<!ENTITY a0 "ha">{names}]><urlset><url><loc>'
    found = content(f"{start}/&a11;</loc></url></urlset>")
    assert found is not None
    assert all(len(location) <= LIMITS.max_url_length for location in found.locations)


class TestSitemapProperties:
    @given(st.binary(max_size=400))
    def test_any_bytes_are_a_sitemap_or_none(self, body: bytes) -> None:
        content(body)
        content(b"<urlset>" + body)

    @given(st.integers(0, len(MAP)), st.binary(max_size=9))
    def test_a_damaged_one_is_read_as_far_as_it_goes(self, place: int, piece: bytes) -> None:
        found = content(MAP.encode()[:place] + piece + MAP.encode()[place:])
        if found is not None:
            assert all(len(location) <= 8192 for location in found.locations)
            list(found.urls("http://a/"))


@pytest.mark.parametrize(
    ("before", "between"),
    [("\n", ""), ("<!-- made by hand -->", ""), ("", "<loc>/a&b</loc>"), ("", "<x>&nbsp;</x>")],
)
def test_a_small_fault_takes_no_ampersand_from_what_follows(before: str, between: str) -> None:
    body = (
        f'{before}<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"<url>{between}</url><url><loc>http://site.test/q?a=1&amp;n=20</loc></url></urlset>"
    )
    found = read_sitemap(body.encode(), SitemapLimits(max_bytes=1 << 20))
    assert found is not None
    assert found.locations[-1] == "http://site.test/q?a=1&n=20"
