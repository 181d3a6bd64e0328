"""Tokens: the words of a text, in every script."""

import re

from neardup.features.folding import normal_form
from neardup.features.texts import unit_bytes, word_bytes

_SPACE = 0x20
_ASCII = bytes(code if re.match(r"\w", chr(code), re.ASCII) else _SPACE for code in range(256))


def tokens(text: str) -> list[str]:
    r"""Return the words of a text, folded, in order.

    A word is a run of letters, digits and underscores with their combining marks, as ``\w+`` finds
    them in scripts that put spaces between words. Scripts that do not (Han, kana, Thai, Lao,
    Khmer, Myanmar, Tibetan and their like) give one token a character. Marks stay with the
    character they stand on; a mark without one is no token.

    The text may be folded already or not.

    Raises:
        TypeError: ``text`` is no ``str``.

    Complexity: O(length).
    """
    return pack(normal_form(text)).decode().split()


def pack(folded: str) -> bytes:
    """Return the tokens of a text as UTF-8, parted by one or more spaces.

    No token holds a NUL, so tokens that are padded with NUL stay distinct.

    Args:
        folded: A text in its ``normal_form``, or folded.
    """
    if folded.isascii():
        return folded.encode("ascii").translate(_ASCII)
    return word_bytes(folded.encode("utf-8", "surrogatepass"))


def packed_words(text: str) -> bytes:
    """Return the ``tokens`` of a text as UTF-8, parted by one or more spaces.

    Complexity: O(length).
    """
    data = unit_bytes(text, "word")
    # ASCII is left to a kernel that knows its words and its capitals.
    return data.lower().translate(_ASCII) if data.isascii() else data
