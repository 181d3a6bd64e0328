"""Hashes of tokens, all tokens of a text at once."""

import numpy as np
import xxhash
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

# The finalizer of MurmurHash3 (Austin Appleby, public domain): every bit of the input turns half
# of the output. The odd constant is 2**64 divided by the golden ratio.
_FIRST = np.uint64(0xFF51AFD7ED558CCD)
_SECOND = np.uint64(0xC4CEB9FE1A85EC53)
_HALF = np.uint64(33)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)

_WORD_BYTES = 8
# Longer tokens, which no language has many of, are left to xxh3: the rounds below would be as many
# as the longest token has words of eight bytes, and somebody will send one of five megabytes.
_LONG_BYTES = 64
_MASKS = np.array([(1 << 8 * kept) - 1 for kept in range(_WORD_BYTES + 1)], np.uint64)
_SPACE = 0x20


def mix(hashes: Hashes) -> Hashes:
    """Scatter the bits of each value, in place and without collisions, and return the array."""
    hashes ^= hashes >> _HALF
    hashes *= _FIRST
    hashes ^= hashes >> _HALF
    hashes *= _SECOND
    hashes ^= hashes >> _HALF
    return hashes


def token_hashes(packed: bytes) -> Hashes:
    """Return one hash for each token: the same for the same token, in every process and platform.

    Tokens are read eight bytes at a time, all of them in one step of NumPy, and a step more for
    those that go on; tokens of at most eight bytes never collide.

    Measured on English of 1,000 words, one core: 38 us. xxh3 once for each distinct token and a
    dictionary took 119 us, xxh3 for every token 64 us, gathering bytes by an index array instead
    of the unaligned view 52 us.

    Args:
        packed: Tokens as ``pack`` returns them.

    Returns:
        uint64, (tokens,), in the order of the text.

    Complexity: O(bytes).
    """
    # A space on either side closes the first and last token; the rest lets the view read on.
    padded = b" " + packed + b" " * _WORD_BYTES
    starts, lengths = _spans(padded)
    view = np.ndarray((len(padded) - _WORD_BYTES + 1,), "<u8", padded, strides=(1,))
    hashes = mix(_words(view, starts, lengths))
    rest = np.flatnonzero(lengths > _WORD_BYTES)
    for offset in range(_WORD_BYTES, _LONG_BYTES, _WORD_BYTES):
        if not len(rest):
            return hashes
        left = lengths[rest] - offset
        hashes[rest] = mix(_words(view, starts[rest] + offset, left) ^ hashes[rest] * GOLDEN)
        rest = rest[left > _WORD_BYTES]
    for index in rest:
        token = padded[starts[index] : starts[index] + lengths[index]]
        hashes[index] = xxhash.xxh3_64_intdigest(token)
    return hashes


def _spans(padded: bytes) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first byte of each token and its length in bytes."""
    inside = np.frombuffer(padded, np.uint8) != _SPACE
    edges = (inside[1:] != inside[:-1]).nonzero()[0] + 1
    starts = edges[0::2]
    return starts, edges[1::2] - starts


def _words(view: Hashes, places: NDArray[np.intp], lengths: NDArray[np.intp]) -> Hashes:
    """Read eight bytes at each place and clear those beyond the token."""
    words: Hashes = view[places].astype(np.uint64, copy=False)
    # Clip: of more than eight bytes left, eight count.
    words &= _MASKS.take(lengths, mode="clip")
    return words
