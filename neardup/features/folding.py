"""Folding: two texts that differ only in case, encoding form or spacing become one."""

import re
from itertools import groupby
from unicodedata import combining, normalize

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
    return " ".join(normal_form(text).split())


def normal_form(text: str) -> str:
    """Return the text as ``fold`` does, with the white space still as it was.

    Tokens are the same for both, and collapsing the space is half the time of ``fold``.

    Raises:
        TypeError: ``text`` is no ``str``.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be str, got {type(text).__name__}")
    if text.isascii():
        return text.lower()
    if _has_invisible(text):
        text = _INVISIBLE.sub("", text)
    cased = normalize("NFKC", _order_long_runs(text)).casefold()
    return normalize("NFKC", cased)


def is_invisible(character: str) -> bool:
    """Return whether a reader does not see the character, so that folding removes it."""
    return _INVISIBLE.match(character) is not None


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
