"""Our index and its peers, each behind the same few calls."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from measuring import installed, named

from neardup import HammingIndex

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Fingerprints = NDArray[np.uint64]

LIMIT = 10
"""Of the matches of one query: a fingerprint that a million pages share is a million."""

GAOYA_AT_MOST = 2_000_000
"""It takes more than a kilobyte an entry."""


class Built(NamedTuple):
    """An index that holds the fingerprints.

    Attributes:
        index: Whatever keeps it alive.
        one: Answers one query: the number of a stored fingerprint, and one near that.
        many: The same for many.
    """

    index: Any
    one: Callable[[int, int], object]
    many: Callable[[NDArray[np.int64], Fingerprints], object]


class Contender(NamedTuple):
    """One that takes part.

    Attributes:
        name: With its version.
        build: Makes an index of a radius that holds the fingerprints.
    """

    name: str
    build: Callable[[Fingerprints, int], Built]


def ours(fingerprints: Fingerprints, radius: int) -> Built:
    """Our index, filled at once."""
    index = HammingIndex(radius=radius)
    index.add_many(fingerprints, np.arange(len(fingerprints)))
    return _asked(index)


def ours_one_by_one(fingerprints: Fingerprints, radius: int) -> Built:
    """Our index, filled entry by entry, with the segments that this leaves."""
    index = HammingIndex(radius=radius)
    for number, fingerprint in enumerate(fingerprints.tolist()):
        index.add(fingerprint, number)
    return _asked(index)


def _asked(index: HammingIndex) -> Built:
    return Built(
        index,
        lambda _, value: index.query(value, limit=LIMIT),
        lambda _, values: index.query_many(values, limit=LIMIT),
    )


def peers(size: int, skewed: bool) -> list[Contender]:
    """Those that are installed and can hold such fingerprints."""
    os.environ["RAYON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    found = []
    gaoya = None if skewed or size > GAOYA_AT_MOST else installed("gaoya.gaoya")
    if gaoya:
        found.append(Contender(named("gaoya"), lambda f, r: _gaoya(gaoya, f, r)))
    pynear, faiss = installed("pynear"), installed("faiss")
    if pynear:
        found.append(Contender(named("pynear"), lambda f, r: _pynear(pynear, f, r)))
    if faiss:
        faiss.omp_set_num_threads(1)
        found.append(Contender(named("faiss-cpu"), lambda f, r: _faiss(faiss, f, r)))
    return found


def _gaoya(gaoya: Any, fingerprints: Fingerprints, radius: int) -> Built:
    """It takes no fingerprints: those of one word each are hashes, and are asked for again."""
    index = gaoya.simhash.SimHash64StringIntIndex(6, radius, "word", False, None)
    for number in range(len(fingerprints)):
        index.insert_tokens(number, [f"word{number}"])
    return Built(
        index,
        lambda number, _: index.query_tokens([f"word{number}"]),
        lambda numbers, _: [index.query_tokens([f"word{n}"]) for n in numbers.tolist()],
    )


def _pynear(pynear: Any, fingerprints: Fingerprints, radius: int) -> Built:
    index = pynear.MIHBinaryIndex(4)
    index.set(_bytes(fingerprints))
    return Built(
        index,
        lambda _, value: index.searchKNN_arrays(_bytes(np.array([value], "u8")), LIMIT, radius),
        lambda _, values: index.searchKNN_arrays(_bytes(values), LIMIT, radius),
    )


def _faiss(faiss: Any, fingerprints: Fingerprints, radius: int) -> Built:
    index = faiss.IndexBinaryMultiHash(64, 4, 16)
    index.add(_bytes(fingerprints))
    index.nflip = radius // 4  # what completeness takes: as many flips in each of four blocks
    return Built(
        index,
        lambda _, value: index.range_search(_bytes(np.array([value], "u8")), radius + 1),
        lambda _, values: index.range_search(_bytes(values), radius + 1),
    )


def _bytes(fingerprints: Fingerprints) -> NDArray[np.uint8]:
    return fingerprints.view(np.uint8).reshape(-1, 8)
