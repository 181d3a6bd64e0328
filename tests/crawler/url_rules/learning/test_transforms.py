"""What rules do to addresses, and how they are written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.url_rules.learned_rule import LearnedRule
from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.template import varying_part
from crawler.url_rules.learning.transforms import (
    ANYTHING,
    Compound,
    DropArguments,
    LowerPath,
    ReplaceHost,
    ReplaceSegments,
    ReplaceValues,
    Rewrite,
    SortSegments,
    Transform,
    about,
    includes,
    parts,
)
from crawler.url_rules.rule_files import from_json, to_json
from crawler.url_rules.rule_set import RuleSet
from tests.crawler.url_rules.learning import strategies
from tests.crawler.url_rules.learning.strategies import (
    addresses,
    compounds,
    near_addresses,
    transforms,
)

SHAPES = varying_part(Address.parse("http://h/p-5-red"), Address.parse("http://h/p-5-old"))
assert SHAPES is not None
OPEN = Rewrite(*SHAPES)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("transform", "before", "after"),
    [
        (DropArguments(("sid",)), "/x?a=1&sid=2&sid", "/x?a=1"),
        (ReplaceValues("start", ("0",), ()), "/x?a=1&start=0", "/x?a=1"),
        (ReplaceValues("start", ("0",), ()), "/x?start=0&start=0", "/x?start=0&start=0"),
        (ReplaceValues("b", (), ("0",)), "/x?a=1&c=2", "/x?a=1&b=0&c=2"),
        (ReplaceValues("b", ("1", "2"), ("2",)), "/x?b=1&b=2&c", "/x?b=2&c"),
        (ReplaceSegments(False, 0, ("print",), ()), "/print/a", "/a"),
        (ReplaceSegments(False, 0, ("print",), ()), "/print", "/"),
        (ReplaceSegments(False, 0, ("s", ANYTHING), ("s",)), "/s/1/a", "/s/a"),
        (ReplaceSegments(False, 0, ("s", ANYTHING), ("s",)), "/s/", "/s/"),
        (ReplaceSegments(True, 0, ("index.html",), ("",)), "/a/index.html", "/a/"),
        (ReplaceSegments(True, 0, ("",), ()), "/a/", "/a"),
        (ReplaceSegments(True, 0, ("",), ()), "/", "/"),
        (ReplaceSegments(True, 1, ("b",), ()), "/a/b/c", "/a/c"),
        (LowerPath(), "/A/b?C=D", "/a/b?C=D"),
        (SortSegments(("shop",)), "/shop/wool/red/m?a=1", "/shop/m/red/wool?a=1"),
        (SortSegments(("shop",)), "/shop/wool/red/", "/shop/red/wool/"),
        (SortSegments(("shop",)), "/wool/shop/red", "/wool/shop/red"),
        (SortSegments(("shop", "")), "/shop/", "/shop/"),
        (SortSegments(()), "/wool/shop/red", "/red/shop/wool"),
        (SortSegments(()), "/", "/"),
    ],
)
def test_what_it_makes_of_an_address(transform: Transform, before: str, after: str) -> None:
    assert str(transform(Address.parse(f"http://h{before}"))) == f"http://h{after}"


@pytest.mark.parametrize(
    ("transform", "words"),
    [
        (ReplaceSegments(False, 1, (ANYTHING,), ("*",)), "segment 2 of the path is irrelevant"),
        (ReplaceSegments(False, 0, ("s", ANYTHING), ("s", "*")), "any * in /s/*/... is irrelevant"),
        (ReplaceSegments(False, 0, ("s", ANYTHING), ()), "/s/*/... equals /..."),
        (OPEN, "any * in /p-<1>-* is irrelevant"),
    ],
)
def test_what_may_be_anything_is_said_to_be_irrelevant(transform: Transform, words: str) -> None:
    assert str(transform) == words


@pytest.mark.parametrize(
    ("wide", "narrow", "does"),
    [
        ((), ("shop",), True),
        (("shop",), ("shop", "red"), True),
        (("shop", "red"), ("shop",), False),
        (("shop",), ("news", "shop"), False),
    ],
)
def test_an_order_below_a_folder_includes_that_below_its_folders(
    wide: tuple[str, ...], narrow: tuple[str, ...], does: bool
) -> None:
    assert includes(SortSegments(wide), SortSegments(narrow)) is does


class TestTransformProperties:
    @given(st.lists(strategies.segments.filter(bool), min_size=1, max_size=4), st.data())
    def test_every_order_of_segments_is_one(self, some: list[str], data: st.DataObject) -> None:
        orders = [data.draw(st.permutations(some)) for _ in range(2)]
        found = {SortSegments(("x",))(Address.parse(f"http://h/x/{'/'.join(o)}")) for o in orders}
        assert len(found) == 1

    @given(transforms, addresses)
    def test_where_it_changes_nothing_it_gives_back_the_very_address(
        self, transform: Transform, address: Address
    ) -> None:
        changed = transform(address)
        assert (changed is address) is (changed == address)

    @given(transforms, addresses)
    def test_it_changes_nothing_but_what_it_speaks_of(
        self, transform: Transform, address: Address
    ) -> None:
        changed = transform(address)
        if not isinstance(transform, ReplaceHost):
            assert changed[:2] == address[:2]
        if isinstance(transform, DropArguments | ReplaceValues | ReplaceHost):
            assert changed.segments == address.segments
        if isinstance(transform, ReplaceSegments | LowerPath | SortSegments | ReplaceHost):
            assert changed.arguments == address.arguments
        assert changed.segments

    @given(
        transforms.filter(
            lambda t: isinstance(t, DropArguments | LowerPath | SortSegments | ReplaceHost)
        ),
        addresses,
    )
    def test_done_twice_is_done_once(self, transform: Transform, address: Address) -> None:
        once = transform(address)
        assert transform(once) is once

    @given(transforms, addresses, addresses)
    def test_what_it_makes_one_differs_only_in_what_it_names(
        self, transform: Transform, one: Address, other: Address
    ) -> None:
        """Of two that differ and are one after it, one at least has another form."""
        if one != other and transform(one) == transform(other):
            assert transform(one) is not one or transform(other) is not other

    @given(transforms, transforms, addresses, addresses)
    def test_one_that_includes_another_makes_one_all_that_the_other_does(
        self, wide: Transform, narrow: Transform, one: Address, other: Address
    ) -> None:
        if includes(wide, narrow) and narrow(one) == narrow(other):
            assert wide(narrow(one)) == wide(narrow(other))
            if not isinstance(wide, ReplaceSegments):
                assert wide(one) == wide(other)


class TestCompoundProperties:
    @given(compounds, near_addresses, near_addresses)
    def test_its_two_rules_make_one_what_it_makes_one(
        self, compound: Compound, one: Address, other: Address
    ) -> None:
        rules = RuleSet()
        for number, part in enumerate(parts(compound), 1):
            rules.add(LearnedRule(number, Context(one.host), part))
        is_one = rules.apply(one) == rules.apply(other)
        assert is_one == (compound(one) == compound(other))

    @given(compounds, addresses)
    def test_where_it_changes_nothing_it_gives_back_the_very_address(
        self, compound: Compound, address: Address
    ) -> None:
        changed = compound(address)
        assert (changed is address) is (changed == address)

    @given(compounds, addresses)
    def test_its_form_is_those_of_its_rules(self, compound: Compound, address: Address) -> None:
        forms = [part.varying(address) for part in parts(compound)]
        assert compound.varying(address) == (*forms[0], *forms[1])
        assert about(compound) == compound.arguments.names


class TestJson:
    @given(transforms)
    def test_what_is_written_is_read(self, transform: Transform) -> None:
        assert from_json(json.loads(json.dumps(to_json(transform)))) == transform

    @given(transforms, st.data())
    def test_what_is_no_transform_is_refused(self, transform: Transform, data: Any) -> None:
        written: dict[str, Any] = json.loads(json.dumps(to_json(transform)))
        name = data.draw(st.sampled_from([*written, "more"]))
        written[name] = data.draw(JSON)
        if data.draw(st.booleans()):
            written.pop(data.draw(st.sampled_from(sorted(written))))
        try:
            found = from_json(written)
        except ValueError:
            return
        assert from_json(json.loads(json.dumps(to_json(found)))) == found
        found(Address.parse("http://a.test/print/12?id=12&sid"))

    @pytest.mark.parametrize("depth", [50, 900, 100_000])
    def test_what_is_nested_deeply_is_refused(self, depth: int) -> None:
        nested: list[Any] = []
        for _ in range(depth):
            nested = [nested]
        with pytest.raises(ValueError, match="drop arguments"):
            from_json({"kind": "drop arguments", "names": nested})
