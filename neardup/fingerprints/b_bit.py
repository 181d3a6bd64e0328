"""b-bit MinHash: of each value of a signature the few bits that nearly suffice."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.errors import FingerprintError
from neardup.fingerprints.estimate import Estimate, Signature, checked_signature, share_of
from neardup.fingerprints.text_limits import MAX_VALUES, checked_whole

MAX_BITS = 16

# The 32-bit finalizer of MurmurHash3 (Austin Appleby, public domain).
_FIRST = np.uint32(0x85EBCA6B)
_SECOND = np.uint32(0xC2B2AE35)


@dataclass(frozen=True, slots=True)
class BBitSignature:
    """A signature cut to a few bits a value.

    Attributes:
        data: The bits of one value after the other, the lowest first, in
            ceil(permutations * bits / 8) bytes.
        bits: The bits of each value, 1 to 16.
        permutations: The number of values.

    Raises:
        FingerprintError: ``data`` has another length.
        ParameterError: A number is out of range.
    """

    data: bytes
    bits: int
    permutations: int

    def __post_init__(self) -> None:
        checked_whole("bits", self.bits, 1, MAX_BITS)
        checked_whole("permutations", self.permutations, 1, MAX_VALUES)
        wanted = (self.permutations * self.bits + 7) // 8
        if len(self.data) != wanted:
            raise FingerprintError(f"data must be {wanted} bytes, got {len(self.data)}")

    def similarity(self, other: "BBitSignature") -> Estimate:
        """Estimate the Jaccard similarity of the two sets.

        Of the values that differ, the share C = 2**-bits agrees by chance; the estimate
        (P - C) / (1 - C) takes that from the share P that agrees, and the error of P grows by
        1 / (1 - C). It is cut off at 0. This is the paper's for sets that are small beside the
        2**31 features there are.

        Raises:
            FingerprintError: The number of bits or of values differs.

        Complexity: O(permutations * bits).
        Reference: Li and Koenig, WWW 2010, theorem 1 and section 3.
        """
        if (self.bits, self.permutations) != (other.bits, other.permutations):
            raise FingerprintError(
                f"{self.permutations} values of {self.bits} bits expected, "
                f"got {other.permutations} of {other.bits}"
            )
        equal = int(np.count_nonzero((self._rows() == other._rows()).all(axis=1)))
        share = share_of(equal, self.permutations)
        chance = math.ldexp(1.0, -self.bits)
        corrected = (share.similarity - chance) / (1 - chance)
        return Estimate(max(0.0, corrected), share.standard_error / (1 - chance))

    def _rows(self) -> NDArray[np.uint8]:
        """Return a row of bits for each value."""
        data = np.frombuffer(self.data, np.uint8)
        bits = np.unpackbits(data, count=self.permutations * self.bits, bitorder="little")
        return bits.reshape(self.permutations, self.bits)


def b_bit(signature: Signature, bits: int = 8) -> BBitSignature:
    """Return the signature cut to ``bits`` bits of each value.

    128 values of 8 bits are 128 bytes in the place of 512, and estimate nearly as well; 512 values
    of 2 bits are as many bytes, and at a similarity of .8 the error is .021 in the place of .036.

    Args:
        signature: uint32, (permutations,), as ``minhash`` returns it.
        bits: The bits of each value, 1 to 16.

    Raises:
        FingerprintError: It is no signature.
        ParameterError: ``bits`` is out of range.
    """
    bits = checked_whole("bits", bits, 1, MAX_BITS)
    mixed = _mixed(checked_signature(signature))
    columns = mixed[:, np.newaxis] >> np.arange(bits, dtype=np.uint32) & np.uint32(1)
    data = np.packbits(columns.astype(np.uint8).ravel(), bitorder="little").tobytes()
    return BBitSignature(data, bits, len(signature))


def _mixed(values: Signature) -> Signature:
    # The values are odd, and the low bits of a product rest on the low bits of its factors alone:
    # two texts of one shingle each would agree in all values or in none.
    mixed = values ^ values >> np.uint32(16)
    mixed *= _FIRST
    mixed ^= mixed >> np.uint32(13)
    mixed *= _SECOND
    mixed ^= mixed >> np.uint32(16)
    return mixed
