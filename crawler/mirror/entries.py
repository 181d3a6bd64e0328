"""Write the entry pages of a mirror: index.html, and contents.html for unlinked files."""

from __future__ import annotations

import io
import json
from html import escape
from typing import TYPE_CHECKING

from crawler.mirror.paths import address_between

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.mirror.folder import MirrorFolder
    from crawler.mirror.mirror_files import FileRow, FileTable

INDEX = "index.html"
CONTENTS = "contents.html"

_HEAD = (
    "<!doctype html>\n<html><head><meta charset=utf-8>"
    '<meta name="viewport" content="width=device-width">\n'
    "<title>{title}</title>{more}</head>\n<body>\n"
)
_END = "</body></html>\n"


def write_entries(table: FileTable, folder: MirrorFolder, start: FileRow | None) -> None:
    """Write both files; without contents.html if every file is linked.

    Args:
        table: Table of the mirror's files.
        folder: Folder of the mirror.
        start: File of the first seed, or None if it leads to no file.

    Complexity: O(files).
    """
    first = start or next(table.rows("is_seed = 1 AND state = 'own'"), None)
    others = _others(table, first)
    has_others = next(others, None) is not None
    if has_others:
        folder.write(CONTENTS, _contents(_others(table, first)))
    elif folder.exists(CONTENTS):
        folder.remove(CONTENTS)
    folder.write(INDEX, _index(first, has_contents=has_others))


def _others(table: FileTable, first: FileRow | None) -> Iterator[FileRow]:
    """Return the other seeds and the files that no document links to."""
    rows = table.rows("(is_seed = 1 OR is_linked = 0) AND state = 'own'")
    return (row for row in rows if first is None or row.id != first.id)


def _index(first: FileRow | None, *, has_contents: bool) -> bytes:
    address = CONTENTS if first is None else address_between(INDEX, first.path)
    title = "A mirror" if first is None else first.url
    # Headless Chromium waits for ever for a refresh after 0 seconds.
    refresh = (
        f'\n<meta http-equiv="refresh" content="1; url={escape(address)}">'
        f"<script>location.replace({json.dumps(address)})</script>"
    )
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


def _contents(rows: Iterator[FileRow]) -> Iterator[bytes]:
    yield _HEAD.format(title="What no page leads to", more="").encode() + b"<ul>\n"
    for row in rows:
        address = escape(address_between(CONTENTS, row.path))
        line = f'<li><a href="{address}">{escape(row.url)}</a></li>\n'
        yield line.encode("utf-8", "replace")
    yield b"</ul>\n" + _END.encode()
