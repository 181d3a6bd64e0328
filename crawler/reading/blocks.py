"""Cut a page into blocks: runs of text that stand in one element of their own.

One pass over the tree in C's order, without recursion. A block knows its text, what of it is links,
and the container that it stands in; containers know their parents. Features are computed from these
tables alone (``block_features``), and the chosen blocks become content again
(``content_body``).
"""

from __future__ import annotations

from typing import Any

from lxml.etree import iterwalk

from crawler.reading.block_flags import TAG_BITS, attribute_bits
from crawler.reading.text import BLOCKS

Element = Any  # lxml has no types

MAX_BLOCKS = 20_000
"""Cut at most this many blocks of a page; the rest of it is not looked at."""

# Elements like <b> that go on in a further block; twice as many as are written within each other.
_MAX_CARRIED = 16

_SKIPPED = frozenset(
    "head script style template svg iframe object embed audio video canvas map "
    "select datalist textarea input frameset frame applet".split()
)
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
        pieces: Text of each block with the inline elements between: ``str``, an element where it
            begins, None where one ends.
        texts: Text of each block, one space between words.
        linked: Number of characters of each block that are links.
        links: Number of links of each block.
        inline: Flags of the inline elements of each block.
        images: Images without text: the index of the next block, their container, their pieces.
        is_cut: Whether the page had more blocks than ``MAX_BLOCKS``.
    """

    def __init__(self) -> None:
        self.containers: list[Element] = []
        self.parents: list[int] = []
        self.tags: list[str] = []
        self.own: list[int] = []
        self.inherited: list[int] = []
        self.depths: list[int] = []
        self.paths: list[int] = []
        self.ends: list[int] = []
        self.homes: list[int] = []
        self.pieces: list[list[Any]] = []
        self.texts: list[str] = []
        self.linked: list[int] = []
        self.links: list[int] = []
        self.inline: list[int] = []
        self.images: list[tuple[int, int, list[Any]]] = []
        self.is_cut = False


def cut_blocks(root: Element) -> PageBlocks:
    """Cut a page into blocks, in the order of the page.

    Complexity: O(elements + characters).
    """
    found = PageBlocks()
    add = _Cutter(found)
    walker = iterwalk(root, events=("start", "end"))
    for event, element in walker:
        tag = element.tag
        if event == "start":
            if tag in _SKIPPED:
                walker.skip_subtree()
            elif tag in CONTAINERS or not add.stack:
                add.begin(element, tag)
            else:
                add.begin_inline(element, tag)
        elif tag in _SKIPPED:
            add.text(element.tail)
        elif tag in CONTAINERS or (len(add.stack) == 1 and element is root):
            add.end()
            if element is root:
                break
            add.text(element.tail)
            if len(found.texts) >= MAX_BLOCKS:
                found.is_cut = True
                break
        else:
            add.end_inline(tag)
            add.text(element.tail)
    add.flush()
    ends = [0] * len(found.containers)
    for at in range(len(ends) - 1, -1, -1):
        ends[at] = max(ends[at], at + 1)
        parent = found.parents[at]
        if parent != at:
            ends[parent] = max(ends[parent], ends[at])
    found.ends = ends
    return found


class _Cutter:
    """The state of ``cut_blocks`` between two elements."""

    def __init__(self, found: PageBlocks) -> None:
        self.found = found
        self.stack: list[int] = []
        self._pieces: list[Any] = []
        self._strings: list[str] = []
        self._linked = 0
        self._links = 0
        self._in_link = 0
        self._inline = 0
        self._has_image = False
        self._open: list[Element] = []
        self._first_here = 0  # the outermost of the open elements that the pieces have

    def begin(self, element: Element, tag: str) -> None:
        self.flush()
        found, stack = self.found, self.stack
        at = len(found.containers)
        attributes = element.items()
        own = TAG_BITS.get(tag, 0) | (attribute_bits(attributes) if attributes else 0)
        name = tag
        for key, value in attributes:
            if key == "class":
                name = f"{tag}.{value}"
                break
        parent = stack[-1] if stack else 0
        found.containers.append(element)
        found.parents.append(parent)
        found.tags.append(tag)
        found.own.append(own)
        if at:
            found.inherited.append(own | found.inherited[parent])
            found.depths.append(found.depths[parent] + 1)
            found.paths.append(
                hash(
                    (name, found.tags[parent], found.own[parent], found.own[found.parents[parent]])
                )
            )
        else:
            found.inherited.append(own)
            found.depths.append(0)
            found.paths.append(hash(name))
        stack.append(at)
        text = element.text
        if text:
            self.text(text)

    def end(self) -> None:
        self.flush()
        if self.stack:
            self.stack.pop()

    def begin_inline(self, element: Element, tag: str) -> None:
        if tag == "a":
            self._in_link += 1
            self._links += 1
        elif tag == "br":
            self._strings.append("\n")
        elif tag == "img":
            self._has_image = True
        attributes = element.items()
        if attributes:
            self._inline |= attribute_bits(attributes)
        self._pieces.append(element)
        self._open.append(element)
        text = element.text
        if text:
            self.text(text)

    def end_inline(self, tag: str) -> None:
        if tag == "a" and self._in_link:
            self._in_link -= 1
        if self._open:
            self._open.pop()
            if len(self._open) >= self._first_here:
                self._pieces.append(None)
            else:
                self._first_here = len(self._open)

    def text(self, text: str | None) -> None:
        if text:
            self._pieces.append(text)
            self._strings.append(text)
            if self._in_link:
                self._linked += len(text.strip())

    def flush(self) -> None:
        """End a block; the innermost inline elements that are open go on in the next one."""
        if not self._pieces:
            return
        found = self.found
        ends = [None] * (len(self._open) - self._first_here)
        text = " ".join("".join(self._strings).split())
        if text:
            found.homes.append(self.stack[-1])
            found.pieces.append(self._pieces + ends)
            found.texts.append(text)
            found.linked.append(min(self._linked, len(text)))
            found.links.append(self._links)
            found.inline.append(self._inline)
        elif self._has_image:
            found.images.append((len(found.texts), self.stack[-1], self._pieces + ends))
        self._pieces = self._open[-_MAX_CARRIED:]
        self._first_here = len(self._open) - len(self._pieces)
        self._strings = []
        self._linked = 0
        self._links = 1 if self._in_link else 0
        self._inline = 0
        self._has_image = False
