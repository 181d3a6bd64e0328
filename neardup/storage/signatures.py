"""The indexes of signatures and of passages, in step with the store of texts that is the truth."""

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from neardup.errors import IndexFileError, IndexLockedError, ParameterError
from neardup.features.hashing import Hashes
from neardup.features.shingles import occurrences
from neardup.fingerprints.minhash import packed_signature, unpacked_signature
from neardup.fingerprints.winnowing import sample
from neardup.indexes.arrays import Ids, Signatures
from neardup.indexes.banding import CANDIDATE_BANDING, CANDIDATE_PERMUTATIONS, Banding
from neardup.indexes.lsh import LshIndex
from neardup.indexes.lsh_file import remove_files
from neardup.indexes.passages import PASSAGE_BANDING, add_sample
from neardup.whole import part_of

_logger = logging.getLogger(__name__)

_BATCH = 1 << 12
"""The number of texts that are added between two flushes."""


class SignedTexts(Protocol):
    """The kept texts of a store that are found by their signatures and passages."""

    def signed_ids(self) -> Ids:
        """Return the ids of the texts that have a fingerprint, in any order: int64, (texts,)."""

    def text(self, id: int) -> str | None:  # noqa: A002  (the field's word)
        """Return the text stored under an id; None where there is none."""


class _Kind(NamedTuple):
    """The part of a text that an index holds.

    Attributes:
        name: The word for it.
        permutations: Values of an entry.
        shape: Their bands.
        entries: Returns the entries of a text by the hashes of its shingles: uint32, (entries,
            permutations).
        add: Adds entries to an index with the id of their text.
    """

    name: str
    permutations: int
    shape: Banding
    entries: Callable[[Hashes], Signatures]
    add: Callable[[LshIndex, Signatures, int], None]


def _signature(hashes: Hashes) -> Signatures:
    return unpacked_signature(packed_signature(hashes, CANDIDATE_PERMUTATIONS))[np.newaxis]


def _passages(hashes: Hashes) -> Signatures:
    return sample(hashes)[:, np.newaxis]


def _add_passages(index: LshIndex, entries: Signatures, number: int) -> None:
    add_sample(index, entries[:, 0], number)


_SIGNATURES = _Kind(
    "signatures", CANDIDATE_PERMUTATIONS, CANDIDATE_BANDING, _signature, LshIndex.add_many
)
_PASSAGES = _Kind("passages", 1, PASSAGE_BANDING, _passages, _add_passages)


def memory_signatures(shingle_size: int) -> LshIndex:
    """Return an index in memory for the signatures of texts that are judged."""
    return _opened(_SIGNATURES, None, shingle_size)


def memory_passages(shingle_size: int) -> LshIndex:
    """Return an index in memory for the passages of texts that are judged."""
    return _opened(_PASSAGES, None, shingle_size)


def open_signatures(
    folder: str | os.PathLike[str], texts: SignedTexts, *, shingle_size: int
) -> LshIndex:
    """Open an index that holds the signatures of all texts of a store and no other.

    What the index lacks is computed from the texts. What the store does not hold is left out: a
    killed process had not stored it yet, or it was dropped since. An index that is damaged, of
    other shingles or of other texts is made again.

    Args:
        folder: The directory of the index, made where there is none.
        texts: The texts, which count.
        shingle_size: Words in a row that make one element of the sets that are compared.

    Raises:
        IndexLockedError: The index is open in another process.
        IndexFileError: ``folder`` holds files that are none of an index.

    Complexity: O(n log n), and O(length) for each text that the index lacks.
    """
    return _open(_SIGNATURES, Path(folder), texts, shingle_size)


def open_passages(
    folder: str | os.PathLike[str], texts: SignedTexts, *, shingle_size: int
) -> LshIndex:
    """Open an index that holds the passages of all texts of a store and no other.

    Arguments, errors and complexity are those of :func:`open_signatures`. A value that many texts
    have is held for the first ones, so an index that was made again may hold it for others. Of
    a text that was added while the machine broke down, some passages may be missing.
    """
    return _open(_PASSAGES, Path(folder), texts, shingle_size)


def _open(kind: _Kind, folder: Path, texts: SignedTexts, shingle_size: int) -> LshIndex:
    try:
        index = _opened(kind, folder, shingle_size)
    except IndexLockedError:
        raise
    except (IndexFileError, ParameterError) as error:
        _logger.warning("%s made again: %s", kind.name, error)
        remove_files(folder)
        index = _opened(kind, folder, shingle_size)
    try:
        stored, held = np.unique(texts.signed_ids()), np.unique(index.ids())
        shared = np.intersect1d(held, stored, assume_unique=True)
        if not _is_of(kind, texts, shared[[0, -1]] if len(shared) else shared, index, shingle_size):
            _logger.warning("%s made again: %s holds those of other texts", kind.name, folder)
            index.abandon()
            remove_files(folder)
            index = _opened(kind, folder, shingle_size)
            shared = shared[:0]
        elif len(shared) < len(held):
            index.retain(stored)
        missing = np.setdiff1d(stored, shared, assume_unique=True)
        _add(kind, index, texts, missing, shingle_size)
    except BaseException:
        index.abandon()
        raise
    return index


def _opened(kind: _Kind, folder: Path | None, shingle_size: int) -> LshIndex:
    return LshIndex(
        path=folder, permutations=kind.permutations, shape=kind.shape, shingle_size=shingle_size
    )


def _is_of(kind: _Kind, texts: SignedTexts, ends: Ids, index: LshIndex, shingle_size: int) -> bool:
    """Whether the first and the last text that an index shares with a store have its entries.

    Ids may agree by chance with an index of other texts, its ends hardly.
    """
    return all(
        number in index.query_many_ids(kind.entries(hashes))[1]
        for number, hashes in _shingles(texts, ends, shingle_size)
    )


def _add(kind: _Kind, index: LshIndex, texts: SignedTexts, missing: Ids, shingle_size: int) -> None:
    if len(missing) > _BATCH:
        _logger.info("adding %d texts to the index of %s", len(missing), kind.name)
    for start in range(0, len(missing), _BATCH):
        if kind is _PASSAGES and not index.has_room(1):
            return
        some = missing[start : start + _BATCH]
        for number, hashes in _shingles(texts, some, shingle_size):
            kind.add(index, kind.entries(hashes), number)
        index.flush()


def _shingles(texts: SignedTexts, numbers: Ids, shingle_size: int) -> Iterator[tuple[int, Hashes]]:
    """Yield the hashes of the shingles of each text that has some."""
    for number in numbers.tolist():
        text = texts.text(number)
        hashes = None if text is None else occurrences(part_of(text), "word", shingle_size)
        if hashes is not None and len(hashes):
            yield number, hashes


def check_bands(name: str, index: LshIndex | None, shape: Banding) -> None:
    """Check that an index has the bands that are wanted of it.

    Raises:
        ParameterError: It has others.
    """
    if index is not None and index.shape != shape:
        wanted = f"{shape.bands} bands of {shape.rows} values"
        raise ParameterError(f"{name} must be in {wanted}, got {index.shape}")
