"""Lists of a site's pages: sitemaps of all forms, feeds, manifests, search descriptions."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

from crawler.reading.link_kinds import FEED, MANIFEST, SEARCH
from crawler.reading.sitemaps import SitemapContent, SitemapLimits, read_description, read_sitemap
from tests.crawler.reading.documents.test_feeds import ATOM
from tests.crawler.reading.test_sitemaps import MAP, RDF, RSS, SPACE
from tests.fuzzing.target import Target, together

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fuzzing.target import Read

_LIMITS = SitemapLimits(max_bytes=1 << 22, max_urls=100, max_url_length=2000)
_BASE = "http://h.example/sitemap.xml"


def _check(found: SitemapContent | None) -> None:
    if found is not None:
        assert len(found.locations) <= 200
        for url in found.urls(_BASE):
            url.encode()


def _begin_sitemaps(_: Path) -> Read:
    return lambda data: _check(read_sitemap(data, _LIMITS))


def _begin_descriptions(_: Path) -> Read:
    def read(data: bytes) -> None:
        for kind in (FEED, MANIFEST, SEARCH):
            _check(read_description(kind, data, _LIMITS))

    return read


def _sitemaps() -> list[bytes]:
    whole = f"{MAP}</urlset>".encode()
    index = f"<sitemapindex {SPACE}><sitemap><loc>/a</loc></sitemap></sitemapindex>".encode()
    entity = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><urlset><url><loc>&b;</loc></url>'
    lines = b"\xef\xbb\xbfhttp://h.example/a\r\nhttps://h.example/b\nnone\n"
    return [
        *(whole, gzip.compress(whole, mtime=0), gzip.compress(gzip.compress(index)), index, entity),
        *(lines, RSS.encode(), RDF.encode(), ATOM.encode(), MAP.encode("utf-16"), b"\x1f\x8b\x08"),
    ]


def _descriptions() -> list[bytes]:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "home_page_url": "/",
        "items": [{"url": "http://h.example/1"}, {"url": 7}],
    }
    manifest = {"start_url": "/?x", "scope": "/", "shortcuts": [{"url": "/s"}], "share_target": {}}
    search = (
        b'<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
        b'<Url type="text/html" template="http://h.example/s?q={searchTerms}"/>'
        b"<SearchForm>http://h.example/s</SearchForm></OpenSearchDescription>"
    )
    return [json.dumps(feed).encode(), json.dumps(manifest).encode(), search, RSS.encode()]


TARGETS = (
    together(
        "sitemaps",
        Target("sitemap", _sitemaps, _begin_sitemaps),
        Target("description", _descriptions, _begin_descriptions),
    ),
)
