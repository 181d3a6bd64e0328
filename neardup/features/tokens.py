"""Words of a text, in every script, and a text as bytes that kernels read: folded, or its words."""

import numpy as np

from neardup.features.folding import fold, fold_table
from neardup.features.kernels import fold_into, pack_into
from neardup.features.scripts import LAST, all_kinds


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
    return packed_words(text).decode().split()


def packed_words(text: str) -> bytes:
    """Return the ``tokens`` of a text as UTF-8, parted by one or more spaces.

    No token holds a NUL, so tokens that are padded with NUL stay distinct.
    """
    return _packed(folded_bytes(text))


def unit_bytes(text: str, unit: str) -> bytes:
    """Return the bytes from which the kernels read a text's "word" or "character" units."""
    folded = folded_bytes(text)
    return folded if unit == "character" else word_bytes(folded)


def folded_bytes(text: str) -> bytes:
    """Return ``fold(text)`` in UTF-8, lone surrogates as "surrogatepass" encodes them.

    Most texts fold character by character; for those this takes a fifth of the time of ``fold``.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be str, got {type(text).__name__}")
    data = text.encode("utf-8", "surrogatepass")
    table = fold_table()
    # What takes two bytes folds to six at most.
    folded = np.empty(len(data) if len(data) == len(text) else 3 * len(data), np.uint8)
    size = fold_into(data, table.entries, folded)
    if ~LAST <= size < 0:
        table.learn(text)
        size = fold_into(data, table.entries, folded)
    if size < 0:
        return fold(text).encode("utf-8", "surrogatepass")
    return folded[:size].tobytes()


def word_bytes(folded: bytes) -> bytes:
    """Return a folded text with nothing but spaces between its words, unless it is ASCII.

    ASCII is returned as it is: the kernel that reads it knows its words.
    """
    return folded if folded.isascii() else _packed(folded)


def _packed(folded: bytes) -> bytes:
    packed = np.empty(2 * len(folded), np.uint8)
    return packed[: pack_into(folded, all_kinds(), packed)].tobytes()
