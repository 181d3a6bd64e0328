"""Tell which lists and tables of a page are data, where cells stand, and what is code."""

from __future__ import annotations

import copy
import re
from collections import defaultdict
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any

from lxml.etree import SubElement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.reading.content.blocks import PageBlocks

Element = Any  # lxml has no types

STRUCTURE = {
    "ul": "list",
    "ol": "list",
    "dl": "list",
    "menu": "list",
    "dir": "list",
    "li": "item",
    "dt": "item",
    "dd": "item",
    "blockquote": "quote",
    "pre": "code",
    "table": "table",
    "tr": "row",
    "td": "cell",
    "th": "cell",
}
"""The elements that give content its shape, and what they become."""

HEADINGS = {f"h{level}": f"h{level}" for level in range(1, 7)}
_MAX_PART_CHARACTERS = 600
"""An item or cell of more text, with a heading or the like in it, is a part of a page."""

_MIN_CHOSEN = {"table": 0.6, "dl": 0.2, "ol": 0.75, "ul": 0.75}
"""Show a list or table whole if this share of its characters is content, by its tag.

Lower shares let lists of links in: .5 for all costs .011 of F1 on listings.
"""

_PARTS = frozenset({"li", "dt", "dd", "td", "th"})
_MAX_SPAN = 50
_MAX_COLUMNS = 200
"""Cells that reach into later rows are followed in this many columns of a table."""

_NUMBER = re.compile(r"\s*([0-9]{1,9})\s*")


def completed(blocks: PageBlocks, chosen: Iterable[int], layout: set[int]) -> list[int]:
    """Return the chosen blocks, and the rest of each list and table of which enough is chosen."""
    chosen = list(chosen)
    wanted, sizes = blocks.sizes_of(chosen), blocks.sizes
    whole = [
        range(at, blocks.ends[at])
        for at, tag in enumerate(blocks.tags)
        if 0 < wanted[at] < sizes[at]
        and wanted[at] >= _MIN_CHOSEN.get(tag, 1) * sizes[at]
        and at not in layout
    ]
    if not whole:
        return chosen
    inside, end = set[int](), 0
    for one in whole:  # of those within each other the outermost is walked
        inside.update(one if one.start >= end else ())
        end = max(end, one.stop)
    return sorted({*chosen, *(at for at, home in enumerate(blocks.homes) if home in inside)})


def layout_containers(blocks: PageBlocks) -> set[int]:
    """Return the lists and tables, with their items and cells, that only lay out a page.

    They hold headings, tables, forms or sections in items or cells of much text, or the title of
    the page; and tables with one row of code, or with no row of two cells.
    """
    tags, parents, sizes = blocks.tags, blocks.parents, blocks.sizes
    layout, climbed, climbed_large = set[int](), set[int](), set[int]()
    for at, tag in enumerate(tags):
        if tag not in HEADINGS and tag not in {"table", "form", "article", "section"}:
            continue
        above, is_large = parents[at], tag == "h1"
        while above:
            if tags[above] in _PARTS and sizes[above] > _MAX_PART_CHARACTERS:
                is_large = True
            seen = climbed_large if is_large else climbed
            if above in seen:
                break
            seen.add(above)
            if is_large and tags[above] in STRUCTURE and tags[above] not in {"blockquote", "pre"}:
                layout.add(above)
            above = parents[above]
    layout.update(_tables_of_one_column(blocks))
    # Rows and items of what only lays out.
    for at, tag in enumerate(tags):
        if tag in {"li", "dt", "dd", "tr", "td", "th"} and parents[at] in layout:
            layout.add(at)
    return layout


def _tables_of_one_column(blocks: PageBlocks) -> Iterator[int]:
    """Yield the tables in which no row has two cells, or one row has code beside its numbers."""
    tags, parents = blocks.tags, blocks.parents
    tables, rows, with_code = [0] * len(tags), defaultdict[int, list[int]](list), set[int]()
    for at, tag in enumerate(tags):
        up = parents[at]
        tables[at] = table = up if tags[up] == "table" else tables[up]
        if tag in {"td", "th"}:
            rows[table].append(up if tags[up] == "tr" else 0)
        elif tag == "pre":
            with_code.add(table)
    for table, begun in rows.items():
        count = len(set(begun))
        if table and (count == len(begun) or (count == 1 and table in with_code)):
            yield table


