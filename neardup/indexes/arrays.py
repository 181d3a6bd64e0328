"""Check fingerprints, ids and arrays of both before they enter an index."""

import operator
from collections.abc import Callable
from typing import Any, NamedTuple, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from neardup.errors import DocumentError, FingerprintError, ParameterError
from neardup.limits import checked_whole

Fingerprints: TypeAlias = npt.NDArray[np.uint64]
Ids: TypeAlias = npt.NDArray[np.int64]
Distances: TypeAlias = npt.NDArray[np.uint8]
Positions: TypeAlias = npt.NDArray[np.int64]

FINGERPRINT_BITS = 64
MAX_FINGERPRINT = (1 << FINGERPRINT_BITS) - 1
MAX_ID = (1 << 63) - 1
MAX_RADIUS = 8


class Rows(NamedTuple):
    """Entries of an index, one row each.

    Attributes:
        fingerprints: uint64, (rows,).
        ids: int64, (rows,).
    """

    fingerprints: Fingerprints
    ids: Ids


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


def checked_limit(value: SupportsIndex | None, name: str = "limit") -> int | None:
    """Return None or the value as an int of at least 1, or raise ParameterError."""
    if value is None:
        return None
    limit = _number(value)
    if limit is None:
        raise ParameterError(f"{name} must be None or an integer, got {value!r}")
    if limit < 1:
        raise ParameterError(f"{name} must be None or at least 1, got {limit}")
    return limit


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


def _number(value: object) -> int | None:
    """Return the value as an int; None: it is none, as True is none."""
    if type(value) is int:
        return value
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        return None
    try:
        return operator.index(value)
    except TypeError:  # of an array, or of a bool of numpy
        return None
