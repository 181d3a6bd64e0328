r"""Tell which lists and tables of a page are data, where cells stand, and what formulas say.

A page says a formula up to four times: as TeX in an annotation, as MathML, as what a script has
drawn, and as a picture. The TeX stays, between ``\(`` and ``\)`` or ``\[`` and ``\]``, or else
the MathML is written as TeX.
"""

from __future__ import annotations

import copy
import re
from collections import defaultdict
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any

from lxml.etree import SubElement, XPath

from crawler.reading.flat_page import flatten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.reading.content.blocks import PageBlocks
    from crawler.reading.flat_page import FlatPage

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
"""Cells that reach into later rows are followed in so many columns of a table."""

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
    numbers = blocks.texts[at].split()
    if tags[home] != "pre" or not all(map(str.isdecimal, numbers)):
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


# A page may type formulas between dollars if it has a script of such a name.
_SCRIPT = re.compile("mathjax|katex", re.IGNORECASE)

# Characters of a class, and children of what is around a formula, that are looked at.
_MAX_NAMES, _MAX_PARTS = 200, 8

# What KaTeX, MathJax and MediaWiki put around a formula; a ``div`` only around a displayed one.
_WRAPPER = re.compile(r"(?:^|\s)(?:katex|mathjax|mjxc?|mwe-math)(?:[\s_-]|$)", re.IGNORECASE)
_DISPLAYED = re.compile(r"display\b|\bblock\b|^true$", re.IGNORECASE)
_PICTURE = re.compile(
    r"(?:^|\s)(?:tex|latex|math|mwe-math-[\w-]+)(?:\s|$)|latex(?:\.php)?\?|_images/math/|/math/render/",
    re.IGNORECASE,
)
# Anything but words that describe a formula.
_TEX = re.compile(r"[\\^_={}<>+]|^(?!.*[^\W\d_]{3})", re.DOTALL)
_AROUND_TEX = re.compile(
    r"%\s*<!\[CDATA\[|%\s*\]\]>|^\s*(?:\$\$?|\\[(\[])|(?:\$\$?|\\[)\]])\s*$|(?<!\\)%[^\n]*+(?:\n|\Z)"
)
_STYLED = re.compile(r"\{\s*\\(?:display|text)style\b(.*)\}", re.DOTALL)

# What MathJax and KaTeX look for in the text of a page, after what is delimited so already; and
# what never ends, so that each character is looked at twice at most.
_TYPED = re.compile(
    r"\\\(.{1,4000}?\\\)|\\\[.{1,4000}?\\\]"
    r"|\$\$(?P<display>[^$]+)\$\$"
    r"|(?P<environment>\\begin\{((?:equation|align|gather|multline|eqnarray)\*?)\}"
    r".{1,4000}?\\end\{\3\})"
    r"|(?<![\\$\w])\$(?P<inline>[^\s$](?:[^$]{0,400}[^\s$\\])?)\$(?![\d$])"
    r"|\\(?:[(\[]|begin\{(?:equation|align|gather|multline|eqnarray)).{0,4000}",
    re.DOTALL,
)
_PROSE = re.compile(r"[^\\^_={}<>]*\b[^\W\d_]{2,}\s[^\\^_={}<>]*")
_WITH_DOLLARS = XPath(
    r"//text()[contains(., '$') or contains(., '\begin{')]"
    "[not(ancestor::pre or ancestor::code or ancestor::script or ancestor::style)]/.."
)


def write_formulas(root: Element, page: FlatPage) -> FlatPage:
    """Replace the formulas of a page by TeX.

    Args:
        root: Root of the page, which is changed.
        page: Its tags and texts.

    Returns:
        The tags and texts with the TeX.

    Complexity: O(elements + characters).
    """
    found, is_typed = list[tuple[Element, str]](), False
    for element in root.iter("math", "d-math", "math-renderer", "img", "script"):
        if next(element.iterancestors("math"), None) is not None:
            continue
        if element.tag == "script":
            named = element.get("src") or element.get("type", "")
            is_typed = is_typed or _SCRIPT.search(named) is not None
        elif element.tag != "img":
            found.append((element, _source(element)))
        elif alt := element.get("alt"):
            names = f"{element.get('class', '')} {element.get('src', '')[:200]}"
            if _PICTURE.search(names) and _TEX.search(alt):
                found.append((element, _cleaned(alt)))
    # What a script has drawn is in front of its source, and may have MathML too.
    found.sort(key=lambda one: one[0].get("type") is None)
    for element, tex in found:
        if tex and element.getroottree().getroot() is root:
            _replace(element, tex)
    if is_typed:
        _delimit(root)
    return flatten(root) if found or is_typed else page


def _source(element: Element) -> str:
    """Return the TeX of an element for a formula."""
    if element.tag != "math" or element.get("type") is not None:
        return _cleaned(element.text or "")
    for note in element.iter("annotation"):
        if "tex" in note.get("encoding", "").lower() and note.text:
            return _cleaned(note.text)
    said = element.get("alttext", "")
    return _cleaned(said) if said and _TEX.search(said) else " ".join(tex_of(element).split())


