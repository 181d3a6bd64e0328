"""Compute what tells content from the rest: a row of numbers for each block.

All of it is shape, and general words of markup and controls; nothing of a site, and nothing of the
subject of a text. Rows are made with numpy for a whole page at once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from crawler.reading.block_flags import FLAGS
from crawler.reading.page_features import page_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.reading.blocks import PageBlocks

Element = Any  # lxml has no types
Column = Any  # a numpy array with one value for each block

_TAGS = "p li div td th dd dt pre section article button a label".split()
_HEADING = {f"h{level}": level for level in range(1, 7)}
_OFFSETS = (-2, -1, 1, 2)
_LEVELS = (0, 1, 2, 3, 5)

_SENTENCE_END = tuple(".!?:;…。！？」”\"')")
_DIGIT = re.compile(r"\d")
_UPPER = re.compile(r"[A-Z]")
_COMMA = re.compile(r"[,;，、]|[.!?。！？]\s")
_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?:[€£₹]|kr|zł|USD|EUR)")
_LEGAL = re.compile(
    r"©|\(c\)|copyright|all rights reserved|cookie|privacy policy|terms of|newsletter",
    re.IGNORECASE,
)
_ACTION = re.compile(
    r"(?:share|tweet|reply|log ?in|sign (?:in|up)|subscribe|read more|learn more|more|view all"
    r"|see all|show (?:more|all|less)|load more|add to .*|buy now|shop .*|search.*|menu|close"
    r"|skip to .*|back.*|next.*|prev.*|home|print|edit|report.*|like|follow.*|filter.*|sort.*"
    r"|comments?|leave a .*|submit|download|contact(?: us)?|click here|view .*|get started|try .*"
    r"|quote|save|copy|cancel)\W*$",
    re.IGNORECASE,
)
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\d\d?[:/.]\d\d|\bago\b")
# Characters of a text in which its kind is looked for.
_LOOKED_AT = 600
# Characters of a title in which the text of each block is searched.
_MAX_TITLE = 1000
_TEXT_NAMES = "chars words digits upper commas ends price legal action date in_title".split()


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
        texts = _text_columns(blocks.texts, title)
        self.chars, self.words = texts["chars"], texts["words"]
        self.digits, self.upper, self.commas = texts["digits"], texts["upper"], texts["commas"]
        self.ends, self.price, self.legal = texts["ends"], texts["price"], texts["legal"]
        self.action, self.date, self.in_title = texts["action"], texts["date"], texts["in_title"]
        self.linked = np.array(blocks.linked, dtype=np.float64)
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
    """

    def __init__(self, blocks: PageBlocks, root: Element, url: str = "") -> None:
        title = " ".join((root.findtext("head/title") or "").lower().split())[:_MAX_TITLE]
        columns = BlockColumns(blocks, title)
        # A text without spaces has a word in every eight characters at least.
        self.sizes = np.maximum(columns.words, columns.chars / 8)
        self.groups = columns.groups
        self.page = page_row(blocks, columns, root, url, title)
        rows = [*_own(columns), *_places(columns), *_tags(columns), *_neighbours(columns)]
        rows += [*_surroundings(columns), *_of_group(columns)]
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
    sums = np.zeros((len(weights), len(columns.parents) + 1))
    for row, weight in zip(sums, weights, strict=True):
        row[1:] = np.cumsum(np.bincount(columns.homes, weight, len(columns.parents)))
    below = sums[:, columns.ends_of_containers] - sums[:, :-1]
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
    shifts = np.arange(len(FLAGS), dtype=np.int64)
    return ((flags[:, None] >> shifts) & 1).astype(np.float32)


def _text_columns(texts: list[str], title: str) -> dict[str, Column]:
    rows = [_text_row(text, title) for text in texts]
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(_TEXT_NAMES))
    return dict(zip(_TEXT_NAMES, table.T, strict=True))


def _text_row(text: str, title: str) -> tuple[float, ...]:
    size = len(text)
    start = text[:_LOOKED_AT]
    shown = len(start)
    return (
        size,
        text.count(" ") + 1,
        len(_DIGIT.findall(start)) / shown,
        len(_UPPER.findall(start)) / shown,
        len(_COMMA.findall(start)) * size / shown,
        text.endswith(_SENTENCE_END),
        size < 200 and _PRICE.search(text) is not None,
        size < _LOOKED_AT and _LEGAL.search(text) is not None,
        size < 60 and _ACTION.match(text) is not None,
        size < 60 and _DATE.search(text) is not None,
        10 < size < 300 and text.lower() in title,
    )
