"""Folding: two texts that differ only in case, encoding form or spacing become one.

Where characters do not depend on their neighbours, ``FoldTable`` holds the folding of each.
"""

import re
from functools import cache
from itertools import groupby
from unicodedata import combining, normalize

import numpy as np

from neardup.features.scripts import LAST

# Unicode's Default_Ignorable_Code_Point, which toNFKC_Casefold removes: soft hyphens, zero-width
# spaces and joiners, direction marks, variation selectors, fillers. A reader does not see them,
# and sites scatter them through long words as hints where to break.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)

_ASCII = bytes(range(128))

# Runs of at least this many combining marks are put in order before unicodedata sees them.
_LONG_RUN = 128


def fold(text: str) -> str:
    """Return the text without what does not count: case, encoding form, kind of space.

    NFKC, casefold, NFKC again (Unicode's toNFKC_Casefold), then every run of white space becomes
    one space and none is left at either end. Idempotent; NFC and NFD of a text fold alike.
    Lone surrogates and NUL stay as they are.

    The result rests on the Unicode version of the running Python, which matters only for
    characters that one of two versions does not know yet.

    Raises:
        TypeError: ``text`` is no ``str``.

    Complexity: O(length).
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be str, got {type(text).__name__}")
    if text.isascii():
        return " ".join(text.lower().split())
    if _has_invisible(text):
        text = _INVISIBLE.sub("", text)
    # A text whose only compatibility characters are such spaces is not normalized then.
    text = text.replace("\N{NO-BREAK SPACE}", " ")
    cased = normalize("NFKC", _order_long_runs(text)).casefold()
    return " ".join(normalize("NFKC", cased).split())


def _has_invisible(text: str) -> bool:
    # Most texts hold a few characters beyond ASCII. To search these alone takes 8 us of English
    # of 1,000 words, and to search it all 60.
    beyond = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    return _INVISIBLE.search(beyond.decode("utf-8", "surrogatepass")) is not None


def _order_long_runs(text: str) -> str:
    """Put long runs of combining marks in canonical order, which keeps the text equivalent.

    unicodedata sorts them by insertion: 32,000 marks on one letter take half a second, and five
    million would take hours.
    """
    if not _has_long_run(text):
        return text
    pieces: list[str] = []
    for is_run, characters in groupby(text, lambda character: combining(character) > 0):
        piece = list(characters)
        pieces += sorted(piece, key=combining) if is_run else piece
    return "".join(pieces)


def _has_long_run(text: str) -> bool:
    """Return whether marks surround any _LONG_RUN-th character, as they do in each long run."""
    half = _LONG_RUN // 2
    return any(
        all(map(combining, text[place : place + half]))
        or all(map(combining, text[max(0, place - half + 1) : place + 1]))
        for place in range(0, len(text), _LONG_RUN)
        if combining(text[place])
    )


# An entry: up to six bytes of UTF-8, the first the lowest; their number in bits 48 to 50; flags.
KNOWN = np.uint64(1 << 58)
TOO_LONG = np.uint64(1 << 59)
COMPOSES = np.uint64(1 << 60)
OPEN = np.uint64(1 << 61)
STARTS_MARKED = np.uint64(1 << 62)
ENDS_MARKED = np.uint64(1 << 63)

_MAX_BYTES = 6  # 48 bits of an entry, below the length and the flags
_BLOCK = 256  # characters learned together, in 0.3 ms


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
        """Learn the characters of a text and those beside them in Unicode, 0.3 ms a block."""
        for block in {ord(character) // _BLOCK for character in set(text)}:
            first = block * _BLOCK
            if first <= LAST and not self.entries[first]:
                codes = range(first, first + _BLOCK)
                self.entries[first : first + _BLOCK] = [_entry(chr(code)) for code in codes]


@cache
def fold_table() -> FoldTable:
    return FoldTable()


def _entry(character: str) -> int:
    if _INVISIBLE.match(character):
        return int(KNOWN)
    if normalize("NFKD", character) == character.casefold() == character:
        return _entry_of_itself(character)
    cased = normalize("NFKC", character).casefold()
    folded = "".join(" " if c.isspace() else c for c in normalize("NFKC", cased))
    data = folded.encode("utf-8", "surrogatepass")
    flags = _flags(character) | _flags(cased)
    if len(data) > _MAX_BYTES:
        return int(flags | TOO_LONG)
    return int(flags) | len(data) << 48 | int.from_bytes(data, "little")


def _entry_of_itself(character: str) -> int:
    """Return the entry of a character that every normalization leaves as it is: nearly all Han."""
    firsts, seconds = _composing()
    flags = int(KNOWN)
    if character in firsts:
        flags |= int(OPEN)
    if character in seconds:
        flags |= int(COMPOSES)
    if combining(character):
        flags |= int(STARTS_MARKED | ENDS_MARKED)
    data = (" " if character.isspace() else character).encode("utf-8", "surrogatepass")
    return flags | len(data) << 48 | int.from_bytes(data, "little")


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

    What they compose to stands in the first two planes of Unicode. Takes 20 ms.
    """
    pairs = set()
    for first in range(0, 0x20000, _BLOCK):
        block = "".join(map(chr, range(first, first + _BLOCK)))
        if normalize("NFD", block) == block:  # all but 70
            continue
        for character in block:
            decomposed = normalize("NFD", character)
            # Some decompose and never compose.
            if decomposed != character and normalize("NFC", character) == character:
                pairs.add((normalize("NFC", decomposed[:-1])[-1], decomposed[-1]))
    firsts, seconds = zip(*pairs, strict=True)
    return frozenset(firsts), frozenset(seconds)
