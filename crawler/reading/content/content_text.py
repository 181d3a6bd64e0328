"""Write the content of a page as plain text, Markdown, HTML or XML."""

from __future__ import annotations

import re
from copy import deepcopy
from itertools import pairwise
from typing import Any, NamedTuple
from unicodedata import category
from urllib.parse import urljoin, urlsplit

from lxml import etree
from lxml.etree import strip_elements, strip_tags, tostring

from crawler.reading.content.content_xml import unpack_content
from crawler.reading.content.text_writer import (
    ListItem,
    TextWriter,
    WrittenBlock,
    code_text,
    indented,
    is_block,
    printable,
)

Element = Any  # lxml has no types

_EMPHASIS_MARKS = {
    "#b": ("**", "**"),
    "#i": ("*", "*"),
    "#u": ("<u>", "</u>"),
    "#sub": ("<sub>", "</sub>"),
    "#sup": ("<sup>", "</sup>"),
}
_STRUCK = ("~~", "~~")
_TAGS = {"**": ("<b>", "</b>"), "*": ("<i>", "</i>"), "~~": ("<del>", "</del>")}
"""Replacements for marks that CommonMark would not read as such where they are."""

# What could be markup: a backslash before punctuation, "_" but within a word, "<" where a tag may
# begin, "&" where a reference may, "$" where a formula might.
_MARKS = (
    r"[*`~\[\]]|(?<!\w)_|_(?!\w)|\\(?=[!-/:-@\[-`{-~]|\Z)|<(?=[A-Za-z/!?])"
    r"|&(?=#?[A-Za-z0-9]{1,40};)"
)
_DOLLAR = r"|\$(?=[^\s$][^$]*(?<!\s)(?:\$(?!\d){})|\$[^$]*\$\$)"
_SPECIAL, _BEFORE_FORMULA = (re.compile(_MARKS + _DOLLAR.format(end)) for end in ("", r"|\Z"))
# The last is the rule below the header of a table.
_BLOCK_START = re.compile(r"#{1,6}(?=\s|$)|>|[-+](?=[\s:|-]|$)|=+\s*$|[:|][\s:|-]*$")
_ESCAPED = r"\\\g<0>"
_HEADING_END = re.compile(r"(?:^|(?<=\s))#+$")
_NUMBER_START = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
# A formula ends before the next one begins, so that each character is looked at twice at most.
_FORMULA = re.compile(
    r"(?<!\\)\\\(((?:[^\\]|\\[^()\[\]])++)\\\)|(?<![\\\w])\\\[((?:[^\\]|\\[^()\[\]])++)\\\]"
)
_DISPLAYED = "$$"
_EMPTY_LINE = re.compile(r"(\n\s*\n)")
_BACKTICKS = re.compile("`+")
_MAX_NUMBER = 999_999_999
"""CommonMark takes a longer number for text."""


