from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.link_kinds import FEED, MANIFEST, SEARCH
from crawler.reading.sitemaps import SitemapContent, SitemapLimits, read_description, read_sitemap

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
        gzip.compress(f"{MAP}</urlset>".encode(), mtime=0),
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
    "body",
    ["", "words", "<html><p>x", b"\x1f\x8b\x08" + b"x" * 99, gzip.compress(bytes(2**22), mtime=0)],
)
def test_what_is_no_sitemap_is_none(body: bytes | str) -> None:
    assert content(body) is None


RSS = (
    '<?xml version="1.0"?><rss version="2.0"><channel><link>http://a/</link><item><title>x</title>'
    "<link> http://a/?x=1&amp;y=2 </link><comments>http://a/c</comments></item>"
    "<item><link><![CDATA[/b]]></link></item></channel></rss>"
)
RDF = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    ' xmlns="http://purl.org/rss/1.0/"><channel><link>http://a/</link></channel>'
    "<item><link>http://a/?x=1&amp;y=2</link></item><item><link>/b</link></item></rdf:RDF>"
)
ATOM = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://a/"/><entry>'
    '<link rel="edit" href="/edit"/><link rel="alternate" href="http://a/?x=1&amp;y=2"/></entry>'
    '<entry><link href=" /b "/><source><link href="/source"/></source></entry></feed>'
)
TEXT = "http://a/?x=1&y=2\r\n\r\n  https://b/\n/no-address\nwords\n"


@pytest.mark.parametrize("body", [RSS, RDF, ATOM, gzip.compress(ATOM.encode(), mtime=0), RSS[:-23]])
def test_feeds_are_sitemaps_too(body: bytes | str) -> None:
    assert content(body) == SitemapContent(is_index=False, locations=LOCATIONS)


@pytest.mark.parametrize(
    ("body", "locations"),
    [
        ('<rss xmlns:s="urn:s"><item><s:link>no</s:link><link>/a</link></item></rss>', ["/a"]),
        ('<rss xmlns="http://b.org/rss2"><item><link>/a</link></item></rss>', ["/a"]),
        ('<rss xmlns="urn:own"><item><link>/a</link></item></rss>', ["/a"]),
        ("<rss><item><guid>http://a/1</guid></item><item><guid isPermaLink='true'>http://a/2</guid>"
         "<link></link></item></rss>", ["http://a/1", "http://a/2"]),
        ("<rss><item><guid isPermaLink='false'>http://a/1</guid></item><item><guid>tag:a</guid>"
         "</item><item><guid>http://a/2</guid><link>/b</link></item></rss>", ["/b"]),
        ('<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/blog/"><entry xml:base="2024/">'
         '<link href="a"/></entry><entry><link href="b"/></entry><entry><link href="/c"/></entry>'
         "</feed>", ["/blog/2024/a", "/blog/b", "/c"]),
        ('<rss xml:base="http://b/x/"><item><link>a</link></item></rss>', ["http://b/x/a"]),
    ],
)  # fmt: skip
def test_entries_of_feeds_are_read_by_namespace_base_and_name(
    body: str, locations: list[str]
) -> None:
    found = content(body)
    assert found is not None
    assert list(found.locations) == locations


@pytest.mark.parametrize(
    "body", [TEXT, "\n" + TEXT, "\ufeff" + TEXT, gzip.compress(TEXT.encode(), mtime=0)]
)
def test_a_text_of_addresses_is_one(body: bytes | str) -> None:
    found = content(body)
    assert found == SitemapContent(is_index=False, locations=("http://a/?x=1&y=2", "https://b/"))


@pytest.mark.parametrize("line", ["http://a/{}\n", "\n\n\nhttp://a/{}"])
def test_so_many_lines_are_taken(line: str) -> None:
    body = "".join(line.format(number) for number in range(5))
    found = content(body, SitemapLimits(2**20, max_urls=3))
    assert found is not None
    assert found.locations == ("http://a/0", "http://a/1", "http://a/2")
    assert found.is_cut
    found = content(body, SitemapLimits(2**20, max_urls=5))
    assert found is not None
    assert not found.is_cut