def columns_of(blocks: PageBlocks, cell: int) -> dict[int, int]:
    """Return the column of each cell of a table; cells of earlier rows may reach into a row.

    Args:
        blocks: Blocks of the page.
        cell: The container of one of its cells.

    Complexity: O(containers in the table).

    Source: https://html.spec.whatwg.org/multipage/tables.html#forming-a-table
    """
    tags, parents, containers = blocks.tags, blocks.parents, blocks.containers
    table = parents[parents[cell]]
    while table and tags[table] in {"thead", "tbody", "tfoot"}:
        table = parents[table]
    # Of each column, the number of the row before which it is taken.
    row, column, until = 0, 0, list[float]()
    columns, begun, group = dict[int, int](), -1, -1
    for at in range(table + 1, blocks.ends[table]):
        up = parents[at]
        if tags[at] not in {"td", "th"} or tags[up] != "tr":
            continue
        if parents[up] != table and parents[parents[up]] != table:
            continue  # of a table within a cell
        if up != begun:
            row, column, begun = row + 1, 0, up
        if parents[up] != group:  # no cell reaches into another group of rows
            group, until = parents[up], []
        while column < len(until) and until[column] > row:
            column += 1
        columns[at] = column
        wide = min(max(whole_number(containers[at].get("colspan"), 1), 1), _MAX_SPAN)
        high = whole_number(containers[at].get("rowspan"), 1) or inf  # 0: to the end of its group
        until += [0] * (min(column + wide, _MAX_COLUMNS) - len(until))
        for taken in range(column, min(column + wide, len(until))):
            until[taken] = row + high
        column += wide
    return columns


def is_gutter(blocks: PageBlocks, at: int) -> bool:
    """Return whether a block has the numbers of the lines of code beside it.

    Its class says so, or it counts the lines of code in the cell behind it.
    """
    home, parents, tags = blocks.homes[at], blocks.parents, blocks.tags
    if tags[home] != "pre":
        return False
    numbers = blocks.texts[at].split()
    if not all(map(str.isdecimal, numbers)):
        return False
    around = (home, parents[home], parents[parents[home]])
    if any(blocks.containers[one].is_gutter for one in around if tags[one] != "tr"):
        return True
    first = whole_number(numbers[0], 0)
    if len(numbers) == 1 or numbers != [*map(str, range(first, first + len(numbers)))]:
        return False
    cell = next((one for one in around if tags[one] == "td"), 0)
    beside = range(blocks.ends[cell], blocks.ends[parents[cell]])
    if at + 1 == len(blocks.homes) or blocks.homes[at + 1] not in beside:
        return False
    code = "".join(one for one in blocks.pieces(blocks.spans[at + 1]) if isinstance(one, str))
    return code.strip().count("\n") < len(numbers) <= code.count("\n") + 1


def whole_number(written: str | None, otherwise: int) -> int:
    found = _NUMBER.fullmatch(written) if written else None
    return int(found[1]) if found else otherwise


# Browsers of repositories and viewers of code have an element for each line.
_LINES = frozenset({"div", "li", "p", "tr"})
_LINE = re.compile(r"[.\s](?:(?:ace|cm|code|CodeMirror|crayon|diff|view)[_-])?line(?:\s|$)")
_HUNK = "@@ -"
_NUMBERED = re.compile(
    r"(?<![a-z])lines?[_-]?n(?:u?m|os?|r)|(?:blob|crayon|ln)-n|(?<![\w-])(?:lnt?|(?:rouge-)?gutter)(?![\w-])",
    re.IGNORECASE,
)
_OF_CODE = re.compile(r"code|fragment|highlight|syntax|source|crayon|listing|snippet|hljs|diff")
_MARKERS = ("data-code-marker", "data-type-marker")
_MAX_ABOVE = 3


