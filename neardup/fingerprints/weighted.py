"""SimHash of features that somebody else chose and weighed."""

import math
from collections.abc import Mapping
from fractions import Fraction
from numbers import Rational, Real

import numpy as np
import xxhash
from numpy.typing import ArrayLike, NDArray

from neardup.errors import FingerprintError

_EXACT = 1 << 53


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
    """Return for each column whether the rows that set it outweigh those that do not.

    Args:
        bits: 0 or 1, (features, bits).
        weights: (features,), float64 or exact numbers as objects.

    Returns:
        bool, (bits,); False where both weigh the same.

    Complexity: O(features * bits).
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
