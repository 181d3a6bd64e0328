from __future__ import annotations

import gc

import pytest
from protego._urlpattern import _URLPattern
from scrapy.utils.test import get_crawler

from crawler.downloadermiddlewares.robots import FirstRules, LatelyAsked

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


def parsed(body: bytes) -> FirstRules:
    return FirstRules.from_crawler(
        get_crawler(settings_dict={"USER_AGENT": "crawl-once/0.1"}), body
    )


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert not parsed(b"\xef\xbb\xbf" + RULES).allowed("http://x.example/a", "crawl-once/0.1")


def test_a_request_with_another_user_agent_has_its_own_rules() -> None:
    rules = parsed(b"User-agent: *\nDisallow: /a\nUser-agent: other\nDisallow: /b\n")
    for agent, closed in (("crawl-once/0.1", "/a"), ("Other/2", "/b"), ("third", "/a")):
        open_paths = [
            path for path in ("/a", "/b") if rules.allowed(f"http://x.example{path}", agent)
        ]
        assert open_paths == [path for path in ("/a", "/b") if path != closed]


def test_the_file_that_ended_a_crawl_leaves_one_parser_few_rules() -> None:
    """Half a megabyte of user agents and rules were millions of rules, and gigabytes."""
    agents = b"".join(b"User-agent: agent%d\n" % number for number in range(12_000))
    rules = b"".join(b"Disallow: /%d\n" % number for number in range(15_000))
    whole = agents + b"User-agent: *\n" + rules
    assert len(whole) < 512_000
    (only,) = parsed(whole).rp._user_agents.values()
    assert len(only._rules) == 15_000


def parsed_patterns() -> int:
    gc.collect()
    return sum(isinstance(one, _URLPattern) for one in gc.get_objects())


def test_rules_of_hosts_that_were_asked_long_ago_are_packed_and_still_hold() -> None:
    before = parsed_patterns()
    lately = LatelyAsked(3)
    hosts = [parsed(b"User-agent: *\nDisallow: /%d\n" % number) for number in range(10)]
    for rules in hosts:
        lately.note(rules)
    assert parsed_patterns() - before == 3
    for _ in range(2):
        for number, rules in enumerate(hosts):
            lately.note(rules)
            assert not rules.allowed(f"http://x.example/{number}", "crawl-once/0.1")
            assert rules.allowed(f"http://x.example/{number + 1}", "crawl-once/0.1")
            assert parsed_patterns() - before <= 3
    assert hosts[-1].rp.crawl_delay("crawl-once/0.1") is None


def test_rules_of_a_long_file_stay_parsed() -> None:
    lines = b"".join(b"Disallow: /%d\n" % number for number in range(1_000))
    rules = parsed(b"User-agent: *\n" + lines)
    rules.pack()
    before = parsed_patterns()
    assert not rules.allowed("http://x.example/7", "crawl-once/0.1")
    assert parsed_patterns() == before
