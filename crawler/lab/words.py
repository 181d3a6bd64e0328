"""Numbers and moments as people read them."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from neardup.parts import MIN_CONTAINMENT
from neardup.plurals import many

if TYPE_CHECKING:
    from crawler.lab.part_lists import PairPart
    from crawler.reading.content.content_xml import PackedContent
    from neardup.names import Name

NOTHING = "–"

_KINDS = {"canonical": "canonical URL, which decides nothing"}
"""Words for kinds of identifiers that say more than the kind itself."""


_MAX_PLACES = 6
"""The number of places of a share that are true: similarities are stored as float32."""


def measures_of(
    distance: int,
    similarity: float | None,
    containment: float | None = None,
    *,
    min_similarity: float | None = None,
) -> str:
    """Return the measures of two texts in words, as far as they are known.

    Args:
        distance: The distance in bits; -1: none.
        similarity: The similarity, 0 to 1; None or NaN: none.
        containment: The share of the one that stands in the other, 0 to 1; None or NaN: none.
        min_similarity: The bound that the similarity is compared with; None: it is not known.
    """
    known = []
    if distance >= 0:
        known.append(many(distance, "bit"))
    if similarity is not None and not math.isnan(similarity):
        known.append(f"similarity {in_places(similarity, 2, min_similarity)}")
    if containment is not None and not math.isnan(containment):
        known.append(f"containment {in_places(containment, 2, MIN_CONTAINMENT)}")
    return ", ".join(known)


def count(value: float | None) -> str:
    """Return a whole number with its thousands apart."""
    return NOTHING if value is None else f"{value:,.0f}"


def in_places(value: float, places: int, limit: float | None = None) -> str:
    """Return a share with as many places as show on which side of a limit it lies.

    Where the share is less than 1, it is not written as 1 either.

    Args:
        value: The share, 0 to 1.
        places: The fewest places.
        limit: The bound that it is compared with; None: there is none.

    Example::

        >>> in_places(0.7996, 2, 0.8), in_places(0.75, 2, 0.8)
        ('0.7996', '0.75')
    """
    exact = round(value, _MAX_PLACES)
    bounds = [1.0] if limit is None else [1.0, round(limit, _MAX_PLACES)]
    while places < _MAX_PLACES and any(
        _side(round(exact, places), bound) != _side(exact, bound) for bound in bounds
    ):
        places += 1
    return f"{exact:.{places}f}"


def _side(value: float, bound: float) -> int:
    return (value > bound) - (value < bound)


def share(value: float | None, limit: float | None = None) -> str:
    """Return a similarity with three places or more, or a dash where it is not known.

    Args:
        value: The similarity, 0 to 1; None or NaN: it is not known.
        limit: The bound that it is compared with; None: there is none.
    """
    return NOTHING if value is None or math.isnan(value) else in_places(value, 3, limit)


def name_text(name: Name) -> str:
    """Return a name as text, a line for each of its parts; empty for one that says nothing."""
    parts = [("title", name.title), ("heading", name.heading), ("subheading", name.subheading)]
    parts += [("opening", name.opening)]
    for identifier in name.identifiers:
        kind, _, value = identifier.partition(":")
        parts.append((_KINDS.get(kind, kind), value))
    return "\n".join(f"{kind}: {' '.join(value.split())}" for kind, value in parts if value)


def names_sentence(reason: str) -> str:
    """Return what names tell of two texts.

    Args:
        reason: What ``neardup.names.difference`` returned of them.
    """
    return f"Their names differ ({reason})." if reason else "Their names do not differ."


def part_sentence(part: PairPart | None, sides: tuple[str, str]) -> str:
    """Return which of two texts is a part of the other, if one is.

    Args:
        part: The part.
        sides: The words for the first text and for the second.
    """
    if part is None:
        return "Neither is a part of the other one."
    one, other = sides if part.place == 0 else sides[::-1]
    found = share(part.containment, MIN_CONTAINMENT)
    return f"{one[0].upper()}{one[1:]} is a part of {other}: {found} of its shingles stand there."


def rest_sentence(rest_share: float, min_similarity: float) -> str:
    """Return what two texts say outside boilerplate.

    Args:
        rest_share: The share of the shorter rest that stands in the other one.
        min_similarity: The share from which on they say the same.
    """
    things = "the same" if rest_share >= min_similarity else "other things"
    return (
        f"Without what the site repeats they say {things}: {share(rest_share, min_similarity)} of "
        f"the shorter one stands in the other, where {min_similarity:g} is needed."
    )


_FINDERS = {
    "blocks": "chosen blocks of the page",
    "unlinked": "all text outside links",
    "visible": "all visible text",
    "lines": "the lines of its text",
}
"""Words for the finders of contents, by code; any other code is shown as it is."""


def content_words(content: PackedContent | None) -> str:
    """Return the type of a page and where the content comes from that is shown of it."""
    if content is None:
        return "a text without a page, which is shown as it is judged"
    finder = _FINDERS.get(content.source, content.source)
    return f"{content.kind or 'type not known'}, shown from {finder}"


def clock(at: float) -> str:
    """Return a moment of today as a time, any other with its date, in this machine's zone."""
    if at <= 0:
        return NOTHING
    moment = datetime.fromtimestamp(at, UTC).astimezone()
    is_today = moment.date() == datetime.now(UTC).astimezone().date()
    return moment.strftime("%H:%M:%S" if is_today else "%Y-%m-%d %H:%M:%S")


def spaced(name: str) -> str:
    return name.replace("_", " ")
