"""Propose rules by which two addresses of the same page are one; most turn out to be wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.template import (
    STARRED,
    WORD,
    are_names,
    looks_like_an_id,
    templates,
    varying_part,
)
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
)
from crawler.urls.scope import domain_or_suffix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.url_rules.learning.address import Address
    from crawler.url_rules.learning.transforms import Transform

Proposal = tuple[Context, "Transform"]

_MAX_DIFFERENCES = 4
_MAX_SEGMENTS = 3
_SMALL = re.compile(r"[A-Za-z_-]{1,16}|[0-9]{1,2}")


def propose(
    a: Address, b: Address, pattern: str, *, across_domains: bool = False
) -> Iterator[Proposal]:
    """Yield every rule by which two addresses of the same page would be one.

    Args:
        a: An address.
        b: Another one.
        pattern: Path pattern of the first.
        across_domains: Whether their hosts may be of two registered domains.

    Complexity: bounded by the number of arguments and segments, at most some dozens.
    """
    if (a.scheme, a.host) != (b.scheme, b.host):
        if across_domains or _are_of_one_domain(a, b):
            yield from _hosts(a, b)
    elif a.segments == b.segments:
        yield from _arguments(a, b, pattern)
    else:
        if a.arguments == b.arguments:
            # A stretch that occurs in both, as of /a//b, is replaced in both.
            yield from (found for found in _paths(a, b) if found[1](a) == found[1](b))
        else:
            yield from _compounds(a, b, pattern)
        yield from _rewritings(a, b)


def _are_of_one_domain(a: Address, b: Address) -> bool:
    names = a.hostname, b.hostname
    return names[0] == names[1] or domain_or_suffix(names[0]) == domain_or_suffix(names[1])


def _hosts(a: Address, b: Address) -> Iterator[Proposal]:
    if (a.segments, a.arguments) == (b.segments, b.arguments):
        yield Context(a.host), ReplaceHost(a.scheme, a.host, b.scheme, b.host)


def _differing(a: Address, b: Address) -> tuple[str, ...]:
    """Return the names of the arguments in which two addresses differ; none of too many."""
    names = tuple(sorted(n for n in a.names | b.names if a.values(n) != b.values(n)))
    return names if len(names) <= _MAX_DIFFERENCES else ()


def _arguments(a: Address, b: Address, pattern: str) -> Iterator[Proposal]:
    names = _differing(a, b)
    if not names:
        return
    for some in dict.fromkeys([*((name,) for name in names), names]):
        for context in _contexts(a, b, some, pattern):
            yield context, DropArguments(some)
    for name in names:
        old, new = sorted((a.values(name), b.values(name)), key=_size, reverse=True)
        if all(map(_is_small, (*old, *new))):
            yield Context(a.host), ReplaceValues(name, old, new)
            yield Context(a.host, pattern), ReplaceValues(name, old, new)


def _size(values: tuple[str | None, ...]) -> tuple[int, list[str]]:
    return len(values), [value or "" for value in values]


def _is_small(value: str | None) -> bool:
    """Return whether a value may be one of a few, unlike an id."""
    return not value or _SMALL.fullmatch(value) is not None


def _contexts(
    one: Address, other: Address, about: tuple[str, ...], pattern: str
) -> Iterator[Context]:
    """Yield contexts from the whole host to this very shape of address."""
    host = one.host
    yield Context(host)
    yield Context(host, pattern)
    beside = one.names.difference(about)
    if beside == other.names.difference(about):
        yield Context(host, pattern, beside=beside)
    for name, value in one.arguments:
        if name in beside and value is not None and WORD.fullmatch(value):
            yield Context(host, pattern, where=(name, value))
            yield Context(host, pattern, beside=beside, where=(name, value))


def _paths(a: Address, b: Address) -> Iterator[Proposal]:
    context = Context(a.host)
    lowered = [tuple(s.lower() for s in address.segments) for address in (a, b)]
    if lowered[0] == lowered[1]:
        yield context, LowerPath()
        return
    start, end = _common(a.segments, b.segments)
    if sorted(a.segments) == sorted(b.segments):
        yield from _orders(context, a.segments[:start])
    stretches = sorted(
        (address.segments[start : len(address.segments) - end] for address in (a, b)),
        key=lambda some: (-len(some), some),
    )
    old, new = stretches
    if len(old) > _MAX_SEGMENTS:
        return
    yield context, ReplaceSegments(at_end=False, offset=start, old=old, new=new)
    yield context, ReplaceSegments(at_end=True, offset=end, old=old, new=new)
    yield from _varying_segments(context, a.segments[:start], old, new)
    yield from _open_segments(context, start, end, (old, new))


def _orders(context: Context, before: tuple[str, ...]) -> Iterator[Proposal]:
    """Yield rules for any order of segments: below all that two paths share, a name, the host."""
    for folder in dict.fromkeys((before, before[:1], ())):
        yield context, SortSegments(folder)


def _common(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[int, int]:
    """Return how many segments are the same at the start, and how many at the end."""
    most = min(len(a), len(b))
    start = 0
    while start < most and a[start] == b[start]:
        start += 1
    end = 0
    while end < most - start and a[-1 - end] == b[-1 - end]:
        end += 1
    return start, end


def _varying_segments(
    context: Context, before: tuple[str, ...], old: tuple[str, ...], new: tuple[str, ...]
) -> Iterator[tuple[Context, ReplaceSegments]]:
    """Yield rules for a segment of any value, like a session id: after a given one, or anywhere."""
    start = len(before)
    if len(old) == len(new) == 1:
        if are_names(old[0], new[0]):
            return
        if before:
            named = (before[-1], ANYTHING)
            yield context, ReplaceSegments(False, start - 1, named, (before[-1], STARRED))
        yield context, ReplaceSegments(False, start, (ANYTHING,), (STARRED,))
    elif len(old) == len(new) + 1 and not new:
        if before:
            named = (before[-1], ANYTHING)
            yield context, ReplaceSegments(False, start - 1, named, (before[-1],))
        yield context, ReplaceSegments(False, start, (ANYTHING,), ())
    elif len(old) == 2 and not new:  # a name and the id after it
        yield context, ReplaceSegments(False, start, (old[0], ANYTHING), ())


def _compounds(a: Address, b: Address, pattern: str) -> Iterator[Proposal]:
    """Yield rules for an id in the path and arguments that both differ, as a session and a source.

    The path keeps its length, so that the kinds of path are the same for both rules.
    """
    names, (start, end) = _differing(a, b), _common(a.segments, b.segments)
    old, new = (address.segments[start : len(address.segments) - end] for address in (a, b))
    if not names or len(old) != 1 or len(new) != 1:
        return
    if not (looks_like_an_id(old[0]) and looks_like_an_id(new[0])):
        return
    for context in (Context(a.host), Context(a.host, pattern)):
        for _, segments in _varying_segments(context, a.segments[:start], old, new):
            yield context, Compound(segments, DropArguments(names))


def _open_segments(
    context: Context, start: int, end: int, stretches: tuple[tuple[str, ...], tuple[str, ...]]
) -> Iterator[Proposal]:
    """Yield rules that take what looks like an id for anything, whatever the lengths."""
    old, new = stretches
    opened = tuple(ANYTHING if looks_like_an_id(segment) else segment for segment in old)
    starred = tuple(STARRED if looks_like_an_id(segment) else segment for segment in new)
    if ANYTHING in opened and opened != (ANYTHING,):
        yield context, ReplaceSegments(False, start, opened, starred)
        yield context, ReplaceSegments(True, end, opened, starred)


def _rewritings(a: Address, b: Address) -> Iterator[Proposal]:
    """Yield a rule that rewrites the longer address as the shorter; shared parts are variables."""
    around = varying_part(a, b)
    if around is not None:
        yield Context(a.host), Rewrite(*around)
    source, target = sorted((a, b), key=lambda address: (-len(str(address)), str(address)))
    shapes = templates(source, target)
    if shapes is not None:
        yield Context(a.host), Rewrite(*shapes)
