"""Check the numbers and texts that callers pass in."""

import operator
from collections.abc import Iterable, Sequence
from typing import SupportsIndex

from neardup.errors import FingerprintError, ParameterError

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
    return checked_whole("shingle_size", value, 1, MAX_SHINGLE_SIZE)


def checked_text(text: str, name: str = "text") -> str:
    """Return the text, or raise FingerprintError when it is none."""
    if isinstance(text, str):
        return text
    kind = type(text).__name__
    hint = "; decode it first" if isinstance(text, bytes | bytearray) else ""
    raise FingerprintError(f"{name} must be str, got {kind}{hint}")


def checked_texts(texts: Iterable[str]) -> Sequence[str]:
    """Return several texts as a sequence, or raise FingerprintError when they are not."""
    if isinstance(texts, str):
        raise FingerprintError("texts must be several texts, got one str; put it in a list")
    if not isinstance(texts, Iterable):
        raise FingerprintError(f"texts must be several texts, got {type(texts).__name__}")
    several = texts if isinstance(texts, Sequence) else list(texts)
    for place, text in enumerate(several):
        checked_text(text, f"text {place}")
    return several
