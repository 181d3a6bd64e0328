"""Arrays that grow, entries of an index, results of its queries, and the checks of arrays."""

import operator
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, SupportsIndex, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from neardup.checks import checked_whole
from neardup.errors import DocumentError, FingerprintError

Fingerprints: TypeAlias = npt.NDArray[np.uint64]
Ids: TypeAlias = npt.NDArray[np.int64]
Distances: TypeAlias = npt.NDArray[np.uint8]
Positions: TypeAlias = npt.NDArray[np.int64]
Signatures: TypeAlias = npt.NDArray[np.uint32]
Keys: TypeAlias = npt.NDArray[np.uint32]
Sketches: TypeAlias = npt.NDArray[np.uint64]

T = TypeVar("T", bound=np.generic)

FINGERPRINT_BITS = 64
MAX_FINGERPRINT = (1 << FINGERPRINT_BITS) - 1
MAX_ID = (1 << 63) - 1  # stored as int64, and by SQLite
MAX_RADIUS = 8


class Rows(NamedTuple):
    """Entries of an index, one row each.

    Attributes:
        fingerprints: uint64, (rows,).
        ids: int64, (rows,).
    """

    fingerprints: Fingerprints
    ids: Ids


class StoredRows(NamedTuple):
    """Rows of an index of signatures, as its file keeps them.

    Attributes:
        ids: int64, (rows,).
        keys: uint32, (rows, bands).
        sketches: uint64, (rows, words), four bits of each value.
    """

    ids: Ids
    keys: Keys
    sketches: Sketches


class Match(NamedTuple):
    """One stored entry near a fingerprint.

    Attributes:
        id: The id that the entry was added with.
        distance: Its Hamming distance from the fingerprint asked for, in bits.
    """

    id: int
    distance: int


class Matches(NamedTuple):
    """The answers to many queries, by query, then nearest first, then by id.

    Attributes:
        positions: int64, (matches,): which of the fingerprints asked for.
        ids: int64, (matches,): the id of the stored entry.
        distances: uint8, (matches,): in bits.
    """

    positions: Positions
    ids: Ids
    distances: Distances


def checked_fingerprint(value: SupportsIndex) -> int:
    """Return the value as an int of 0..2**64-1, or raise FingerprintError."""
    try:
        fingerprint = operator.index(value)
    except TypeError:
        raise FingerprintError(
            f"a fingerprint must be an integer of 64 bits, got {value!r}"
        ) from None
    if not 0 <= fingerprint <= MAX_FINGERPRINT:
        raise FingerprintError(f"a fingerprint must be 0..2**64-1, got {fingerprint}")
    return fingerprint


def checked_id(value: SupportsIndex) -> int:
    """Return the value as an int of 0..2**63-1, or raise DocumentError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise DocumentError(f"an id must be an integer, got {value!r}") from None
    if not 0 <= number <= MAX_ID:
        raise DocumentError(f"an id must be 0..2**63-1, got {number}")
    return number


def checked_radius(value: SupportsIndex) -> int:
    """Return the value as an int of 0..8, or raise ParameterError."""
    return checked_whole("radius", value, 0, MAX_RADIUS)


def checked_limit(value: SupportsIndex | None, unlimited: int) -> int:
    """Return the value as an int of 1..unlimited, or raise ParameterError; None: unlimited."""
    return unlimited if value is None else min(checked_whole("limit", value, 1), unlimited)


def checked_fingerprints(values: npt.ArrayLike) -> Fingerprints:
    """Return the values as uint64, (values,), or raise FingerprintError for the first bad one."""
    array = _integers(values, checked_fingerprint, FingerprintError)
    if array.dtype.kind == "i" and array.size and array.min() < 0:
        checked_fingerprint(array[array < 0][0])
    return array.astype(np.uint64, copy=False)


def checked_ids(values: npt.ArrayLike) -> Ids:
    """Return the values as int64, (values,), or raise DocumentError for the first bad one."""
    array = _integers(values, checked_id, DocumentError)
    if array.dtype.kind == "i" and array.size and array.min() < 0:
        checked_id(array[array < 0][0])
    if array.dtype.kind == "u" and array.size and array.max() > MAX_ID:
        checked_id(array[array > MAX_ID][0])
    return array.astype(np.int64, copy=False)


def checked_signature(value: Signatures, permutations: int) -> Signatures:
    """Return the value in one piece, or raise FingerprintError unless uint32, (permutations,)."""
    right = isinstance(value, np.ndarray) and value.dtype == np.uint32
    if right and value.shape == (permutations,):
        return np.ascontiguousarray(value)
    shown = type(value).__name__
    if isinstance(value, np.ndarray):
        shown = f"{value.dtype}, {value.shape}"
    raise FingerprintError(f"a signature must be uint32, ({permutations},), got {shown}")


def checked_signatures(values: Signatures, permutations: int) -> Signatures:
    """Return the values in one piece; FingerprintError unless uint32, (any, permutations)."""
    if not isinstance(values, np.ndarray) or values.dtype != np.uint32:
        kind = values.dtype if isinstance(values, np.ndarray) else type(values).__name__
        raise FingerprintError(f"signatures must be an array of uint32, got {kind}")
    if values.ndim != 2 or values.shape[1] != permutations:
        raise FingerprintError(
            f"signatures of {permutations} values expected, got {values.shape[1:]} values"
        )
    return np.ascontiguousarray(values)


def _integers(
    values: npt.ArrayLike,
    check: Callable[[Any], int],
    error: type[FingerprintError] | type[DocumentError],
) -> npt.NDArray[Any]:
    """Return a one-dimensional array of an integer dtype, without ever rounding a float."""
    if isinstance(values, np.ma.MaskedArray):
        # Its data would be taken for values, the hidden ones included.
        raise error("an array without a mask expected, got a masked one; compress it first")
    try:
        array = np.asarray(values)
    except ValueError:
        raise error("an array of one dimension expected, got rows of several lengths") from None
    if array.ndim != 1:
        raise error(f"an array of one dimension expected, got shape {array.shape}")
    if array.dtype.kind in "iu":
        return array
    # numpy makes floats of [2**63, -1], objects of [2**64] and float64 of []: the values
    # themselves are asked, one by one, so that none is rounded into another fingerprint.
    checked = [check(value) for value in (values if isinstance(values, list | tuple) else array)]
    return np.array(checked, dtype=np.uint64)


class Column(Generic[T]):
    """Values in one piece of memory; behind ``count`` of them ``room`` is free to be written.

    Args:
        dtype: The type of the values.
        shape: The shape of each, where it is an array itself.
    """

    def __init__(self, dtype: type[T], *shape: int) -> None:
        self.count = 0
        self.room: npt.NDArray[T] = np.empty((0, *shape), dtype)

    @property
    def values(self) -> npt.NDArray[T]:
        """The values, as a view that the next growth may leave behind."""
        return self.room[: self.count]

    def provide(self, more: int) -> None:
        """Provide room for ``more`` further values; amortised O(1) for each."""
        wanted = self.count + more
        if wanted > len(self.room):
            length = max(wanted, len(self.room) * 3 // 2, 1024)
            grown = np.empty((length, *self.room.shape[1:]), self.room.dtype)
            grown[: self.count] = self.values
            self.room = grown

    def extend(self, values: Any) -> None:
        self.provide(len(values))
        self.room[self.count : self.count + len(values)] = values
        self.count += len(values)

    def fill(self, count: int, value: Any) -> None:
        """Hold ``count`` values, those that are new all the same."""
        if count > self.count:
            self.provide(count - self.count)
            self.room[self.count : count] = value
            self.count = count
