"""Check the numbers that say how large a signature is."""

import operator
from typing import SupportsIndex

from neardup.errors import ParameterError

MAX_VALUES = 1 << 16
MAX_SHINGLE_SIZE = 16


def checked_whole(name: str, value: SupportsIndex, lowest: int, highest: int | None = None) -> int:
    """Return the value as an int of lowest..highest, or raise ParameterError."""
    # bool is an int: True in the place of a number must not count as 1.
    if not isinstance(value, bool):
        try:
            number = operator.index(value)
        except TypeError:
            number = lowest - 1
        if lowest <= number and (highest is None or number <= highest):
            return number
    wanted = f"at least {lowest}" if highest is None else f"{lowest}..{highest}"
    raise ParameterError(f"{name} must be {wanted}, got {value!r}")


def checked_shingle_size(value: SupportsIndex) -> int:
    """Return the value as an int of 1..16, or raise ParameterError."""
    return checked_whole("shingle_size", value, 1, MAX_SHINGLE_SIZE)
