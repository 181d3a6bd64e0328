"""Characters of a text and their hashes."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.features.byte_kernels import BYTES
from neardup.features.hashing import GOLDEN
from neardup.features.unit_kernels import HASHES, U64, mixed

# A byte of UTF-8 that is not a character's first has these two highest bits.
_TOP_TWO, _CONTINUES = U64(0xC0), U64(0x80)


@compiled(types.int64(BYTES, HASHES))
def character_hashes(folded: bytes, hashes: NDArray[np.uint64]) -> int:
    """Write one hash for each character of a text in UTF-8 and return their number.

    There must be room for as many hashes as bytes.
    """
    count = 0
    character = U64(0)
    for place in range(len(folded)):
        byte = U64(folded[place])
        begins = (byte & _TOP_TWO) != _CONTINUES
        character = byte if begins else (character << U64(8)) | byte
        if place + 1 == len(folded) or (U64(folded[place + 1]) & _TOP_TWO) != _CONTINUES:
            # Moved off 0, which a NUL would stay.
            hashes[count] = mixed(character + GOLDEN)
            count += 1
    return count
