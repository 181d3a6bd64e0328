"""Compute what tells content from the rest: a row of numbers for each block.

All of it is shape, and general words of markup and controls; nothing of a site, and nothing of the
subject of a text. Rows are made with numpy for a whole page at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crawler.reading.content.block_flags import FLAGS
from crawler.reading.content.block_texts import text_columns
from crawler.reading.content.block_words import BlockWords
from crawler.reading.content.page_descriptions import page_descriptions
from crawler.reading.content.page_features import page_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.reading.content.blocks import PageBlocks

Element = Any  # lxml has no types
Column = Any  # a numpy array with one value for each block

_TAGS = "p li div td th dd dt pre section article button a label".split()
_HEADING = {f"h{level}": level for level in range(1, 7)}
_OFFSETS = (-2, -1, 1, 2)
_LEVELS = (0, 1, 2, 3, 5)

# Characters of a title in which the text of each block is searched.
_MAX_TITLE = 1000


class BlockColumns:
    """Properties of the blocks of a page, one value for each block unless said otherwise.

    Attributes:
        chars, words, linked: Numbers of characters, words, characters of links.
        ends: Whether it ends as a sentence does.
        commas: Number of its commas and ends of sentences.
        heading: Level of the heading that it is, or 0.
        tag: Tag of its container.
        flags: Flags of its container and all ancestors, (blocks, len(FLAGS)).
        homes: Index of its container.
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
        tags, parents = blocks.tags, blocks.parents
        levels = [
            _HEADING.get(tag) or _HEADING.get(tags[parents[at]], 0) for at, tag in enumerate(tags)
        ]
        self.homes = np.array(blocks.homes, dtype=np.int64)
        self.parents = np.array(parents, dtype=np.int64)
        self.heading = np.array(levels, dtype=np.float64)[self.homes]
        self.tag = np.array(tags)[self.homes]
        self.depth = np.array(blocks.depths, dtype=np.float64)[self.homes]
        self.same_text = _sizes_of_groups(np.array([hash(one) for one in blocks.texts], np.int64))
        paths = np.array(blocks.paths, dtype=np.int64)
        self.groups = np.unique(paths[self.homes], return_inverse=True)[1]
        # Cards of a list, posts of a thread.
        self.twins = _sizes_of_groups((self.parents * 1_000_003) ^ paths)
        self.twins_above = self.twins[self.parents[self.parents[self.homes]]]
        own = np.array(blocks.own, dtype=np.int64)
        parent, grandparent = self.parents[self.homes], self.parents[self.parents[self.homes]]
        self.flags = _bits(np.array(blocks.inherited, dtype=np.int64)[self.homes])
        self.near_flags = _bits(own[self.homes] | own[parent] | own[grandparent])
        self.inline_flags = _bits(np.array(blocks.inline, dtype=np.int64))
        self.ends_of_containers = np.array(blocks.ends, dtype=np.int64)


class PageFeatures:
    """The features of a page.

    Attributes:
        blocks: float32, (blocks, features).
        page: float32, (len(PAGE_NAMES),).
        sizes: float64, (blocks,): number of words of each block, for scripts without spaces too.
        groups: int64, (blocks,): number of the group of blocks in containers of one path.
        headings: bool, (blocks,): whether a block is a heading.
    """

    def __init__(self, blocks: PageBlocks, root: Element) -> None:
        title = " ".join((root.findtext("head/title") or "").lower().split())[:_MAX_TITLE]
        columns = BlockColumns(blocks, title)
        # A text without spaces has a word in every eight characters at least.
        self.sizes = np.maximum(columns.words, columns.chars / 8)
        self.groups = columns.groups
        self.headings = columns.heading > 0
        self.page = page_row(blocks, columns, root, title)
        rows = [*_own(columns), *_places(columns), *_tags(columns), *_neighbours(columns)]
        rows += [*_surroundings(columns), *_of_group(columns)]
        words = BlockWords(blocks.texts, title, page_descriptions(root))
        rows += words.own()
        rows += words.below_headings(columns.heading, columns.chars, columns.ends)
        rows += [*_words_around(columns, words), *_words_of_group(columns, words)]
        flags = (columns.flags, columns.near_flags, columns.inline_flags)
        self.blocks = np.concatenate([np.array(rows, dtype=np.float32).T, *flags], axis=1)


def _own(columns: BlockColumns) -> Iterator[Column]:
    """Yield what a block is by itself."""
    yield from (np.log1p(columns.chars), np.log1p(columns.words), np.log1p(columns.linked))
    yield from (columns.link_share, np.log1p(columns.links))
    yield columns.chars / np.maximum(columns.words, 1)
    yield from (columns.digits, columns.upper, columns.commas, columns.ends, columns.heading)
    yield from (columns.price, columns.legal, columns.action, columns.date)
    yield from (columns.chars < 25, columns.same_text, columns.in_title, columns.depth)


