"""Addresses, transforms and contexts made of few pieces, so that they meet."""

from __future__ import annotations

from hypothesis import strategies as st

from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.template import templates, varying_part
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
)

HOSTS = ("a.test", "www.a.test", "a.test:8080")

segments = st.sampled_from(
    ["", "a", "b", "A", "print", "s", "12", "7", "t12.html", "index.html", "x-7-a", "1-2", "*"]
)
paths = st.lists(segments, min_size=1, max_size=5).map(tuple)
names = st.sampled_from(["id", "sid", "sort", "a"])
values = st.sampled_from([None, "", "0", "7", "12", "up", "x-7-a", "1-2", "-"])
# By name, as canonical URLs have them.
queries = st.lists(st.tuples(names, values), max_size=4).map(
    lambda found: tuple(sorted(found, key=lambda argument: argument[0]))
)
schemes = st.sampled_from(["http", "https"])
hosts = st.sampled_from(HOSTS)
addresses = st.builds(Address, schemes, hosts, paths, queries)
near_addresses = st.builds(Address, st.just("http"), st.just(HOSTS[0]), paths, queries)

patterns = st.sampled_from(["/a", "/a/*", "/*", "/*.html", "/s/*/a", "/a/a/a/a/a/**"])
narrow_contexts = st.builds(
    Context,
    st.just(HOSTS[0]),
    st.none() | patterns,
    st.none() | st.frozensets(names, max_size=2),
    st.none() | st.tuples(names, values.filter(bool).map(str)),
)
contexts = st.builds(Context.apart, narrow_contexts, narrow_contexts) | narrow_contexts


def _rewrite(one: Address, other: Address) -> Rewrite | None:
    shapes = templates(one, other)
    return None if shapes is None else Rewrite(*shapes)


rewrites = st.builds(_rewrite, near_addresses, near_addresses).filter(bool)


def _open_rewrite(one: Address, place: int, segment: str) -> Rewrite | None:
    at = place % len(one.segments)
    other = one._replace(segments=(*one.segments[:at], segment, *one.segments[at + 1 :]))
    shapes = varying_part(one, other)
    return None if shapes is None else Rewrite(*shapes)


open_rewrites = st.builds(_open_rewrite, near_addresses, st.integers(0, 4), segments).filter(bool)
stretches = st.lists(segments, max_size=2).map(tuple)
transforms: st.SearchStrategy[Transform] = st.one_of(
    st.builds(DropArguments, st.lists(names, min_size=1, max_size=2, unique=True).map(tuple)),
    st.builds(
        ReplaceValues,
        names,
        st.lists(values, max_size=2).map(tuple),
        st.lists(values, max_size=2).map(tuple),
    ),
    st.builds(
        ReplaceSegments,
        st.booleans(),
        st.integers(0, 2),
        st.lists(st.none() | segments, min_size=1, max_size=2).map(tuple),
        stretches,
    ),
    st.just(LowerPath()),
    st.builds(SortSegments, stretches),
    st.builds(ReplaceHost, schemes, hosts, schemes, hosts),
    rewrites,
    open_rewrites,
)
compounds = st.builds(
    Compound,
    st.builds(lambda at: ReplaceSegments(False, at, (ANYTHING,), ("*",)), st.integers(0, 2)),
    st.builds(DropArguments, st.lists(names, min_size=1, max_size=2, unique=True).map(tuple)),
)
