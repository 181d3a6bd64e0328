"""Read the pages that a feed, a web app manifest or an OpenSearch description names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lxml import etree

from crawler.reading.link_extraction import resolve
from crawler.reading.link_kinds import FEED, MANIFEST
from crawler.reading.sitemaps import read_sitemap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.reading.sitemaps import SitemapLimits

_MAX_BYTES = 1 << 20
_MAX_URLS = 200


def described_pages(kind: str, body: bytes, url: str, limits: SitemapLimits) -> list[str]:
    """Return the absolute URLs of the pages that a description names; none of any other file.

    Args:
        kind: ``FEED``, ``MANIFEST`` or ``SEARCH``.
        body: Body of the answer.
        url: Its URL.
        limits: Limits on a feed, which is a sitemap too.
    """
    if kind == FEED:
        feed = read_sitemap(body, limits)
        return [] if feed is None or feed.is_index else list(feed.urls(url))
    read = _of_manifest if kind == MANIFEST else _of_search
    found: dict[str, None] = {}
    for address in read(body[:_MAX_BYTES]):
        try:
            page = resolve(url, address)
        except ValueError:
            continue
        if page is not None and len(page) <= limits.max_url_length:
            found[page] = None
        if len(found) == _MAX_URLS:
            break
    return list(found)


def _of_manifest(body: bytes) -> Iterator[str]:
    """Yield the start page, the shortcuts and the scope; see https://w3.org/TR/appmanifest/."""
    try:
        manifest: Any = json.loads(body)
    except (ValueError, RecursionError):
        return
    if not isinstance(manifest, dict):
        return
    shortcuts = manifest.get("shortcuts")
    named = [manifest.get("start_url"), manifest.get("scope"), manifest.get("id")]
    named += [one.get("url") for one in _dicts(shortcuts)]
    named += [one.get("action") for one in _dicts([manifest.get("share_target")])]
    yield from (address for address in named if isinstance(address, str) and address)


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