def _places(columns: BlockColumns) -> Iterator[Column]:
    """Yield where on the page a block stands."""
    count = len(columns.chars)
    at = np.arange(count, dtype=np.float64)
    before = np.cumsum(columns.chars) - columns.chars
    yield at / max(count, 1)
    yield before / max(columns.chars.sum(), 1.0)
    yield np.log1p(count - at)
    last = np.maximum.accumulate(np.where(columns.heading > 0, at, -1)) if count else at
    last_at = np.maximum(last, 0).astype(np.int64)
    yield np.log1p(at - last)
    yield np.where(last >= 0, columns.heading[last_at], 0)
    yield np.log1p(before - before[last_at])
    first = np.flatnonzero(columns.heading == 1)
    if first.size:
        beyond = at - first[0]
        yield np.sign(beyond) * np.log1p(np.abs(beyond))
        yield at < first[0]
    else:
        yield np.full(count, -99.0)
        yield np.zeros(count)


def _tags(columns: BlockColumns) -> Iterator[Column]:
    for tag in _TAGS:
        yield columns.tag == tag


def _neighbours(columns: BlockColumns) -> Iterator[Column]:
    """Yield what stands before and after a block, and whether it stands in the same place."""
    values = (np.log1p(columns.chars), columns.link_share, columns.ends, columns.heading)
    for offset in _OFFSETS:
        for column in values:
            yield _shifted(column, offset)
        for places in (columns.homes, columns.groups):
            yield _shifted(places, offset) == places


def _surroundings(columns: BlockColumns) -> Iterator[Column]:
    """Yield what the containers around a block hold."""
    count = len(columns.chars)
    weights = (
        columns.chars,
        columns.linked,
        np.ones(count),
        columns.commas,
        columns.link_share > 0.5,
    )
    below = _sums_below(columns, weights)
    total = max(columns.chars.sum(), 1.0)
    place = columns.homes
    for level in range(max(_LEVELS) + 1):
        if level in _LEVELS:
            chars, linked, inner, commas, mostly_linked = below[:, place]
            yield np.log1p(chars)
            yield linked / np.maximum(chars, 1)
            yield chars / total
            yield np.log1p(inner)
            yield np.log1p(chars / np.maximum(inner, 1))
            yield commas / np.maximum(chars, 1) * 100
            yield np.log1p(columns.twins[place])
            yield mostly_linked / np.maximum(inner, 1)
        place = columns.parents[place]


def _words_around(columns: BlockColumns, words: BlockWords) -> Iterator[Column]:
    """Yield what kinds of words the containers around a block hold."""
    below = _sums_below(columns, words.weights())
    place = columns.homes
    for level in range(max(_LEVELS) + 1):
        if level in _LEVELS:
            sizes, i, others, rating, consent, described, titled = below[:, place]
            yield i / np.maximum(sizes, 1)
            yield others / np.maximum(sizes, 1)
            yield np.log1p(rating)
            yield np.log1p(consent)
            yield described / np.maximum(sizes, 1)
            yield np.log1p(titled)
        place = columns.parents[place]


def _words_of_group(columns: BlockColumns, words: BlockWords) -> Iterator[Column]:
    """Yield what kinds of words the blocks in containers of the same path hold together."""
    groups = columns.groups
    sizes, i, _, rating, *_ = words.weights()
    yield np.bincount(groups, i)[groups] / np.bincount(groups, sizes)[groups]
    yield np.log1p(np.bincount(groups, rating)[groups])


def _sums_below(columns: BlockColumns, weights: Sequence[Column]) -> Column:
    """Return the sums of weights of blocks in and below each container, (weights, containers)."""
    sums = np.zeros((len(weights), len(columns.parents) + 1))
    for row, weight in zip(sums, weights, strict=True):
        row[1:] = np.cumsum(np.bincount(columns.homes, weight, len(columns.parents)))
    below: Column = sums[:, columns.ends_of_containers] - sums[:, :-1]
    return below


def _of_group(columns: BlockColumns) -> Iterator[Column]:
    """Yield what the blocks in containers of the same path are together."""
    groups = columns.groups
    inner = np.bincount(groups)[groups]
    chars = np.bincount(groups, columns.chars)[groups]
    linked = np.bincount(groups, columns.linked)[groups]
    commas = np.bincount(groups, columns.commas)[groups]
    yield from (np.log1p(inner), np.log1p(chars), linked / np.maximum(chars, 1))
    yield from (np.log1p(chars / inner), commas / np.maximum(chars, 1) * 100)


def _shifted(column: Column, offset: int) -> Column:
    """Return each row's value ``offset`` rows further, and -1 beyond the page."""
    out = np.full(len(column), -1.0)
    if offset < 0:
        out[-offset:] = column[:offset]
    elif len(column) > offset:
        out[:-offset] = column[offset:]
    return out


def _sizes_of_groups(keys: Column) -> Column:
    """Return for each row how many rows have its key."""
    inverse = np.unique(keys, return_inverse=True)[1]
    return np.bincount(inverse)[inverse].astype(np.float64)


def _bits(flags: Column) -> Column:
    """Return a column for each flag, float32, (rows, len(FLAGS))."""
    octets = flags.astype("<i8").view(np.uint8).reshape(len(flags), 8)
    bits = np.unpackbits(octets, axis=1, count=len(FLAGS), bitorder="little")
    return bits.astype(np.float32)
