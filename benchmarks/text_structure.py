"""What the F1 of words cannot see: cells in their place, items, code byte for byte, formulas.

Pages of Debian's manuals are read to Markdown by each way, and that is read by a parser of
CommonMark. The truth is the page itself within the element that its site has for its content: the
grids of its tables, spans filled; its items; the texts of its ``pre``. Items that are mostly links
are of menus and contents, which no reader of articles wants: they are counted apart. Formulas are
TeX that libraries of npm render for pages; each is to stand once in the Markdown, as TeX, with
nothing else between its neighbours.
"""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import lxml.html
import trafilatura
from lxml import etree
from markdown_it import MarkdownIt
from measuring import installed, named

from crawler.reading.content.content_text import markdown
from crawler.reading.content.main_content import read_content
from crawler.reading.decoding import decode
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse
from tests.sites.packages import PACKAGES, SiteUnavailableError, html_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

CONTENTS = {
    "python3.11-doc": "//div[@role='main']",
    "apache2-doc": "//div[@id='page-content']",
    "sqlite3-doc": "//body",
}
"""Where the pages of each site have their content."""

PAGES_OF_SITE = 7
_PEERS = Path(__file__).parent / "text_peers"

FORMULAS = (
    r"\frac{dT}{dt} = -kT",
    r"E = mc^2",
    r"x_{i,j} \le y^{2n}",
    r"\sqrt{a^2 + b^2}",
    r"\sqrt[3]{x - 1}",
    r"\sum_{k=1}^{n} k",
    r"\int_0^1 x \, dx",
    r"\alpha + \beta \to \gamma",
    r"a < b",
    r"\frac{x + 1}{\sqrt{2 \pi}}",
    r"f(x) = 3x \times 10^{-4}",
    r"\mathbf{v} \cdot \mathbf{w}",
)
_SYMBOLS = {
    r"\alpha": "α", r"\beta": "β", r"\gamma": "γ", r"\pi": "π", r"\sum": "∑", r"\int": "∫",
    r"\le": "≤", r"\to": "→", r"\times": "×", r"\cdot": "⋅",
}  # fmt: skip
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_ALIKE = re.compile(r"\s|[${}\u2061−]|\\[()\[\],]|\\(?:mathbf|,)|\\limits")
_WORD = re.compile(r"\w+")
_READ = MarkdownIt("commonmark").enable("table")


class Structure(NamedTuple):
    """What a page or its Markdown holds.

    Attributes:
        tables: Its tables: rows of cells, each as its words.
        items: The words of each item, without lists within it. Those of lists in a table are none,
            since a table of Markdown has no lists.
        menus: Those of a page that are mostly links.
        codes: The texts of its code, without empty lines at both ends.
    """

    tables: list[list[list[str]]]
    items: list[str]
    menus: list[str]
    codes: list[str]


