"""Count in how many texts of a group each block stands, in bounded memory.

The counts are those of Misra and Gries (Finding repeated elements, 1982), with a table that is
halved at once when it is full (Anderson and others, A high-performance algorithm for identifying
frequent items in data streams, 2017). A count is never too high, and too low by ``error`` at most,
so that no block is taken for boilerplate that is none.
"""

from typing import Self

import numpy as np

from neardup.errors import DocumentError

MIN_TEXTS = 10
"""A block in fewer texts of a group is no boilerplate."""

MIN_SHARE = 0.01
"""A block in less than this share of the texts of a group is no boilerplate, 0 to 1.

It is small, since a template may be that of few pages of a host, and boilerplate only saves pages.
"""

MIN_COMMON_SHARE = 0.1
"""A block in less than this share of the texts of a group is text for a reader, 0 to 1."""

MAX_BLOCKS = 8192
"""The largest number of blocks that are counted for a group."""

_ENTRY = np.dtype([("block", "<u8"), ("texts", "<u4")])


class BlockCounts:
    """The number of texts that have a block, for the blocks of one group of texts.

    A block that it holds is boilerplate where ``in`` says so. About 100 bytes a block.

    Args:
        max_blocks: Blocks that are counted at most.

    Attributes:
        texts: The number of texts that were counted.
        error: The number by which a count may be too low, at most
            2 * (all blocks of all texts) / ``max_blocks``.
    """

    def __init__(self, max_blocks: int = MAX_BLOCKS) -> None:
        self.texts = 0
        self.error = 0
        self._max_blocks = max_blocks
        self._counts: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._counts)

    def __contains__(self, block: object) -> bool:
        """Return whether a block is boilerplate: in many texts, and in a hundredth of all."""
        return self._counts.get(block, 0) >= self.min_texts  # type: ignore[call-overload, no-any-return]

    @property
    def min_texts(self) -> float:
        """The number of texts from which on a block is boilerplate."""
        return max(MIN_TEXTS, MIN_SHARE * self.texts)

    @property
    def has_boilerplate(self) -> bool:
        """Whether any block is boilerplate."""
        return any(texts >= self.min_texts for texts in self._counts.values())

    @property
    def boilerplate(self) -> list[int]:
        """The hashes of the blocks that are boilerplate, the most frequent first."""
        found = [block for block in self._counts if block in self]
        return sorted(found, key=lambda block: (-self._counts[block], block))

    def common(self) -> frozenset[int]:
        """Return the hashes of the boilerplate that stands in a good share of all texts."""
        least = max(MIN_TEXTS, MIN_COMMON_SHARE * self.texts)
        return frozenset(block for block, texts in self._counts.items() if texts >= least)

    def count(self, block: int) -> int:
        """Return the number of texts that have a block, or up to ``error`` less."""
        return self._counts.get(block, 0)

    def add(self, blocks: bytes) -> bool:
        """Count a text by ``neardup.boilerplate.block_hashes``; return whether boilerplate grew.

        Complexity: O(blocks) on average, 5 us for 50.
        """
        self.texts += 1
        counts, least, has_grown = self._counts, self.min_texts, False
        for block in np.frombuffer(blocks, "<u8").tolist():
            texts = counts[block] = counts.get(block, 0) + 1
            has_grown = has_grown or least <= texts < least + 1
        self._halve_if_full()
        return has_grown

    def _halve_if_full(self) -> None:
        """Lower all counts alike, so that at most half of the blocks are left."""
        if len(self._counts) <= self._max_blocks:
            return
        middle = sorted(self._counts.values(), reverse=True)[self._max_blocks // 2]
        self.error += middle
        self._counts = {
            block: texts - middle for block, texts in self._counts.items() if texts > middle
        }

    def packed(self) -> bytes:
        """Return the counts as bytes, 12 a block in ascending order: hash and texts, little-endian.

        ``texts`` and ``error`` are not among them.
        """
        entries = np.fromiter(sorted(self._counts.items()), _ENTRY, len(self._counts))
        return entries.tobytes()

    @classmethod
    def unpacked(
        cls, packed: bytes, *, texts: int, error: int, max_blocks: int = MAX_BLOCKS
    ) -> Self:
        """Return the counts that ``packed`` gave.

        Raises:
            DocumentError: They are no such bytes, or say what no texts can have.
        """
        if len(packed) % _ENTRY.itemsize:
            raise DocumentError(f"counts must be 12 bytes a block, got {len(packed)} bytes")
        entries = np.frombuffer(packed, _ENTRY)
        blocks, counted = entries["block"], entries["texts"]
        is_rising = bool(np.all(blocks[1:] > blocks[:-1]))
        if len(entries) > max_blocks or not is_rising or bool(np.any(blocks == 0)):
            raise DocumentError(f"blocks must be {max_blocks} at most, ascending, none of them 0")
        if len(entries) and not 0 < int(counted.min()) <= int(counted.max()) <= texts:
            raise DocumentError(f"a block must stand in 1 to {texts} texts, got {counted.max()}")
        counts = cls(max_blocks)
        counts.texts, counts.error = texts, error
        counts._counts = dict(zip(blocks.tolist(), counted.tolist(), strict=True))
        return counts
