"""Write chosen blocks as a body in the vocabulary of trafilatura's XML.

It is written as text, since an element of lxml takes longer than all that is written into it.
Lists, tables, quotations and code keep their shape where they are that; tables and lists that lay
out whole pages do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from crawler.reading.content.content_shapes import (
    HEADINGS,
    STRUCTURE,
    columns_of,
    completed,
    is_gutter,
    layout_containers,
    whole_number,
)
from crawler.reading.content.content_xml import in_attribute

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.reading.content.blocks import BlockSpan, PageBlocks
    from crawler.reading.flat_page import Tag

_INLINE: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("b", "strong"), ("hi", '<hi rend="#b">')),
    **dict.fromkeys(("i", "em"), ("hi", '<hi rend="#i">')),
    **dict.fromkeys(("kbd", "samp", "tt", "var"), ("hi", '<hi rend="#t">')),
    **{tag: ("hi", f'<hi rend="#{tag}">') for tag in ("u", "sub", "sup")},
    **dict.fromkeys(("del", "s", "strike"), ("del", "<del>")),
    "code": ("code", "<code>"),
    "a": ("ref", ""),
}
SHAPING = frozenset([*_INLINE, "br", "img", "source"])
"""Inline elements that content needs; of others, such as ``span``, their text alone."""

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

# What a text stands in between the parts of a list or table.
_AROUND_TEXT = {"list": ("item",), "table": ("row", "cell"), "row": ("cell",)}

Step = tuple[int, str]
"""A container that gives content its shape: its index and the element that it becomes."""


def build_body(blocks: PageBlocks, chosen: Iterable[int]) -> str:
    """Return the element ``body`` as XML, with the chosen blocks in the order of the page.

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


@dataclass(slots=True)
class _Place:
    """An element that is open.

    Attributes:
        step: The container that it stands for.
        attributes: Its attributes, as they are written.
        begun: Index of its tag among the parts that are written.
        language: The language that the page names of code in it, or nothing.
        children: Number of its elements, or 1 for a text of its own.
        lines: Lines of code, which are written where it ends, behind their language.
    """

    step: Step
    attributes: str
    begun: int
    language: str = ""
    children: int = 0
    lines: list[str] = field(default_factory=list)


class _Writer:
    def __init__(self, blocks: PageBlocks, layout: set[int]) -> None:
        self._parts = ["<body>"]
        self._blocks = blocks
        self._layout = layout
        self._steps: dict[int, tuple[Step, ...]] = {}
        self._open = [_Place((0, "body"), "", 0)]
        # Of a list, the container that was counted last, with its number.
        self._counted: dict[int, tuple[int, int]] = {}
        self._columns: dict[int, int] = {}
        self._padding = _MAX_PADDING

    def write(self, home: int, pieces: Sequence[Any]) -> None:
        """Add a block."""
        place = self._place(self._steps_to(home))
        kind = place.step[1]
        if kind == "code":
            _add_code(place, pieces)
            return
        tags, parents = self._blocks.tags, self._blocks.parents
        level = HEADINGS.get(tags[home]) or HEADINGS.get(tags[parents[home]])
        around = _AROUND_TEXT.get(kind, ())  # what stands between items or cells
        holder = around[-1] if around else "" if place.children else kind
        written = inline(pieces)
        if holder != "cell" and (level or holder != "item"):
            attributes = f' rend="{level}"' if level else ""
            written = _element("head" if level else "p", attributes, written)
        for name in reversed(around):
            written = _element(name, "", written)
        if written:
            self._parts.append(written)
            place.children += 1

    def finish(self) -> str:
        """Return the body."""
        while self._open:
            self._end()
        return "".join(self._parts)

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

    def _place(self, steps: tuple[Step, ...]) -> _Place:
        """Return the element for the innermost step; what is open already goes on."""
        same = 1
        for place, wanted in zip(self._open[1:], steps, strict=False):
            if place.step != wanted:
                break
            same += 1
        while len(self._open) > same:
            self._end()
        for step in steps[same - 1 :]:
            self._begin(step)
        return self._open[-1]

    def _begin(self, step: Step) -> None:
        """Begin an element for a container."""
        (at, kind), around = step, self._open[-1]
        tags, parents = self._blocks.tags, self._blocks.parents
        tag, attributes, language = tags[at] if at >= 0 else "ul", "", ""
        if kind == "cell" and tag in {"td", "th"}:
            self._pad(around, at)
        if tag == "th" or (tag == "td" and tags[parents[parents[at]]] == "thead"):
            attributes = ' role="head"'
        elif tag in {"ol", "dl", "dt", "dd"}:
            attributes = f' rend="{tag}"'
        elif tag == "pre":
            attributes = ' rend="block"'
            inside = [at]
            for _ in range(_MAX_AROUND_CELL if tags[parents[at]] == "td" else _MAX_AROUND_CODE):
                inside.append(parents[inside[-1]])
            language = _language_of(self._blocks.containers[one] for one in inside)
        elif tag == "li" and around.attributes == ' rend="ol"':
            attributes = f' n="{self._number(around.step[0], at)}"'
        around.children += 1
        self._open.append(_Place(step, attributes, len(self._parts), language))
        self._parts.append(f"<{kind}{attributes}>")

    def _end(self) -> None:
        """End the innermost element; a label that says the language of code is left out."""
        place, parts = self._open.pop(), self._parts
        kind = place.step[1]
        if kind == "code":
            named = f' lang="{place.language}"' if place.language else ""
            label = f"<p>{place.language}</p>".lower()
            if place.lines and parts[place.begun - 1].lower() == label:
                parts[place.begun - 1] = ""
            code = escape("\n".join(place.lines), quote=False).replace("\r", "&#13;")
            parts[place.begun] = f"<{kind}{place.attributes}{named}>{code}"
        if len(parts) == place.begun + 1 and not place.lines:
            parts[-1] = f"{parts[-1][:-1]}/>"
        else:
            parts.append(f"</{kind}>")

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

    def _pad(self, row: _Place, cell: int) -> None:
        """Add empty cells in front of a cell until it stands in its column."""
        if cell not in self._columns:
            self._columns |= columns_of(self._blocks, cell)
        missing = min(self._columns.get(cell, 0) - row.children, self._padding)
        if missing > 0:
            self._padding -= missing
            row.children += missing
            self._parts.append("<cell/>" * missing)


