"""The signatures that an index holds, in the order in which they came, and the keys of bands."""

import numpy as np
import numpy.typing as npt

from neardup.errors import FingerprintError
from neardup.features.hashing import GOLDEN, mix
from neardup.indexes.arrays import Ids
from neardup.indexes.banding import Banding

Signatures = npt.NDArray[np.uint32]
Keys = npt.NDArray[np.uint64]

GROWTH = 1.5
_LEAST_ROOM = 256
_KEYS_AT_ONCE = 1 << 18
_HIGH = np.uint64(32)


class SignatureStore:
    """Signatures with their ids in arrays that grow; a row is never moved or changed.

    Args:
        permutations: Values of each signature.
    """

    def __init__(self, permutations: int) -> None:
        self._signatures = np.zeros((0, permutations), np.uint32)
        self._ids = np.zeros(0, np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def signatures(self) -> Signatures:
        """uint32, (documents, permutations), a view."""
        return self._signatures[: self._count]

    @property
    def ids(self) -> Ids:
        """int64, (documents,), a view."""
        return self._ids[: self._count]

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that are taken, room for more included."""
        return self._signatures.nbytes + self._ids.nbytes

    def append(self, signature: Signatures, number: int) -> None:
        """Hold one more."""
        if self._count == len(self._ids):
            self._grow(1)
        self._signatures[self._count] = signature
        self._ids[self._count] = number
        self._count += 1

    def extend(self, signatures: Signatures, ids: Ids) -> None:
        """Hold more of them."""
        end = self._count + len(ids)
        if end > len(self._ids):
            self._grow(len(ids))
        self._signatures[self._count : end] = signatures
        self._ids[self._count : end] = ids
        self._count = end

    def _grow(self, fresh: int) -> None:
        room = max(self._count + fresh, int(self._count * GROWTH), _LEAST_ROOM)
        signatures = np.empty((room, self._signatures.shape[1]), np.uint32)
        ids = np.empty(room, np.int64)
        signatures[: self._count] = self.signatures
        ids[: self._count] = self.ids
        self._signatures, self._ids = signatures, ids


class BandKeys:
    """The key of each band of a signature: 32 bits that are equal where the band is.

    A sum of products with 64-bit factors, of which the high half is kept: two bands that differ
    share a key once in 2**32 (Dietzfelbinger, STACS 1996). Factors and summand of each
    band are its own, so that the keys of all bands can stand in one table.
    """

    def __init__(self, shape: Banding) -> None:
        self._shape = shape
        self._used = shape.bands * shape.rows
        drawn = mix(np.arange(1, self._used + shape.bands + 1, dtype=np.uint64) * GOLDEN)
        self._factors = drawn[: self._used].reshape(shape) | np.uint64(1)
        self._summands = drawn[self._used :]

    def of(self, signatures: Signatures) -> Keys:
        """Return the keys, each in the high half of 64 bits, the low half 0.

        Args:
            signatures: uint32, (documents, permutations).

        Returns:
            uint64, (documents, bands).
        """
        keys = np.empty((len(signatures), self._shape.bands), np.uint64)
        step = max(1, _KEYS_AT_ONCE // self._used)
        for start in range(0, len(signatures), step):
            some = signatures[start : start + step, : self._used].astype(np.uint64)
            products = some.reshape(len(some), *self._shape)
            products *= self._factors
            products.sum(axis=2, out=keys[start : start + step])
        keys += self._summands
        keys >>= _HIGH
        keys <<= _HIGH
        return keys


def checked_signatures(values: Signatures, permutations: int) -> Signatures:
    """Return the values, or raise FingerprintError unless uint32, (any, permutations)."""
    if not isinstance(values, np.ndarray) or values.dtype != np.uint32:
        kind = values.dtype if isinstance(values, np.ndarray) else type(values).__name__
        raise FingerprintError(f"signatures must be an array of uint32, got {kind}")
    if values.ndim != 2 or values.shape[1] != permutations:
        raise FingerprintError(
            f"signatures of {permutations} values expected, got {values.shape[1:]} values"
        )
    return values
