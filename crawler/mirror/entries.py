"""The way into a mirror: index.html, and what no page of it leads to in contents.html."""

from __future__ import annotations

import io
from html import escape
from typing import TYPE_CHECKING

from crawler.mirror.paths import address_between

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.mirror.files import FileRow, FileTable
    from crawler.mirror.folder import MirrorFolder

INDEX = "index.html"
CONTENTS = "contents.html"

_HEAD = (
    "<!doctype html>\n<html><head><meta charset=utf-8>"
    '<meta name="viewport" content="width=device-width">\n'
    "<title>{title}</title>{more}</head>\n<body>\n"
)
_END = "</body></html>\n"


def write_entries(table: FileTable, folder: MirrorFolder) -> None:
    """Write both files; without contents.html where everything is linked.

    Complexity: O(files); in memory is what nothing leads to.
    """
    seeds = list(table.rows("is_seed = 1 AND state = 'own'"))
    # What lies behind the first seed is found from there; another seed is not.
    others = [*seeds[1:], *_unlinked(table)]
    if others:
        folder.write(CONTENTS, _contents(others))
    elif folder.exists(CONTENTS):
        folder.remove(CONTENTS)
    first = seeds[0] if seeds else None
    folder.write(INDEX, _index(first, has_contents=bool(others)))


def _unlinked(table: FileTable) -> Iterator[FileRow]:
    return table.rows("is_seed = 0 AND is_linked = 0 AND state = 'own'")


def _index(first: FileRow | None, *, has_contents: bool) -> bytes:
    address = CONTENTS if first is None else address_between(INDEX, first.path)
    title = "A mirror" if first is None else first.url
    refresh = f'\n<meta http-equiv="refresh" content="0; url={escape(address)}">'
    if first is None and not has_contents:
        address, refresh = "", ""
    page = io.StringIO()
    page.write(_HEAD.format(title=escape(title), more=refresh))
    if address:
        page.write(f'<p><a href="{escape(address)}">{escape(title)}</a></p>\n')
    else:
        page.write("<p>Nothing was mirrored yet.</p>\n")
    if has_contents:
        page.write(f'<p><a href="{CONTENTS}">What no page of it leads to</a></p>\n')
    page.write(_END)
    return page.getvalue().encode()


def _contents(rows: list[FileRow]) -> bytes:
    page = io.StringIO()
    page.write(_HEAD.format(title="What no page leads to", more=""))
    page.write("<ul>\n")
    for row in rows:
        address = escape(address_between(CONTENTS, row.path))
        page.write(f'<li><a href="{address}">{escape(row.url)}</a></li>\n')
    page.write("</ul>\n" + _END)
    return page.getvalue().encode("utf-8", "replace")
