"""Cut a page into blocks: runs of text that stand in one element of their own.

One pass over the tags of the page (``flat_page``). A block knows its text, what of it is links,
and the container that it stands in; containers know their parents. Features are computed from these
tables alone (``block_features``), and the chosen blocks become content again
(``content_body``).
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.reading.content.block_flags import (
    TAG_BITS,
    TELLING_NAME,
    HiddenParts,
    attribute_bits,
    hides,
)
from crawler.reading.content.content_body import SHAPING
from crawler.reading.flat_page import Tag
from crawler.reading.text import BLOCKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.reading.flat_page import FlatPage

MAX_BLOCKS = 20_000
"""Cut at most this many blocks of a page; the rest of it is not looked at."""

# Elements like <b> that go on in a further block; twice as many as are written within each other.
_MAX_CARRIED = 16

_GUTTER = re.compile(
    r"\sclass=\"(?:[^\"]*\s)?(?:(?:[\w-]*[-_])?lines?[-_]?n(?:r|os?|um|umbers?)|(?:blob|crayon)-nums?"
    r"|hljs-ln-n(?:umbers)?|lnt|ln|(?:rouge-)?gutter)[\s\"]|\sstyle=\"[^\"]*user-select:\s*none"
)

# MediaWiki puts a link to its editor into each heading.
_EDIT_LINK = 'class="mw-editsection"'

# Parsed tags are kept for further pages: at most this many, in some 5 MB, and no longer ones.
_MAX_KNOWN = 10_000
_MAX_KNOWN_CHARACTERS = 300

SKIPPED = frozenset(
    "head script style template svg iframe object embed audio video canvas map "
    "select datalist textarea input frameset frame applet".split()
)
"""Tags of elements that hold no block."""
RUBY = "（）"
"""Brackets around the reading of characters in what is shown; no text is judged with them."""
QUOTES = "“”"

CONTAINERS = frozenset([*BLOCKS, "noscript"]) - {"br", "iframe", "select", "textarea", "option"}

# What a tag asks for: nothing; to begin a container, to end it, or both; something of an inline
# element; to leave out all up to the end of an element; to do that where nothing opens it.
_NOTHING, _BEGINS, _ENDS, _INLINE, _SKIPS, _HIDES = 0, 1, 2, 4, 8, 16


class BlockTag(Tag):
    """A tag with what it tells of blocks.

    Attributes:
        kind: What it asks for.
        own: Flags of its element.
        name: Name and class of its element.
        shapes: Whether content keeps it as an inline element.
    """

    __slots__ = ("kind", "name", "own", "shapes")

    def __init__(self, written: str) -> None:
        super().__init__(written)
        self.name = tag = self.tag
        self.shapes = tag in SHAPING
        self.kind = self.own = 0
        if tag in CONTAINERS:
            self.kind = self.begins * _BEGINS | self.ends * _ENDS
            self.own = TAG_BITS.get(tag, 0)
        elif tag in SKIPPED or _EDIT_LINK in written:
            self.kind = _NOTHING if self.ends else _SKIPS
            return
        elif self.shapes or tag in {"rt", "q"}:
            self.kind = _INLINE
        if self.begins and TELLING_NAME.search(written):
            attributes = dict(self.items())
            may_hide = not self.ends and ("hidden" in written or "none" in written)
            if may_hide and hides(tag, attributes):
                self.kind = (self.kind or _INLINE) | _HIDES
            if bits := attribute_bits(attributes):
                self.own |= bits
                self.kind = self.kind or _INLINE
            if tag in CONTAINERS and "class" in attributes:
                self.name = f"{tag}.{attributes['class']}"

    @property
    def is_gutter(self) -> bool:
        """Whether its class or style says that it holds numbers of lines of code."""
        return self.begins and _GUTTER.search(self._written) is not None


class _BlockTags(dict[str, BlockTag]):
    """Parsed tags by their text; the pages of a site have most in common."""

    def __missing__(self, written: str) -> BlockTag:
        tag = BlockTag(written)
        if len(written) <= _MAX_KNOWN_CHARACTERS:
            if len(self) >= _MAX_KNOWN:
                self.clear()
            self[written] = tag
        return tag


_KNOWN = _BlockTags()


class BlockSpan(NamedTuple):
    """The place of a block among the tags of its page.

    Attributes:
        first: Index of the tag of a container that its text stands behind.
        end: Index of the next such tag.
        carried: Inline elements that are open before it, the innermost last.
    """

    first: int
    end: int
    carried: tuple[BlockTag, ...]


class PageBlocks:
    """The blocks of a page and their containers, as columns of one row each.

    Attributes:
        containers: Tags that begin the containers, the root's at first.
        parents: Index of each container's parent; the root's is 0.
        tags: Tag of each container.
        own: Flags of each container.
        inherited: Flags of each container and all its ancestors.
        depths: Number of ancestors that are containers.
        paths: Hash of the tags and classes of a container and its two next ancestors.
        ends: Index after the last container below each container.
        homes: Index of the container of each block.
        spans: Place of each block.
        texts: Text of each block, one space between words.
        linked: Number of characters of each block that are links.
        links: Number of links of each block.
        inline: Flags of the inline elements of each block.
        images: Images without text: the index of the next block, their container, their place.
        hidden: Elements that are left out, since nobody sees them.
        is_cut: Whether the page had more blocks than ``MAX_BLOCKS``.
        pieces: Returns the text of a block with the inline elements that content keeps.
    """

    def __init__(self, cutter: _Cutter) -> None:
        self.pieces = cutter.pieces
        self.containers, self.parents = cutter.containers, cutter.parents
        self.tags = [one.tag for one in self.containers]
        self.own = [one.own for one in self.containers]
        self.inherited, self.depths = self.own[:1], [0]
        for own, parent in zip(self.own[1:], self.parents[1:], strict=True):
            self.inherited.append(own | self.inherited[parent])
            self.depths.append(self.depths[parent] + 1)
        self.paths = [
            hash((one.name, self.tags[up], self.own[up], self.own[self.parents[up]]))
            for one, up in zip(self.containers, self.parents, strict=True)
        ]
        self.ends = _ends(self.parents)
        self.homes: list[int]
        self.spans: list[BlockSpan]
        self.texts: list[str]
        self.linked: list[int]
        self.links: list[int]
        self.inline: list[int]
        columns = list(map(list, zip(*cutter.blocks, strict=True))) or [[] for _ in range(6)]
        self.homes, self.spans, self.texts, self.linked, self.links, self.inline = columns
        self.images = cutter.images
        self.hidden, self.is_cut = cutter.hidden, cutter.is_cut

    @cached_property
    def sizes(self) -> list[int]:
        """The characters of the texts in each container and all within it."""
        return self.sizes_of(range(len(self.homes)))

    def sizes_of(self, chosen: Iterable[int]) -> list[int]:
        """Return the characters of some blocks in each container and all within it."""
        sizes = [0] * len(self.tags)
        for at in chosen:
            sizes[self.homes[at]] += len(self.texts[at])
        for at in range(len(sizes) - 1, 0, -1):
            sizes[self.parents[at]] += sizes[at]
        return sizes


def cut_blocks(page: FlatPage) -> PageBlocks:
    """Cut a page into blocks, in the order of the page.

    Complexity: O(elements + characters).
    """
    cutter = _Cutter(page)
    cutter.cut()
    return PageBlocks(cutter)


def _ends(parents: list[int]) -> list[int]:
    """Return the index after the last container below each container."""
    ends = list(range(1, len(parents) + 1))
    for at in range(len(ends) - 1, 0, -1):
        end, parent = ends[at], parents[at]
        ends[parent] = max(ends[parent], end)
    return ends


class _Cutter:
    """The state of ``cut_blocks`` between two tags.

    Attributes:
        containers: Tags that begin containers.
        parents: Index of each container's parent.
        blocks: Blocks, a row of the columns of ``PageBlocks`` each.
    """

    def __init__(self, page: FlatPage) -> None:
        self.containers: list[BlockTag] = []
        self.parents: list[int] = []
        self.blocks: list[tuple[int, BlockSpan, str, int, int, int]] = []
        self.images: list[tuple[int, int, BlockSpan]] = []
        self.hidden = HiddenParts(page)
        self.is_cut = False
        self._page = page
        self._stack: list[int] = [0]
        self._strings: list[str] = []
        self._linked = self._links = self._in_link = self._inline = 0
        self._has_image = False
        self._open: list[BlockTag] = []
        self._first = 0
        self._carried: tuple[BlockTag, ...] = ()
        # Brackets around readings and quotes, by the index of the tag that they stand for.
        self._brackets: dict[int, str] = {}
        self._readings: list[bool] = []

    def cut(self) -> None:
        """Walk through the page.

        Most of the time is spent here for each tag, so that its texts are added in place.
        """
        known, strings, stack, blocks = _KNOWN, self._strings, self._stack, self.blocks
        last = len(self._page.tags) - 1
        self._begin(known[self._page.tags[0]])
        strings.append(self._page.texts[0])
        steps = self._steps(0, last)
        for at, written, text in steps:
            tag = known[written]
            kind = tag.kind
            if kind >= _HIDES:
                around = " ".join(self.containers[one].name[:200] for one in stack[-2:])
                kind = _SKIPS if self.hidden.holds(at, tag, around) else kind - _HIDES
            if 0 < kind < _INLINE:
                if strings:
                    self._flush(at)
                self._first = at
                if kind & _BEGINS:
                    self._begin(tag)
                if kind & _ENDS:
                    stack.pop()
                    if len(blocks) >= MAX_BLOCKS:
                        self.is_cut = True
                        return
                if text.isspace():
                    continue
            elif kind == _INLINE:
                self._add_inline(at, tag)
            elif kind == _SKIPS:
                text = self._text_behind(at, steps)  # noqa: PLW2901  # another one takes its place
            if text:
                strings.append(text)
                if self._in_link:
                    self._linked += len(text.strip())
        self._flush(last)

    def pieces(self, span: BlockSpan, *, is_code: bool = False) -> list[Any]:
        """Return the text of a block with the inline elements that content keeps.

        It is in pieces: ``str``, a tag where an element begins, None where one ends, at the latest
        with the block. Code has no numbers of its lines.
        """
        pieces: list[Any] = [*span.carried, *filter(None, [self._page.texts[span.first]])]
        opened = len(span.carried)
        steps = self._steps(span.first, span.end)
        for at, written, text in steps:
            tag = _KNOWN[written]
            is_number = is_code and tag.is_gutter and text.strip().isdecimal()
            is_number = is_number and self._page.tags[at + 1] == f"/{tag.tag}"
            if tag.kind == _SKIPS or is_number or at in self.hidden.begun:
                text = self._text_behind(at, steps)  # noqa: PLW2901
            elif tag.shapes:
                if tag.begins:
                    pieces.append(tag)
                    opened += 1
                if tag.ends and opened:
                    pieces.append(None)
                    opened -= 1
            elif at in self._brackets:
                pieces.append(self._brackets[at])
            if text:
                pieces.append(text)
        return pieces + [None] * opened

    def _steps(self, first: int, end: int) -> Iterator[tuple[int, str, str]]:
        """Return the tags between two others, with their indices and the texts behind them."""
        inner = slice(first + 1, end)
        page = self._page
        return zip(range(first + 1, end), page.tags[inner], page.texts[inner], strict=True)

    def _begin(self, tag: BlockTag) -> None:
        self.parents.append(self._stack[-1])
        self._stack.append(len(self.containers))
        self.containers.append(tag)

    def _add_inline(self, at: int, tag: BlockTag) -> None:
        name = tag.tag
        self._strings.append("")
        if tag.begins:
            self._inline |= tag.own
            if name == "a":
                self._links += 1
                self._in_link += not tag.ends
            elif name == "br":
                self._strings.append("\n")
            elif name == "img":
                self._has_image = True
            if tag.shapes and not tag.ends:
                self._open.append(tag)
        elif tag.shapes:
            self._in_link -= name == "a"
            self._open.pop()
        if name == "rt":
            self._add_reading(at, tag)
        elif name == "q" and tag.begins != tag.ends:
            self._brackets[at] = QUOTES[tag.ends]

    def _text_behind(self, at: int, steps: Iterator[tuple[int, str, str]]) -> str:
        """Go on to the end of an element that has begun, and return the text behind it."""
        rest = islice(steps, self._page.end_of(at) - at - 1, None)
        return next(rest, (0, "", ""))[2]

    def _add_reading(self, at: int, tag: BlockTag) -> None:
        """Put brackets around the reading of a ruby that a page brackets for no browser."""
        if tag.begins and not tag.ends:
            before = _KNOWN[self._page.tags[at - 1]]
            self._readings.append(not (before.tag == "rp" and before.ends))
            if self._readings[-1]:
                self._brackets[at] = RUBY[0]
        elif tag.ends and not tag.begins and self._readings.pop():
            self._brackets[at] = RUBY[1]

    def _flush(self, at: int) -> None:
        """End a block; the innermost inline elements that are open go on in the next one."""
        text = " ".join("".join(self._strings).split())
        if text or self._has_image:
            span = BlockSpan(self._first, at, self._carried)
            home = self._stack[-1]
            if text:
                linked = min(self._linked, len(text))
                self.blocks.append((home, span, text, linked, self._links, self._inline))
            else:
                self.images.append((len(self.blocks), home, span))
        self._carried = tuple(self._open[-_MAX_CARRIED:])
        self._strings.clear()
        self._linked = self._inline = 0
        self._links = 1 if self._in_link else 0
        self._has_image = False
