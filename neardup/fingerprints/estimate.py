"""Estimate the similarity of two texts from their signatures, with its standard error."""

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup.errors import FingerprintError

Signature: TypeAlias = NDArray[np.uint32]
"""A MinHash signature is an array: uint32, (permutations,)."""


class Estimate(NamedTuple):
    """An estimated Jaccard similarity.

    Attributes:
        similarity: The estimate, 0 to 1.
        standard_error: The standard error of the similarity, in the same unit. It is taken at a
            similarity moved a little inwards (:func:`share_of`), since 128 values of 128 that agree
            do not prove that all would.
    """

    similarity: float
    standard_error: float


def similarity(first: Signature, second: Signature) -> Estimate:
    """Estimate the Jaccard similarity of the shingle sets of two texts.

    It is the share of values that agree, which is unbiased.

    Args:
        first: uint32, (permutations,), as ``minhash`` returns it.
        second: The same, of as many permutations and the same size of shingle.

    Raises:
        FingerprintError: The signatures differ in length, are empty or are no signatures.

    Complexity: O(permutations).
    Reference: Broder, On the resemblance and containment of documents, 1997, section 3.
    """
    first, second = checked_signature(first), checked_signature(second)
    if len(first) != len(second):
        raise FingerprintError(
            f"signatures of one length expected, got {len(first)} and {len(second)} values"
        )
    return share_of(int(np.count_nonzero(first == second)), len(first))


def share_of(equal: int, asked: int) -> Estimate:
    """Return the share, with the standard error sqrt(p (1 - p) / asked) of a binomial one.

    There p = (equal + 1/2) / (asked + 1), the mean of Jeffreys' posterior: with the share itself
    an estimate of 0 or 1 would claim to be certain.
    """
    inwards = (equal + 0.5) / (asked + 1)
    return Estimate(equal / asked, math.sqrt(inwards * (1 - inwards) / asked))


def checked_signature(value: Signature) -> Signature:
    """Return the value, or raise FingerprintError when it is no signature."""
    if not isinstance(value, np.ndarray) or value.dtype != np.uint32 or value.ndim != 1:
        raise FingerprintError(f"a signature must be uint32, (permutations,), got {_shown(value)}")
    if not len(value):
        raise FingerprintError("a signature must have at least one value, got none")
    return value


def _shown(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}, {value.shape}"
    return type(value).__name__
