"""Bottom-k: the shingle set of a text in its k smallest hashes, by one hash function."""

from dataclasses import dataclass

import numpy as np

from neardup.checks import MAX_VALUES, checked_shingle_size, checked_text, checked_whole
from neardup.errors import FingerprintError
from neardup.features.hashing import Hashes
from neardup.features.shingles import JACCARD_SIZE, shingle_set
from neardup.fingerprints.minhash import Estimate, share_of

BOTTOM_SIZE = 128


@dataclass(frozen=True, slots=True, eq=False)
class BottomK:
    """The smallest hashes of a set of shingles.

    Attributes:
        hashes: uint64, ascending and distinct, (size,), or fewer: then they are the whole set.
        size: The largest number of hashes.

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
        self._check_size(other)
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

    def containment(self, other: "BottomK") -> Estimate:
        """Estimate the share of this set that the other holds too.

        Up to the smaller of the two largest hashes both sets are known whole: what this one has
        there is a random sample of it. Exact, with a standard error of 0, where both sets are
        known whole altogether.

        Raises:
            FingerprintError: The sizes differ, or the other set is larger by so far that the sample
                is empty.

        Complexity: O(size).
        Reference: Broder, On the resemblance and containment of documents, 1997, section 3.
        """
        self._check_size(other)
        cut = [one.hashes[-1] for one in (self, other) if len(one.hashes) == one.size]
        sample = self.hashes[self.hashes <= min(cut)] if cut else self.hashes
        if not len(sample):
            raise FingerprintError(
                f"the sets differ too much in size for {self.size} hashes; take a larger size"
            )
        both = len(np.intersect1d(sample, other.hashes, assume_unique=True))
        return share_of(both, len(sample)) if cut else Estimate(both / len(sample), 0.0)

    def _check_size(self, other: "BottomK") -> None:
        if self.size != other.size:
            raise FingerprintError(f"one size expected, got {self.size} and {other.size}")


def bottom_k(text: str, *, size: int = BOTTOM_SIZE, shingle_size: int = JACCARD_SIZE) -> BottomK:
    """Return the smallest hashes of a text's set of word shingles.

    Beside a signature of as many values: made without any work beyond the hashes of the shingles,
    exact for short texts and never less precise, but twice the bytes, and :class:`LshIndex` needs
    a signature.

    Args:
        text: Any text; folding is part of it.
        size: The largest number of hashes to return, 1 to 65,536.
        shingle_size: Words in a row that make one feature, 1 to 16.

    Raises:
        FingerprintError: The text has no words, or is no ``str``.
        ParameterError: A number is out of range.

    Complexity: O(length + shingles * log shingles).
    """
    size = checked_whole("size", size, 1, MAX_VALUES)
    shingles = shingle_set(checked_text(text), "word", checked_shingle_size(shingle_size))
    if not len(shingles):
        raise FingerprintError("the text is without words, so it has no smallest hashes")
    return BottomK(shingles[:size].copy(), size)