class MarkdownWriter(TextWriter):
    """Writes Markdown."""

    displayed = "\n$$\n{}\n$$\n"

    def write(self, body: Element) -> str:
        """Return a content as Markdown; its tree is changed."""
        _merge_emphasis(body)
        return "\n".join(self.joined(self.blocks(body)))

    def joined(self, blocks: list[WrittenBlock], *, in_item: bool = False) -> list[str]:
        """Return the lines of blocks with an empty line between, but for a list in its item."""
        lines = list(blocks[0].lines) if blocks else []
        for before, block in pairwise(blocks):
            # Of ordered lists only one that begins with 1 ends a paragraph.
            is_close = in_item and before.kind == "p" and block.mark in {"- ", "* ", "1. ", "1) "}
            if not is_close:
                lines.append("")
            lines += block.lines
        return lines

    def list_block(self, items: list[ListItem], before: WrittenBlock | None) -> WrittenBlock:
        """Return a list; its marks differ from those of a list right in front of it.

        Where the numbers of an ordered list do not go on, their other mark begins a list again.
        """
        first = _mark(items[0].number, is_other=False)
        is_other = before is not None and before.last_mark[-2:] == first[-2:]
        first = mark = _mark(items[0].number, is_other=is_other)
        lines, expected = list[str](), items[0].number
        for item in items:
            if item.number != expected:
                is_other = not is_other
            mark = _mark(item.number, is_other=is_other)
            lines += indented(mark, self.joined(item.blocks, in_item=True))
            expected = None if item.number is None else item.number + 1
        return WrittenBlock("list", lines, first, mark)

    def paragraph(self, text: str) -> list[str]:
        """Return the lines of a run of text, two spaces at the end of each that a break ends.

        Two breaks end a paragraph.
        """
        if len(parts := _EMPTY_LINE.split(text)) > 1:
            paragraphs = filter(None, map(self.paragraph, parts[::2]))
            return [line for lines in paragraphs for line in ("", *lines)][1:]
        lines, is_formula = list[str](), False
        for line in super().paragraph(text):
            if line == _DISPLAYED:
                is_formula = not is_formula
            elif not is_formula:
                line = _without_block_start(line)  # noqa: PLW2901
            lines.append(line)
        broken = (
            line if _DISPLAYED in {line, following} else f"{line}  "
            for line, following in pairwise(lines)
        )
        return [*broken, *lines[-1:]]

    def heading(self, element: Element) -> list[str]:
        level = element.get("rend") or ""
        text = self.cell(self.inline(element))
        marks = "#" * int(level[1]) if re.fullmatch("h[1-6]", level) else "##"
        text = _HEADING_END.sub(_ESCAPED, text)
        return [f"{marks} {text}"] if text else []

    def code(self, text: str, language: str = "") -> list[str]:
        lines = super().code(text)
        fence = _fence(text, 3)
        return [f"{fence}{language}", *lines, fence] if lines else []

    def quotation(self, lines: list[str]) -> list[str]:
        return [f"> {line}" if line else ">" for line in lines]

    def table(self, element: Element) -> list[str]:
        """Return a table; its first row is the header if its columns are headed, else none is."""
        rows = [
            (row, [cell.replace("|", "\\|") for cell in cells]) for row, cells in self.rows(element)
        ]
        if not rows:
            return []
        columns = max(len(cells) for _, cells in rows)
        lines = [f"| {' | '.join(cells)} |" for _, cells in rows]
        head = [""] * columns
        if _is_header(rows[0][0]):
            head = rows[0][1] + [""] * (columns - len(rows[0][1]))
            lines = lines[1:]
        return [f"| {' | '.join(head)} |", f"|{'---|' * columns}", *lines]

    def cell_of(self, element: Element) -> str:
        return "<br>".join(filter(None, _CELL.joined(_CELL.blocks(element))))

    def inline_element(self, element: Element, within: frozenset[str]) -> str:
        tag, rend = element.tag, element.get("rend") or ""
        if tag == "lb":
            return "\n"
        if tag == "graphic":
            return self._image(element)
        if tag == "ref":
            return self._reference(element, within)
        if tag == "code" or rend == "#t":
            return self._code(element, within)
        mark = _STRUCK if tag == "del" else _EMPHASIS_MARKS.get(rend)
        if mark is None or mark[0] in within:
            return self.inline(element, within)
        text = self.inline(element, within | {mark[0]})
        if mark[0] in _TAGS and not _are_marks_read(element, text):
            mark = _TAGS[mark[0]]
        return _wrapped(text, *mark)

    def text(self, text: str | None, following: Element | None = None) -> str:
        """Return a text of the tree with what could be markup escaped, and formulas as such."""
        if not text:
            return ""
        text = super().text(text)
        if "\\(" not in text and "\\[" not in text:
            return _escaped(text, following)
        parts, end = list[str](), 0
        for found in _FORMULA.finditer(text):
            parts.append(_escaped(text[end : found.start()], None, _BEFORE_FORMULA))
            tex = (found[1] or found[2]).strip()
            parts.append(f"${tex}$" if found[1] else self.displayed.format(tex))
            end = found.end()
        return "".join([*parts, _escaped(text[end:], following)])

    def _reference(self, element: Element, within: frozenset[str]) -> str:
        target = element.get("target")
        if not target or "[" in within:
            return self.inline(element, within)
        return _wrapped(self.inline(element, within | {"["}), "[", f"]({_destination(target)})")

    def _image(self, element: Element) -> str:
        said = " ".join((element.get("alt") or element.get("title") or "").split())
        return f"![{self.text(said)}]({_destination(element.get('src') or '')})"

    def _code(self, element: Element, within: frozenset[str]) -> str:
        """Return code within a line; what is nothing but a link becomes a link of code."""
        inner = element[0] if len(element) == 1 else None
        is_link = inner is not None and inner.tag == "ref" and not element.text and not inner.tail
        span = _code_span(printable(code_text(element)))
        target = inner.get("target") if inner is not None and is_link else None
        if not target or "[" in within:
            return span
        return _wrapped(span, "[", f"]({_destination(target)})")


