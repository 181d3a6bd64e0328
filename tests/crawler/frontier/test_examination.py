"""The end of a crawl: what is tried of rules that may be wrong on a few pages, and what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler.frontier.examination import PROVEN
from crawler.urls.learning.context import Context
from crawler.urls.learning.transforms import DropArguments, ReplaceValues
from tests.crawler.frontier.ruled import NAME, SOMEWHERE
from tests.crawler.frontier.test_url_rules import argument, by_id, report, tried

if TYPE_CHECKING:
    from pathlib import Path


def without(name: str, value: str) -> ReplaceValues:
    """A value that says the same as none."""
    return ReplaceValues(name, (value,), ())


def edition(url: str) -> str:
    """Pages of which one in twenty has editions that differ."""
    number, edition = int(argument(url, "id")), argument(url, "edition")
    return f"page {number}" + (f" in {edition}" if number % 20 == 9 and edition > "1" else "")


def test_a_request_is_a_trial_of_every_rule_that_skips_it(tmp_path: Path) -> None:
    rules = [(Context(NAME), without(name, "1")) for name in ("a", "b", "c")]
    crawl = tried(tmp_path, *rules, site=by_id)
    crawl.admit_all(f"{SOMEWHERE}/page?id={n}" for n in range(300))
    crawl.drain()
    crawl.admit_all(f"{SOMEWHERE}/page?a=1&b=1&c=1&id={n}" for n in range(300))
    crawl.examine()
    assert all(rule.trials >= PROVEN for rule in crawl.rules.rules)
    assert len(crawl.fetched) - 300 < 1.5 * PROVEN


def test_each_value_is_tried(tmp_path: Path) -> None:
    crawl = tried(tmp_path, (Context(NAME), DropArguments(("edition",))), site=by_id)
    for rule in crawl.rules.rules:
        rule.values = [set("123")]
    crawl.admit_all(f"{SOMEWHERE}/page?id={n}" for n in range(300))
    crawl.drain()
    crawl.admit_all(f"{SOMEWHERE}/page?edition={e}&id={n}" for n in range(300) for e in "123")
    crawl.drain()
    before = len(crawl.fetched)
    crawl.examine()
    found = [argument(url, "edition") for url in crawl.fetched[before:]]
    assert min(map(found.count, "123")) >= 10


def test_what_spoke_for_a_rule_before_it_held_is_no_trial(tmp_path: Path) -> None:
    crawl = tried(tmp_path, (Context(NAME), without("a", "1")), site=by_id)
    for rule in crawl.rules.rules:
        rule.positives = 2 * PROVEN
    crawl.admit_all(f"{SOMEWHERE}/page?{a}id={n}" for a in ("", "a=1&") for n in range(200))
    crawl.examine()
    assert len(crawl.fetched) >= 200 + PROVEN


def test_where_one_value_is_wrong_the_others_of_the_argument_are_not_believed_either(
    tmp_path: Path,
) -> None:
    rules = [(Context(NAME, "/page"), without("edition", value)) for value in "123"]
    crawl = tried(tmp_path, *rules, site=edition)
    crawl.admit_all(f"{SOMEWHERE}/page?id={n}" for n in range(200))
    crawl.drain()
    urls = [f"{SOMEWHERE}/page?edition={e}&id={n}" for e in "123" for n in range(200)]
    crawl.admit_all(urls)
    crawl.examine()
    assert crawl.said() == set(map(edition, [*urls, *crawl.states()]))
    assert {rule.state for rule in report(crawl).rules} == {"revoked"}


def test_a_kind_of_page_that_is_taken_out_of_a_rule_is_fetched_and_others_are_not(
    tmp_path: Path,
) -> None:
    def site(url: str) -> str:
        path, number = urlsplit(url).path, argument(url, "id")
        return f"{path} {edition(url)}" if path == "/entry" else f"{path} {number}"

    crawl = tried(tmp_path, (Context(NAME), DropArguments(("edition",))), site=site)
    for rule in crawl.rules.rules:
        rule.values, rule.clusters = [set("abc")], {"/page?id", "/board?id"}
    urls = [
        f"{SOMEWHERE}/{kind}?edition={e}&id={n}"
        for kind in ("entry", "page", "board")
        for e in "123"
        for n in range(100)
    ]
    crawl.admit_all(urls)
    crawl.examine()
    assert crawl.said() == set(map(site, urls))
    assert sum("/entry" in url for url in crawl.fetched) == 300
    assert len(crawl.fetched) < 300 + 200 + 200
    (told,) = report(crawl).rules
    assert (told.state, "not at" in told.where) == ("holds", True)
