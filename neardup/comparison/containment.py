"""Containment: the share of one text that another holds."""

from neardup.errors import ParameterError
from neardup.features.shingles import JACCARD_SIZE
from neardup.verification import split


def containment(first: str, second: str, *, shingle_size: int = JACCARD_SIZE) -> float:
    """Return the share of the first text's word shingles that the second has too, 0 to 1.

    1 where the first text is quoted whole, however long the second is; so it is not symmetric.
    Exact: shingles are compared by their words. As in ``jaccard``, a text with fewer words than
    ``shingle_size`` is one shingle, and it equals no longer one.

    Raises:
        ParameterError: ``shingle_size`` is below 1.

    Complexity: O(n * shingle_size) for n words.
    Reference: Broder, On the resemblance and containment of documents, 1997, section 2.
    """
    if shingle_size < 1:
        raise ParameterError(f"shingle_size must be at least 1, got {shingle_size}")
    ours = _shingles(split(first), shingle_size)
    return len(ours & _shingles(split(second), shingle_size)) / len(ours)


def _shingles(words: list[bytes], size: int) -> set[tuple[bytes, ...]]:
    if len(words) < size:
        return {tuple(words)}
    return set(zip(*(words[place:] for place in range(size)), strict=False))
