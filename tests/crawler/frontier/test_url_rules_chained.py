"""Rules of which one goes on with what another one made of an address, and hosts by two names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.frontier.order import host_number
from crawler.storage.states import SKIPPED
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.evidence import CounterExample
from crawler.url_rules.learning.transforms import (
    DropArguments,
    LowerPath,
    ReplaceHost,
    ReplaceSegments,
)
from tests.crawler.frontier.ruled import NAME, SOMEWHERE, RuledCrawl
from tests.crawler.url_rules.test_engine import by_id, urls

if TYPE_CHECKING:
    from pathlib import Path

INDEX = (Context(NAME), ReplaceSegments(True, 0, ("index.html",), ("",)))
LOWER = (Context(NAME), LowerPath())
ALIAS = f"www.{NAME}"


def test_an_exception_in_vain_revokes_the_rule(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, lambda url: url)
    crawl.take(INDEX, LOWER)
    for rule in crawl.rules.rules:
        rule.clusters = {"/x?", "/y?"}
        rule.positives = 5 if isinstance(rule.transform, LowerPath) else 3
    # Only what the second rule made of it is of a kind that the first one speaks of.
    crawl.admit(f"{SOMEWHERE}/a/", is_fixed=True)
    crawl.admit(f"{SOMEWHERE}/A/INDEX.HTML", is_fixed=True)
    crawl.drain()
    assert [rule.transform for rule in crawl.rules.rules] == [LowerPath()]


def test_rules_are_learned_from_what_another_host_serves(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    crawl.take((Context(ALIAS), ReplaceHost("http", ALIAS, "http", NAME)))
    for url in urls(range(60), range(3)):
        crawl.admit(url.replace(NAME, ALIAS), is_fixed=True)
    crawl.drain()
    learned = {(rule.context.host, rule.transform) for rule in crawl.rules.rules}
    assert (NAME, DropArguments(("sid",))) in learned


def test_what_a_rule_skipped_of_another_host_is_found_again(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    wrong = (Context(NAME), DropArguments(("id",)))
    crawl.take((Context(ALIAS), ReplaceHost("http", ALIAS, "http", NAME)), wrong)
    crawl.rules.regroup_all()
    crawl.admit(f"{SOMEWHERE}/page?id=0")
    for number in range(1, 9):
        crawl.admit(f"http://{ALIAS}/page?id={number}", host=host_number(ALIAS))
    assert list(crawl.states().values()).count(SKIPPED) == 8
    (rule,) = (rule for rule in crawl.rules.rules if rule.context.host == NAME)
    crawl.rules.trial.revoke(rule, "a reason", CounterExample(1, 2))
    crawl.drain()
    assert len(crawl.fetched) == 9


@pytest.mark.parametrize(
    ("host", "line"),
    [("[::1]:8080", "::1"), ("[::ffff:102:304]", "::ffff:1.2.3.4"), (NAME, "slot")],
)
def test_what_a_wrong_rule_skipped_is_found_again(host: str, line: str, tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    crawl.take((Context(host), DropArguments(("id",))))
    crawl.rules.regroup_all()
    for number in range(9):
        crawl.admit(f"http://{host}/page?id={number}", host=host_number(line))
    skipped = list(crawl.states().values()).count(SKIPPED)
    assert skipped == (8 if line == "::1" else 0)
    (wrong,) = crawl.rules.rules
    crawl.rules.trial.revoke(wrong, "a reason", CounterExample(1, 2))
    crawl.drain()
    assert len(crawl.fetched) == 9
