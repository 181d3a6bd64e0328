"""Write chosen blocks as a body in the vocabulary of trafilatura's XML.

Its writers make text, Markdown, XML and HTML of it. Lists, tables, quotations and code keep their
shape where they are that; tables and lists that lay out whole pages do not.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lxml import etree
from lxml.etree import SubElement

from crawler.reading.content.content_shapes import (
    HEADINGS,
    STRUCTURE,
    columns_of,
    completed,
    is_gutter,
    layout_containers,
    whole_number,
)
from crawler.reading.content.content_xml import NOT_IN_XML

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.reading.content.blocks import BlockSpan, PageBlocks
    from crawler.reading.flat_page import Tag

Element = Any  # lxml has no types

_INLINE: dict[str, tuple[str, str | None]] = {
    "b": ("hi", "#b"),
    "strong": ("hi", "#b"),
    "i": ("hi", "#i"),
    "em": ("hi", "#i"),
    "u": ("hi", "#u"),
    "kbd": ("hi", "#t"),
    "samp": ("hi", "#t"),
    "tt": ("hi", "#t"),
    "var": ("hi", "#t"),
    "sub": ("hi", "#sub"),
    "sup": ("hi", "#sup"),
    "code": ("code", None),
    "del": ("del", None),
    "s": ("del", None),
    "strike": ("del", None),
    "a": ("ref", None),
}
SHAPING = frozenset([*_INLINE, "br", "img", "source"])
"""Inline elements that content needs; of others, such as ``span``, their text alone."""

_WITHOUT_TEXT = frozenset(["lb", "graphic"])
_MAX_NESTING = 12
_MAX_PADDING = 10_000
"""Add at most this many empty cells to a page's tables, to keep columns below each other."""

