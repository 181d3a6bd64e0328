"""Read a crawl directory from Python, also while a crawl writes to it."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.feeds.exporters import page_schema
from crawler.maintenance.crawl_report import make_report
from crawler.pages.export import (
    KEPT_FILTER,
    Duplicate,
    PageFilter,
    Redirect,
    captures_after,
    duplicates,
    export_pages,
    redirects,
)
from crawler.pages.items import Page
from crawler.pages.page_links import LinkGraph, PageLink
from crawler.pages.page_row import highest_id
from crawler.pages.verdicts import VERDICTS
from crawler.storage.database import FILE_NAME, open_for_reading
from crawler.suggestions import did_you_mean
from neardup.files.durable import Closing
from neardup.languages import language_codes

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from typing import Self

    import pyarrow

    from crawler.maintenance.crawl_report import Report
    from crawler.maintenance.tally import Changes

BATCH = 200
"""Read at most this many pages at once: a read that lasts keeps SQLite from shortening its log."""


class Crawl(Closing):
    """A crawl directory, opened for reading.

    It is a context manager. It can be read while a crawl writes to it, and shows what was
    committed when a method is called.

    Raises:
        JobError: There is no crawl in the directory.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._connection: sqlite3.Connection = open_for_reading(self.directory)

    @classmethod
    def open(cls, directory: str | Path) -> Self:
        """Open a crawl directory, or the one within a mirror.

        Raises:
            JobError: There is no crawl in it.
        """
        inner = Path(directory) / ".mirror"
        return cls(inner if (inner / FILE_NAME).is_file() else directory)

    def close(self) -> None:
        self._connection.close()

    def __repr__(self) -> str:
        return f"Crawl.open({str(self.directory)!r})"

    def pages(
        self, verdict: str | None = None, *, language: str | None = None, min_words: int = 0
    ) -> Iterator[Page]:
        """Yield the newest capture of each URL, in the order of captures.

        Args:
            verdict: Only pages with this verdict; ``"kept"`` for all whose text is stored.
            language: Only pages of these languages, such as ``en,de``.
            min_words: Only pages whose text has at least this many words.

        Raises:
            ValueError: There is no such verdict, or a language is no code.
        """
        chosen = PageFilter(_checked(verdict), language_codes(language), min_words)
        # The connection is one of its own, so that two of these iterators can be used in turn.
        return (Page(**fields) for fields in self._rows(chosen))

    def _rows(self, chosen: PageFilter) -> Iterator[dict[str, Any]]:
        with closing(open_for_reading(self.directory)) as connection:
            yield from export_pages(connection, chosen)

    def pages_after(self, last: int, verdict: str | None = None) -> list[tuple[int, Page]]:
        """Return up to ``BATCH`` captures that came after another one, with their numbers.

        Args:
            last: The number of that capture; 0 for the first ones.
            verdict: As in ``pages``.
        """
        found = captures_after(self._connection, last, PageFilter(_checked(verdict)))
        return [(number, Page(**fields)) for number, fields in islice(found, BATCH)]

    def last_capture(self) -> int:
        """Return the number of the newest capture, 0 where there is none."""
        return highest_id(self._connection.execute)

    def duplicates(self) -> Iterator[Duplicate]:
        """Yield every page that repeats a kept one, in the order of captures."""
        return duplicates(self._connection)

    def links(self) -> Iterator[PageLink]:
        """Yield every link of every page, page after page, with the text that it shows."""
        with closing(open_for_reading(self.directory)) as connection:
            yield from LinkGraph(connection)

    def redirects(self) -> Iterator[Redirect]:
        """Yield every URL that redirects."""
        return redirects(self._connection)

    def changes(self) -> Changes | None:
        """Return what the last visit found changed, or None before a second visit."""
        return self.report().changes

    def report(self) -> Report:
        """Return what ``crawl-once report`` prints."""
        return make_report(self._connection)

    def to_arrow(
        self, verdict: str | None = None, *, batch_size: int = 1_000
    ) -> pyarrow.RecordBatchReader:
        """Return the pages as record batches of Arrow, which are read as they are asked for.

        The columns are the fields of ``Page``.

        Args:
            verdict: As in ``pages``.
            batch_size: Rows of a batch, at most.

        Raises:
            ModuleNotFoundError: pyarrow is not installed.
            ValueError: There is no such verdict.
        """
        import pyarrow as pa  # noqa: PLC0415  # an extra

        schema, pages = page_schema(), self._rows(PageFilter(_checked(verdict)))
        rows = iter(lambda: list(islice(pages, batch_size)), [])
        batches = (pa.RecordBatch.from_pylist(some, schema=schema) for some in rows)
        return pa.RecordBatchReader.from_batches(schema, batches)


def _checked(verdict: str | None) -> str | None:
    known = (KEPT_FILTER, *VERDICTS)
    if verdict is not None and verdict not in known:
        hint = did_you_mean(verdict, known) or f"; there are {', '.join(known)}"
        raise ValueError(f"no verdict {verdict!r}{hint}")
    return verdict
