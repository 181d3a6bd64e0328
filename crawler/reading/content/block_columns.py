"""Tell of each block of a page what its features are computed from: its text and its containers."""

from __future__ import annotations

from collections import Counter
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from crawler.reading.content.block_flags import FLAGS
from crawler.reading.content.block_texts import text_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.reading.content.blocks import PageBlocks

Column = Any  # a numpy array with one value for each block

TAGS = tuple("p li div td th dd dt pre section article button a label".split())
"""Tags of containers that blocks are told apart by."""

# Headings have their levels for numbers.
_NUMBERS = {tag: number for number, tag in enumerate((*"h1 h2 h3 h4 h5 h6".split(), *TAGS), 1)}
_LAST_HEADING = 6
_TAG_NUMBERS = np.array([_NUMBERS[tag] for tag in TAGS])[:, None]
_LEVELS = (0, 1, 2, 3, 5)


class BlockColumns:
    """Properties of the blocks of a page, one value for each block unless said otherwise.

    Attributes:
        chars, words, linked: Numbers of characters, words, characters of links.
        ends: Whether it ends as a sentence does.
        commas: Number of its commas and ends of sentences.
        heading: Level of the heading that it is, or 0.
        tags: Whether its container has each of ``TAGS``, (tags, blocks).
        flags: Flags of its container and all ancestors, (flags, blocks).
        homes: Index of its container.
        around: Index of its container and of the ancestors at ``_LEVELS``, (levels, blocks).
        groups: Number of the group of blocks in containers of one path.
        twins: Containers of the same parent and path, for each container.
        twins_above: The same for the container three levels up.
    """

    def __init__(self, blocks: PageBlocks, title: str) -> None:
        texts = text_columns(blocks.texts, title)
        self.chars, self.words = texts["chars"], texts["words"]
        self.digits, self.upper, self.commas = texts["digits"], texts["upper"], texts["commas"]
        self.ends, self.price, self.legal = texts["ends"], texts["price"], texts["legal"]
        self.action, self.date, self.in_title = texts["action"], texts["date"], texts["in_title"]
        self.linked = np.array(blocks.linked, dtype=np.float64) * texts["density"]
        self.links = np.array(blocks.links, dtype=np.float64)
        self.link_share = self.linked / np.maximum(self.chars, 1)
        self.homes = homes = np.array(blocks.homes, dtype=np.int64)
        self.parents = parents = np.array(blocks.parents, dtype=np.int64)
        above = [homes]
        for _ in range(max(_LEVELS)):
            above.append(parents[above[-1]])
        self.around = [above[level] for level in _LEVELS]
        found = map(_NUMBERS.get, blocks.tags, repeat(0))
        numbers = np.fromiter(found, np.int64, len(blocks.tags))
        levels = np.where(numbers <= _LAST_HEADING, numbers, 0)
        self.heading = np.where(levels, levels, levels[parents])[homes].astype(np.float64)
        self.tags = numbers[homes] == _TAG_NUMBERS
        self.depth = np.array(blocks.depths, dtype=np.int64)[homes]
        sizes = Counter(blocks.texts)
        self.same_text = np.array([sizes[text] for text in blocks.texts], dtype=np.int64)
        paths = np.array(blocks.paths, dtype=np.int64)
        self.groups = np.unique(paths[homes], return_inverse=True)[1]
        # Cards of a list, posts of a thread.
        self.twins = _sizes_of_groups((parents * 1_000_003) ^ paths)
        self.twins_above = self.twins[above[2]]
        own = np.array(blocks.own, dtype=np.int64)
        self.flags = _bits(np.array(blocks.inherited, dtype=np.int64)[homes])
        self.near_flags = _bits(own[homes] | own[above[1]] | own[above[2]])
        self.inline_flags = _bits(np.array(blocks.inline, dtype=np.int64))
        self._ends = np.array(blocks.ends, dtype=np.int64)

    def sums_below(self, weights: Sequence[Column]) -> Column:
        """Return the sums of weights of the blocks in and below each container.

        Args:
            weights: Numbers of each block, (weights, blocks).

        Returns:
            float64, (weights, containers).
        """
        count = len(self.parents)
        sums = np.zeros((len(weights), count + 1))
        np.cumsum(_sums(self.homes, weights, count), axis=1, out=sums[:, 1:])
        below: Column = sums.take(self._ends, axis=1) - sums[:, :-1]
        return below

    def sums_of_groups(self, weights: Sequence[Column]) -> Column:
        """Return the sums of weights of the blocks of each group, float64, (weights, groups)."""
        return _sums(self.groups, weights, int(self.groups.max(initial=-1)) + 1)


def _sums(homes: Column, weights: Sequence[Column], count: int) -> Column:
    """Return the sums of weights of the blocks of each home, (weights, homes)."""
    table = np.array(weights, np.float64)
    keys = homes + np.arange(len(table))[:, None] * count
    sums = np.bincount(keys.ravel(), table.ravel(), len(table) * count)
    return sums.reshape(len(table), count)


def _sizes_of_groups(keys: Column) -> Column:
    """Return for each row how many rows have its key."""
    _, groups, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    return sizes[groups]


def _bits(flags: Column) -> Column:
    """Return whether each flag is set, uint8, (len(FLAGS), rows)."""
    octets = flags.astype("<i8").view(np.uint8).reshape(-1, 8).T
    return np.unpackbits(octets, axis=0, count=len(FLAGS), bitorder="little")