def _are_marks_read(element: Element, text: str) -> bool:
    """Return whether CommonMark reads marks around the text of an element.

    Between a letter and punctuation they are read only where the letter is inside, and beside
    other marks perhaps with these.
    Source: https://spec.commonmark.org/0.31.2/#left-flanking-delimiter-run
    """
    inner, sibling = text.strip().strip("*"), element.getprevious()
    before = element.getparent().text if sibling is None else sibling.tail
    before = " " if text[:1].isspace() else before or _edge(element, sibling)
    if before == "*":
        return False
    after = " " if text[-1:].isspace() else element.tail or _edge(element, element.getnext())
    after = "x" if after == "*" else after  # the next element may be empty
    sides = (inner[:1], before[-1:]), (inner[-1:], after[:1])
    return all((_kind(inside), _kind(outside)) != ("P", "L") for inside, outside in sides)


def _edge(element: Element, sibling: Element | None) -> str:
    """Return what is beside an element without a text between: nothing, a mark or a letter."""
    if sibling is None:
        return "" if is_block(element.getparent()) else "x"
    is_gap = sibling.tag == "lb" or is_block(sibling)
    return "" if is_gap else "*" if sibling.tag in {"hi", "del"} else "x"


def _kind(character: str) -> str:
    """Return P for punctuation and symbols, L for what else is no space, or nothing."""
    if not character or character.isspace():
        return ""
    return "P" if category(character)[0] in "PS" else "L"


class _CellWriter(MarkdownWriter):
    """Writes what stands in a cell: lines without blocks, which a row of a table cannot hold."""

    displayed = "$${}$$"
    joined = TextWriter.joined
    paragraph = TextWriter.paragraph
    heading = TextWriter.heading
    quotation = TextWriter.quotation

    def code(self, text: str, language: str = "") -> list[str]:
        return [_code_span(line) for line in TextWriter.code(self, text)]

    def table(self, element: Element) -> list[str]:
        return [" ".join(filter(None, cells)) for _, cells in self.rows(element)]


_CELL = _CellWriter()


def _merge_emphasis(body: Element) -> None:
    """Join emphasis that follows the same emphasis: its marks would be read otherwise."""
    for element in list(body.iter("hi", "del")):
        before = element.getprevious()
        if before is None or before.tail or before.tag != element.tag:
            continue
        if before.get("rend") == element.get("rend"):
            element.text = _absorbed(before, element)


def _absorbed(before: Element, element: Element) -> str:
    """Move what an element holds in front of the text of the next one, and drop it."""
    moved, text = list(before), element.text or ""
    for at, child in enumerate(moved):
        element.insert(at, child)
    if moved:
        moved[-1].tail = (moved[-1].tail or "") + text
        text = ""
    before.getparent().remove(before)
    return (before.text or "") + text


def _escaped(text: str, following: Element = None, special: re.Pattern[str] = _SPECIAL) -> str:
    escaped = special.sub(_ESCAPED, text)
    # It would make an image of a link.
    if following is not None and following.tag in {"ref", "code"} and escaped.endswith("!"):
        return f"{escaped[:-1]}\\!"
    return escaped


def _without_block_start(line: str) -> str:
    """Return a line that begins no heading, quotation, list or rule."""
    if _BLOCK_START.match(line):
        return f"\\{line}"
    return _NUMBER_START.sub(r"\1\\\2", line, count=1) if line[0].isdigit() else line


def _mark(number: int | None, *, is_other: bool) -> str:
    if number is None:
        return "* " if is_other else "- "
    return f"{min(number, _MAX_NUMBER)}{')' if is_other else '.'} "


def _is_header(row: Element) -> bool:
    """Return whether the cells of a row head the columns; one at its left may head the row."""
    cells = row.findall("cell")
    if len(cells) > 1:
        cells = [cell for cell in cells[1:] if "".join(cell.itertext()).strip()]
    return bool(cells) and all(cell.get("role") == "head" for cell in cells)


def _wrapped(text: str, opening: str, closing: str) -> str:
    """Return a text between marks, white space at its ends outside them."""
    if len(parts := _EMPTY_LINE.split(text)) > 1:
        parts[::2] = (_wrapped(part, opening, closing) for part in parts[::2])
        return "".join(parts)
    inner = text.strip()
    if not inner:
        return text
    start = len(text) - len(text.lstrip())
    return f"{text[:start]}{opening}{inner}{closing}{text[start + len(inner) :]}"


