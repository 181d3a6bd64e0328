"""Tables of counts: what the links of each kind led to, and which kinds of URLs need a browser."""

from __future__ import annotations

import re
import shutil
from textwrap import TextWrapper
from typing import TYPE_CHECKING, TextIO

from crawler.console.escaping import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crawler.frontier.file_links import LinkCount
    from crawler.url_rules.render_kinds import RenderKind

_HEADINGS = ("kind", "found", "answered", "new pages", "put aside")
_MAX_KINDS = 30
_KINDS = ("kind of URL", "pages", "tried", "showed more", "unclear", "in the browser")


def link_lines(links: Mapping[str, LinkCount]) -> Iterator[str]:
    """Yield the lines of the table, or one that there are no links."""
    if not links:
        yield "no link was followed"
        return
    yield from table_lines(_HEADINGS, ((kind, *count) for kind, count in links.items()))
    yield ""
    yield "found: URLs within the scope that a link of the kind was the first to lead to"
    if any(count.aside for count in links.values()):
        yield "put aside: not asked for, since too few of their kind led to a new page"


def rendering_lines(kinds: Mapping[str, RenderKind]) -> Iterator[str]:
    """Yield the lines of the table of kinds of URLs, or one that there are none."""
    if not kinds:
        yield "no page was tried in a browser, but for those that show nothing without one"
        return
    tried = [(name, kind) for name, kind in kinds.items() if kind.tried or kind.unclear]
    listed = tried or list(kinds.items())
    shown = listed[:_MAX_KINDS]
    rows = ((name, *kind, "all" if kind.needs_browser else "some") for name, kind in shown)
    yield from table_lines(_KINDS, rows)
    if len(shown) < len(kinds):
        yield f"and {len(kinds) - len(shown):,} more; --json has all of them"
    yield ""
    yield "tried: shown in the browser lately, to see whether that shows more words or new links"
    yield "unclear: showed no more, and something kept the browser from showing all"


def table_lines(
    headings: tuple[str, ...], counts: Iterable[tuple[str | int, ...]]
) -> Iterator[str]:
    """Yield the lines of a table: its headings, then a line for each row, numbers to the right."""
    rows = [headings]
    for count in counts:
        cells = (f"{cell:,}" if isinstance(cell, int) else cell for cell in count)
        rows.append(tuple(cells))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        justified = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *justified])


def example_lines(examples: Sequence[str], count: int, indent: int = 13) -> Iterator[str]:
    """Yield examples below the line of a count, and how many more there are."""
    for example in examples:
        yield f"{'':{indent}}{example}"
    if count > len(examples) > 0:
        yield f"{'':{indent}}and {count - len(examples):,} more"


MIN_WIDTH = 40
"""Lines are not broken for a terminal of fewer columns."""

_INDENT = 4
_COLUMNS = re.compile(r" *(?:[\d,.%]+ {2,}(?:\S+ +)?)?")
"""The columns before the last one: of a table of counts, the count and perhaps a name."""


def for_terminal(lines: Iterable[str], stream: TextIO) -> Iterator[str]:
    """Yield lines as they fit on a terminal; for a file or a pipe they stay as they are."""
    if not stream.isatty():
        yield from lines
        return
    width = shutil.get_terminal_size().columns
    for line in lines:
        yield from wrapped(plain(line), width)


def wrapped(line: str, width: int) -> list[str]:
    """Break a line between words; a longer word, such as a URL, goes over.

    What follows is indented like the column of a table in which it stands.
    """
    if len(line) <= width or width < MIN_WIDTH:
        return [line]
    found = _COLUMNS.match(line)
    indent = found.end() if found else 0
    if not 0 < indent <= width // 2:
        indent = _INDENT
    wrapper = TextWrapper(
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )
    return wrapper.wrap(line)
