"""Count the texts of a corpus in which a feature occurs, and weigh it accordingly."""

import io
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import xxhash
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from neardup.errors import ParameterError
from neardup.features.features import Features
from neardup.features.hashing import Hashes
from neardup.features.shingles import distinct, occurrences, shingle_set
from neardup.files.durable import write_durably
from neardup.files.sealed import unusable

_REMEDY = "restore it from a copy, or learn it again from the texts"

Frequencies = NDArray[np.int64]


_WAITING = 1 << 20


def _with(hashes: Hashes, counts: Frequencies, new: list[Hashes]) -> tuple[Hashes, Frequencies]:
    """Return the counts of features with those of more documents, of each its distinct features."""
    more, times = np.unique(np.concatenate((hashes[:0], *new)), return_counts=True)
    merged = distinct(np.concatenate((hashes, more)))
    found = np.zeros(len(merged), np.int64)
    found[np.searchsorted(merged, hashes)] = counts
    found[np.searchsorted(merged, more)] += times
    return merged, found


@dataclass(frozen=True, eq=False, repr=False)
class IdfTable:
    """Document frequencies of features, learned from texts, and the weights that follow from them.

    A feature of nearly every text says nothing about one of them: the table knows the stop words
    of any language, and the boilerplate of any site, from the texts themselves.

    Tables come from :meth:`learned` and :meth:`load`; a table does not change.

    Attributes:
        unit: The unit of features, "word" or "character".
        size: The number of units in a row that are a feature.
        documents: The number of texts that were counted.
        max_undercount: The largest number by which a frequency may be below the true one; none is
            above it.
        hashes: uint64, (features,), ascending.
        frequencies: int64, (features,), the documents that hold each, 1 to ``documents``.

    Memory: 16 bytes a feature.

    Reference: Spärck Jones, A statistical interpretation of term specificity and its application
    in retrieval, Journal of Documentation 28 (1), 1972.
    """

    unit: str
    size: int
    documents: int
    max_undercount: int
    hashes: Hashes
    frequencies: Frequencies

    @classmethod
    def learned(
        cls,
        texts: Iterable[str],
        *,
        unit: str = "word",
        size: int = 1,
        min_documents: int = 1,
    ) -> Self:
        """Count features over texts, which are taken one by one and not held.

        Args:
            texts: A sample of the texts that are to be weighed. A text counts a feature once.
            unit: "word" or "character".
            size: The number of units in a row that are a feature, as of :class:`Features`.
            min_documents: Features of fewer texts are left out in the end, 1 or more. With 2 a
                table is smaller by all that stands in one text alone, which then weighs a tenth
                more than it should in a corpus of 1,000 texts.

        Raises:
            ParameterError: An argument is out of range, or ``texts`` is one text.
            TypeError: Something in ``texts`` is no ``str``.

        Complexity: O(length of all texts), in 16 bytes a feature and 8 a feature waiting: as many
            as are held, at least a million; twice that while they are merged.
        """
        Features(unit, size)  # for its checks
        if min_documents < 1:
            raise ParameterError(f"min_documents must be at least 1, got {min_documents}")
        if isinstance(texts, str):
            raise ParameterError("texts must be several texts, got one str; put it in a list")
        hashes, counts = np.empty(0, np.uint64), np.empty(0, np.int64)
        waiting, documents, room = list[Hashes](), 0, _WAITING
        for documents, text in enumerate(texts, 1):  # noqa: B007  # how many they were
            waiting.append(shingle_set(text, unit, size))
            room -= len(waiting[-1])
            if room < 0:
                hashes, counts = _with(hashes, counts, waiting)
                waiting.clear()
                room = max(_WAITING, len(hashes))
        hashes, counts = _with(hashes, counts, waiting)
        frequent = counts >= min_documents
        return cls(unit, size, documents, min_documents - 1, hashes[frequent], counts[frequent])

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a table that :meth:`save` wrote.

        Raises:
            IndexFileError: The file is damaged, cut short, foreign, or of a version of neardup
                that hashes features in another way.
            OSError: There is no such file, or the like.
        """
        path = Path(path)
        with path.open("rb") as file:
            try:
                with NpzFile(file, allow_pickle=False) as arrays:
                    assert arrays.zip is not None  # until it is closed
                    # Compressed, a small file could ask for all the memory there is.
                    if any(array.compress_type for array in arrays.zip.infolist()):
                        raise ValueError("compressed arrays")
                    fields: dict[str, Any] = {
                        name: array if array.ndim else array.item()
                        for name, array in arrays.items()
                    }
                probe = fields.pop("probe")
                table = cls(**fields)
                table._check()
            except Exception as error:  # NumPy and ZIP have many, for bytes of others
                found = f"{type(error).__name__}: {error}"
                raise unusable(path, "a table of document frequencies", found, _REMEDY) from error
        if probe != (present := _probe(table.unit, table.size)):
            raise unusable(
                path,
                f"features hashed as now (probe {present:016x})",
                f"probe {probe:016x}",
                "use the version of neardup that wrote it, or learn it again from the texts",
            )
        return table

    def _check(self) -> None:
        """Refuse what a wrong writer made."""
        Features(self.unit, self.size)  # for its checks
        hashes, frequencies = self.hashes, self.frequencies
        if hashes.dtype.name != "uint64" or frequencies.dtype.name != "int64" or hashes.ndim != 1:
            raise ValueError(f"rows of {hashes.dtype} and {frequencies.dtype}")
        if hashes.shape != frequencies.shape:
            raise ValueError(f"{hashes.shape} hashes, {frequencies.shape} frequencies")
        if not (hashes[1:] > hashes[:-1]).all():
            raise ValueError("hashes that do not ascend")
        documents = self.documents
        if len(frequencies) and not 1 <= frequencies.min() <= frequencies.max() <= documents:
            found = f"frequencies of {frequencies.min()} to {frequencies.max()}"
            raise ValueError(f"{found} in {documents} documents")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file, which is replaced in one step and durable afterwards.

        Files:
            ``path``: 16 bytes a feature and some 2,000 beside them (``docs/formats.md``).

        Raises:
            OSError: The disk is full, or the like; the old file is as it was.
        """
        content = io.BytesIO()
        probe = np.uint64(_probe(self.unit, self.size))
        np.savez(content, probe=probe, **vars(self))
        write_durably(Path(path), (content.getbuffer(),))

    def __len__(self) -> int:
        return len(self.hashes)

    def __repr__(self) -> str:
        return (
            f"<IdfTable: {len(self)} features ({self.size} x {self.unit}) "
            f"of {self.documents} documents>"
        )

    @property
    def identity(self) -> str:
        """A word that no other table has: a digest of all that it holds."""
        digest = xxhash.xxh3_64(f"{self.unit} {self.size} {self.documents}".encode())
        digest.update(self.hashes.tobytes())
        digest.update(self.frequencies.tobytes())
        return digest.hexdigest()

    def document_frequencies(self, hashes: Hashes) -> Frequencies:
        """Return in how many documents features occur.

        Args:
            hashes: uint64, (features,), as ``Features`` makes them; fastest where they ascend.

        Returns:
            int64, (features,); 0 for features that the table does not hold.

        Complexity: O(features * log len(self)).
        """
        if not len(self):
            return np.zeros(len(hashes), np.int64)
        places = np.minimum(np.searchsorted(self.hashes, hashes), len(self) - 1)
        return np.where(self.hashes[places] == hashes, self.frequencies[places], 0)

    def weights(self, hashes: Hashes) -> NDArray[np.float64]:
        """Return the inverse document frequencies of features, ln((1 + n) / (1 + df)) + 1.

        Smooth: 1 for a feature of all n documents, and ln(1 + n) + 1 for one that the table does
        not hold.

        Args:
            hashes: uint64, (features,), as ``Features`` makes them; fastest where they ascend.

        Returns:
            float64, (features,).

        Complexity: O(features * log len(self)).
        """
        frequencies = self.document_frequencies(hashes)
        return np.log((1 + self.documents) / (1 + frequencies)) + 1


def _probe(unit: str, size: int) -> int:
    """Return a digest of known features: a file whose hashes were made otherwise is of no use."""
    known = occurrences("A file of neardup: ein längerer Text, 一二三四五 и ещё слова.", unit, size)
    return xxhash.xxh3_64_intdigest(known.astype("<u8").tobytes())
