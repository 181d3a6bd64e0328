"""Choose the shape of an index of signatures from the arguments and the files."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import xxhash

from neardup.errors import ParameterError
from neardup.files.sealed import unusable
from neardup.indexes.banding import MAX_BANDS, Banding, banding, check_wanted
from neardup.indexes.lsh_file import Header
from neardup.indexes.lsh_tables import LshTables
from neardup.limits import MAX_VALUES, checked_whole

PERMUTATIONS = 128


class Asked(NamedTuple):
    """The arguments of ``LshIndex``, as given."""

    min_similarity: float | None
    permutations: int | None
    min_recall: float
    shape: tuple[int, int] | None

    def new(self) -> Header:
        """Return the header of a new index, the probe left out.

        Raises:
            ParameterError: A number is out of range, or one is missing.
        """
        permutations = self._permutations(PERMUTATIONS)
        shape = self._shape(permutations)
        if shape is None:
            raise ParameterError("a new index needs min_similarity, or a shape")
        if self.min_similarity is None:
            return Header(permutations, shape, shape.similarity_at(self.min_recall), 0)
        return Header(permutations, shape, self.min_similarity, 0)

    def of(self, stored: Header, path: Path) -> Header:
        """Return the header that the files hold, unless something else is asked for.

        Raises:
            ParameterError: A number is out of range, or another than that of the files.
            IndexFileError: Keys were made in another way than now.
        """
        permutations = self._permutations(stored.permutations)
        shape = self._shape(permutations) or stored.shape
        if (permutations, shape) != (stored.permutations, stored.shape):
            raise ParameterError(
                f"{path} holds signatures of {_words(stored.permutations, stored.shape)}, asked "
                f"for are {_words(permutations, shape)}; open it with no numbers, or add the "
                "documents to another index"
            )
        if stored.probe != probe(permutations, shape):
            found = f"others (probe {stored.probe:016x})"
            remedy = "use the version that wrote it, or add its documents to another index"
            raise unusable(path, "keys of bands as this version makes them", found, remedy)
        if self.min_similarity is None:
            return stored
        return stored._replace(min_similarity=self.min_similarity)

    def _permutations(self, otherwise: int) -> int:
        if self.permutations is None:
            return otherwise
        return checked_whole("permutations", self.permutations, 1, MAX_VALUES)

    def _shape(self, permutations: int) -> Banding | None:
        """Return the shape asked for, None where none is."""
        check_wanted(1.0 if self.min_similarity is None else self.min_similarity, self.min_recall)
        if self.shape is not None:
            rows = checked_whole("rows", self.shape[1], 1, permutations)
            most = min(MAX_BANDS, permutations // rows)
            return Banding(checked_whole("bands", self.shape[0], 1, most), rows)
        if self.min_similarity is not None:
            return banding(self.min_similarity, permutations, self.min_recall)
        return None


def probe(permutations: int, shape: Banding) -> int:
    """Return a checksum of keys and sketch of one signature: it tells how these are made."""
    tables = LshTables(permutations, shape, keep_fresh=True)
    signature = np.arange(permutations, dtype=np.uint32) * np.uint32(0x9E3779B1)
    tables.extend(signature[np.newaxis], np.zeros(1, np.int64))
    rows = tables.fresh()
    parts = rows.keys.astype("<u4").tobytes() + rows.sketches.astype("<u8").tobytes()
    return xxhash.xxh3_64_intdigest(parts)


def _words(permutations: int, shape: Banding) -> str:
    return f"{permutations} permutations in {shape.bands} bands of {shape.rows}"
