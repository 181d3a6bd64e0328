import numpy as np
import numpy.typing as npt
import pytest

from neardup.errors import DocumentError, FingerprintError, ParameterError
from neardup.indexes.arrays import (
    checked_fingerprint,
    checked_fingerprints,
    checked_ids,
    checked_limit,
)


@pytest.mark.parametrize("value", [0, 2**64 - 1, np.uint64(2**64 - 1), np.int8(3)])
def test_a_fingerprint_of_64_bits_is_taken(value: int) -> None:
    assert checked_fingerprint(value) == int(value)
    assert type(checked_fingerprint(value)) is int


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1, "0..2**64-1, got -1"),
        (2**64, "0..2**64-1, got 18446744073709551616"),
        (1.0, "integer of 64 bits, got 1.0"),
        (None, "integer of 64 bits, got None"),
        ("7", "integer of 64 bits, got '7'"),
    ],
)
def test_no_fingerprint_is_named(value: int, message: str) -> None:
    with pytest.raises(FingerprintError) as caught:
        checked_fingerprint(value)
    assert message in str(caught.value)


@pytest.mark.parametrize("value", [0, -1, 1.5, "a", True, np.True_, np.array([1, 2])])
def test_a_limit_that_allows_nothing_is_named(value: int) -> None:
    with pytest.raises(ParameterError, match=r"^limit must be at least 1, got "):
        checked_limit(value, 9)


def test_a_number_of_numpy_is_a_limit() -> None:
    assert type(checked_limit(np.uint64(3), 9)) is int


@pytest.mark.parametrize(
    "values",
    [
        [],
        (),
        [0, 2**64 - 1],
        [2**63, 1],
        np.array([0, 2**64 - 1], np.uint64),
        np.array([5, 0], np.int8),
        np.array([7, 2**64 - 1], object),
        np.array([], np.float64),
    ],
)
def test_arrays_of_fingerprints_keep_every_bit(values: npt.ArrayLike) -> None:
    array = checked_fingerprints(values)
    assert array.dtype == np.uint64
    assert array.tolist() == [int(value) for value in np.asarray(values, object)]


@pytest.mark.parametrize(
    "values",
    [
        [1, -1],
        [2**63, -1],
        [2**64],
        [1.0],
        [1, 2.5],
        np.array([1.0]),
        np.array([3, -4], np.int64),
        ["a"],
        [None],
        5,
        [[1], [2]],
        [[1], [2, 3]],
        [1, [2]],
        np.ma.MaskedArray([1, 2], [False, True]),
    ],
)
def test_no_array_of_fingerprints_is_rounded_into_one(values: npt.ArrayLike) -> None:
    with pytest.raises(FingerprintError):
        checked_fingerprints(values)


@pytest.mark.parametrize(
    "values",
    [
        [-1],
        [2**63],
        np.array([2**63], np.uint64),
        [0.5],
        [[1]],
        [[1], [2, 3]],
        np.ma.MaskedArray([1, 2], [False, True]),
    ],
)
def test_no_array_of_ids_is_rounded_into_one(values: npt.ArrayLike) -> None:
    with pytest.raises(DocumentError):
        checked_ids(values)


def test_an_array_of_ids_is_int64() -> None:
    array = checked_ids(np.array([0, 2**63 - 1], np.uint64))
    assert array.dtype == np.int64
    assert array.tolist() == [0, 2**63 - 1]
