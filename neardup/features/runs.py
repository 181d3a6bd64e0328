"""Shingles of many texts at once, each text's in a run of its own."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.features.folding import normal_form
from neardup.features.hashing import Hashes, token_hashes
from neardup.features.shingles import rolled
from neardup.features.tokens import pack

# No token holds a NUL, so one of it alone parts two texts; its hash is 0, which no other token of
# at most eight bytes has.
_BETWEEN = b" \0 "


class Runs(NamedTuple):
    """Shingles of several texts, one text after the other.

    Attributes:
        hashes: uint64, (shingles,); within a run in the order of the text, repetitions included,
            and between two runs values that belong to neither.
        starts: int64, (texts,), the first of each run.
        ends: int64, (texts,), one beyond the last of each; the start again where a text has none.
    """

    hashes: Hashes
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


def shingle_runs(texts: Sequence[str], size: int) -> Runs:
    """Return the shingles of each text: as sets those that ``shingle_hashes`` returns.

    For what asks for the least or the sum of them: it leaves out the sorting, and for texts of
    200 words together the 20 microseconds which NumPy's calls take for each alone.

    Args:
        texts: Any texts.
        size: Tokens of a shingle.

    Complexity: O(bytes + tokens * size).
    """
    packed = [pack(normal_form(text)) for text in texts]
    if len(packed) == 1:
        return _joined([rolled(token_hashes(packed[0]), size)])
    hashes = token_hashes(_BETWEEN.join(packed))
    bounds = np.flatnonzero(hashes == 0)
    starts = np.concatenate(([0], bounds + 1))
    counts = np.diff(starts, append=len(hashes) + 1) - 1
    # A text shorter than a shingle is one, of another length than the rest; and somebody may
    # make a long token whose hash is 0.
    if len(bounds) != len(packed) - 1 or counts.min() < size:
        return _joined([rolled(token_hashes(one), size) for one in packed])
    return Runs(rolled(hashes, size), starts, starts + counts - size + 1)


def _joined(parts: Sequence[Hashes]) -> Runs:
    counts = np.array([len(part) for part in parts], np.int64)
    ends = counts.cumsum()
    hashes = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return Runs(hashes, ends - counts, ends)
