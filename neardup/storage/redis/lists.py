"""Lists of records in buckets of a server: a value of 64 bits and the number of a kept text.

::

    record   value (8 bytes, little endian), number (5 bytes, little endian)
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.storage.redis.script import Call, Script

_RECORD = np.dtype([("value", "<u8"), ("low", "<u4"), ("high", "u1")])
RECORD_BYTES = _RECORD.itemsize
MOST_NUMBERS = 1 << 40

_APPEND = Script.read("neardup.storage.redis", "append.lua")


def append(key: str, field: bytes, value: int, number: int, most: int = 0) -> Call:
    """Return the call that adds a record to a list, once.

    Args:
        key: Of the hash.
        field: Of the list in it.
        value: Unsigned, 64 bits.
        number: Below ``MOST_NUMBERS``.
        most: How many records the list may hold; a further one is left out. 0: any number.
    """
    record = value.to_bytes(8, "little") + number.to_bytes(5, "little")
    return Call(_APPEND, [key], [field, record, most])


def unpack(lists: Sequence[bytes | None]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the values and the numbers of some lists, one after the other: both (records,)."""
    records = np.frombuffer(b"".join(filter(None, lists)), _RECORD)
    numbers = records["low"].astype(np.int64) | (records["high"].astype(np.int64) << 32)
    return records["value"], numbers