def write_code(root: Element, blocks: PageBlocks) -> bool:
    """Replace what has an element for each line of code by ``pre``, without the lines' numbers.

    Return whether there is any.

    Complexity: O(containers), or O(elements * nesting) on a page that may have any.
    """
    tags, ends, shapes = blocks.tags, blocks.ends, set(blocks.containers)
    if not (
        any(one.is_gutter for one in shapes)
        or any(_LINE.search(f".{one.name}") for one in shapes if "line" in one.name)
        or _HUNK in "\n".join(blocks.texts)
        or ("pre" in tags and any(ends[at] > at + 1 for at, tag in enumerate(tags) if tag == "pre"))
    ):
        return False
    is_changed = False
    for holder in list(root.iter("table", "div", "ol", "td", "pre")):
        if holder.getroottree().getroot() is not root or not _holds_lines(holder):
            continue
        unnumbered = copy.deepcopy(holder)
        for number in [one for one in unnumbered.iterdescendants() if _is_number(one)]:
            number.clear(keep_tail=True)
        names = next((one.get("class", "") for one in holder.iter("code")), "")
        lines = _lines_of(unnumbered)
        if lines:
            is_changed = True
            holder[:], holder.text = [], None
            code = SubElement(holder, "pre") if holder.tag == "td" else holder
            code.tag = "pre"
            SubElement(code, "code", {"class": names}).text = "\n".join(lines)
    return is_changed


def _holds_lines(holder: Element) -> bool:
    others = ("pre", "img", "p", "table") if holder.tag == "table" else ("pre", "img")
    if next(holder.iterdescendants(*others), None) is not None:
        return False
    if holder.tag == "pre":
        return next(holder.iterdescendants(*_LINES), None) is not None
    if holder.tag == "table":
        rows = [list(row) for row in holder.iter("tr")]
        codes = [[cell for cell in row if not _is_number(cell)] for row in rows]
        numbered = sum(map(len, rows)) - sum(map(len, codes))
        said = (sum(_ink(cell.itertext()) > 0 for cell in cells) for cells in codes)
        return 2 * numbered >= len(rows) > 0 and max(said) < 2
    lines = list(holder)
    if not lines or any(line.tag not in _LINES for line in lines):
        return False
    around = (holder, *islice(holder.iterancestors(), _MAX_ABOVE))
    is_code = any(_OF_CODE.search(one.get("class", "")) for one in around)
    are_lines = is_code and all(_LINE.search(f".{line.get('class')}") for line in lines)
    is_diff = any((line.text or "").lstrip().startswith(_HUNK) for line in lines)
    return are_lines or (is_diff and all(line.tag != "p" for line in lines))


def _is_number(element: Element) -> bool:
    """Return whether an element holds the number of a line, or is where a style writes that."""
    text = ""
    for piece in element.itertext():
        text += "".join(piece.split())
        if text and not text.isdecimal():
            return False
    marks = f"{element.get('class')} {'' if text else element.keys()}"
    return _NUMBERED.search(marks) is not None or element.get("id") == f"L{text}"


def _ink(texts: Iterable[str]) -> int:
    return sum(len(part) for text in texts for part in text.split())


def _lines_of(holder: Element) -> list[str]:
    """Return the lines of code, with the signs that a style puts in front of those of a diff.

    None are returned where something else stands between them.
    """
    for end in list(holder.iterdescendants("br")):
        end.tail = f"\n{end.tail or ''}"
    lines, signs = list[str](), list[str]()
    for line in holder.iterdescendants(*_LINES):
        if next(line.iterdescendants(*_LINES), None) is None:
            texts = list(line.itertext())
            if holder.tag != "pre":  # there white space around elements is not shown
                texts = [
                    one.replace("\xa0", " ") for one in texts if one.strip("\n ") or "\n" not in one
                ]
            lines.append("".join(texts).strip("\n"))
            found = (one.get(name) for one in line.iter() for name in _MARKERS)
            signs.append(next(filter(None, found), ""))
    if _ink(lines) != _ink(holder.itertext()):
        return []
    if any(signs):
        signed = zip(signs, lines, strict=True)
        lines = [one if one[:2] == "@@" else f"{sign or ' '}{one}" for sign, one in signed]
    return lines
