"""Cut a page into blocks: runs of text that stand in one element of their own.

One pass over the tree in C's order, without recursion. A block knows its text, what of it is links,
and the container that it stands in; containers know their parents. Features are computed from these
tables alone (``block_features``), and the chosen blocks become content again
(``content_body``).
"""

from __future__ import annotations

from typing import Any

from lxml.etree import iterwalk

from crawler.reading.content.block_flags import TAG_BITS, attribute_bits
from crawler.reading.content.content_body import SHAPING
from crawler.reading.text import BLOCKS

Element = Any  # lxml has no types

MAX_BLOCKS = 20_000
"""Cut at most this many blocks of a page; the rest of it is not looked at."""

# Elements like <b> that go on in a further block; twice as many as are written within each other.
_MAX_CARRIED = 16

SKIPPED = frozenset(
    "head script style template svg iframe object embed audio video canvas map "
    "select datalist textarea input frameset frame applet".split()
)
"""Elements of which nothing is a block, whatever they hold."""
RUBY = "（）"
"""Brackets around the reading of characters in what is shown; no text is judged with them."""

CONTAINERS = frozenset([*BLOCKS, "noscript"]) - {"br", "iframe", "select", "textarea", "option"}


class PageBlocks:
    """The blocks of a page and their containers, as columns of one row each.

    Attributes:
        containers: Elements, the root at first.
        parents: Index of each container's parent; the root's is 0.
        tags: Tag of each container.
        own: Flags of each container.
        inherited: Flags of each container and all its ancestors.
        depths: Number of ancestors that are containers.
        paths: Hash of the tags and classes of a container and its two next ancestors.
        ends: Index after the last container below each container.
        homes: Index of the container of each block.
        pieces: Text of each block with the inline elements of ``SHAPING`` between: ``str``, an
            element where it begins, None where one ends.
        texts: Text of each block, one space between words.
        linked: Number of characters of each block that are links.
        links: Number of links of each block.
        inline: Flags of the inline elements of each block.
        images: Images without text: the index of the next block, their container, their pieces.
        is_cut: Whether the page had more blocks than ``MAX_BLOCKS``.
    """

    def __init__(self, cutter: _Cutter) -> None:
        self.containers: list[Element]
        self.parents: list[int]
        self.tags: list[str]
        self.own: list[int]
        self.inherited: list[int]
        self.depths: list[int]
        self.paths: list[int]
        columns = list(map(list, zip(*cutter.rows, strict=True))) or [[] for _ in range(7)]
        self.containers, self.parents, self.tags, self.own, self.inherited = columns[:5]
        self.depths, self.paths = columns[5:]
        self.ends = _ends(self.parents)
        self.homes: list[int]
        self.pieces: list[list[Any]]
        self.texts: list[str]
        self.linked: list[int]
        self.links: list[int]
        self.inline: list[int]
        columns = list(map(list, zip(*cutter.blocks, strict=True))) or [[] for _ in range(6)]
        self.homes, self.pieces, self.texts, self.linked, self.links, self.inline = columns
        self.images: list[tuple[int, int, list[Any]]] = cutter.images
        self.is_cut = cutter.is_cut


def cut_blocks(root: Element) -> PageBlocks:
    """Cut a page into blocks, in the order of the page.

    Complexity: O(elements + characters).
    """
    cutter = _Cutter()
    cutter.cut(root)
    return PageBlocks(cutter)


def _ends(parents: list[int]) -> list[int]:
    """Return the index after the last container below each container."""
    ends = list(range(1, len(parents) + 1))
    for at in range(len(ends) - 1, 0, -1):
        end, parent = ends[at], parents[at]
        ends[parent] = max(ends[parent], end)
    return ends


def lacks_brackets(reading: Element) -> bool:
    """Return whether a page does not bracket the reading of a ruby for browsers without ruby."""
    before = reading.getprevious()
    is_empty = not reading.text and not len(reading)
    return not is_empty and (before is None or str(before.tag).rpartition("}")[2] != "rp")


