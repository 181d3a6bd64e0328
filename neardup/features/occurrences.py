"""Every shingle of a text, as often as it occurs."""

from collections.abc import Callable
from functools import cache

from neardup.features.hashing import Hashes
from neardup.features.texts import unit_bytes

SHINGLE_SIZE = 3


def occurrences(text: str, unit: str = "word", size: int = SHINGLE_SIZE) -> Hashes:
    """Return the hash of every shingle of a text, in order, as often as it occurs.

    A text with fewer units than ``size`` is one shingle; a text with none has none. The same
    shingle has the same hash in every process and on every platform.

    Args:
        text: Any text; folding is part of its shingles.
        unit: ``word``, or ``character`` of the folded text with its single spaces.
        size: Units of a shingle, at least 1.

    Returns:
        uint64, (shingles,).

    Raises:
        TypeError: ``text`` is no ``str``.

    Complexity: O(length).
    Reference: Broder, On the resemblance and containment of documents, 1997, section 2.
    """
    return occurrences_in(unit_bytes(text, unit), unit, size)[0]


def occurrences_in(data: bytes, unit: str, size: int) -> tuple[Hashes, int]:
    """Return the :func:`occurrences` in what ``unit_bytes`` returned, and the number of units."""
    hashes, count, units = _shingles()(data, unit == "character", size)
    return hashes[:count], units


def count_words(packed: bytes) -> int:
    """Return the number of words in what ``word_bytes`` returned."""
    return occurrences_in(packed, "word", 1)[1]


@cache
def _shingles() -> Callable[[bytes, bool, int], tuple[Hashes, int, int]]:
    from neardup.features.shingle_kernels import shingles  # noqa: PLC0415  (numba takes long)

    return shingles
