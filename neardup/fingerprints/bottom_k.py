"""Bottom-k: the shingle set of a text in its k smallest hashes, by one hash function."""

from dataclasses import dataclass

import numpy as np

from neardup.errors import FingerprintError
from neardup.features.folding import normal_form
from neardup.features.hashing import Hashes
from neardup.features.shingles import shingle_hashes
from neardup.features.tokens import pack
from neardup.fingerprints.estimate import Estimate, share_of
from neardup.fingerprints.limits import MAX_VALUES, checked_shingle_size, checked_whole
from neardup.parameters import DEFAULTS

BOTTOM_SIZE = 128


@dataclass(frozen=True, slots=True, eq=False)
class BottomK:
    """The smallest hashes of a set of shingles.

    Attributes:
        hashes: uint64, ascending and distinct, (size,), or fewer: then they are the whole set.
        size: How many of them there may be.

    Raises:
        FingerprintError: There are none, more than ``size``, or they do not ascend.
    """

    hashes: Hashes
    size: int

    def __post_init__(self) -> None:
        hashes = self.hashes
        if hashes.dtype != np.uint64 or hashes.ndim != 1 or not 1 <= len(hashes) <= self.size:
            raise FingerprintError(
                f"uint64, (1..{self.size},) expected, got {hashes.dtype}, {hashes.shape}"
            )
        if (hashes[1:] <= hashes[:-1]).any():
            raise FingerprintError("hashes must ascend and be distinct")

    def similarity(self, other: "BottomK") -> Estimate:
        """Estimate the Jaccard similarity of the two sets.

        The k smallest hashes of the union are a random sample of it, without repetition; the share
        of them that both hold is unbiased. For sets of fewer shingles than ``size`` it is exact,
        and its standard error 0.

        Raises:
            FingerprintError: The sizes differ.

        Complexity: O(size).
        Reference: Broder, On the resemblance and containment of documents, 1997, section 3;
        Thorup, STOC 2013, for one hash function.
        """
        if self.size != other.size:
            raise FingerprintError(f"one size expected, got {self.size} and {other.size}")
        both = np.concatenate((self.hashes, other.hashes))
        both.sort(kind="stable")
        again = np.flatnonzero(both[1:] == both[:-1])
        union = len(both) - len(again)
        asked = min(self.size, union)
        # A hash that both hold stands at again[i] in the joined list, so at again[i] - i in the
        # union.
        equal = int(np.count_nonzero(again - np.arange(len(again)) < asked))
        if max(len(self.hashes), len(other.hashes)) < self.size:
            # Both sets are known whole.
            return Estimate(len(again) / union, 0.0)
        return share_of(equal, asked)


def bottom_k(
    text: str, *, size: int = BOTTOM_SIZE, shingle_size: int = DEFAULTS.shingle_size
) -> BottomK:
    """Return the smallest hashes of a text's set of word shingles.

    Beside a signature of as many values: made without any work beyond the hashes of the shingles,
    exact for short texts and never less precise, but twice the bytes, and :class:`LshIndex` needs
    a signature.

    Args:
        text: Any text; folding is part of it.
        size: At most so many hashes, 1 to 65,536.
        shingle_size: Words in a row that make one feature, 1 to 16.

    Raises:
        FingerprintError: The text has no words.
        ParameterError: A number is out of range.

    Complexity: O(length + shingles * log shingles).
    """
    size = checked_whole("size", size, 1, MAX_VALUES)
    shingles = shingle_hashes(pack(normal_form(text)), checked_shingle_size(shingle_size))
    if not len(shingles):
        raise FingerprintError("a text without words has no smallest hashes")
    return BottomK(shingles[:size].copy(), size)
