"""Write a content as Markdown: CommonMark, with the tables and the struck text of GitHub's."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from crawler.reading.content.text_writer import (
    ListItem,
    TextWriter,
    WrittenBlock,
    code_text,
    indented,
    printable,
)

Element = Any  # lxml has no types

_EMPHASIS = {
    "#b": ("**", "**"),
    "#i": ("*", "*"),
    "#u": ("<u>", "</u>"),
    "#sub": ("<sub>", "</sub>"),
    "#sup": ("<sup>", "</sup>"),
}
_STRUCK = ("~~", "~~")

# What could be markup: a backslash before punctuation, "_" but within a word, "<" where a tag may
# begin, "&" where a reference may.
_SPECIAL = re.compile(
    r"[*`~\[\]]|(?<!\w)_|_(?!\w)|\\(?=[!-/:-@\[-`{-~]|\Z)|<(?=[A-Za-z/!?])|&(?=#?[A-Za-z0-9]{1,40};)"
)
# The last is the rule below the header of a table.
_BLOCK_START = re.compile(r"#{1,6}(?=\s|$)|>|[-+](?=[\s:|-]|$)|=+\s*$|[:|][\s:|-]*$")
_ESCAPED = r"\\\g<0>"
_HEADING_END = re.compile(r"(?:^|(?<=\s))#+$")
_NUMBER_START = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
# A formula ends before the next one begins, so that each character is looked at twice at most.
_FORMULA = re.compile(
    r"(?<!\\)\\\(((?:[^\\]|\\[^()\[\]])++)\\\)|(?<!\S)\\\[((?:[^\\]|\\[^()\[\]])++)\\\]"
)
_DISPLAYED = "$$"
_BACKTICKS = re.compile("`+")
_MAX_NUMBER = 999_999_999
"""CommonMark takes a longer number for text."""


class MarkdownWriter(TextWriter):
    """Writes Markdown."""

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

        Where the numbers of an ordered list do not go on, their other mark begins a list anew.
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
        """Return the lines of a run of text, two spaces at the end of each that a break ends."""
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

    def code(self, text: str) -> list[str]:
        lines = super().code(text)
        fence = _fence(text, 3)
        return [fence, *lines, fence] if lines else []

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
        mark = _STRUCK if tag == "del" else _EMPHASIS.get(rend)
        if mark is None or mark[0] in within:
            return self.inline(element, within)
        return _wrapped(self.inline(element, within | {mark[0]}), *mark)

    def text(self, text: str | None, following: Element | None = None) -> str:
        """Return a text of the tree with what could be markup escaped, and formulas as such."""
        if not text:
            return ""
        text = super().text(text)
        if "\\(" not in text and "\\[" not in text:
            return _escaped(text, following)
        parts, end = list[str](), 0
        for found in _FORMULA.finditer(text):
            parts.append(_escaped(text[end : found.start()]))
            is_inline = found[1] is not None
            parts.append(f"${found[1]}$" if is_inline else f"\n$$\n{found[2].strip()}\n$$\n")
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


def _escaped(text: str, following: Element | None = None) -> str:
    escaped = _SPECIAL.sub(_ESCAPED, text)
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
