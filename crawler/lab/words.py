"""Numbers and moments as people read them."""

from __future__ import annotations

import math
from datetime import UTC, datetime

NOTHING = "–"


def in_bits(distance: int) -> str:
    """Return a distance with its unit: ``1 bit``, ``2 bits``."""
    return f"{distance} bit" if distance == 1 else f"{distance} bits"


def measures_of(distance: int, similarity: float | None) -> str:
    """Return the distance and the similarity of two texts in words, as far as they are known.

    Args:
        distance: The distance in bits; -1: none.
        similarity: The similarity, 0 to 1; None or NaN: none.
    """
    known = []
    if distance >= 0:
        known.append(in_bits(distance))
    if similarity is not None and not math.isnan(similarity):
        known.append(f"similarity {similarity:.2f}")
    return ", ".join(known)


def in_pairs(count: int, kind: str = "") -> str:
    """Return a number of pairs of some kind: ``1 labelled pair``, ``2 labelled pairs``."""
    words = f"{kind} pair" if kind else "pair"
    return f"{count:,} {words}" if count == 1 else f"{count:,} {words}s"


def count(value: float | None) -> str:
    """Return a whole number with its thousands apart."""
    return NOTHING if value is None else f"{value:,.0f}"


def share(value: float | None) -> str:
    """Return a similarity with three places, or a dash where it is not known."""
    return NOTHING if value is None or math.isnan(value) else f"{value:.3f}"


def clock(at: float) -> str:
    """Return a moment of today as a time, any other with its date, in this machine's zone."""
    if at <= 0:
        return NOTHING
    moment = datetime.fromtimestamp(at, UTC).astimezone()
    is_today = moment.date() == datetime.now(UTC).astimezone().date()
    return moment.strftime("%H:%M:%S" if is_today else "%Y-%m-%d %H:%M:%S")


def spaced(name: str) -> str:
    return name.replace("_", " ")
