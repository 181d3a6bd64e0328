"""What is near? Indexes of fingerprints."""

from neardup.indexes.hamming import HammingIndex, Matches
from neardup.indexes.match import Match
from neardup.indexes.scan import ScanIndex

__all__ = ["HammingIndex", "Match", "Matches", "ScanIndex"]
