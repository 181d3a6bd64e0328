#!/usr/bin/env bash
# ultimate-sitemap-parser: pages of one valid sitemap cannot be sorted by last_modified; items of RSS with a guid alone go.
#
# Guess: last_modified is a datetime of one kind, in UTC where a sitemap gives a day alone, so that the newest page is
#   max(pages, key=last_modified); an RSS item whose guid is its address (isPermaLink is true unless it says otherwise)
#   is a page, as one with a link is.
# What happens: <lastmod>2024-03-05</lastmod> gives a datetime without a zone, 2024-03-05T10:00:00+02:00 one with, and the
#   first comparison raises TypeError. Of the RSS items only the one with a link is a page; "Link is unset" is logged.
# Why it matters: both forms of dates stand in one file wherever a generator writes days for old pages and times for new
#   ones: a crawl that begins with what is new ends at such a site. RSS 2.0 asks of an item for a title or a
#   description, and for a link of none.
# Version: ultimate-sitemap-parser 1.8.1, Python 3.11. Date: 2026-12-01.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'ultimate-sitemap-parser==1.8.1' 2>/dev/null
cd "$folder"
venv/bin/python - <<'PYTHON'
import logging
from importlib.metadata import version

from usp.fetch_parse import SitemapStrParser

logging.disable(logging.CRITICAL)
print("ultimate-sitemap-parser", version("ultimate-sitemap-parser"))
SITEMAP = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://example.org/old</loc><lastmod>2024-03-05</lastmod></url>
<url><loc>https://example.org/new</loc><lastmod>2024-03-05T10:00:00+02:00</lastmod></url>
</urlset>"""
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>x</title><link>https://example.org/</link>
<description>x</description><item><title>one</title><link>https://example.org/one</link></item>
<item><title>two</title><guid>https://example.org/two</guid></item></channel></rss>"""
pages = list(SitemapStrParser(SITEMAP).sitemap().all_pages())
for page in pages:
    print(page.url, page.last_modified, "zone:", page.last_modified.tzinfo)
try:
    newest = max(pages, key=lambda page: page.last_modified).url
except TypeError as error:
    newest = None
    print("TypeError:", error)
assert newest is None, "the behaviour has changed"
found = [page.url for page in SitemapStrParser(FEED).sitemap().all_pages()]
print("pages of the feed:", found)
assert found == ["https://example.org/one"], "the behaviour has changed"
PYTHON