_LATE_SOURCE = re.compile(r"data-(?:.*src|original|lazy|echo)")
_LANGUAGE_NAME = re.compile(r"[A-Za-z][\w+#.-]{0,19}")
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:(?:lang(?:uage)?|highlight(?:-source|-text)?|sourceCode)-([A-Za-z][\w+#.-]{0,19})"
    r"|(?:brush:\s*|(?:sourceCode|hljs|syntaxhighlighter)\s+(?!lang))([A-Za-z][\w+#.-]{0,19})"
    r"|highlight\s+([A-Za-z][\w+#]{0,19})$)"
)
# Elements around code that may name its language; beside its numbers it stands in a table too.
_MAX_AROUND_CODE, _MAX_AROUND_CELL = 2, 6
# What highlighters call code that has none, and ends of the names of grammars.
_NO_LANGUAGE = re.compile(r"(?:default|none|undefined|notranslate|number\w+)$|-basic$")
_MAX_INLINE_NESTING = 8

Step = tuple[int, str]
"""A container that gives content its shape: its index and the element that it becomes."""


def build_body(blocks: PageBlocks, chosen: Iterable[int]) -> Element:
    """Return the element ``body`` with the chosen blocks in the order of the page.

    Args:
        blocks: Blocks of the page.
        chosen: Indices of the blocks, ascending.
    """
    layout = layout_containers(blocks)
    writer, chosen = _Writer(blocks, layout), completed(blocks, chosen, layout)
    images: dict[int, list[tuple[int, BlockSpan]]] = {}
    for before, home, span in blocks.images:
        images.setdefault(before, []).append((home, span))
    last = -1
    for at in chosen:
        if at == last + 1:
            for (home, span), (following, _) in pairwise([*images.get(at, ()), (0, None)]):
                # A script shows the first of two, of which the second is for browsers without any.
                if not (blocks.tags[following] == "noscript" and blocks.parents[following] == home):
                    writer.write(home, blocks.pieces(span))
        if not is_gutter(blocks, at):
            home = blocks.homes[at]
            is_code = blocks.tags[home] == "pre"
            writer.write(home, blocks.pieces(blocks.spans[at], is_code=is_code))
        last = at
    return writer.finish()


class _Writer:
    def __init__(self, blocks: PageBlocks, layout: set[int]) -> None:
        self._body = etree.Element("body")
        self._blocks = blocks
        self._layout = layout
        self._steps: dict[int, tuple[Step, ...]] = {}
        self._open: list[tuple[Step, Element]] = []
        # Lines of code, joined once: to add each to the text of its element would take O(n).
        self._codes: list[tuple[Element, list[str]]] = []
        # Of a list, the container that was counted last, with its number.
        self._counted: dict[int, tuple[int, int]] = {}
        self._columns: dict[int, int] = {}
        self._padding = _MAX_PADDING

    def write(self, home: int, pieces: Sequence[Any]) -> None:
        """Add a block."""
        place = self._place(self._steps_to(home))
        tags, parents = self._blocks.tags, self._blocks.parents
        level = HEADINGS.get(tags[home]) or HEADINGS.get(tags[parents[home]])
        if place.tag == "code":
            self._write_code(place, pieces)
            return
        may_hold = {"cell"} if level else {"cell", "item"}
        if place.tag in may_hold and _is_empty(place):
            into = place
        elif level:
            into = SubElement(place, "head", rend=level)
        else:
            into = SubElement(place, "p")
        write_inline(into, pieces)

    def finish(self) -> Element:
        """Return the body, without labels that say the language of the code below."""
        for place, lines in self._codes:
            place.text = "\n".join(lines)
            label = place.getprevious()
            is_label = label is not None and label.tag == "p" and label.text and not len(label)
            if is_label and label.text.lower() == place.get("lang", "").lower():
                label.getparent().remove(label)
        return self._body

    def _write_code(self, place: Element, pieces: Sequence[Any]) -> None:
        if place.get("lang") is None:
            _set_language(place, (one for one in pieces if getattr(one, "tag", "") == "code"))
        verbatim = _xml("".join(map(_verbatim, pieces)))
        if self._codes and self._codes[-1][0] is place:
            self._codes[-1][1].append(verbatim)
        elif verbatim := verbatim.strip("\n"):
            self._codes.append((place, [verbatim]))

    def _steps_to(self, home: int) -> tuple[Step, ...]:
        """Return the containers above a block that give content its shape, outermost first."""
        climbed = []
        at = home
        while at not in self._steps and at:
            climbed.append(at)
            at = self._blocks.parents[at]
        steps = self._steps.get(at, ())
        for at in reversed(climbed):
            tag, kind = self._blocks.tags[at], STRUCTURE.get(self._blocks.tags[at])
            if steps and self._is_beside(tag, steps[-1]):
                steps = steps[:-1]
            if kind and at not in self._layout and len(steps) < _MAX_NESTING:
                last = steps[-1][1] if steps else ""
                if kind == "item" and last != "list":
                    steps = (*steps, (-at, "list"))
                fits = {"row": last == "table", "cell": last == "row"}
                if fits.get(kind, last not in {"code", "table", "row"}):
                    steps = (*steps, (at, kind))
            self._steps[at] = steps
        return steps

    def _is_beside(self, tag: str, step: Step) -> bool:
        """Return whether an element is no part of the container that it stands in.

        A caption is no row, and the parser leaves ``<dd>`` open where another one begins.
        """
        at, kind = step
        if tag == "caption":
            return kind == "table"
        return tag in {"dt", "dd"} and at >= 0 and self._blocks.tags[at] in {"dt", "dd"}

    def _place(self, steps: tuple[Step, ...]) -> Element:
        """Return the element for the innermost step; what is open already goes on."""
        same = 0
        for (step, _), wanted in zip(self._open, steps, strict=False):
            if step != wanted:
                break
            same += 1
        del self._open[same:]
        place = self._open[-1][1] if self._open else self._body
        for step in steps[same:]:
            place = self._begin(place, step)
            self._open.append((step, place))
        while place.tag in {"list", "table", "row"}:
            # Text that stands between items or cells.
            inner = {"list": "item", "table": "row", "row": "cell"}[place.tag]
            place = SubElement(place, inner)
        return place

    def _begin(self, place: Element, step: Step) -> Element:
        """Return a new element for a container."""
        at, kind = step
        tag = self._blocks.tags[at] if at >= 0 else "ul"
        if kind == "cell" and tag in {"td", "th"}:
            self._pad(place, at)
        made = SubElement(place, kind)
        tags, parents = self._blocks.tags, self._blocks.parents
        if tag == "th" or (tag == "td" and tags[parents[parents[at]]] == "thead"):
            made.set("role", "head")
        elif tag in {"ol", "dl", "dt", "dd"}:
            made.set("rend", tag)
        elif tag == "pre":
            made.set("rend", "block")
            around = [at]
            for _ in range(_MAX_AROUND_CELL if tags[parents[at]] == "td" else _MAX_AROUND_CODE):
                around.append(parents[around[-1]])
            _set_language(made, (self._blocks.containers[one] for one in around))
        elif tag == "li" and place.get("rend") == "ol":
            made.set("n", str(self._number(self._open[-1][0][0], at)))
        return made

    def _number(self, ordered: int, item: int) -> int:
        """Return the number of an item of an ordered list; items that are left out count."""
        tags, parents, containers = self._blocks.tags, self._blocks.parents, self._blocks.containers
        at, number = self._counted.get(ordered, (ordered, 0))
        if at == ordered:
            number = whole_number(containers[ordered].get("start"), 1) - 1
        for one in range(at + 1, item + 1):
            if tags[one] == "li" and parents[one] == parents[item]:
                number = whole_number(containers[one].get("value"), number + 1)
        self._counted[ordered] = item, number
        return number

    def _pad(self, row: Element, cell: int) -> None:
        """Add empty cells in front of a cell until it stands in its column."""
        if cell not in self._columns:
            self._columns |= columns_of(self._blocks, cell)
        missing = min(self._columns.get(cell, 0) - len(row), self._padding)
        for _ in range(missing):
            self._padding -= 1
            SubElement(row, "cell")


def _set_language(code: Element, tags: Iterable[Tag]) -> None:
    """Note the language that a page names of code on one of some tags."""
    for tag in tags:
        attributes = dict(tag.items())
        named = attributes.get("data-lang") or attributes.get("data-language")
        found = _LANGUAGE.search(attributes.get("class", ""))
        named = _NO_LANGUAGE.sub(
            "", named or (found and "".join(filter(None, found.groups()))) or ""
        )
        if _LANGUAGE_NAME.fullmatch(named):
            code.set("lang", named)
            return


def _verbatim(piece: Any) -> str:
    if isinstance(piece, str):
        return piece
    return "\n" if piece is not None and piece.tag == "br" else ""


def _is_empty(element: Element) -> bool:
    return not element.text and next(element.iterchildren(), None) is None


def write_inline(into: Element, pieces: Sequence[Any]) -> None:  # noqa: PLR0912  # calls cost more
    """Write a block's text into an element, with its links, emphasis and images."""
    # The elements that are open, each with its last child and the texts behind that, which are
    # joined once; None leaves no trace.
    opened: list[list[Any] | None] = []
    here: list[Any] = [into, None, []]
    above: list[list[Any]] = []
    after_space, source = True, None
    if len(pieces) == 1 and isinstance(pieces[0], str):
        into.text = _xml(" ".join(pieces[0].split()))
        return
    for piece in pieces:
        if isinstance(piece, str):
            text = " ".join(piece.split())
            if not after_space and piece[0].isspace():
                text = f" {text}"
            if piece[-1].isspace() and text and text != " ":
                text += " "
            if text:
                here[2].append(text)
                after_space = text[-1] == " "
        elif piece is not None:
            if piece.tag == "img":
                made, source = _graphic(here[0], piece, source), None
            else:
                is_deep = len(above) >= _MAX_INLINE_NESTING
                made = None if is_deep else _inline_element(here[0], piece)
                source = piece if piece.tag == "source" else source
            if made is None or made.tag in _WITHOUT_TEXT:
                opened.append(None)
            else:
                above.append(here)
                opened.append(here := [made, None, []])
            if made is not None and made.tag in _WITHOUT_TEXT:
                _follow(here, made)
                after_space = made.tag == "lb"
        elif opened and opened.pop() is not None:
            _follow(here, here[1])
            closed, last, _ = here
            here = above.pop()
            if closed.text or last is not None:
                _follow(here, closed)
            else:
                here[0].remove(closed)
    for unfinished in (here, *above):
        _follow(unfinished, None)
    _trim_end(into)


def _inline_element(place: Element, source: Element) -> Element | None:
    tag = source.tag
    if tag == "br":
        return SubElement(place, "lb")
    kind = _INLINE.get(tag)
    if tag == "a" and source.get("href") is None:
        return None
    if kind is None or (kind[0] == place.tag and kind[0] in {"ref", "code"}):
        return None
    made = SubElement(place, kind[0])
    if kind[1]:
        made.set("rend", kind[1])
    elif kind[0] == "ref":
        made.set("target", _xml((source.get("href") or "").strip()))
    return made


def _graphic(place: Element, image: Element, source: Tag | None) -> Element | None:
    """Add a picture; a ``source`` in front of it may hold its only address."""
    urls = (_image_url(dict(one.items())) for one in (image, source) if one is not None)
    url = next(filter(None, urls), None)
    if url is None:
        return None
    made = SubElement(place, "graphic", src=_xml(url))
    if alt := (image.get("alt") or "").strip():
        made.set("alt", _xml(alt))
    return made


def _image_url(attributes: dict[str, str]) -> str | None:
    """Return what a browser loads in the end: a script may put it in the place of ``src``."""
    # Some of these hold a flag or a size.
    late = (url.strip() for name, url in attributes.items() if _LATE_SOURCE.fullmatch(name))
    named = (*(url for url in late if "/" in url or "." in url), attributes.get("src", "").strip())
    sets = (url.split() for name, url in attributes.items() if name.endswith("srcset"))
    urls = (*named, *(candidates[0].rstrip(",") for candidates in sets if candidates))
    return next((url for url in urls if url and not url.startswith("data:")), None)


def _follow(here: list[Any], child: Element | None) -> None:
    """Write the texts behind the last child of an element, which another one follows."""
    place, last, texts = here
    if texts:
        text = _xml("".join(texts))
        if last is None:
            place.text = (place.text or "") + text
        else:
            last.tail = (last.tail or "") + text
        here[2] = []
    here[1] = child


def _trim_end(into: Element) -> None:
    place = into
    while (last := next(place.iterchildren(reversed=True), None)) is not None:
        if last.tail:
            last.tail = last.tail.rstrip() or None
            return
        place = last
    if place.text:
        place.text = place.text.rstrip() or None


def _xml(text: str) -> str:
    """Return a text without the characters that XML has no place for."""
    return text if text.isprintable() else NOT_IN_XML.sub("", text)
