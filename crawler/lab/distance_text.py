"""Distances in words."""


def in_bits(distance: int) -> str:
    """Return a distance with its unit: ``1 bit``, ``2 bits``."""
    return f"{distance} bit" if distance == 1 else f"{distance} bits"
