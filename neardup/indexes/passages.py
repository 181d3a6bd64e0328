"""The index of passages: which texts have a passage of this one?

It is an ``LshIndex`` of single values: an entry for each value of a text's sample
(``neardup.fingerprints.winnowing``).
"""

import logging
from collections.abc import Callable, Collection
from typing import NamedTuple
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from neardup.features.shingles import distinct_counts
from neardup.fingerprints.winnowing import Sample
from neardup.indexes.arrays import Ids, Positions
from neardup.indexes.banding import Banding
from neardup.indexes.lsh import LshIndex

_logger = logging.getLogger(__name__)

PASSAGE_BANDING = Banding(bands=1, rows=1)
"""The bands of an index of passages: an entry is a single value."""

MAX_TEXTS = 16
"""The number of texts that an index holds of one value. What stands in more texts is a template,
and says nothing about any of them: it is neither looked for nor held any more."""


_MAX_LOOKED_AT = 16 * MAX_TEXTS
"""The number of texts of one value that are looked at where some of the first are gone."""

GoneAmong = Callable[[Ids], Collection[int]]
"""Returns those of some ids whose texts are stored no more."""

_full: WeakSet[LshIndex] = WeakSet()
"""The indexes that are full, as a warning said."""


class SharedPassages(NamedTuple):
    """The texts that share values with a sample, but for values that ``MAX_TEXTS`` texts have.

    Attributes:
        ids: Their ids: int64, (texts,), ascending.
        counts: The number of values that each of them shares: int64, (texts,).
        is_rare: Whether fewer than ``MAX_TEXTS`` texts have a value of the sample: bool, (values,).
    """

    ids: Ids
    counts: npt.NDArray[np.int64]
    is_rare: npt.NDArray[np.bool]


def shared_passages(
    index: LshIndex, sample: Sample, gone_among: GoneAmong | None = None
) -> SharedPassages:
    """Return the texts that share values with a sample.

    Args:
        index: The index.
        sample: The values.
        gone_among: The function that tells which texts count no more, though the index has them;
            None: all count.

    Complexity: O(values * ``MAX_TEXTS``), 30 microseconds for 400 words.
    """
    positions, ids = index.query_many_ids(sample[:, np.newaxis], limit=MAX_TEXTS)
    if len(ids) and gone_among is not None:
        positions, ids = _without_gone(index, sample, (positions, ids), gone_among)
    if not len(ids):  # as of most texts
        return SharedPassages(ids, positions, np.ones(len(sample), np.bool_))
    is_rare = np.bincount(positions, minlength=len(sample)) < MAX_TEXTS
    ids, counts = distinct_counts(ids[is_rare[positions]])
    return SharedPassages(ids, counts, is_rare)


def _without_gone(
    index: LshIndex, sample: Sample, found: tuple[Positions, Ids], gone_among: GoneAmong
) -> tuple[Positions, Ids]:
    """Return what was found but for texts that are gone, and what these kept from being found."""
    positions, ids = found
    is_gone = np.isin(ids, list(gone_among(ids)))
    is_full = np.bincount(positions, minlength=len(sample)) >= MAX_TEXTS
    crowded = np.unique(positions[is_gone & is_full[positions]])
    if len(crowded):
        asked = sample[crowded][:, np.newaxis]
        places, more = index.query_many_ids(asked, limit=_MAX_LOOKED_AT)
        others = ~np.isin(positions, crowded)
        positions = np.concatenate([positions[others], crowded[places]])
        ids = np.concatenate([ids[others], more])
        is_gone = np.isin(ids, list(gone_among(ids)))
    return positions[~is_gone], ids[~is_gone]


def add_sample(
    index: LshIndex, sample: Sample, number: int, shared: SharedPassages | None = None
) -> None:
    """Hold the values of a text that are rare, and at least one, so that the text is known.

    A full index holds no more of them, and the first text without any is logged: no part
    of that text is found, which loses no text.

    Args:
        index: The index.
        sample: The values, at least one.
        number: The id of the text.
        shared: What ``shared_passages`` returned for the sample; None: it was not asked.

    Raises:
        OSError: As for ``LshIndex.add``.
    """
    is_rare = (shared or shared_passages(index, sample)).is_rare
    held = sample[is_rare] if is_rare.any() else sample[:1]
    if not index.has_room(len(held)):
        if index not in _full:
            _full.add(index)
            message = (
                "the index of passages is full with %d entries: no parts of later texts are found"
            )
            _logger.warning(message, len(index))
        return
    index.add_many(held[:, np.newaxis], number)
