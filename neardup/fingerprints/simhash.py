"""SimHash: a set of features in 64 bits; where few features differ, few bits do."""

import secrets
from collections.abc import Iterable
from operator import index

import numpy as np
from numpy.typing import NDArray

from neardup.checks import checked_text, checked_texts
from neardup.errors import FingerprintError
from neardup.features.features import Features
from neardup.features.hashing import Hashes
from neardup.features.shingles import distinct, shingles_of, unit_hashes
from neardup.features.tokens import unit_bytes
from neardup.fingerprints import kernels

BITS = 64

WORD_SHINGLES = Features()

# Odd. Authors of texts cannot know it, and no fingerprint depends on it.
_SALT = secrets.randbits(64) | 1

_LONG_SHINGLES = 1 << 20
"""The number of shingles from which on they are sorted: the table of the kernel would be four times
as large as they are, and no longer faster."""


def simhash(text: str, features: Features = WORD_SHINGLES) -> int:
    """Return the 64-bit fingerprint of a text: the SimHash of its features.

    Bit b is 1 where the features that have bit b set in their hash weigh more than the others, so
    a tie makes 0. The value is the same in every process and on every platform.

    Args:
        text: Any text; folding is part of the fingerprint.
        features: The features of the fingerprint. Fingerprints of different features cannot be
            compared.

    Raises:
        FingerprintError: The text has no words (for features of characters: nothing visible) or
            none that weighs anything, or is no ``str``. Its fingerprint is not 0, which belongs to
            texts.
        ParameterError: ``features.idf`` gives weights that are no numbers.

    Complexity: O(length); for weights, and texts of more than 4 MB, O(length * log length).
    Reference: Charikar, STOC 2002, section 3; Manku, Jain, Das Sarma, WWW 2007, section 2.
    """
    return _fingerprint(checked_text(text), "the text", features)


def simhash_many(texts: Iterable[str], features: Features = WORD_SHINGLES) -> NDArray[np.uint64]:
    """Return the fingerprints of many texts, each as :func:`simhash` returns it.

    Returns:
        uint64, (documents,).

    Raises:
        FingerprintError: ``simhash`` raises it for a text; the message says which, counted from
            0. None is left out.
        ParameterError: ``features.idf`` gives weights that are no numbers.

    Complexity: O(length of all texts).
    """
    several = checked_texts(texts)
    fingerprints = np.empty(len(several), np.uint64)
    for place, text in enumerate(several):
        fingerprints[place] = _fingerprint(text, f"text {place}", features)
    return fingerprints


def _fingerprint(text: str, name: str, features: Features) -> int:
    units = unit_hashes(unit_bytes(text, features.unit), features.unit)
    fingerprint = sketch(units, features)
    if fingerprint is None:
        weighty = " that weigh anything" if features.weight == "tf_idf" else ""
        raise FingerprintError(f"{name} is without words{weighty}, so it has no fingerprint")
    return fingerprint


def sketch(units: Hashes, features: Features) -> int | None:
    """Return the SimHash of the units of a text; its shingles overwrite the array of the units.

    None stands for that of a text that has no units, or whose units weigh nothing.
    """
    hashes = shingles_of(units, features.size)
    if features.weight == "set":
        return _of_set(hashes) if len(hashes) else None
    return kernels.of_weights(*features.weigh(hashes))


def _of_set(hashes: Hashes) -> int:
    if len(hashes) >= _LONG_SHINGLES:
        hashes = distinct(hashes)
        return kernels.of_set(hashes, len(hashes))
    return kernels.of_set(hashes, kernels.distinct(hashes, len(hashes), _SALT))


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