class _Cutter:
    """The state of ``cut_blocks`` between two elements.

    Attributes:
        rows: Containers, a row of the columns of ``PageBlocks`` each.
        blocks: Blocks, likewise.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.blocks: list[tuple[Any, ...]] = []
        self.images: list[tuple[int, int, list[Any]]] = []
        self.is_cut = False
        self._stack: list[tuple[int, str, int, int, int, int]] = []
        self._pieces: list[Any] = []
        self._strings: list[str] = []
        self._linked = 0
        self._links = 0
        self._in_link = 0
        self._inline = 0
        self._has_image = False
        self._open: list[Element] = []
        self._first_here = 0  # the outermost of the open elements that the pieces have

    def cut(self, root: Element) -> None:  # noqa: PLR0912  # calls cost more
        """Walk through the page.

        Most of the time is spent here for each element, so that its texts are added in place.
        """
        pieces, strings, stack = self._pieces, self._strings, self._stack
        walker = iterwalk(root, events=("start", "end"))
        for event, element in walker:
            tag = element.tag
            if event == "start":
                if tag in SKIPPED:
                    walker.skip_subtree()
                    continue
                if tag in CONTAINERS or not stack:
                    self._begin(element, tag)
                else:
                    self._begin_inline(element, tag)
                text = element.text
            else:
                if tag in SKIPPED:
                    pass
                elif tag in CONTAINERS or (len(stack) == 1 and element is root):
                    if pieces or self._inline:
                        self._flush()
                    stack.pop()
                    if element is root:
                        return
                    if len(self.blocks) >= MAX_BLOCKS:
                        self.is_cut = True
                        break
                else:
                    self._end_inline(tag)
                    if tag == "rt" and lacks_brackets(element):
                        pieces.append(RUBY[1])
                text = element.tail
            if text:
                pieces.append(text)
                strings.append(text)
                if self._in_link:
                    self._linked += len(text.strip())
        self._flush()

    def _begin(self, element: Element, tag: str) -> None:
        if self._pieces or self._inline:
            self._flush()
        at = len(self.rows)
        attributes = element.items()
        own, name = TAG_BITS.get(tag, 0), tag
        if attributes:
            own |= attribute_bits(attributes)
            for key, value in attributes:
                if key == "class":
                    name = f"{tag}.{value}"
                    break
        if at:
            parent, parent_tag, parent_own, above, inherited, depth = self._stack[-1]
            inherited |= own
            path = hash((name, parent_tag, parent_own, above))
            depth += 1
        else:
            parent, parent_own, inherited, depth, path = 0, own, own, 0, hash(name)
        self.rows.append((element, parent, tag, own, inherited, depth, path))
        self._stack.append((at, tag, own, parent_own, inherited, depth))

    def _begin_inline(self, element: Element, tag: str) -> None:
        if tag == "a":
            self._in_link += 1
            self._links += 1
        elif tag == "br":
            self._strings.append("\n")
        elif tag == "img":
            self._has_image = True
        elif tag == "rt" and lacks_brackets(element):
            self._pieces.append(RUBY[0])
        if attributes := element.items():
            self._inline |= attribute_bits(attributes)
        if tag in SHAPING:
            self._pieces.append(element)
            self._open.append(element)

    def _end_inline(self, tag: str) -> None:
        if tag == "a" and self._in_link:
            self._in_link -= 1
        if self._open and tag in SHAPING:
            self._open.pop()
            if len(self._open) >= self._first_here:
                self._pieces.append(None)
            else:
                self._first_here = len(self._open)

    def _flush(self) -> None:
        """End a block; the innermost inline elements that are open go on in the next one."""
        text = " ".join("".join(self._strings).split())
        if text or self._has_image:
            pieces = self._pieces + [None] * (len(self._open) - self._first_here)
            home = self._stack[-1][0]
            if text:
                linked = min(self._linked, len(text))
                self.blocks.append((home, pieces, text, linked, self._links, self._inline))
            else:
                self.images.append((len(self.blocks), home, pieces))
        self._pieces[:] = self._open[-_MAX_CARRIED:]
        self._first_here = len(self._open) - len(self._pieces)
        self._strings.clear()
        self._linked = 0
        self._links = 1 if self._in_link else 0
        self._inline = 0
        self._has_image = False
