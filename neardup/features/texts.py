"""A text as bytes: folded, and packed into words."""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from neardup.features.fold_table import fold_table
from neardup.features.folding import fold
from neardup.features.hashing import Hashes
from neardup.features.scripts import LAST, all_kinds

Bytes = NDArray[np.uint8]


def unit_bytes(text: str, unit: str) -> bytes:
    """Return the bytes from which the kernels read a text's words or characters.

    Args:
        text: Any text.
        unit: ``word`` or ``character``.

    Raises:
        TypeError: ``text`` is no ``str``.

    Complexity: O(length).
    """
    if unit == "character":
        return folded_bytes(text)
    if isinstance(text, str) and text.isascii():
        # The kernel folds ASCII and knows its words.
        return text.encode("ascii")
    return word_bytes(folded_bytes(text))


def folded_bytes(text: str) -> bytes:
    """Return ``fold(text)`` in UTF-8, lone surrogates as "surrogatepass" encodes them.

    Most texts fold character by character; for those this takes a fifth of the time of ``fold``.

    Raises:
        TypeError: ``text`` is no ``str``.

    Complexity: O(length).
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be str, got {type(text).__name__}")
    data = text.encode("utf-8", "surrogatepass")
    table = fold_table()
    # What takes two bytes folds to six at most.
    folded = np.empty(len(data) if len(data) == len(text) else 3 * len(data), np.uint8)
    size = _fold_into()(data, table.entries, folded)
    if ~LAST <= size < 0:
        table.learn(text)
        size = _fold_into()(data, table.entries, folded)
    if size < 0:
        return fold(text).encode("utf-8", "surrogatepass")
    return folded[:size].tobytes()


def word_bytes(folded: bytes) -> bytes:
    """Return a folded text with nothing but spaces between its words, unless it is ASCII.

    ASCII is returned as it is: the kernel that reads it knows its words.

    Args:
        folded: As ``folded_bytes`` returns it.

    Complexity: O(bytes).
    """
    if folded.isascii():
        return folded
    packed = np.empty(2 * len(folded), np.uint8)
    return packed[: _pack_into()(folded, all_kinds(), packed)].tobytes()


@cache
def _fold_into() -> Callable[[bytes, Hashes, Bytes], int]:
    from neardup.features.byte_kernels import fold_into  # noqa: PLC0415  (numba takes long)

    return fold_into


@cache
def _pack_into() -> Callable[[bytes, Bytes, Bytes], int]:
    from neardup.features.byte_kernels import pack_into  # noqa: PLC0415  (numba takes long)

    return pack_into
