"""Tokens: the words of a text, in every script."""

import re

import numpy as np
from numpy.typing import NDArray

from neardup.features.folding import normal_form
from neardup.features.scripts import MARK, SEPARATOR, SINGLE, WORD, kinds_of

_SPACE = 0x20
_ASCII = bytes(code if re.match(r"\w", chr(code), re.ASCII) else _SPACE for code in range(256))


def tokens(text: str) -> list[str]:
    r"""Return the words of a text, folded, in order.

    A word is a run of letters, digits and underscores with their combining marks, as ``\w+`` finds
    them in scripts that put spaces between words. Scripts that do not (Han, kana, Thai, Lao,
    Khmer, Myanmar, Tibetan and their like) give one token a character. Marks stay with the
    character they stand on; a mark without one is no token.

    The text may be folded already or not.

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
    codes = np.frombuffer(folded.encode("utf-32-le", "surrogatepass"), "<u4")
    return _part(codes).astype("<u4").tobytes().decode("utf-32-le").encode()


def _part(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Replace separators by spaces and put a space wherever a token begins within a run."""
    kinds = kinds_of(codes)
    owners = kinds
    if (kinds == MARK).any():
        owners = _owners(kinds)
    parted = np.where(owners == SEPARATOR, np.uint32(_SPACE), codes)
    if not (kinds == SINGLE).any():
        return parted
    begins = kinds == SINGLE
    begins[1:] |= (kinds[1:] == WORD) & (owners[:-1] == SINGLE)
    return np.insert(parted, np.flatnonzero(begins), _SPACE)


def _owners(kinds: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Give every mark the kind of the character that it stands on."""
    bases = np.where(kinds == MARK, 0, np.arange(len(kinds)))
    owners: NDArray[np.uint8] = kinds[np.maximum.accumulate(bases)]
    # Marks before the first character stand on none.
    owners[owners == MARK] = SEPARATOR
    return owners