def _element(name: str, attributes: str, inner: str) -> str:
    return f"<{name}{attributes}>{inner}</{name}>" if inner else f"<{name}{attributes}/>"


def _language_of(tags: Iterable[Tag]) -> str:
    """Return the language that a page names of code on one of some tags, or nothing."""
    for tag in tags:
        attributes = dict(tag.items())
        named = attributes.get("data-lang") or attributes.get("data-language")
        found = _LANGUAGE.search(attributes.get("class", ""))
        named = _NO_LANGUAGE.sub(
            "", named or (found and "".join(filter(None, found.groups()))) or ""
        )
        if _LANGUAGE_NAME.fullmatch(named):
            return named
    return ""


def _add_code(place: _Place, pieces: Sequence[Any]) -> None:
    if not place.language:
        place.language = _language_of(one for one in pieces if getattr(one, "tag", "") == "code")
    breaks = {"br": "\n"}
    verbatim = "".join(
        one if isinstance(one, str) else breaks.get(getattr(one, "tag", ""), "") for one in pieces
    )
    if place.lines or (verbatim := verbatim.strip("\n")):
        place.lines.append(verbatim)


def inline(pieces: Sequence[Any]) -> str:  # noqa: PLR0912  # calls cost more
    """Return a block's text as XML, with its links, emphasis and images."""
    if len(pieces) == 1 and isinstance(pieces[0], str):
        return escape(" ".join(pieces[0].split()), quote=False)
    parts: list[str] = []
    # The elements that are open, each with the number of parts at its begin; None leaves no trace.
    opened: list[tuple[str, int] | None] = []
    inside: list[str] = []
    after_space, source = True, None
    for piece in pieces:
        if isinstance(piece, str):
            text = " ".join(piece.split())
            if not after_space and piece[0].isspace():
                text = f" {text}"
            if piece[-1].isspace() and text and text != " ":
                text += " "
            if text:
                parts.append(escape(text, quote=False))
                after_space = text[-1] == " "
        elif piece is None:
            if opened and (begun := opened.pop()) is not None:
                inside.pop()
                if len(parts) > begun[1]:
                    parts.append(f"</{begun[0]}>")
                else:
                    parts.pop()
        elif piece.tag not in _INLINE:
            is_break = piece.tag == "br"
            written = "<lb/>" if is_break else _graphic(piece, source)
            source = piece if piece.tag == "source" else None
            opened.append(None)
            if written:
                parts.append(written)
                after_space = is_break
        else:
            name, tag = _opening(piece, inside)
            if tag:
                parts.append(tag)
                inside.append(name)
            opened.append((name, len(parts)) if tag else None)
    for at in range(len(parts) - 1, -1, -1):  # no white space stands at the end
        if parts[at][:1] != "<":
            parts[at] = parts[at].rstrip()
        if parts[at][:2] != "</":
            break
    return "".join(parts)


def _opening(source: Tag, inside: list[str]) -> tuple[str, str]:
    """Return the name and the tag of an inline element, an empty tag where none is written."""
    name, tag = _INLINE[source.tag]
    if len(inside) >= _MAX_INLINE_NESTING or (inside[-1:] == [name] and name in {"ref", "code"}):
        return name, ""
    if name == "ref" and (target := source.get("href")) is not None:
        tag = f'<ref target="{in_attribute(target.strip())}">'
    return name, tag


def _graphic(image: Tag, source: Tag | None) -> str:
    """Return a picture, if it is one; a ``source`` in front of it may hold its only address."""
    urls = (_image_url(dict(one.items())) for one in (image, source) if one is not None)
    url = next(filter(None, urls), None)
    if url is None or image.tag != "img":
        return ""
    alt = in_attribute((image.get("alt") or "").strip())
    said = f' alt="{alt}"' if alt else ""
    return f'<graphic src="{in_attribute(url)}"{said}/>'


def _image_url(attributes: dict[str, str]) -> str | None:
    """Return what a browser loads in the end: a script may put it in the place of ``src``."""
    # Some of these hold a flag or a size.
    late = (url.strip() for name, url in attributes.items() if _LATE_SOURCE.fullmatch(name))
    named = (*(url for url in late if "/" in url or "." in url), attributes.get("src", "").strip())
    sets = (url.split() for name, url in attributes.items() if name.endswith("srcset"))
    urls = (*named, *(candidates[0].rstrip(",") for candidates in sets if candidates))
    return next((url for url in urls if url and not url.startswith("data:")), None)
