"""Shapes of addresses: what is matched is filled in again."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.template import Template, templates, varying_part
from tests.crawler.url_rules.learning.strategies import near_addresses

parts = st.lists(st.sampled_from([0, 1, 2, "a", "-", "12", "."]), max_size=4).map(tuple)
free_templates = st.builds(
    Template,
    st.lists(parts, min_size=1, max_size=3).map(tuple),
    st.lists(st.tuples(st.sampled_from(["id", "a"]), st.none() | parts), max_size=2).map(tuple),
)


def address(target: str) -> Address:
    return Address.parse(f"http://h.org{target}")


class TestTemplates:
    @pytest.mark.parametrize(
        ("source", "target", "shown"),
        [
            ("/print?id=12", "/a?id=12", ("/print?id=<1>", "/a?id=<1>")),
            ("/view.php?t=12", "/topic/12.html", ("/view.php?t=<1>", "/topic/<1>.html")),
            ("/p?a=1&b=2", "/2/x-1", ("/p?a=<1>&b=<2>", "/<2>/x-<1>")),
            ("/p?b=1-2&a=-", "/1-2/-", ("/p?b=<2>&a=<1>", "/<2>/<1>")),
        ],
    )
    def test_what_both_hold_is_a_variable(
        self, source: str, target: str, shown: tuple[str, str]
    ) -> None:
        found = templates(address(source), address(target))
        assert found is not None
        assert (str(found[0]), str(found[1])) == shown

    def test_two_that_share_nothing_have_no_shapes(self) -> None:
        assert templates(address("/about"), address("/contact?x=1")) is None

    def test_a_variable_stands_for_one_text(self) -> None:
        found = templates(address("/print?id=12"), address("/12/12"))
        assert found is not None
        assert found[1].match(address("/13/13")) == {0: "13"}
        assert found[1].match(address("/13/14")) is None

    @pytest.mark.parametrize(
        ("one", "other", "shown"),
        [
            ("/p-5-red-blue", "/p-5-old", "/p-<1>-*"),
            ("/doc_5_1b7f.html?a=7", "/doc_5_22c0.html?a=7", "/doc_<1>_*.html?a=<2>"),
            ("/p/5/red", "/p/5/old-wide", "/p/<1>/*"),
            ("/s/1b7f/5", "/s/22c0/5", "/s/*/<1>"),
        ],
    )
    def test_what_differs_may_be_anything(self, one: str, other: str, shown: str) -> None:
        found = varying_part(address(one), address(other))
        assert found is not None
        assert str(found[0]) == shown
        filled = [
            found[1].fill(there, found[0].match(there) or {})
            for there in map(address, (one, other))
        ]
        assert filled[0] == filled[1]
        assert "*" in str(filled[0])

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("/red/blue", "/red/old"),  # nothing is left that tells pages apart
            ("/p/5/red", "/q/5/old"),
            ("/p/5/red?a=1", "/p/5/old?a=2"),
            ("/p/5/red", "/p/5/red/x"),
        ],
    )
    def test_there_is_no_such_shape(self, one: str, other: str) -> None:
        assert varying_part(address(one), address(other)) is None

    def test_a_variable_behind_what_may_be_anything_is_all_of_it(self) -> None:
        found = varying_part(address("/x/foo--15"), address("/x/foo-15"))
        assert found is not None
        assert found[0].match(address("/x/foo-225")) == {-1: "", 0: "225"}

    def test_a_text_of_many_numbers_takes_no_time(self) -> None:
        """It would be tried for ages in as many ways as its numbers can be shared out."""
        found = templates(address("/1-2-3-4-5-6-7-8-9-10"), address("/p?id=1-2-3-4-5-6-7-8-9-10x"))
        assert found is not None
        part = ("a", *(piece for number in range(10) for piece in (number, "-")))
        for template in (*found, Template((part,), ()), Template(((*range(30),),), ())):
            assert template.match(address("/a" + "1-" * 500 + "!")) is None


class TestTemplateProperties:
    @given(near_addresses, near_addresses)
    def test_two_addresses_fit_their_shapes_and_are_made_of_each_other(
        self, source: Address, target: Address
    ) -> None:
        found = templates(source, target)
        assume(found is not None)
        assert found is not None
        variables = found[0].match(source)
        assert variables is not None
        assert found[1].variables == found[0].variables == set(variables)
        assert found[1].fill(source, variables)[2:] == target[2:]
        assert found[1].match(target) == variables

    @given(free_templates, near_addresses)
    def test_what_is_matched_is_filled_in_again(self, template: Template, one: Address) -> None:
        variables = template.match(one)
        if variables is not None:
            assert template.fill(one, variables) == one

    @given(free_templates, near_addresses)
    def test_the_expression_matches_every_address_of_the_shape(
        self, template: Template, one: Address
    ) -> None:
        if template.match(one) is not None:
            assert re.fullmatch(template.expression, one.text)

    @given(near_addresses, near_addresses)
    def test_the_expressions_of_two_shapes_match_their_addresses(
        self, source: Address, target: Address
    ) -> None:
        found = templates(source, target)
        assume(found is not None)
        assert found is not None
        assert re.fullmatch(found[0].expression, source.text)
        assert re.fullmatch(found[1].expression, target.text)

    @given(free_templates, st.fixed_dictionaries({n: st.text("a1", min_size=1) for n in range(3)}))
    def test_what_is_filled_in_and_matched_says_the_same(
        self, template: Template, variables: dict[int, str]
    ) -> None:
        filled = template.fill(address("/"), variables)
        found = template.match(filled)
        if found is not None:
            assert template.fill(filled, found) == filled
