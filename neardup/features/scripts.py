"""Classify characters for the tokenizer: a separator, part of a word, a token itself, a mark."""

from functools import cache
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

SEPARATOR, WORD, SINGLE, MARK = range(4)

# Scripts written without spaces between words: there every character is a token of its own.
_UNSPACED_BLOCKS = (
    (0x0E00, 0x0FFF),  # Thai, Lao, Tibetan
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x1B00, 0x1B7F),  # Balinese
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x312F),  # Han signs, Hiragana, Katakana, Bopomofo
    (0x31A0, 0x31BF),  # Bopomofo, extended
    (0x31F0, 0x31FF),  # Katakana, phonetic extensions
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0xA4CF),  # Han, Yi
    (0xA980, 0xA9FF),  # Javanese, Myanmar extended B
    (0xAA60, 0xAADF),  # Myanmar extended A, Tai Viet
    (0xF900, 0xFAFF),  # Han, compatibility
    (0x116D0, 0x116FF),  # Myanmar extended C
    (0x11700, 0x1174F),  # Ahom
    (0x16FE0, 0x18DFF),  # Tangut, Khitan
    (0x1AFF0, 0x1B2FF),  # Kana extensions, Nushu
    (0x20000, 0x3FFFD),  # Han, extensions B and later
)

# Beyond the planes of Han there are only tags, selectors and private use: no words.
LAST = 0x3FFFF


@cache
def all_kinds() -> NDArray[np.uint8]:
    """Return the kind of every character up to LAST: uint8, (LAST + 1,), read-only."""
    kinds = np.full(LAST + 1, SEPARATOR, np.uint8)
    # Python's \w knows letters and digits alone and would cut a word at a vowel sign.
    kinds[:0x20000] = [
        WORD if character.isalnum() else MARK if category(character)[0] == "M" else SEPARATOR
        for character in map(chr, range(0x20000))
    ]
    kinds[ord("_")] = WORD
    for first, last in _UNSPACED_BLOCKS:
        block = kinds[first : last + 1]
        block[block == WORD] = SINGLE
    kinds[0x20000:0x3FFFE] = SINGLE
    kinds.flags.writeable = False
    return kinds


def kinds_of(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    r"""Return SEPARATOR, WORD, SINGLE or MARK for each code point.

    WORD is what ``\w`` matches in scripts that put spaces between words, SINGLE the same in
    scripts that do not, MARK a combining mark (Mn, Mc, Me), which belongs to what it follows.
    The table behind it (256 KiB) is made at the first call, in about 20 ms.
    """
    return all_kinds()[np.minimum(codes, LAST)]
