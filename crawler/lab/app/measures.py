"""A comparison in the words of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.lab.app.words import NOTHING, count, share, spaced
from crawler.lab.distance_text import in_bits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.lab.comparison import Comparison, Side

_BITS = 64

Line = tuple[str, str, str]


def side_lines(found: Comparison) -> Iterator[Line]:
    """What is said of each text for itself: name, first, second."""
    first, second = found.first, found.second
    ours, theirs = found.own_of_first, found.own_of_second
    yield "words", count(first.words), count(second.words)
    yield f"{found.shingle_size}-word shingles", count(ours.of), count(theirs.of)
    yield "shingles of this text alone", count(ours.count), count(theirs.count)
    yield "text digest", first.digest.hex(), second.digest.hex()
    yield f"SimHash of {found.features}", _fingerprint(first), _fingerprint(second)


def _fingerprint(side: Side) -> str:
    return NOTHING if side.fingerprint is None else f"{side.fingerprint:016x}"


def pair_lines(found: Comparison) -> Iterator[tuple[str, str]]:
    """What is said of both: name, value."""
    yield "digests", "equal" if found.is_equal else "different"
    yield "Hamming distance", NOTHING if found.distance is None else in_bits(found.distance)
    yield "Jaccard, exact", share(found.jaccard)
    if found.estimate is None:
        yield "Jaccard by MinHash", NOTHING
    else:
        error = found.estimate.standard_error
        yield "Jaccard by MinHash", f"{share(found.estimate.similarity)} ± {share(error)}"
    yield "first contained in second", share(found.first_in_second)
    yield "second contained in first", share(found.second_in_first)
    yield "cosine of counted words", share(found.cosine)
    yield "cosine of log counts", share(found.log_cosine)
    yield (
        "characters that stay",
        "too long to tell" if found.edit_ratio is None else share(found.edit_ratio),
    )


def verdict_lines(found: Comparison) -> Iterator[Line]:
    """The verdict on the second text at each distance: bits, confirmed, by distance alone."""
    for at in found.verdicts:
        yield str(at.max_distance), spaced(at.confirmed), spaced(at.alone)


def bit_cells(found: Comparison) -> list[tuple[str, str]]:
    """The 64 bits from the highest down: classes of a cell, and what it is in words."""
    first, second = found.first.fingerprint, found.second.fingerprint
    if first is None or second is None:
        return []
    cells = []
    for place in range(_BITS - 1, -1, -1):
        ours, theirs = first >> place & 1, second >> place & 1
        kind = "differs" if ours != theirs else ("one" if ours else "zero")
        cells.append((f"bit {kind}", f"bit {place}: {ours} and {theirs}"))
    return cells
