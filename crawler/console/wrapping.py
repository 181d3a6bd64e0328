"""Break lines between words where a terminal would break them anywhere."""

from __future__ import annotations

import re
import shutil
from textwrap import TextWrapper
from typing import TYPE_CHECKING, TextIO

from crawler.console.escaping import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MIN_WIDTH = 40
"""Lines are not broken for a terminal of fewer columns."""

_INDENT = 4
_COLUMNS = re.compile(r" *(?:[\d,.%]+ {2,}(?:\S+ +)?)?")
"""What stands before the last column: of a table of counts, the count and perhaps a name."""


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
