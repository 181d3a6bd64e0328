"""Winnowing: the sample of a text's shingles by which parts of it are found.

Of each window of shingles in a row the least hash is chosen. A passage that two texts share gives
both of them the same values, wherever it stands and whatever stands around it: one at least where
the passage has a window of shingles.
"""

import numpy as np
import numpy.typing as npt

from neardup.features.hashing import Hashes
from neardup.features.shingles import JACCARD_SIZE, distinct
from neardup.fingerprints.kernels import least_of_windows

SAMPLE_VALUE_BYTES = 4
"""The size of a value of a packed sample."""

WINDOW = 32
"""One of this many shingles in a row is chosen: 36 words in a row that two texts share
are noticed, and a text has a value for 16.5 words."""

SHORT_WINDOW = 8
"""One of this many shingles in a row is chosen in a short text. The least value of a
window is the least of each part of it, so these are values of a longer text that holds it too."""

MAX_SHORT = 2 * WINDOW
"""The largest number of shingles of a short text. Another text may hold it in two pieces, and
neither has a window of ``WINDOW``."""

MAX_SAMPLE = 1024
"""The largest number of values of a text: the least ones of a text beyond 16,900 words."""

Sample = npt.NDArray[np.uint32]


def sample(hashes: Hashes, window: int | None = None, max_size: int = MAX_SAMPLE) -> Sample:
    """Return the winnowed shingles of a text: uint32, (values,), ascending and distinct.

    Windows of two texts that have the same shingles give the same value, so a text that stands
    whole in another one shares all values of its own, but for those beyond ``max_size``.

    Args:
        hashes: The hashes of its shingles in their order, as ``occurrences`` returns them. Fewer
            than ``window`` are one window; none have no value.
        window: Shingles in a row, at least 1; None: by the length of the text.
        max_size: The largest number of values. The least ones are taken, so that those of two long
            texts are values of the same shingles.

    Complexity: O(shingles) on average.
    Reference: Schleimer, Wilkerson, Aiken, Winnowing, SIGMOD 2003, section 3.
    """
    if window is None:
        window = SHORT_WINDOW if len(hashes) <= MAX_SHORT else WINDOW
    values = np.empty(len(hashes), np.uint32)
    return distinct(values[: least_of_windows(hashes, window, values)])[:max_size]


def expected_values(words: int) -> float:
    """Return the average number of values of a text with ``words`` words, before the limit.

    Of a short text it is the number that it shares with a text that holds it.

    Reference: Schleimer, Wilkerson, Aiken, section 3.2: the density is 2 / (window + 1).
    """
    further_windows = max(0, words - JACCARD_SIZE + 1 - WINDOW)
    return 1 + 2 * further_windows / (WINDOW + 1)


def packed_sample(hashes: Hashes) -> bytes:
    """Return the :func:`sample` of a text as bytes, four for each value, little endian."""
    return sample(hashes).astype("<u4", copy=False).tobytes()


def unpacked_sample(packed: bytes) -> Sample:
    """Return what ``packed_sample`` made as values: uint32, (values,)."""
    return np.frombuffer(packed, "<u4").astype(np.uint32, copy=False)
