"""Relations between transforms: their arguments, their directions, and which includes which."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.url_rules.learning.transforms import (
    DropArguments,
    Pairing,
    ReplaceSegments,
    ReplaceValues,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.url_rules.learning.transforms import Transform


def is_one_way(transform: Transform) -> bool:
    """Return whether a transform only ever skips addresses of the form that it replaces."""
    return isinstance(transform, Pairing) and transform.one_way


def variants(transform: Transform) -> Iterator[Transform]:
    """Yield a rule in each direction in which it is proposed, without its one-way flag."""
    if not isinstance(transform, Pairing):
        yield transform
        return
    plain = replace(transform, one_way=False)
    yield plain
    if not is_open(plain):
        yield plain.reversed()


def is_open(transform: Transform) -> bool:
    """Return whether a rule applies to values never seen; it then needs several that were seen."""
    if isinstance(transform, ReplaceSegments):
        return transform.is_open
    return isinstance(transform, DropArguments)


def includes(wide: Transform, narrow: Transform) -> bool:
    """Return whether one rule does all that another does."""
    if wide == narrow:
        return True
    if isinstance(wide, ReplaceSegments) and isinstance(narrow, ReplaceSegments):
        places = [(one.at_end, one.offset, one.old) for one in (wide, narrow)]
        return places[0] == places[1] and len(wide.new) < len(narrow.new)
    if not isinstance(wide, DropArguments):
        return False
    if isinstance(narrow, DropArguments):
        return set(narrow.names) <= set(wide.names)
    return isinstance(narrow, ReplaceValues) and narrow.name in wide.names


def about(transform: Transform) -> tuple[str, ...]:
    """Return the arguments that a rule is about."""
    if isinstance(transform, DropArguments):
        return transform.names
    return (transform.name,) if isinstance(transform, ReplaceValues) else ()
