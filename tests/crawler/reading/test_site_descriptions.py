from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.link_kinds import FEED, MANIFEST, SEARCH
from crawler.reading.sitemaps import SitemapLimits, read_description

URL = "https://host.example/folder/file"
LIMITS = SitemapLimits(max_bytes=1 << 20)


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
