"""Distances, similarities and numbers of pairs in words."""


def in_bits(distance: int) -> str:
    """Return a distance with its unit: ``1 bit``, ``2 bits``."""
    return f"{distance} bit" if distance == 1 else f"{distance} bits"


def measures_of(distance: int, similarity: float | None) -> str:
    """Return the distance and the similarity of two texts in words, as far as they are known.

    Args:
        distance: The distance in bits; -1: none.
        similarity: The similarity, 0 to 1; None or NaN: none.
    """
    known = []
    if distance >= 0:
        known.append(in_bits(distance))
    if similarity is not None and similarity == similarity:  # noqa: PLR0124  (NaN is not)
        known.append(f"similarity {similarity:.2f}")
    return ", ".join(known)


def in_pairs(count: int, kind: str = "") -> str:
    """Return a number of pairs of some kind: ``1 labelled pair``, ``2 labelled pairs``."""
    words = f"{kind} pair" if kind else "pair"
    return f"{count:,} {words}" if count == 1 else f"{count:,} {words}s"
