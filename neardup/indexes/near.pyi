"""Searches the newest entries and segments, described in near.pyx."""

from numpy import uint8, uint16
from numpy.typing import NDArray

from neardup.indexes.arrays import Distances, Fingerprints, Ids
from neardup.indexes.segment import Tables

class Columns:
    def __init__(self, tables: Tables, flips: NDArray[uint16], ends: tuple[int, ...]) -> None: ...
    def note_dead(self, dead: NDArray[uint8]) -> None: ...
    def find_entries(
        self, fingerprints: Fingerprints, ids: Ids, firsts: Ids, lasts: Ids
    ) -> None: ...

class Near:
    radius: int
    def __init__(self, fingerprints: Fingerprints, ids: Ids, segments: list[Columns]) -> None: ...
    def find(self, value: int, limit: int, newest: int) -> list[tuple[int, int]]: ...
    def find_many(
        self, values: Fingerprints, limit: int, newest: int
    ) -> tuple[Ids, Ids, Distances]: ...
