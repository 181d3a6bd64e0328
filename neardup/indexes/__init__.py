"""Indexes that find stored fingerprints near a given one."""

from neardup.indexes.design import Design
from neardup.indexes.hamming import HammingIndex
from neardup.indexes.match import Match, Matches
from neardup.indexes.scan import ScanIndex

__all__ = ["Design", "HammingIndex", "Match", "Matches", "ScanIndex"]