def _code_span(text: str) -> str:
    fence = _fence(text, 1)
    inner = " ".join(text.split())
    edge = " " if inner[:1] == "`" or inner[-1:] == "`" else ""
    spaced = f"{' ' * text[:1].isspace()}{inner}{' ' * text[-1:].isspace()}"
    return _wrapped(spaced, f"{fence}{edge}", f"{edge}{fence}")


def _fence(text: str, min_length: int) -> str:
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    return "`" * max(min_length, longest + 1)


def _destination(url: str) -> str:
    if not re.search(r"[\s()<>\\]", url) and url:
        return url
    escaped = re.sub(r"[<>\\]", _ESCAPED, " ".join(url.split()))
    return f"<{escaped}>"


_HTML = {"quote": "blockquote", "lb": "br", "graphic": "img", "ref": "a", "row": "tr"}
_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
_EMPHASIS = {"#b": "b", "#i": "i", "#u": "u", "#t": "kbd", "#sub": "sub", "#sup": "sup"}

_SCHEMES = frozenset({"", "http", "https", "mailto", "tel", "ftp"})
"""A link or image of any other, such as ``javascript``, is written as its text."""


class Shown(NamedTuple):
    """Parts of a content that are written beside its words.

    Attributes:
        links: Whether links lead somewhere; else only their words are written.
        images: Whether images are written.
    """

    links: bool = True
    images: bool = False


def shown_text(packed: bytes) -> str:
    """Return a stored content as plain text, a line for each paragraph, item and row.

    Raises:
        ContentError: It cannot be read.
    """
    return plain_text(unpack_content(packed, only_text=True))


def plain_text(body: Element) -> str:
    """Return a content as plain text, without where its links lead."""
    return TextWriter().write(body)


def markdown(body: Element) -> str:
    """Return a content as Markdown."""
    return MarkdownWriter().write(deepcopy(body))


def html(body: Element) -> Element:
    """Return a content as the root of a simple HTML page, without a head."""
    body = deepcopy(body)
    blocks = {code for code in body.iter("code") if is_block(code)}
    for element in list(body.iter(*_HTML, "head", "hi", "list", "item", "cell", "code")):
        attributes = dict(element.attrib)
        if element.tag != "graphic":
            element.attrib.clear()
        element.tag = "pre" if element in blocks else _html_tag(element.tag, attributes)
        if element.tag == "a":
            element.set("href", attributes.get("target", ""))
        elif element.tag == "li" and "n" in attributes:
            element.set("value", attributes["n"])
    root = etree.Element("html")
    root.append(body)
    return root


def _html_tag(tag: str, attributes: dict[str, str]) -> str:
    rend = attributes.get("rend", "")
    if tag == "head":
        return rend if rend in _HEADINGS else "h3"
    if tag == "hi":
        return _EMPHASIS.get(rend, "i")
    if tag == "list":
        return rend if rend in {"ol", "dl"} else "ul"
    if tag == "item":
        return rend[:2] if rend.startswith(("dt", "dd")) else "li"
    if tag == "cell":
        return "th" if attributes.get("role") == "head" else "td"
    return _HTML.get(tag, tag)


def prepared(packed: bytes, url: str, shown: Shown) -> Element:
    """Return the tree of a stored content with what is to be written of it, its links absolute.

    Raises:
        ContentError: It cannot be read.
    """
    body = unpack_content(packed)
    if not shown.images:
        strip_elements(body, "graphic", with_tail=False)
    if not shown.links:
        strip_tags(body, "ref")
    for name, attribute in (("ref", "target"), ("graphic", "src")):
        for element in list(body.iter(name)):
            address = absolute(url, element.get(attribute) or "")
            if address:
                element.set(attribute, address)
            else:
                element.tag = "unwritten"
    strip_tags(body, "unwritten")
    return body


def absolute(base: str, address: str) -> str:
    """Return where a link leads, or nothing where no page can be."""
    try:
        found = urljoin(base, address.strip())
        return found if urlsplit(found).scheme.lower() in _SCHEMES else ""
    except ValueError:
        return ""


def xml(root: Element, method: str = "xml") -> str:
    """Return a tree as XML, or as HTML."""
    return str(tostring(root, encoding="unicode", method=method))
