"""MinHash: the shingle set of a text in so many values, of which two texts share their Jaccard."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup.errors import FingerprintError
from neardup.features.hashing import GOLDEN, Hashes, mix
from neardup.features.runs import Runs, shingle_runs
from neardup.fingerprints.estimate import Signature
from neardup.fingerprints.limits import MAX_VALUES, checked_shingle_size, checked_whole
from neardup.parameters import DEFAULTS

PERMUTATIONS = 128

_BATCH_CHARACTERS = 1 << 16
"""About 10,000 words: the loops of NumPy are long enough, and all of it stays in the cache. Texts
of 200 words take 9 us each, in batches of a quarter 13; those of 1,000 words take 36 us, in batches
twice as large 54."""

_COLUMNS = 1 << 13
_BLOCK = 1 << 17
"""Products held at once: 512 KiB, half of an L2 cache."""

_SMALLEST_BUFFER = 16
_HIGH = np.uint64(32)
_ODD = np.uint32(1)


def minhash(
    text: str, *, permutations: int = PERMUTATIONS, shingle_size: int = DEFAULTS.shingle_size
) -> Signature:
    """Return the MinHash signature of a text's set of word shingles.

    Two signatures agree in a value as often as the sets' Jaccard similarity says; see
    :func:`~neardup.fingerprints.estimate.similarity`. The element-wise minimum of two signatures
    is that of both sets together, and a shorter signature is the beginning of a longer one. The
    values are the same in every process and on every platform.

    Args:
        text: Any text; folding is part of the signature.
        permutations: Values of the signature, 1 to 65,536. The standard error of an estimate is at
            most 1 / (2 * sqrt(permutations)): .044 for 128.
        shingle_size: Words in a row that make one feature, 1 to 16.

    Returns:
        uint32, (permutations,).

    Raises:
        FingerprintError: The text has no words. A signature of nothing would make all empty texts
            similar.
        ParameterError: A number is out of range.

    Complexity: O(length + shingles * permutations).
    Reference: Broder, On the resemblance and containment of documents, 1997; the hash functions
    are the multiplications of Dietzfelbinger et al., Journal of Algorithms 25, 1997.
    """
    signatures = minhash_many([text], permutations=permutations, shingle_size=shingle_size)
    signature: Signature = signatures[0]
    return signature


def minhash_many(
    texts: Sequence[str],
    *,
    permutations: int = PERMUTATIONS,
    shingle_size: int = DEFAULTS.shingle_size,
) -> NDArray[np.uint32]:
    """Return the signatures of many texts, each as :func:`minhash` returns it.

    Args:
        texts: Texts, each with at least one word.
        permutations: Values of a signature, 1 to 65,536.
        shingle_size: Words in a row that make one feature, 1 to 16.

    Returns:
        uint32, (documents, permutations).

    Raises:
        FingerprintError: A text has no words; the message says which. None is left out and none
            gets a row that resembles others.
        ParameterError: A number is out of range.

    Complexity: O(length + shingles * permutations); texts of 200 words take a fifth of the time
    that they take one by one.
    """
    permutations = checked_whole("permutations", permutations, 1, MAX_VALUES)
    size = checked_shingle_size(shingle_size)
    signatures = np.empty((len(texts), permutations), np.uint32)
    for start, stop in _batches(texts):
        runs = shingle_runs(texts[start:stop], size)
        _check_words(runs, start)
        signatures[start:stop] = of_runs(runs, permutations)
    return signatures


def of_runs(runs: Runs, permutations: int) -> NDArray[np.uint32]:
    """Return the signature of each run of shingles, none of which is empty.

    Value i of a run is the least of its products with multiplier i, modulo 2**32, of odd factors:
    each multiplication permutes the odd numbers. A summand as well would take 26 us in the place
    of 17 and is of no use: no odd value is the least for all multipliers.

    Measured on 1,000 shingles and 128 multipliers: 14 to 17 us, of which 6 to find the least; in
    batches 12. Without the smaller buffer of the iterator 37, as a matrix (shingles, permutations)
    40, by a loop over the multipliers 186. One permutation in 128 bins (Li, Owen, Zhang, NIPS 2012)
    takes 3, before it fills empty bins; but the shingles take 20 to 40, and sets that are smaller
    than the signature would be estimated worse.

    Returns:
        uint32, (runs, permutations).
    """
    values = (runs.hashes >> _HIGH).astype(np.uint32) | _ODD
    if len(runs.starts) == 1:
        return _one(values, permutations)[np.newaxis]
    # Each run and, dropped below, what stands between it and the next.
    edges = np.column_stack((runs.starts, runs.ends)).ravel()[:-1]
    if (edges[1:] == edges[:-1]).any():
        # reduceat takes an empty span for one value: those of short texts stand side by side.
        return _minima(values, runs.starts, permutations).T
    return _minima(values, edges, permutations)[:, ::2].T


def _one(values: NDArray[np.uint32], permutations: int) -> Signature:
    """Return the signature of one text, in pieces when it is long."""
    least = np.full(permutations, np.iinfo(np.uint32).max, np.uint32)
    for start in range(0, len(values), _COLUMNS):
        piece = _minima(values[start : start + _COLUMNS], np.zeros(1, np.int64), permutations)
        np.minimum(least, piece[:, 0], out=least)
    return least


def _minima(
    values: NDArray[np.uint32], edges: NDArray[np.int64], permutations: int
) -> NDArray[np.uint32]:
    """Return the least product of each span between edges: uint32, (permutations, spans)."""
    factors = multipliers(permutations)
    least = np.empty((permutations, len(edges)), np.uint32)
    rows = min(permutations, max(1, _BLOCK // len(values)))
    products = np.empty((rows, len(values)), np.uint32)
    with np.errstate():
        # NumPy copies operands that it repeats into its buffer as long as a few rows fit into
        # it, which takes twice the time of the multiplication. errstate restores the size.
        np.setbufsize(_SMALLEST_BUFFER)
        for start in range(0, permutations, rows):
            some = factors[start : start + rows]
            block = products[: len(some)]
            np.multiply(some, values, out=block)
            np.minimum.reduceat(block, edges, axis=1, out=least[start : start + rows])
    return least


@cache
def multipliers(permutations: int) -> NDArray[np.uint32]:
    """Return odd factors, the same ones first for every number: uint32, (permutations, 1)."""
    mixed: Hashes = mix(np.arange(1, permutations + 1, dtype=np.uint64) * GOLDEN)
    factors = (mixed >> _HIGH).astype(np.uint32) | _ODD
    factors.flags.writeable = False
    return factors[:, np.newaxis]


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Cut the texts into spans of about as many characters; a long text is one alone."""
    ends, held = [0], 0
    for place, text in enumerate(texts):
        if held and held + len(text) > _BATCH_CHARACTERS:
            ends.append(place)
            held = 0
        held += len(text)
    if texts:
        ends.append(len(texts))
    return pairwise(ends)


def _check_words(runs: Runs, start: int) -> None:
    empty = np.flatnonzero(runs.starts == runs.ends)
    if len(empty):
        which = start + int(empty[0])
        raise FingerprintError(
            f"a text without words has no signature: text {which} of those given"
        )