def _cleaned(tex: str) -> str:
    tex = _AROUND_TEX.sub("", tex).strip()
    styled = _STYLED.fullmatch(tex)
    return " ".join((styled[1] if styled else tex).split())


def _replace(element: Element, tex: str) -> None:
    """Put TeX in the place of all that holds one formula, and of what a script has drawn of it."""
    said = [element.get(name, "") for name in ("display", "type", "class")]
    said += ["display"] * (element.get("block") is not None)
    is_script = element.get("type") is not None
    while (parent := element.getparent()) is not None:
        names = parent.get("class", "")[:_MAX_NAMES]
        if _says_more(parent):
            break
        is_around = parent.tag == "span" or (parent.tag == "div" and _DISPLAYED.search(names))
        if not parent.tag.startswith("mjx-") and not (is_around and _WRAPPER.search(names)):
            break
        element = parent
        said += (names, parent.get("display", ""))
    drawn = element.getprevious() if is_script else None
    while drawn is not None and _WRAPPER.search(drawn.get("class", "")[:_MAX_NAMES]):
        if (drawn.tail or "").strip():
            break
        drawn.clear(keep_tail=True)
        drawn = drawn.getprevious()
    element.clear(keep_tail=True)
    element.tag = "span"
    is_displayed = any(map(_DISPLAYED.search, said))
    element.text = f" \\[{tex}\\] " if is_displayed else f"\\({tex}\\)"


def _says_more(around: Element) -> bool:
    """Return whether an element holds text or parts beside one formula, as a paragraph does."""
    parts = list(islice(around, _MAX_PARTS + 1))
    texts = (around.text, *(part.tail for part in parts))
    return len(parts) > _MAX_PARTS or any(text and text.strip() for text in texts)


def _delimit(root: Element) -> None:
    """Delimit formulas that are typed between dollars or as environments like all others."""
    for place in _WITH_DOLLARS(root):
        for owner, name in ((place, "text"), *((child, "tail") for child in place)):
            if text := getattr(owner, name):
                setattr(owner, name, _TYPED.sub(_delimited, text))


def _delimited(found: re.Match[str]) -> str:
    if displayed := found["display"] or found["environment"]:
        return f" \\[{displayed.strip()}\\] "
    inline = found["inline"]
    return found[0] if inline is None or _PROSE.fullmatch(inline) else f"\\({inline}\\)"


_MAX_NESTING = 60
_LEAVES = frozenset({"mi", "mn", "mo", "ms", "mtext"})
_SKIPPED = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts"})
_SHAPES = {
    "mfrac": r"\frac{{{0}}}{{{1}}}",
    "mroot": r"\sqrt[{1}]{{{0}}}",
    "msup": "{0}^{{{1}}}",
    "msub": "{0}_{{{1}}}",
    "msubsup": "{0}_{{{1}}}^{{{2}}}",
    "mover": r"\overset{{{1}}}{{{0}}}",
    "munder": "{0}_{{{1}}}",
    "munderover": "{0}_{{{1}}}^{{{2}}}",
}
_ROWS = {
    "msqrt": (r"\sqrt{", "", "}"),
    "mtr": ("", " & ", ""),
    "mtable": (r"\begin{matrix}", r" \\ ", r"\end{matrix}"),
}
_SIGNS = str.maketrans(
    {sign: f"\\{sign}" for sign in "%&#$_{}"}
    | dict.fromkeys("\u2061\u2062\u2063\u2064", "")
    | {"−": "-", "\\": r"\backslash "}
)


def tex_of(element: Element, nesting: int = 0) -> str:
    """Return MathML as TeX; letters and most signs stay what they are in Unicode."""
    tag = element.tag
    if tag in _LEAVES or nesting > _MAX_NESTING or not len(element):
        return _leaf(tag, " ".join("".join(element.itertext()).split()))
    parts = [tex_of(one, nesting + 1) for one in element if one.tag not in _SKIPPED]
    shape = _SHAPES.get(tag, "")
    if shape and len(parts) == 2 + ("{2}" in shape):
        is_one = len(parts[0]) == 1 or shape[0] == "\\" or parts[0][:1] == "\\"
        return shape.format(parts[0] if is_one else f"{{{parts[0]}}}", *parts[1:])
    opening, between, closing = _ROWS.get(tag, ("", "", ""))
    if tag == "mfenced":
        opening, closing = (element.get(*one) for one in (("open", "("), ("close", ")")))
        opening, between, closing = opening.translate(_SIGNS), ",", closing.translate(_SIGNS)
    return f"{opening}{between.join(parts)}{closing}"


def _leaf(tag: str, text: str) -> str:
    written = text.translate(_SIGNS)
    if tag in {"mtext", "ms"}:
        return f"\\text{{{written}}}" if written.strip("\xa0") else " "
    return f"\\operatorname{{{written}}}" if len(text) > 1 and text.isalpha() else written
