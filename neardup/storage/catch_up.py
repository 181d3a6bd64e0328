"""An index on disk, brought in step with the store that is the truth."""

import logging
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np

from neardup.errors import IndexFileError
from neardup.indexes.files.file_layout import is_ours
from neardup.indexes.hamming import HammingIndex

_logger = logging.getLogger(__name__)

_BATCH = 1 << 16


class Postings(Protocol):
    """The fingerprints of a store, in an order to which it only appends."""

    def count_fingerprints(self) -> int:
        """Return the number of fingerprints that the store holds."""

    def highest_id(self, first: int) -> int:
        """Return the highest id of the first ``first`` fingerprints, -1 where there is none."""

    def fingerprints(self, skip: int = 0) -> Iterator[tuple[int, int]]:
        """Yield each fingerprint with its id, in order, but for the first ``skip``."""


def open_index(
    folder: str | os.PathLike[str], postings: Postings, *, radius: int = 3
) -> HammingIndex:
    """Open an index that holds all fingerprints of a store and no other.

    An index that is flushed only after its store holds the first fingerprints of the store, and the
    rest is added here. An index that holds anything else is rebuilt: it was damaged, or it holds
    fingerprints that a killed process had not stored yet.

    Args:
        folder: The directory of the index, made where there is none.
        postings: The fingerprints of the store, which count.
        radius: The radius of the index, in bits.

    Raises:
        IndexLockedError: The index is open in another process.
        IndexFileError: ``folder`` holds files that are none of an index.

    Complexity: O(n) to count, and O(n log n) to rebuild.
    """
    folder = Path(folder)
    try:
        index = HammingIndex(folder, radius=radius)
    except IndexFileError as error:
        _logger.warning("index made again: %s", error)
        index = _anew(folder, radius)
    try:
        if not _has_first_of(postings, index):
            _logger.warning("index made again: %s holds other fingerprints than its store", folder)
            index.close()
            index = _anew(folder, radius)
        _catch_up(index, postings)
    except BaseException:
        index.close()
        raise
    return index


def _anew(folder: Path, radius: int) -> HammingIndex:
    # Only what an index calls its own: the folder may belong to another program.
    for file in folder.iterdir():
        if is_ours(file.name):
            file.unlink()
    return HammingIndex(folder, radius=radius)


def _has_first_of(postings: Postings, index: HammingIndex) -> bool:
    stored = len(index)
    if stored > postings.count_fingerprints() or index.max_id != postings.highest_id(stored):
        return False
    # Counts and ids may agree by chance with an index of other texts, its ends hardly.
    ends = [next(postings.fingerprints(skip)) for skip in (0, stored - 1)] if stored else []
    return all((number, 0) in index.query(fingerprint) for fingerprint, number in ends)


def _catch_up(index: HammingIndex, postings: Postings) -> None:
    missing = postings.fingerprints(skip=len(index))
    while batch := list(islice(missing, _BATCH)):
        fingerprints, ids = zip(*batch, strict=True)
        index.add_many(np.array(fingerprints, np.uint64), np.array(ids, np.int64))
