"""Foldings of single characters, for text where they do not depend on their neighbours."""

from functools import cache
from unicodedata import combining, normalize

import numpy as np

from neardup.features.folding import is_invisible
from neardup.features.scripts import LAST

# An entry: up to six bytes of UTF-8, the first the lowest; their number in bits 48 to 50; flags.
KNOWN = np.uint64(1 << 58)
TOO_LONG = np.uint64(1 << 59)
COMPOSES = np.uint64(1 << 60)
OPEN = np.uint64(1 << 61)
STARTS_MARKED = np.uint64(1 << 62)
ENDS_MARKED = np.uint64(1 << 63)

_MAX_BYTES = 6
_BLOCK = 256


class FoldTable:
    """The foldings of characters, learned in blocks of 256 when a text first holds one of them.

    A text folds character by character, as ``fold`` would fold it whole, where nothing reaches
    across from one character to the next. Two things could:

    - Composition, of a character that has the flag COMPOSES with one before it that is OPEN.
    - The order of marks: of two neighbours, marks of a combining class other than 0 could change
      places. STARTS_MARKED and ENDS_MARKED say at which end a character has one.

    The flags hold for both normalizations of ``fold``, and are set where in doubt. A folding of
    more than six bytes is TOO_LONG.

    Attributes:
        entries: uint64, (LAST + 1,); 0 for what is not known yet.

    Reference: Unicode Standard Annex 15, sections 9 and 13.
    """

    def __init__(self) -> None:
        self.entries = np.zeros(LAST + 1, np.uint64)

    def learn(self, text: str) -> None:
        """Learn the characters of a text, and those that stand beside them in Unicode.

        Complexity: O(length), and 0.7 ms for each new block.
        """
        for block in {ord(character) // _BLOCK for character in set(text)}:
            first = block * _BLOCK
            if first <= LAST and not self.entries[first]:
                codes = range(first, first + _BLOCK)
                self.entries[first : first + _BLOCK] = [_entry(chr(code)) for code in codes]


@cache
def fold_table() -> FoldTable:
    """Return the one table of this process."""
    return FoldTable()


def _entry(character: str) -> int:
    if is_invisible(character):
        return int(KNOWN)
    cased = normalize("NFKC", character).casefold()
    folded = "".join(" " if c.isspace() else c for c in normalize("NFKC", cased))
    data = folded.encode("utf-8", "surrogatepass")
    flags = KNOWN
    for form in (character, cased):
        flags |= _flags(form)
    if len(data) > _MAX_BYTES:
        return int(flags | TOO_LONG)
    return int(flags) | len(data) << 48 | int.from_bytes(data, "little")


def _flags(form: str) -> np.uint64:
    """Return the flags of a character in one of the forms that are normalized."""
    firsts, seconds = _composing()
    decomposed = normalize("NFKD", form)
    flags = KNOWN
    if not firsts.isdisjoint(decomposed + normalize("NFKC", form)):
        flags |= OPEN
    if combining(decomposed[-1]):
        flags |= ENDS_MARKED
    beginning = decomposed[0]
    if combining(beginning):
        flags |= STARTS_MARKED
        # A mark further on may pass the first one by.
        beginning = decomposed
    if not seconds.isdisjoint(beginning):
        flags |= COMPOSES
    return flags


@cache
def _composing() -> tuple[frozenset[str], frozenset[str]]:
    """Return the first and the second halves of all pairs of characters that compose to one.

    What they compose to stands in the first two planes of Unicode. Takes 40 ms.
    """
    pairs = set()
    for character in map(chr, range(0x20000)):
        decomposed = normalize("NFD", character)
        # Some decompose and never compose.
        if decomposed != character and normalize("NFC", character) == character:
            pairs.add((normalize("NFC", decomposed[:-1])[-1], decomposed[-1]))
    return frozenset(first for first, _ in pairs), frozenset(second for _, second in pairs)
