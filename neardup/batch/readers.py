"""Readers of formats that others bring, found by their entry points."""

from functools import cache
from importlib.metadata import entry_points

from neardup.batch.web_page import Reader
from neardup.command_line.errors import InputError

GROUP = "neardup.readers"
"""The entry points that name a ``Reader`` for a format, such as ``warc``: text extraction of pages
is the business of crawlers, of which this library knows none."""


@cache
def reader_of(format_name: str) -> Reader:
    """Return the reader that is installed for a format.

    Raises:
        InputError: There is none, or it cannot be imported.
    """
    for entry in entry_points(group=GROUP, name=format_name):
        try:
            found: Reader = entry.load()
        except ImportError as error:
            raise InputError(f"the reader of {format_name} files: {error}") from error
        return found
    raise InputError(
        f"nobody here reads {format_name} files: pip install crawl-once brings the reader of them "
        f"(entry points {GROUP})"
    )
