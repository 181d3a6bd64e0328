"""Rules of several hosts together: one key for each page, whatever was met before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.url_rules.learned_rule import LearnedRule
from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.transforms import (
    DropArguments,
    LowerPath,
    ReplaceHost,
    ReplaceSegments,
    ReplaceValues,
    Transform,
    about,
)
from crawler.url_rules.rule_set import RuleSet
from tests.crawler.url_rules.learning.strategies import addresses, contexts, transforms

HOST = "a.test"
proposals = st.lists(st.tuples(contexts, transforms), max_size=4)


def rule_set(*some: tuple[Context, Transform], positives: int = 0) -> RuleSet:
    rules = RuleSet()
    for number, (context, transform) in enumerate(some, 1):
        rules.add(LearnedRule(number, context, transform, positives))
    return rules


def address(target: str, host: str = HOST) -> Address:
    return Address.parse(f"http://{host}{target}")


class TestRuleSetProperties:
    @given(proposals, st.lists(addresses, max_size=5), addresses)
    def test_the_key_does_not_depend_on_what_was_met_before(
        self, some: list[tuple[Context, Transform]], before: list[Address], one: Address
    ) -> None:
        rules = rule_set(*some)
        first = rules.apply(one)
        for other in before:
            rules.apply(other)
            rules.changing(other)
        assert rules.apply(one) == first == rule_set(*some).apply(one)

    @given(proposals, addresses)
    def test_without_all_of_them_nothing_is_changed(
        self, some: list[tuple[Context, Transform]], one: Address
    ) -> None:
        rules = rule_set(*some)
        assert rules.apply(one, without=list(rules)) is one
        for rule in list(rules):
            rules.remove(rule)
        assert rules.apply(one) is one
        assert one.host not in rules

    @given(proposals, addresses)
    def test_what_changes_an_address_is_told(
        self, some: list[tuple[Context, Transform]], one: Address
    ) -> None:
        rules = rule_set(*some)
        assert bool(rules.changing(one)) is (rules.apply(one) is not one)

    @given(proposals, addresses, addresses)
    def test_the_one_to_blame_does_something(
        self, some: list[tuple[Context, Transform]], one: Address, other: Address
    ) -> None:
        """So letting go of one after another comes to an end."""
        rules = rule_set(*some)
        while one != other and rules.apply(one) == rules.apply(other):
            blamed = rules.blamed(one, other)
            assert blamed is not None
            assert blamed in [*rules.changing(one), *rules.changing(other)]
            rules.remove(blamed)

    @given(proposals, addresses, addresses)
    def test_each_that_is_needed_keeps_two_apart_by_its_absence(
        self, some: list[tuple[Context, Transform]], one: Address, other: Address
    ) -> None:
        rules = rule_set(*some)
        if one == other or rules.apply(one) != rules.apply(other):
            return
        apart = [r for r in rules if rules.apply(one, [r]) != rules.apply(other, [r])]
        if apart:
            found = {rule.id for rule in rules.needed(one, other)}
            assert found == {rule.id for rule in apart}

    @given(contexts, transforms, contexts, transforms, addresses)
    def test_one_that_covers_another_leaves_it_nothing_to_do(
        self, wide: Context, does: Transform, narrow: Context, did: Transform, one: Address
    ) -> None:
        rules = rule_set((wide, does))
        if not rules.covers(narrow, did):
            return
        other = LearnedRule(9, narrow, did).apply(one)
        if other is not one and isinstance(does, DropArguments | LowerPath | ReplaceHost):
            assert rules.apply(other) == rules.apply(one)


class TestOrder:
    def test_rules_of_both_hosts_are_applied(self) -> None:
        rules = rule_set(
            (Context("www.a.test"), ReplaceHost("http", "www.a.test", "http", HOST)),
            (Context(HOST), DropArguments(("sid",))),
        )
        assert rules.apply(address("/x?id=1&sid=2", "www.a.test")) == address("/x?id=1")
        assert [rule.id for rule in rules] == [1, 2]
        assert "www.a.test" in rules
        assert HOST in rules

    def test_a_rule_is_seen_by_what_came_before(self) -> None:
        rules = rule_set(
            (Context(HOST), ReplaceSegments(False, 0, ("print",), ())),
            (Context(HOST, "/x"), DropArguments(("sid",))),
        )
        (_, second) = rules.of(HOST)
        assert rules.seen_by(second, address("/print/x?sid=1")) == address("/x?sid=1")
        assert [r.id for r in rules.changing(address("/print/x?sid=1"))] == [1, 2]
        assert [r.id for r in rules.changing(address("/x?id=1"))] == []


class TestBlame:
    def test_of_those_that_are_needed_the_least_proven(self) -> None:
        rules = RuleSet()
        sid = LearnedRule(1, Context(HOST), DropArguments(("sid",)), positives=40)
        ref = LearnedRule(2, Context(HOST), DropArguments(("ref",)), positives=20)
        rules.add(sid)
        rules.add(ref)
        pair = address("/x?sid=1&ref=1"), address("/x?sid=2&ref=2")
        assert rules.needed(*pair) == [sid, ref]
        assert rules.blamed(*pair) is ref
        assert rules.blamed(address("/x?sid=1"), address("/x?sid=2")) is sid

    def test_none_where_no_rule_has_to_do_with_it(self) -> None:
        rules = rule_set((Context(HOST), DropArguments(("sid",))))
        assert rules.blamed(address("/x"), address("/x")) is None


class TestCover:
    @pytest.mark.parametrize(
        ("wide", "narrow", "covers"),
        [
            (DropArguments(("a",)), ReplaceValues("a", ("0",), ()), True),
            (DropArguments(("a", "b")), DropArguments(("b",)), True),
            (DropArguments(("a",)), DropArguments(("a", "b")), False),
            (ReplaceValues("a", ("0",), ()), DropArguments(("a",)), False),
            (
                ReplaceSegments(False, 0, ("s", None), ("s",)),
                ReplaceSegments(False, 0, ("s", None), ("s", "*")),
                True,
            ),
        ],
    )
    def test_what_a_rule_makes_superfluous(
        self, wide: Transform, narrow: Transform, covers: bool
    ) -> None:
        rules = rule_set((Context(HOST), wide))
        assert rules.covers(Context(HOST, "/x"), narrow) is covers
        rules = rule_set((Context(HOST, "/x"), narrow))
        assert bool(rules.covered(Context(HOST), wide)) is covers
        assert not rules.covered(Context("b.test"), wide)


class TestTries:
    def test_each_path_and_each_value_is_tried_once(self) -> None:
        rule = LearnedRule(1, Context(HOST), DropArguments(("sid",)))
        one, other = (
            address("/x?sid=1"),
            address("/x?sid=2"),
        )
        assert rule.is_new_ground(one, "/x?")
        rule.note_try(one, "/x?")
        assert not rule.is_new_ground(one, "/x?")
        assert rule.is_new_ground(other, "/x?")
        assert rule.is_new_ground(one, "/y?")

    def test_what_is_remembered_of_them_is_bounded(self) -> None:
        rule = LearnedRule(1, Context(HOST), DropArguments(("sid",)))
        for number in range(200):
            rule.note_try(address(f"/x?sid={number}"), f"/{number}?")
        assert len(rule.patterns) <= 30
        assert not rule.is_new_ground(address("/x?sid=new"), "/new?")

    def test_what_it_is_about(self) -> None:
        assert about(DropArguments(("a", "b"))) == ("a", "b")
        assert about(ReplaceValues("a", ("0",), ())) == ("a",)
        assert about(LowerPath()) == ()
