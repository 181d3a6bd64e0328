"""The lean parts do what Scrapy's own do."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest
from pydispatch import dispatcher
from scrapy import Request, Spider, signals
from scrapy.core.downloader import Downloader
from scrapy.exceptions import DropItem
from scrapy.http import Headers, HtmlResponse, Response
from scrapy.logformatter import LogFormatter
from scrapy.signalmanager import SignalManager
from scrapy.spidermiddlewares.depth import DepthMiddleware
from scrapy.spidermiddlewares.referer import RefererMiddleware
from scrapy.utils.test import get_crawler

from crawler.downloader.handler import PlainDownloader
from crawler.lean_parts import DepthsAndReferers, HeardSignals, PlainStats, ShownLogs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy.crawler import Crawler

URL = "http://site.test/a?x=1"
TARGETS = ("http://site.test/b", "https://site.test/c", "http://other.test/", "ftp://site.test/d")
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"DEPTH_LIMIT": 2},
    {"DEPTH_PRIORITY": 3, "DEPTH_STATS_VERBOSE": True},
    {"REFERRER_POLICY": "no-referrer"},
    {"REFERRER_POLICY": "origin"},
    {"REFERER_ENABLED": False},
)


async def outputs(items: list[Any]) -> AsyncIterator[Any]:
    for item in items:
        yield item


async def through(middleware: Any, response: HtmlResponse, result: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in middleware.process_spider_output_async(response, result)]


def made(depth: int | None, policy: str | None) -> tuple[HtmlResponse, list[Any]]:
    meta = {} if depth is None else {"depth": depth}
    headers = {} if policy is None else {"Referrer-Policy": policy}
    response = HtmlResponse(URL, headers=headers, request=Request(URL, meta=meta))
    requests = [Request(url) for url in TARGETS]
    requests.append(Request(TARGETS[0], headers={"Referer": "http://own.test/"}))
    requests.append(Request(TARGETS[0], meta={"referrer_policy": "unsafe-url"}))
    return response, [{"an": "item"}, *requests]


def shown(crawler: Crawler, response: HtmlResponse, items: list[Any]) -> Any:
    told = [
        (item.url, item.meta, item.headers.get("Referer"), item.priority)
        if isinstance(item, Request)
        else item
        for item in items
    ]
    return told, response.meta, crawler.stats.get_stats() if crawler.stats else None


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("depth", [None, 0, 1, 2])
@pytest.mark.parametrize("policy", [None, "no-referrer"])
def test_depth_and_referer_are_those_of_scrapys_middlewares(
    settings: dict[str, Any], depth: int | None, policy: str | None
) -> None:
    ours, theirs = get_crawler(settings_dict=settings), get_crawler(settings_dict=settings)
    response, items = made(depth, policy)
    given = asyncio.run(through(DepthsAndReferers.from_crawler(ours), response, outputs(items)))

    expected_response, expected = made(depth, policy)
    chain: list[Any] = [DepthMiddleware.from_crawler(theirs)]
    if settings.get("REFERER_ENABLED", True):
        chain.append(RefererMiddleware.from_crawler(theirs))
    for middleware in chain:
        expected = asyncio.run(through(middleware, expected_response, outputs(expected)))
    assert shown(ours, response, given) == shown(theirs, expected_response, expected)


async def later(value: Any) -> Any:
    return value


OF_REQUESTS: dict[str, Callable[[Request], Any]] = {
    "nothing": lambda _: None,
    "an answer": lambda request: Response(request.url, body=b"stored"),
    "another request": lambda request: request.replace(url=TARGETS[0]),
    "nothing later": lambda _: later(None),
    "an answer later": lambda request: later(Response(request.url, body=b"stored")),
}
OF_RESPONSES: dict[str, Callable[[Request, Response], Any]] = {
    "as it came": lambda _, response: response,
    "another answer": lambda _, response: response.replace(body=b"changed"),
    "a request": lambda request, _: request.replace(url=TARGETS[1]),
    "another answer later": lambda _, response: later(response.replace(body=b"changed")),
    "a request later": lambda request, _: later(request.replace(url=TARGETS[1])),
    "nothing": lambda _, __: None,
}


def answered(
    made_by: type[Downloader],
    of_request: Callable[[Request], Any],
    of_response: Callable[[Request, Response], Any],
) -> Any:
    """Return what a downloader makes of a request, with the middlewares that saw it."""
    passed: list[str] = []

    class First:
        def process_request(self, request: Request) -> Any:
            return of_request(request)

        def process_response(self, request: Request, response: Response) -> Any:
            passed.append("first response")
            return response

    class Second:
        def process_request(self, request: Request, spider: Spider) -> None:
            passed.append(f"second request of {spider.name}")

        def process_response(self, request: Request, response: Response) -> Any:
            return of_response(request, response)

    async def sent(request: Request) -> Response:
        return Response(request.url, body=b"sent")

    crawler = get_crawler(
        settings_dict={
            "DOWNLOADER_MIDDLEWARES_BASE": {},
            "DOWNLOADER_MIDDLEWARES": {First: 1, Second: 2},
            "DOWNLOAD_HANDLERS_BASE": {},
        }
    )
    crawler.spider = Spider.from_crawler(crawler, "probe")
    downloader = made_by(crawler)
    try:
        came = asyncio.run(downloader.middleware.download_async(sent, Request(URL)))
    except Exception as error:  # whatever Scrapy raises
        return type(error), passed
    return type(came), came.url, came.body, passed


@pytest.mark.filterwarnings("ignore:.*requires a spider argument")
@pytest.mark.parametrize("of_request", OF_REQUESTS.values(), ids=OF_REQUESTS)
@pytest.mark.parametrize("of_response", OF_RESPONSES.values(), ids=OF_RESPONSES)
def test_middlewares_of_the_downloader_are_asked_as_scrapy_asks_them(
    of_request: Callable[[Request], Any], of_response: Callable[[Request, Response], Any]
) -> None:
    ours = answered(PlainDownloader, of_request, of_response)
    assert ours == answered(Downloader, of_request, of_response)


@pytest.mark.parametrize("sender", ["its crawler", "any"])
@pytest.mark.parametrize("signal", [signals.headers_received, dispatcher.Any])
def test_a_signal_is_sent_to_those_who_hear_it(sender: str, signal: Any) -> None:
    crawler = get_crawler()
    ours, theirs = HeardSignals(crawler), SignalManager(crawler)
    heard: list[str] = []

    def hear(request: str) -> str:
        heard.append(request)
        return request.upper()

    assert ours.send_catch_log(signals.headers_received, request="nobody") == []
    of = dispatcher.Any if sender == "any" else crawler
    ours.connect(hear, signal, sender=of)
    sent = [one.send_catch_log(signals.headers_received, request="a") for one in (ours, theirs)]
    ours.disconnect(hear, signal, sender=of)
    assert sent == [[(hear, "A")], [(hear, "A")]]
    assert ours.send_catch_log(signals.headers_received, request="b") == []
    assert heard == ["a", "a"]


def test_a_signal_whose_handlers_may_be_awaited_is_sent_where_it_is_heard() -> None:
    ours, begun = HeardSignals(get_crawler()), list[int]()

    async def hear(request: str) -> str:
        begun.append(len(asyncio.all_tasks()))
        return request.upper()

    async def main() -> list[list[tuple[Any, Any]]]:
        nobody = await ours.send_catch_log_async(signals.headers_received, request="nobody")
        ours.connect(hear, signals.headers_received)
        return [nobody, await ours.send_catch_log_async(signals.headers_received, request="a")]

    assert asyncio.run(main()) == [[], [(hear, "A")]]
    assert begun == [2]


@pytest.mark.parametrize("name", ["content-type", b"CONTENT-TYPE", "Content-Type", "x-Ünknown"])
def test_headers_are_found_by_any_spelling_of_their_names(name: str | bytes) -> None:
    headers = Headers([(name, "a")])
    assert headers.get(name.swapcase()) == b"a"
    assert list(headers) == [name.title() if isinstance(name, bytes) else name.title().encode()]


def test_plain_statistics_count_as_scrapys_do() -> None:
    crawler = get_crawler(settings_dict={"STATS_CLASS": PlainStats})
    stats = crawler.stats
    assert isinstance(stats, PlainStats)
    stats.inc_value("pages")
    stats.inc_value("pages", 2)
    stats.max_value("depth", 3)
    stats.max_value("depth", 1)
    stats.set_value("reason", "finished")
    assert stats.get_stats() == {"pages": 3, "depth": 3, "reason": "finished"}


@pytest.mark.parametrize("level", ["DEBUG", "INFO", "WARNING", "ERROR", 10, 30])
def test_messages_that_are_shown_are_those_of_scrapy(level: str | int) -> None:
    crawler = get_crawler(settings_dict={"LOG_LEVEL": level})
    spider = Spider.from_crawler(crawler, "probe")
    least = level if isinstance(level, int) else logging.getLevelNamesMapping()[level]
    request, (response, _) = Request(URL), made(0, None)
    usual, quiet = DropItem("why"), DropItem("why", log_level="DEBUG")
    told = [
        (
            logs.crawled(request, response, spider),
            logs.scraped({"an": "item"}, response, spider),
            logs.dropped({"an": "item"}, usual, response, spider),
            logs.dropped({"an": "item"}, quiet, response, spider),
        )
        for logs in (ShownLogs.from_crawler(crawler), LogFormatter.from_crawler(crawler))
    ]
    expected = [one if one and one["level"] >= least else None for one in told[1]]
    assert list(told[0]) == expected


@pytest.mark.parametrize(
    ("referer", "settings", "sent"),
    [
        ("http://own.test/a", {}, b"http://own.test/a"),
        ("https://own.test/a", {}, None),  # the target is asked for without TLS
        ("http://own.test/a", {"REFERRER_POLICY": "origin"}, b"http://own.test/"),
        ("http://own.test/a", {"REFERER_ENABLED": False}, None),
        (None, {}, None),
    ],
)
def test_the_target_of_a_redirect_gets_the_referer_of_its_source(
    referer: str | None, settings: dict[str, Any], sent: bytes | None
) -> None:
    made = DepthsAndReferers.from_crawler(get_crawler(Spider, settings))
    assert isinstance(made, RefererMiddleware)  # by which redirects find it
    source = Request(URL, meta={"depth": 4}, headers={"Referer": referer} if referer else None)
    request = made.get_processed_request(Request(TARGETS[0]), HtmlResponse(URL, request=source))
    assert request is not None
    assert request.headers.get("Referer") == sent
    assert "depth" not in request.meta
