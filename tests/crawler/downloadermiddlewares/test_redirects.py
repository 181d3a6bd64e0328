"""Redirects that browsers follow."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawler.downloadermiddlewares.limits import ReadRedirects

URL = "http://www.example.com/"


class TestReadRedirects:
    @pytest.mark.parametrize(
        ("status", "location", "found"),
        [
            (300, "/a", (302, b"/a")),
            (300, None, (300, None)),
            (302, "\\a\\b?c=\\d", (302, b"/a/b?c=\\d")),
            (302, " ", (302, None)),
            (307, "/a", (307, b"/a")),
        ],
    )
    def test_it_leads_where_others_go(
        self, status: int, location: str | None, found: tuple[int, bytes | None]
    ) -> None:
        headers = {} if location is None else {"Location": location}
        answer = Response(URL, status=status, headers=headers)
        request = Request(URL)
        read = ReadRedirects.from_crawler(get_crawler()).process_response(request, answer)
        assert (read.status, read.headers.get(b"Location")) == found
        assert location is None or read.request is request

    @pytest.mark.parametrize(
        "meta",
        [
            {"dont_redirect": True},
            {"handle_httpstatus_all": True},
            {"handle_httpstatus_list": [300]},
        ],
    )
    def test_an_answer_that_the_spider_wants_stays_as_it_came(self, meta: dict[str, Any]) -> None:
        answer = Response(URL, status=300, headers={"Location": "\\a"})
        middleware = ReadRedirects.from_crawler(get_crawler())
        assert middleware.process_response(Request(URL, meta=meta), answer) is answer
        assert answer.headers[b"Location"] == b"\\a"
