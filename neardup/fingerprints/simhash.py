"""SimHash: a set of features in 64 bits; where few features differ, few bits do."""

import math
import secrets
from collections.abc import Iterable, Mapping
from fractions import Fraction
from numbers import Rational, Real
from operator import index

import numpy as np
import xxhash
from numpy.typing import ArrayLike, NDArray

from neardup.checks import checked_text, checked_texts
from neardup.errors import FingerprintError
from neardup.features.features import Features
from neardup.features.hashing import Hashes
from neardup.features.shingles import distinct, shingles_of, unit_hashes
from neardup.features.tokens import unit_bytes

_EXACT = 1 << 53

BITS = 64

WORD_SHINGLES = Features()

# Odd. Authors of texts cannot know it, and no fingerprint depends on it.
_SALT = secrets.randbits(64) | 1

_LONG_SHINGLES = 1 << 20
"""The number of shingles from which on they are sorted: the table of the kernel would be four times
as large as they are, and no longer faster."""


def simhash_weighted(weights: Mapping[str, float]) -> int:
    """Return the 64-bit SimHash of features with a weight each.

    A feature adds its weight to every bit that its hash (xxh3 of its UTF-8) sets and takes it from
    the others; the sign of the sum is the bit, and a sum of 0 makes 0. Features are taken as they
    are, unfolded; the result is not comparable with that of ``simhash``. Sums are of float64, and
    exact where an integer or a fraction is beyond it.

    Raises:
        FingerprintError: No features, or a feature or weight that is none: NaN, infinite.

    Complexity: O(features * log features).
    Reference: Charikar, STOC 2002, section 3.
    """
    if not isinstance(weights, Mapping):
        raise FingerprintError(f"weights must be {{feature: weight}}, got {type(weights).__name__}")
    if not weights:
        raise FingerprintError("no features, so no fingerprint")
    for feature, weight in weights.items():
        _check(feature, weight)
    # In one order, since sums of floats depend on it.
    features = sorted(weights)
    values = _values([weights[feature] for feature in features])
    digests = b"".join(
        xxhash.xxh3_64_digest(feature.encode("utf-8", "surrogatepass")) for feature in features
    )
    bits = np.unpackbits(np.frombuffer(digests, np.uint8).reshape(-1, 8), axis=1)
    return int.from_bytes(np.packbits(majority(bits, values)).tobytes(), "big")


def majority(bits: ArrayLike, weights: ArrayLike) -> NDArray[np.bool_]:
    """Return for each column of bits whether the rows that set it outweigh the others.

    Weights are float64, or exact numbers as objects.
    """
    signs = 2 * np.asarray(bits, np.int8) - 1
    weighed = signs * np.asarray(weights)[:, np.newaxis]
    # Row after row, so that sums of floats are the same on every machine.
    sums: NDArray[np.bool_] = np.add.accumulate(weighed, axis=0)[-1] > 0
    return sums.astype(np.bool_)


def _check(feature: str, weight: float) -> None:
    if not isinstance(feature, str):
        raise FingerprintError(f"a feature must be str, got {type(feature).__name__}")
    if not isinstance(weight, Real):
        raise FingerprintError(f"the weight of {feature!r} must be a number, got {weight!r}")
    # math.isfinite turns to floats what may be too large for them, and is finite.
    if not isinstance(weight, Rational) and not math.isfinite(weight):
        raise FingerprintError(f"the weight of {feature!r} must be finite, got {weight!r}")


def _values(weights: list[float]) -> NDArray[np.float64] | NDArray[np.object_]:
    if any(isinstance(weight, Rational) and abs(weight) > _EXACT for weight in weights):
        return np.array([Fraction(weight) for weight in weights], np.object_)
    return np.array(weights, np.float64)


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
    fingerprint, _ = sketch(unit_bytes(text, features.unit), features)
    if fingerprint is None:
        weighty = " that weigh anything" if features.weight == "tf_idf" else ""
        raise FingerprintError(f"{name} is without words{weighty}, so it has no fingerprint")
    return fingerprint


def sketch(data: bytes, features: Features) -> tuple[int | None, int]:
    """Return the SimHash of a text's ``unit_bytes``, and its number of units.

    None stands for the SimHash of a text that has no units, or whose units weigh nothing.
    """
    units = unit_hashes(data, features.unit)
    return sketch_of_units(units, features), len(units)


def sketch_of_units(units: Hashes, features: Features) -> int | None:
    """Return the SimHash of the units of a text; its shingles overwrite the array of the units.

    None stands for that of a text that has no units, or whose units weigh nothing.
    """
    hashes = shingles_of(units, features.size)
    if features.weight == "set":
        return _of_set(hashes) if len(hashes) else None
    from neardup.fingerprints.text_kernels import (  # noqa: PLC0415  (numba takes long)
        of_weights,
    )

    weighted = features.weigh(hashes)
    if not weighted.weights.any():
        return None
    return of_weights(weighted.hashes, weighted.weights, np.zeros(BITS))


def _of_set(hashes: Hashes) -> int:
    from neardup.fingerprints import set_kernels  # noqa: PLC0415  (numba takes long)

    if len(hashes) >= _LONG_SHINGLES:
        hashes = distinct(hashes)
        return set_kernels.of_set(hashes, len(hashes))
    return set_kernels.of_set(hashes, set_kernels.distinct(hashes, len(hashes), _SALT))


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
