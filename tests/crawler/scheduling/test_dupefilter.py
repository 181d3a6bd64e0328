"""The dupe filter over a real seen set: canonical URLs, redirects to oneself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy import Request, Spider
from scrapy.utils.test import get_crawler

from crawler.job_registry import job_of
from crawler.scheduling.dupefilter import SeenFilter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler


@pytest.fixture
def crawler() -> Iterator[Crawler]:
    fingerprinter = "crawler.scheduling.dupefilter.CanonicalFingerprinter"
    crawler = get_crawler(Spider, {"REQUEST_FINGERPRINTER_CLASS": fingerprinter})
    yield crawler
    job_of(crawler).close()


def test_a_request_is_seen_from_the_second_time_on(crawler: Crawler) -> None:
    dupefilter = SeenFilter.from_crawler(crawler)
    assert not dupefilter.request_seen(Request("http://example.com/a"))
    assert dupefilter.request_seen(Request("http://example.com/a"))
    assert not dupefilter.request_seen(Request("http://example.com/A"))
    assert not dupefilter.request_seen(Request("http://example.com/a", method="POST"))


@pytest.mark.parametrize(("is_named", "lines"), [(False, 0), (True, 2)])
def test_each_repeated_request_is_logged_where_that_is_asked_for(
    crawler: Crawler, caplog: pytest.LogCaptureFixture, *, is_named: bool, lines: int
) -> None:
    crawler.settings.frozen = False
    crawler.settings.set("DUPEFILTER_DEBUG", is_named)
    dupefilter = SeenFilter.from_crawler(crawler)
    with caplog.at_level("DEBUG", "crawler.scheduling.dupefilter"):
        for _ in range(2):
            dupefilter.log(Request("http://example.com/a"), Spider("any"))
    assert caplog.text.count("queued before") == lines
    assert crawler.stats is not None
    assert crawler.stats.get_value("dupefilter/filtered") == 2


@pytest.mark.parametrize(
    "again",
    ["http://EXAMPLE.com:80/a?x=2&y=1#there", "http://example.com/./a?x=2&y=1"],
)
def test_urls_that_standards_take_for_one_are_one(crawler: Crawler, again: str) -> None:
    dupefilter = SeenFilter.from_crawler(crawler)
    assert not dupefilter.request_seen(Request("http://example.com/a?x=2&y=1"))
    assert dupefilter.request_seen(Request(again))


@pytest.mark.parametrize("query", ["y=1&x=2", "x=2&y=1&utm_source=mail"])
def test_no_variant_is_filtered_where_its_page_is_not_stored(crawler: Crawler, query: str) -> None:
    dupefilter = SeenFilter.from_crawler(crawler)
    for url in ("http://example.com/a?x=2&y=1", f"http://example.com/a?{query}"):
        assert not dupefilter.request_seen(Request(url))
        assert dupefilter.request_seen(Request(url))


def test_a_redirect_to_the_page_itself_goes_through_and_one_to_another_does_not(
    crawler: Crawler,
) -> None:
    dupefilter = SeenFilter.from_crawler(crawler)
    url, other = "http://example.com/a", "http://example.com/b"
    dupefilter.request_seen(Request(url))
    dupefilter.request_seen(Request(other))
    with_cookie = {"redirect_urls": [url]}
    assert not dupefilter.request_seen(Request(url, meta=with_cookie))
    assert dupefilter.request_seen(Request(other, meta=with_cookie))


def test_what_was_filtered_is_counted(crawler: Crawler) -> None:
    dupefilter = SeenFilter.from_crawler(crawler)
    dupefilter.log(Request("http://example.com/a"), Spider("any"))
    assert crawler.stats is not None
    assert crawler.stats.get_value("dupefilter/filtered") == 1
