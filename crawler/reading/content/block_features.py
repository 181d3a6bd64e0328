"""Compute what tells content from the rest: a row of numbers for each block.

All of it is shape, and general words of markup and controls; nothing of a site, and nothing of the
subject of a text. Rows are made with numpy for a whole page at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crawler.reading.content.block_columns import BlockColumns
from crawler.reading.content.block_words import BlockWords, last_marked, page_descriptions
from crawler.reading.content.page_features import page_row, read_page_kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.reading.content.blocks import PageBlocks

Element = Any  # lxml has no types
Column = Any  # a numpy array with one value for each block

_OFFSETS = (-2, -1, 1, 2)

# Characters of a title in which the text of each block is searched.
_MAX_TITLE = 1000


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
        declared = [*root.iter("meta", "script")]
        kinds, descriptions = read_page_kinds(root, declared), page_descriptions(declared)
        columns = BlockColumns(blocks, title)
        # A text without spaces has a word in every eight characters at least.
        self.sizes = np.maximum(columns.words, columns.chars / 8)
        self.groups = columns.groups
        self.headings = columns.heading > 0
        self.page = page_row(blocks, columns, kinds, title)
        words = BlockWords(blocks.texts, title, descriptions)
        rows = [*_own(columns), *_places(columns), columns.tags, *_neighbours(columns)]
        rows += [*_surroundings(columns), *_of_group(columns), *words.own()]
        rows += [words.below_headings(columns.heading, columns.chars, columns.ends)]
        rows += [*_words_around(columns, words), *_words_of_group(columns, words)]
        rows += [columns.flags, columns.near_flags, columns.inline_flags]
        tables = [row if row.ndim > 1 else row[None] for row in rows]
        # The model reads the values of a feature one after the other.
        self.blocks = np.concatenate(tables, dtype=np.float32, casting="unsafe").T


def _own(columns: BlockColumns) -> Iterator[Column]:
    """Yield what a block is by itself."""
    chars, words = columns.chars, columns.words
    yield np.log1p([chars, words, columns.linked])
    yield from (columns.link_share, np.log1p(columns.links), chars / np.maximum(words, 1))
    yield from (columns.digits, columns.upper, columns.commas, columns.ends, columns.heading)
    yield from (columns.price, columns.legal, columns.action, columns.date)
    yield from (chars < 25, columns.same_text, columns.in_title, columns.depth)


def _places(columns: BlockColumns) -> Iterator[Column]:
    """Yield where on the page a block stands."""
    count = len(columns.chars)
    at = np.arange(count, dtype=np.float64)
    before = np.cumsum(columns.chars) - columns.chars
    yield at / max(count, 1)
    yield before / max(columns.chars.sum(), 1.0)
    yield np.log1p(count - at)
    last = last_marked(columns.heading > 0)
    last_at = np.maximum(last, 0)
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


def _neighbours(columns: BlockColumns) -> Iterator[Column]:
    """Yield what stands before and after a block, and whether it stands in the same place.

    Beyond the page all is -1.
    """
    count, margin = len(columns.chars), max(_OFFSETS)
    values = np.full((6, count + 2 * margin), -1.0)
    page = values[:, margin : margin + count]
    page[:] = (
        *(np.log1p(columns.chars), columns.link_share, columns.ends, columns.heading),
        *(columns.homes, columns.groups),
    )
    for offset in _OFFSETS:
        shifted = values[:, margin + offset : margin + offset + count]
        yield shifted[:4]
        yield shifted[4:] == page[4:]


def _surroundings(columns: BlockColumns) -> Iterator[Column]:
    """Yield what the containers around a block hold."""
    chars, linked, inner, commas, mostly_linked = columns.sums_below(
        [
            columns.chars,
            columns.linked,
            np.ones(len(columns.chars)),
            columns.commas,
            columns.link_share > 0.5,
        ]
    )
    some = np.maximum(chars, 1)
    blocks = np.maximum(inner, 1)
    logs = np.log1p([chars, inner, chars / blocks, columns.twins])
    shares = (linked / some, chars / max(columns.chars.sum(), 1.0), commas / some * 100)
    table = np.array(
        [logs[0], *shares[:2], *logs[1:3], shares[2], logs[3], mostly_linked / blocks], np.float32
    )
    for places in columns.around:
        yield table.take(places, axis=1)


def _words_around(columns: BlockColumns, words: BlockWords) -> Iterator[Column]:
    """Yield what kinds of words the containers around a block hold."""
    sums = columns.sums_below(words.weights())
    sizes = np.maximum(sums[0], 1)
    _, i, others, rating, consent, described, titled = sums
    rating, consent, titled = np.log1p([rating, consent, titled])
    table = np.array(
        [i / sizes, others / sizes, rating, consent, described / sizes, titled], np.float32
    )
    for places in columns.around:
        yield table.take(places, axis=1)


def _words_of_group(columns: BlockColumns, words: BlockWords) -> Iterator[Column]:
    """Yield what kinds of words the blocks in containers of the same path hold together."""
    sizes, i, _, rating, *_ = words.weights()
    sizes, i, rating = columns.sums_of_groups([sizes, i, rating])
    groups = columns.groups
    yield (i / sizes)[groups]
    yield np.log1p(rating)[groups]


def _of_group(columns: BlockColumns) -> Iterator[Column]:
    """Yield what the blocks in containers of the same path are together."""
    groups = columns.groups
    inner, chars, linked, commas = columns.sums_of_groups(
        [np.ones(len(groups)), columns.chars, columns.linked, columns.commas]
    )
    some = np.maximum(chars, 1)
    table = np.array([inner, chars, linked / some, chars / inner, commas / some * 100])
    table[[0, 1, 3]] = np.log1p(table[[0, 1, 3]])
    yield table.take(groups, axis=1)
