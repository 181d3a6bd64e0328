"""SimHash: a set of features in 64 bits, few of which differ where few features do."""

import secrets
from collections.abc import Callable, Iterable
from functools import cache
from operator import index

import numpy as np
from numpy.typing import NDArray

from neardup.errors import FingerprintError
from neardup.features.features import Features
from neardup.features.hashing import Hashes
from neardup.features.occurrences import occurrences_in
from neardup.features.shingles import distinct
from neardup.features.texts import unit_bytes
from neardup.fingerprints.checks import checked_text, checked_texts

BITS = 64

WORD_SHINGLES = Features()

# Odd. Nobody who writes texts knows it, and no fingerprint depends on it.
_SALT = secrets.randbits(64) | 1

_LONG_BYTES = 1 << 22
"""Longer texts are sorted: the table of the kernel would be four times as large as their shingles,
and no longer faster."""


def simhash(text: str, features: Features = WORD_SHINGLES) -> int:
    """Return the 64-bit fingerprint of a text: the SimHash of its features.

    Bit b is 1 where the features that have bit b set in their hash weigh more than the others, so
    a tie makes 0. The value is the same in every process and on every platform.

    Args:
        text: Any text; folding is part of the fingerprint.
        features: What the fingerprint is made of. Fingerprints of different features cannot be
            compared.

    Raises:
        FingerprintError: The text has no words (for features of characters: nothing visible) or
            none that weighs anything, or is no ``str``. Its fingerprint is not 0, which belongs to
            texts.
        ParameterError: ``features.idf`` gives weights that are no numbers.

    Complexity: O(length); for weights, and texts of more than 4 MB, O(length * log length).
    Reference: Charikar, STOC 2002, section 3; Manku, Jain, Das Sarma, WWW 2007, section 2.
    """
    fingerprint, _ = sketch(unit_bytes(checked_text(text), features.unit), features)
    if fingerprint is None:
        raise FingerprintError(_nothing("the text", features))
    return fingerprint


def simhash_many(texts: Iterable[str], features: Features = WORD_SHINGLES) -> NDArray[np.uint64]:
    """Return the fingerprints of many texts, each as :func:`simhash` returns it.

    Returns:
        uint64, (documents,).

    Raises:
        FingerprintError: What ``simhash`` raises for a text; the message says which, counted from
            0. None is left out.
        ParameterError: ``features.idf`` gives weights that are no numbers.

    Complexity: O(length of all texts).
    """
    several = checked_texts(texts)
    fingerprints = np.empty(len(several), np.uint64)
    for place, text in enumerate(several):
        fingerprint, _ = sketch(unit_bytes(text, features.unit), features)
        if fingerprint is None:
            raise FingerprintError(_nothing(f"text {place}", features))
        fingerprints[place] = fingerprint
    return fingerprints


def sketch(data: bytes, features: Features) -> tuple[int | None, int]:
    """Return the SimHash of a text and its number of units.

    Args:
        data: What ``unit_bytes`` returned for the unit of the features.
        features: Of the fingerprint.

    Returns:
        None in the place of the fingerprint of a text that has no units, or whose units weigh
        nothing.
    """
    if features.weight == "set" and len(data) < _LONG_BYTES:
        fingerprint, units = _of_text()(data, features.unit == "character", features.size, _SALT)
        return (fingerprint if units else None), units
    hashes, units = occurrences_in(data, features.unit, features.size)
    if features.weight == "set":
        return (of_hashes(distinct(hashes)) if units else None), units
    weighted = features.weigh(hashes)
    if not weighted.weights.any():
        return None, units
    return _of_weights()(weighted.hashes, weighted.weights), units


def of_hashes(hashes: Hashes) -> int:
    """Return the SimHash of hashes with a weight of one each.

    Args:
        hashes: uint64, (features,), at least one.
    """
    return _of_set()(hashes, len(hashes))


def hamming(first: int, second: int) -> int:
    """Return the number of bits in which two fingerprints differ, 0 to 64.

    Raises:
        FingerprintError: A value is no integer, negative or does not fit in 64 bits.
    """
    return (check_fingerprint(first) ^ check_fingerprint(second)).bit_count()


def check_fingerprint(value: int) -> int:
    """Return the value as an ``int``.

    Raises:
        FingerprintError: It is no integer, negative or does not fit in 64 bits.
    """
    try:
        fingerprint = index(value)
    except TypeError:
        raise FingerprintError(f"a fingerprint must be an integer, got {value!r}") from None
    if not 0 <= fingerprint < 1 << BITS:
        raise FingerprintError(f"a fingerprint must be 0..2**{BITS}-1, got {fingerprint}")
    return fingerprint


def _nothing(text: str, features: Features) -> str:
    if features.weight == "tf_idf":
        return f"{text} is without words that weigh anything, so it has no fingerprint"
    return f"{text} is without words, so it has no fingerprint"


@cache
def _of_text() -> Callable[[bytes, bool, int, int], tuple[int, int]]:
    from neardup.fingerprints import simhash_kernels  # noqa: PLC0415  (numba takes long)

    return simhash_kernels.of_text


@cache
def _of_set() -> Callable[[Hashes, int], int]:
    from neardup.fingerprints import simhash_kernels  # noqa: PLC0415  (numba takes long)

    return simhash_kernels.of_set


@cache
def _of_weights() -> Callable[[Hashes, NDArray[np.float64]], int]:
    from neardup.fingerprints import simhash_kernels  # noqa: PLC0415  (numba takes long)

    return simhash_kernels.of_weights