def test_so_many_lines_are_read_and_long_ones_left_out() -> None:
    found = content("http://a/\n" + "x\n" * 1000, SitemapLimits(2**20, max_urls=10))
    assert found == SitemapContent(is_index=False, locations=("http://a/",), is_cut=True)
    assert content(f"http://a/{'x' * 9000}\nhttp://b/") == SitemapContent(False, ("http://b/",))


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

    @given(st.sampled_from([RSS, RDF, ATOM, TEXT]), st.integers(0, 400), st.binary(max_size=9))
    def test_damaged_feeds_and_texts_are_read_as_far_as_they_go(
        self, whole: str, place: int, piece: bytes
    ) -> None:
        content(whole.encode()[:place] + piece + whole.encode()[place:])

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


@pytest.mark.parametrize("shape", ["<url><loc>http://a/{}</loc></url>", "http://a/{}\n"])
def test_a_packed_one_that_opens_to_more_than_the_limit_is_read_up_to_it(shape: str) -> None:
    body = ("<urlset>" if "<" in shape else "") + "".join(map(shape.format, range(1000, 1200)))
    found = content(gzip.compress(body.encode()), SitemapLimits(max_bytes=len(body) // 2 + 3))
    assert found is not None
    assert found.is_cut
    assert 90 < len(found.locations) < 110
    assert all(len(location) == len("http://a/1000") for location in found.locations)


URL = "https://host.example/folder/file"


def pages(kind: str, body: str) -> list[str]:
    return list(read_description(kind, body.encode(), LIMITS).urls(URL))


def test_a_manifest_names_its_start_and_its_shortcuts() -> None:
    manifest = {
        "start_url": "../?from=app",
        "scope": "/",
        "shortcuts": [{"url": "/a"}, {"url": 3}, "b"],
        "share_target": {"action": "/share"},
        "icons": [{"src": "/icon.png"}],
    }
    start, *others = pages(MANIFEST, json.dumps(manifest))
    assert start == "https://host.example/?from=app"
    assert others == [f"https://host.example/{path}" for path in ("", "a", "share")]


def test_a_search_description_names_its_form() -> None:
    body = (
        '<?xml version="1.0"?><OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"'
        ' xmlns:moz="http://www.mozilla.org/2006/browser/search/">'
        '<Url type="text/html" template="/find?q={searchTerms}"/>'
        '<Url type="application/x-suggestions+json" template="/suggest?q={searchTerms}"/>'
        "<moz:SearchForm>/search</moz:SearchForm></OpenSearchDescription>"
    )
    assert pages(SEARCH, body) == ["https://host.example/find", "https://host.example/search"]


def test_a_feed_names_its_entries() -> None:
    body = "<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='/a'/></entry></feed>"
    assert pages(FEED, body) == ["https://host.example/a"]


def test_a_json_feed_names_its_entries_and_its_next_part() -> None:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "next_url": "/feed/2",
        "items": [{"id": "1", "url": "/a"}, {"id": "2"}, {"id": "3", "url": "/a"}],
    }
    assert pages(FEED, json.dumps(feed)) == [
        "https://host.example/feed/2",
        "https://host.example/a",
    ]
    assert pages(FEED, json.dumps({**feed, "version": "1"})) == []


@pytest.mark.parametrize("kind", [FEED, MANIFEST, SEARCH])
@given(body=st.binary(max_size=200) | st.sampled_from([b"[" * 100_000, b"{}", b"<a/>", b"null"]))
def test_any_other_file_names_nothing(kind: str, body: bytes) -> None:
    for url in read_description(kind, body, LIMITS).urls(URL):
        assert url.startswith("http")


def test_a_namespace_with_a_bracket_is_one() -> None:
    form = "<SearchForm>/find</SearchForm>"
    body = f'<OpenSearchDescription xmlns="http://a9.com/}}">{form}</OpenSearchDescription>'
    assert pages(SEARCH, body) == ["https://host.example/find"]
