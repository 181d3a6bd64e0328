"""Read the pages that a feed, a web app manifest or an OpenSearch description names."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from lxml import etree

from crawler.reading.link_kinds import FEED, MANIFEST
from crawler.reading.sitemaps import SitemapContent, read_sitemap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.reading.sitemaps import SitemapLimits

_MAX_BYTES = 1 << 20
_MAX_URLS = 200
_NOTHING = SitemapContent(is_index=False, locations=())


def read_description(kind: str, body: bytes, limits: SitemapLimits) -> SitemapContent:
    """Return the addresses of the pages that a description names; none of any other file.

    Args:
        kind: ``FEED``, ``MANIFEST`` or ``SEARCH``.
        body: Body of the answer.
        limits: Limits on a feed, which is a sitemap too.
    """
    if kind == FEED and not body.lstrip().startswith(b"{"):
        feed = read_sitemap(body, limits)
        return _NOTHING if feed is None or feed.is_index else feed
    read = {FEED: _of_json_feed, MANIFEST: _of_manifest}.get(kind, _of_search)
    most = limits.max_urls if kind == FEED else _MAX_URLS
    size = limits.max_bytes if kind == FEED else _MAX_BYTES
    addresses = (each for each in read(body[:size]) if len(each) <= limits.max_url_length)
    found = tuple(islice(dict.fromkeys(addresses), most))
    return SitemapContent(is_index=False, locations=found)


def _of_manifest(body: bytes) -> Iterator[str]:
    """Yield the start page, the shortcuts and the scope; see https://w3.org/TR/appmanifest/."""
    manifest = _json_object(body)
    named = [manifest.get("start_url"), manifest.get("scope"), manifest.get("id")]
    named += [one.get("url") for one in _dicts(manifest.get("shortcuts"))]
    named += [one.get("action") for one in _dicts([manifest.get("share_target")])]
    yield from filter(_is_address, named)


def _of_json_feed(body: bytes) -> Iterator[str]:
    """Yield the home page, the next part and the entries; see https://jsonfeed.org/version/1.1."""
    feed = _json_object(body)
    if "jsonfeed.org" in str(feed.get("version")):
        named = [feed.get("home_page_url"), feed.get("next_url")]
        named += [one.get("url") for one in _dicts(feed.get("items"))]
        yield from filter(_is_address, named)


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_address(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _dicts(values: Any) -> list[dict[str, Any]]:
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []


def _of_search(body: bytes) -> Iterator[str]:
    """Yield the search form, and the pages of the templates without what is searched for."""
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(body, parser)
    except etree.XMLSyntaxError:
        return
    if root is None or etree.QName(root).localname != "OpenSearchDescription":
        return
    for element in root.iter("{*}Url", "{*}SearchForm"):
        if etree.QName(element).localname == "SearchForm":
            yield (element.text or "").strip()
        elif element.get("type", "text/html").startswith(("text/html", "application/xhtml")):
            yield element.get("template", "").partition("?")[0].partition("{")[0]
