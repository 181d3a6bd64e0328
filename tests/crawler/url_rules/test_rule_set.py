"""What several learned rules make of an address together."""

from __future__ import annotations

import pytest

from crawler.url_rules.learned_rule import LearnedRule
from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.transforms import (
    ANYTHING,
    DropArguments,
    ReplaceSegments,
    ReplaceValues,
    Transform,
)
from crawler.url_rules.rule_set import RuleSet

HOST = "site.test"


def applied(url: str, *transforms: Transform) -> str:
    rules = RuleSet()
    for number, transform in enumerate(transforms, 1):
        rules.add(LearnedRule(number, Context(HOST), transform))
    return str(rules.apply(Address.parse(f"http://{HOST}{url}"))).removeprefix(f"http://{HOST}")


@pytest.mark.parametrize(
    ("transform", "url", "wanted"),
    [
        (ReplaceSegments(False, 0, ("s", ANYTHING), ("s",)), "/s/0af3/page/1", "/s/page/1"),
        (ReplaceSegments(False, 0, (ANYTHING,), ()), "/0af3/page/1", "/page/1"),
        (ReplaceSegments(False, 0, ("s", ANYTHING), ()), "/s/1/s/2/page", "/s/2/page"),
        (ReplaceSegments(True, 0, ("a",), ()), "/x/a/a", "/x/a"),
    ],
)
def test_a_rule_takes_out_what_it_was_seen_to_take_out_and_no_more(
    transform: Transform, url: str, wanted: str
) -> None:
    assert applied(url, transform) == wanted


def test_what_one_rule_makes_another_goes_on_with() -> None:
    first = ReplaceSegments(False, 0, ("print",), ())
    second = ReplaceSegments(False, 0, ("s", ANYTHING), ("s", "*"))
    assert applied("/print/s/1/x", first, second) == "/s/*/x"
    assert applied("/print/s/1/x", second, first) == "/s/*/x"


def test_a_value_that_equals_another_one_is_replaced_in_turn() -> None:
    rules = (ReplaceValues("a", ("1",), ("2",)), ReplaceValues("a", ("2",), ()))
    assert applied("/x?a=1", *rules) == applied("/x?a=1", *reversed(rules)) == "/x"


def test_without_some_the_others_hold() -> None:
    rules = RuleSet()
    sid, ref = (
        LearnedRule(number, Context(HOST), DropArguments((name,)))
        for number, name in enumerate(("sid", "ref"), 1)
    )
    rules.add(sid)
    rules.add(ref)
    address = Address.parse(f"http://{HOST}/x?ref=1&sid=2")
    assert str(rules.apply(address, without=[sid])).endswith("/x?sid=2")
    other = Address.parse(f"http://{HOST}/x?ref=1&sid=3")
    assert rules.needed(address, other) == [sid]


def test_where_two_rules_do_the_same_both_stand_behind_it() -> None:
    rules = RuleSet()
    first = LearnedRule(1, Context(HOST), ReplaceSegments(False, 0, ("s", ANYTHING), ("s", "*")))
    second = LearnedRule(2, Context(HOST), ReplaceSegments(False, 0, ("s", ANYTHING), ()))
    other = LearnedRule(3, Context(HOST), DropArguments(("sid",)))
    for rule in (first, second, other):
        rules.add(rule)
    one, same, page = (Address.parse(f"http://{HOST}/s/{rest}") for rest in ("1/x", "2/x", "1/y"))
    assert rules.needed(one, same) == []
    assert rules.behind(one, same) == [first, second]
    assert rules.behind(one, one) == []
    assert rules.behind(one, page) == []
