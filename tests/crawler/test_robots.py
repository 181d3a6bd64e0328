from __future__ import annotations

import pytest
from scrapy.utils.test import get_crawler

from crawler.robots import FirstRules

RULES = b"User-agent: *\nDisallow: /a\nDisallow: /b\n"


def allowed(body: bytes, limit: int, path: str) -> bool:
    crawler = get_crawler(settings_dict={"CRAWL_MAX_ROBOTS_BYTES": limit})
    return FirstRules.from_crawler(crawler, body).allowed(f"http://x.example{path}", "crawl-once")


@pytest.mark.parametrize(
    ("limit", "open_paths"),
    [
        (1000, set()),
        (len(RULES), set()),
        (len(RULES) - 1, {"/b"}),  # half a line would forbid everything that begins so
        (len(RULES) - 2, {"/b"}),
        (20, {"/a", "/b"}),
        (0, {"/a", "/b"}),
    ],
)
def test_whole_lines_up_to_the_limit_are_read(limit: int, open_paths: set[str]) -> None:
    assert {path for path in ("/a", "/b") if allowed(RULES, limit, path)} == open_paths


@pytest.mark.parametrize(
    "body", [b"\xff\xfe" * 99, b"\0" * 99, b"User-agent: \xff\nDisallow: \xff"]
)
def test_noise_forbids_nothing(body: bytes) -> None:
    assert allowed(body, 1000, "/a")
