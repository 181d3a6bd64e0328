"""MinHash: the shingle set of a text as a signature; two texts share as many values as shingles."""

import math
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup.checks import (
    MAX_VALUES,
    checked_shingle_size,
    checked_text,
    checked_texts,
    checked_whole,
)
from neardup.errors import FingerprintError
from neardup.features.hashing import GOLDEN, Hashes, mix
from neardup.features.shingles import JACCARD_SIZE, occurrences
from neardup.fingerprints.kernels import minima

PERMUTATIONS = 128

Signature: TypeAlias = NDArray[np.uint32]
"""A MinHash signature is an array: uint32, (permutations,)."""

_Factors = NDArray[np.uint32]


def minhash(
    text: str, *, permutations: int = PERMUTATIONS, shingle_size: int = JACCARD_SIZE
) -> Signature:
    """Return the MinHash signature of a text's set of word shingles.

    Two signatures agree in a value as often as the sets' Jaccard similarity says; see
    :func:`~neardup.fingerprints.minhash.similarity`. The element-wise minimum of two signatures
    is that of both sets together, and a shorter signature is the beginning of a longer one. The
    values are the same in every process and on every platform.

    Args:
        text: Any text; folding is part of the signature.
        permutations: Values of the signature, 1 to 65,536. The standard error of an estimate is at
            most 1 / (2 * sqrt(permutations)): .044 for 128.
        shingle_size: Words in a row that make one feature, 1 to 16.

    Returns:
        uint32, (permutations,).

    Raises:
        FingerprintError: The text has no words, or is no ``str``. A signature of nothing would
            make all empty texts similar.
        ParameterError: A number is out of range.

    Complexity: O(length + shingles * permutations).
    Reference: Broder, On the resemblance and containment of documents, 1997; the hash functions
    are the multiplications of Dietzfelbinger et al., Journal of Algorithms 25, 1997.
    """
    factors = multipliers(checked_whole("permutations", permutations, 1, MAX_VALUES))
    size = checked_shingle_size(shingle_size)
    signature = np.empty(len(factors), np.uint32)
    _sign(checked_text(text), "the text", size, factors, signature)
    return signature


def minhash_many(
    texts: Iterable[str],
    *,
    permutations: int = PERMUTATIONS,
    shingle_size: int = JACCARD_SIZE,
) -> NDArray[np.uint32]:
    """Return the signatures of many texts, each as :func:`minhash` returns it.

    Args:
        texts: Texts, each with at least one word.
        permutations: Values of a signature, 1 to 65,536.
        shingle_size: Words in a row that make one feature, 1 to 16.

    Returns:
        uint32, (documents, permutations).

    Raises:
        FingerprintError: A text has no words or is no ``str``; the message says which, counted
            from 0. None is left out and none gets a row that resembles others.
        ParameterError: A number is out of range.

    Complexity: O(length + shingles * permutations).
    """
    factors = multipliers(checked_whole("permutations", permutations, 1, MAX_VALUES))
    size = checked_shingle_size(shingle_size)
    several = checked_texts(texts)
    signatures = np.empty((len(several), len(factors)), np.uint32)
    for place, text in enumerate(several):
        _sign(text, f"text {place}", size, factors, signatures[place])
    return signatures


def _sign(text: str, name: str, size: int, factors: _Factors, signature: Signature) -> None:
    hashes = occurrences(text, "word", size)
    if not len(hashes):
        raise FingerprintError(f"{name} is without words, so it has no signature")
    minima(hashes, factors, signature)


def packed_signature(hashes: Hashes, permutations: int) -> bytes:
    """Return the signature of a text as bytes.

    Args:
        hashes: The hashes of its shingles, as ``occurrences`` returns them; at least one.
        permutations: Values of the signature.

    Returns:
        The values of :func:`minhash`, little endian, four bytes each.
    """
    signature = np.empty(permutations, np.uint32)
    minima(hashes, multipliers(permutations), signature)
    return signature.astype("<u4", copy=False).tobytes()


def unpacked_signature(signature: bytes) -> Signature:
    """Return what ``packed_signature`` made as values: uint32, (permutations,)."""
    return np.frombuffer(signature, "<u4").astype(np.uint32, copy=False)


@cache
def multipliers(permutations: int) -> _Factors:
    """Return odd factors, the same ones first for every number: uint32, (permutations,).

    Value i of a signature is the least product of factor i with the upper halves of the shingles'
    hashes, made odd, modulo 2**32.
    """
    mixed: Hashes = mix(np.arange(1, permutations + 1, dtype=np.uint64) * GOLDEN)
    factors = (mixed >> np.uint64(32)).astype(np.uint32) | np.uint32(1)
    factors.flags.writeable = False
    return factors


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