def words(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def structure_of_page(body: bytes, content: str) -> Structure:
    """Return what stands within the content of a page."""
    root = lxml.html.fromstring(body, parser=lxml.html.HTMLParser(encoding="utf-8"))
    place: Any = next(iter(root.xpath(content)), root)
    grids = [_grid(table) for table in place.xpath(".//table[not(.//table)]")]
    items, menus = list[str](), list[str]()
    for item in place.xpath(".//li[not(ancestor::table)]"):
        if said := _item(item):
            (menus if _is_of_menu(item) else items).append(said)
    codes = [_code(code.text_content()) for code in place.iter("pre")]
    data = [grid for grid in grids if len(grid) > 1 and max(map(len, grid)) > 1]
    return Structure(data, items, menus, [code for code in codes if code])


def _grid(table: Any) -> list[list[str]]:
    """Return the rows of a table; a cell stands in the first place that it takes."""
    rows: list[list[str]] = []
    taken: dict[tuple[int, int], str] = {}
    for at, row in enumerate(table.iter("tr")):
        column = 0
        for cell in row.iter("td", "th"):
            while (at, column) in taken:
                column += 1
            wide, high = (int(cell.get(name) or 1) for name in ("colspan", "rowspan"))
            for down in range(max(high, 1)):
                for right in range(max(wide, 1)):
                    taken[at + down, column + right] = ""
            taken[at, column] = words(cell.text_content())
            column += max(wide, 1)
        width = max((right for down, right in taken if down == at), default=-1) + 1
        rows.append([taken.get((at, right), "") for right in range(width)])
    return [row for row in rows if any(row)]


def _item(item: Any) -> str:
    """Return the words of an item, without those of lists, tables and code within it."""
    return words(" ".join(_alone(item).itertext()))


def _is_of_menu(item: Any) -> bool:
    """Return whether most of an item is links."""
    alone = _alone(item)
    linked = sum(len(words(link.text_content())) for link in alone.iter("a") if link.get("href"))
    return linked > len(words(alone.text_content())) / 2


def _alone(item: Any) -> Any:
    alone = copy.deepcopy(item)
    etree.strip_elements(alone, "ul", "ol", "dl", "table", "pre", with_tail=False)
    return alone


def _code(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def structure_of_markdown(text: str) -> Structure:
    """Return what a reader of CommonMark finds in a text."""
    found, items = Structure([], [], [], []), list[list[str]]()
    is_cell = False
    for token in _READ.parse(text):
        match token.type:
            case "fence" | "code_block":
                found.codes.append(_code(token.content))
            case "table_open":
                found.tables.append([])
            case "tr_open":
                found.tables[-1].append([])
            case "td_open" | "th_open" | "td_close" | "th_close":
                is_cell = token.nesting > 0
            case "list_item_open":
                items.append([])
            case "list_item_close":
                found.items.append(words(" ".join(items.pop())))
            case "inline":
                said = _shown(token)
                if is_cell:
                    found.tables[-1][-1].append(words(said))
                elif items:
                    items[-1].append(said)
    return found._replace(tables=[[row for row in rows if any(row)] for rows in found.tables])


def _shown(inline: Token) -> str:
    breaks = {"softbreak", "hardbreak", "html_inline"}
    return "".join(" " if one.type in breaks else one.content for one in inline.children or ())


def score(found: Structure, truth: Structure) -> dict[str, tuple[int, int]]:
    """Return how many cells, items and codes were found in their place, and how many there are."""
    cells = total = 0
    for table in truth.tables:
        placed = _places(table)
        total += len(placed)
        cells += max((len(placed & _places(other)) for other in found.tables), default=0)
    return {
        "cells": (cells, total),
        "items": ((Counter(found.items) & Counter(truth.items)).total(), len(truth.items)),
        "items of links": ((Counter(found.items) & Counter(truth.menus)).total(), len(truth.menus)),
        "code": ((Counter(found.codes) & Counter(truth.codes)).total(), len(truth.codes)),
    }


def _places(table: list[list[str]]) -> set[tuple[int, int, str]]:
    return {
        (at, column, cell)
        for at, row in enumerate(table)
        for column, cell in enumerate(row)
        if cell
    }


def pages() -> Iterator[tuple[str, bytes]]:
    """Yield the site and the bytes of each page: those of a site with the most tables and code."""
    for site in CONTENTS:
        try:
            files = [file for file in html_folder(PACKAGES[site]).rglob("*.html") if file.is_file()]
        except SiteUnavailableError as error:
            print(f"{error}: left out", file=sys.stderr)
            continue
        holding = [
            body
            for body in map(Path.read_bytes, sorted(files))
            if all(tag in body for tag in (b"<table", b"<pre", b"<li"))
        ]
        stride = max(len(holding) // PAGES_OF_SITE, 1)
        yield from ((site, body) for body in holding[::stride][:PAGES_OF_SITE])


def ours(body: bytes) -> str:
    """Return our content of a page as Markdown."""
    root = parse(decode(body, "text/html; charset=utf-8").utf8)
    return markdown(etree.fromstring(read_content(root, flatten(root)).xml))


def by_npm(folder: Path, bodies: Sequence[bytes]) -> dict[str, list[str]]:
    """Return what readers of npm make of pages; nothing where they are not installed.

    Args:
        folder: Where ``npm install @mozilla/readability jsdom turndown turndown-plugin-gfm
            defuddle`` was run.
        bodies: The pages.
    """
    names = {"readability": "@mozilla/readability", "defuddle": "defuddle"}
    packages = {key: folder / "node_modules" / name / "package.json" for key, name in names.items()}
    if not all(map(Path.exists, packages.values())):
        print(f"{folder} has no {' and '.join(names.values())}: left out", file=sys.stderr)
        return {}
    asked = "\n".join(
        json.dumps({"url": "http://127.0.0.1/a/b", "html": body.decode(errors="replace")})
        for body in bodies
    )
    script = str(_PEERS / "markdown.mjs")
    done = subprocess.run(
        ["node", script, str(folder)], input=asked, capture_output=True, text=True, check=True
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {
        f"{names[key]} {json.loads(file.read_text())['version']}": [row[key] for row in rows]
        for key, file in packages.items()
    }


def written_by_all(npm: Path, bodies: Sequence[bytes]) -> dict[str, list[str]]:
    """Return the Markdown of pages by each way that is installed."""
    written = {"read_content": list(map(ours, bodies))}
    written[named("trafilatura")] = [
        trafilatura.extract(body.decode(errors="replace"), output_format="markdown") or ""
        for body in bodies
    ]
    if extraction := installed("resiliparse.extract.html2text"):
        written[named("resiliparse")] = [
            str(extraction.extract_plain_text(body.decode(errors="replace"), main_content=True))
            for body in bodies
        ]
    return written | by_npm(npm, bodies)


def formulas(npm: Path) -> tuple[dict[str, dict[str, float]], int]:
    """Return the shares of formulas that are whole and alone in percent, by way and by renderer.

    Args:
        npm: Where ``npm install katex temml mathjax-full`` was run too; else there are none.
    """
    cases = [(tex, is_display) for tex in FORMULAS for is_display in (False, True)]
    script = [str(_PEERS / "formulas.mjs"), str(npm)]
    asked = "\n".join(json.dumps({"tex": tex, "display": display}) for tex, display in cases)
    done = subprocess.run(
        ["node", *script], input=asked, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"{npm} renders no formulas: left out: {done.stderr[-300:]}", file=sys.stderr)
        return {}, 0
    by_name = defaultdict[str, list[str]](list)
    for line in done.stdout.splitlines():
        for name, html in json.loads(line).items():
            by_name[name].append(html)
    bodies = [_page_of(rendered).encode() for rendered in by_name.values()]
    shares = {
        way: {
            name: 100
            * sum(_is_alone(text, at, tex) for at, (tex, _) in enumerate(cases))
            / len(cases)
            for name, text in zip(by_name, texts, strict=True)
        }
        for way, texts in written_by_all(npm, bodies).items()
    }
    return shares, len(cases)


def _page_of(rendered: Sequence[str]) -> str:
    prose = "The kiln behind the pottery is fired four times a year with offcuts of larch."
    said = "".join(
        f"<p>{prose} Case{at} begins {html} ends{at}, and nobody opens the door.</p>"
        for at, html in enumerate(rendered)
    )
    head = "<!DOCTYPE html><meta charset=utf-8><title>How fast the kiln cools</title>"
    return f"{head}<main><article><h1>How fast the kiln cools</h1>{said}</article></main>"


def _is_alone(text: str, at: int, tex: str) -> bool:
    """Return whether a formula is all that stands between its neighbours."""
    found = re.search(rf"Case{at} begins(.*?)ends{at},", text, re.DOTALL)
    # Of a reader without formulas a backslash is escaped: CommonMark reads it back.
    ways = () if found is None else (found[1], _ESCAPED.sub(r"\1", found[1]))
    return _alike(tex) in map(_alike, ways)


def _alike(tex: str) -> str:
    """Return TeX without what makes no difference, symbols by their characters."""
    tex = re.sub(r"\\[a-z]+", lambda name: _SYMBOLS.get(name[0], name[0]), tex.replace("-", "−"))
    return _ALIKE.sub("", tex)


def measured(npm: Path) -> tuple[dict[str, dict[str, float]], int]:
    """Return the shares by way in percent, and the number of pages."""
    chosen = list(pages())
    bodies = [body for _, body in chosen]
    truths = [structure_of_page(body, CONTENTS[site]) for site, body in chosen]
    written = written_by_all(npm, bodies)
    shares: dict[str, dict[str, float]] = {}
    for name, texts in written.items():
        counts = defaultdict[str, tuple[int, int]](lambda: (0, 0))
        for text, truth in zip(texts, truths, strict=True):
            for kind, (right, of) in score(structure_of_markdown(text), truth).items():
                counts[kind] = counts[kind][0] + right, counts[kind][1] + of
        shares[name] = {
            f"{kind} of {of:,}": 100 * right / of for kind, (right, of) in counts.items()
        }
    return shares, len(chosen)
