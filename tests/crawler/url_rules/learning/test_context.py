"""Where rules hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.transforms import LowerPath
from crawler.url_rules.rule_files import restored, stored
from crawler.urls.path_patterns import PathPatterns, fits
from tests.crawler.url_rules.learning.strategies import (
    HOSTS,
    contexts,
    names,
    near_addresses,
    transforms,
)

if TYPE_CHECKING:
    from crawler.url_rules.learning.transforms import Transform

HOST = HOSTS[0]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
abouts = st.lists(names, max_size=2, unique=True).map(tuple)


def place(target: str, host: str = HOST) -> Address:
    return Address.parse(f"http://{host}{target}")


def oracle(context: Context, address: Address, about: tuple[str, ...]) -> bool:
    """By the words of its attributes."""
    others = {name for name, _ in address.arguments} - set(about)
    path = "/" + "/".join(address.segments)
    return (
        address.host == context.host
        and (context.pattern is None or fits(context.pattern, path))
        and (context.beside is None or others == context.beside)
        and (context.where is None or context.where in address.arguments)
        and not any(oracle(other, address, about) for other in context.apart_from)
    )


@pytest.mark.parametrize(
    ("context", "target", "about", "holds"),
    [
        (Context(HOST), "/x?a=1", (), True),
        (Context("www.a.test"), "/x?a=1", (), False),
        (Context(HOST, "/x/*"), "/x/7", (), True),
        (Context(HOST, "/x/*"), "/x/7/8", (), False),
        (Context(HOST, beside=frozenset({"id"})), "/x?id=1&sid=2", ("sid",), True),
        (Context(HOST, beside=frozenset({"id"})), "/x?id=1&sid=2", (), False),
        (Context(HOST, beside=frozenset()), "/x?sid=2", ("sid",), True),
        (Context(HOST, where=("view", "grid")), "/x?view=grid&a=1", (), True),
        (Context(HOST, where=("view", "grid")), "/x?view=list&a=1", (), False),
        (Context(HOST).apart(Context(HOST, "/x/*")), "/x/7", (), False),
        (Context(HOST).apart(Context(HOST, "/x/*")), "/y/7", (), True),
    ],
)
def test_where_it_holds(context: Context, target: str, about: tuple[str, ...], holds: bool) -> None:
    assert context.holds(place(target), about) is holds


@pytest.mark.parametrize(
    ("context", "shown"),
    [
        (Context(HOST), "a.test"),
        (Context(HOST, "/x/*", frozenset({"b", "a"})), "a.test/x/* beside a, b"),
        (Context(HOST, beside=frozenset()), "a.test beside no other argument"),
        (Context(HOST, "/x", where=("view", "grid")), "a.test/x with view=grid"),
        (
            Context(HOST).apart(Context(HOST, "/x", frozenset({"b", "a"}))),
            "a.test (not at /x?a&b)",
        ),
    ],
)
def test_how_it_is_shown(context: Context, shown: str) -> None:
    assert str(context) == shown


class TestContextProperties:
    @given(contexts, near_addresses, abouts)
    def test_it_holds_where_each_of_its_words_does(
        self, context: Context, address: Address, about: tuple[str, ...]
    ) -> None:
        assert context.holds(address, about) is oracle(context, address, about)

    @given(near_addresses, contexts, abouts)
    def test_the_narrow_context_of_an_address_holds_there(
        self, address: Address, context: Context, about: tuple[str, ...]
    ) -> None:
        there = address
        narrow = context.at(there, PathPatterns()(address.segments), about)
        assert narrow.holds(there, about)
        assert not context.apart(narrow).holds(there, about)

    @given(contexts, contexts, near_addresses, abouts)
    def test_one_that_covers_another_holds_wherever_that_does(
        self, wide: Context, narrow: Context, address: Address, about: tuple[str, ...]
    ) -> None:
        there = address
        if wide.covers(narrow) and narrow.holds(there, about):
            assert wide.holds(there, about)

    @given(contexts)
    def test_it_covers_itself_and_what_is_apart_from_more(self, context: Context) -> None:
        assert context.covers(context)
        assert context.covers(context.apart(Context(HOST, "/b")))
        assert not context.apart(Context(HOST, "/b")).covers(context)


class TestJson:
    @given(contexts, transforms)
    def test_what_is_written_is_read(self, context: Context, transform: Transform) -> None:
        written = json.loads(json.dumps(stored(context, transform)))
        assert restored(written) == (context, transform)

    @pytest.mark.parametrize(
        "rule",
        [
            None,
            7,
            "rule",
            [],
            {},
            {"context": {"host": HOST}},
            {"transform": {"kind": "lower path"}},
            {"context": None, "transform": {"kind": "lower path"}},
            {"context": [], "transform": {"kind": "lower path"}},
            {"context": {}, "transform": {"kind": "lower path"}},
            {"context": {"host": HOST, "where": []}, "transform": {"kind": "lower path"}},
            {"context": {"host": HOST, "apart_from": 3}, "transform": {"kind": "lower path"}},
            {"context": {"host": HOST, "apart_from": [3]}, "transform": {"kind": "lower path"}},
            {"context": {"host": {"a": 1}}, "transform": {"kind": "lower path"}},
            {"context": {"host": HOST, "pattern": 7}, "transform": {"kind": "lower path"}},
            {"context": {"host": HOST, "beside": "page"}, "transform": {"kind": "lower path"}},
            {"context": {"host": HOST, "beside": [[]]}, "transform": {"kind": "lower path"}},
            {"context": {"host": HOST, "path": "/a"}, "transform": {"kind": "lower path"}},
            {"context": {"host": HOST}, "transform": {"kind": "lower path"}, "since": 1},
            {"context": {"host": HOST}, "transform": []},
            {"context": {"host": HOST}, "transform": 7},
            {"context": {"host": HOST}, "transform": {"kind": "guess"}},
            {"context": {"host": HOST}, "transform": {"kind": "lower path", "more": 1}},
        ],
    )
    def test_what_is_no_rule_is_refused(self, rule: Any) -> None:
        with pytest.raises(ValueError, match="rule"):
            restored(rule)

    @pytest.mark.parametrize("depth", [2, 400, 3_000])
    def test_exceptions_have_none_of_their_own(self, depth: int) -> None:
        place: dict[str, Any] = {"host": HOST, "pattern": "/a"}
        for _ in range(depth):
            place = {"host": HOST, "apart_from": [place]}
        with pytest.raises(ValueError, match="apart_from"):
            restored({"context": place, "transform": {"kind": "lower path"}})

    @pytest.mark.parametrize("depth", [900, 100_000])
    @pytest.mark.parametrize(
        ("part", "name"),
        [("context", "host"), ("context", "beside"), ("transform", "kind"), ("transform", "more")],
    )
    def test_what_is_nested_deeply_is_refused(self, part: str, name: str, depth: int) -> None:
        nested: list[Any] = []
        for _ in range(depth):
            nested = [nested]
        rule = {"context": {"host": HOST}, "transform": {"kind": "lower path"}}
        with pytest.raises(ValueError, match="rule"):
            restored({**rule, part: {**rule[part], name: nested}})

    @given(st.sampled_from(["context", "transform"]), contexts, transforms, st.data())
    def test_what_is_exchanged_is_refused_or_makes_another_rule(
        self, part: str, context: Context, transform: Transform, data: st.DataObject
    ) -> None:
        written = json.loads(json.dumps(stored(context, transform)))
        name = data.draw(st.sampled_from([*written[part], "more"]))
        written[part][name] = data.draw(JSON)
        try:
            found = restored(written)
        except ValueError:
            return
        assert restored(json.loads(json.dumps(stored(*found)))) == found
        found[0].holds(place("/print/12?id=12"))

    def test_half_a_surrogate_pair_is_refused(self) -> None:
        rule = {"context": {"host": "\ud800"}, "transform": {"kind": "lower path"}}
        with pytest.raises(ValueError, match="surrogates"):
            restored(rule)

    def test_what_a_rule_does_not_say_is_anything(self) -> None:
        rule = {"context": {"host": HOST}, "transform": {"kind": "lower path"}}
        assert restored(rule) == (Context(HOST), LowerPath())
