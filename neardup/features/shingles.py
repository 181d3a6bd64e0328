"""Shingles: so many words in a row, as sets."""

import numpy as np

from neardup.features.hashing import GOLDEN, Hashes, mix, token_hashes


def shingle_hashes(packed: bytes, size: int) -> Hashes:
    """Return the hashes of the set of shingles of a text.

    A text with fewer tokens than ``size`` is one shingle; a text with none has none.

    Args:
        packed: Tokens as ``pack`` returns them.
        size: Tokens of a shingle.

    Returns:
        uint64, (distinct shingles,), ascending.

    Complexity: O(bytes + tokens * (size + log tokens)).
    Reference: Broder, On the resemblance and containment of documents, 1997, section 2.
    """
    return shingles_of(token_hashes(packed), size)


def shingles_of(hashes: Hashes, size: int) -> Hashes:
    """Return the hashes of the set of shingles of a sequence of token hashes, ascending."""
    return distinct(rolled(hashes, size))


def rolled(hashes: Hashes, size: int) -> Hashes:
    """Return the hash of every shingle of a sequence of token hashes, in order."""
    if not len(hashes):
        return hashes
    size = min(size, len(hashes))
    count = len(hashes) - size + 1
    combined = hashes[:count].copy()
    for place in range(1, size):
        # Multiplied at each step, so the order of the words counts.
        combined *= GOLDEN
        combined += hashes[place : place + count]
    return mix(combined)


def distinct(values: Hashes) -> Hashes:
    """Return the distinct values, ascending; the argument may be sorted in place."""
    if not len(values):
        return values
    # np.unique does the same in eight times the time (55 us against 7 for 1,000 values).
    values.sort()
    first = np.empty(len(values), np.bool_)
    first[0] = True
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return values[first]
