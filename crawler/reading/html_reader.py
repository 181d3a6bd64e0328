"""Read HTML in worker processes, for callers that have no event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from crawler.reading.errors import ReadingError
from crawler.reading.pool import ReadingPool
from crawler.reading.reading_options import ReadingOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.reading.reading import Extract, Reading


class Html(NamedTuple):
    """A page to read: where it was found, its body, and its Content-Type where that is known."""

    url: str
    body: bytes
    content_type: str | None


class HtmlReader:
    """Pages as a crawl reads them, with its limits of time and memory.

    The workers are started at the first page, and ended by ``close``.
    """

    def __init__(self, options: ReadingOptions | None = None) -> None:
        self._options = ReadingOptions() if options is None else options
        self._runner: asyncio.Runner | None = None
        self._pool: ReadingPool | None = None

    def read(self, pages: Sequence[Html]) -> list[Reading]:
        """Read pages, all workers at once; what is wrong with one is in its reading.

        Raises:
            ReadingError: No worker could be started.
        """
        if self._runner is None:
            # The loop belongs to this object alone. Ctrl-C cancels the pages before it is raised.
            self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        try:
            return self._runner.run(self._read(pages))
        except (ReadingError, OSError) as error:
            raise ReadingError(f"pages cannot be read: {error}") from None

    async def _read(self, pages: Sequence[Html]) -> list[Reading]:
        if self._pool is None:
            self._pool = ReadingPool(self._options)
            await self._pool.start()
        read = self._pool.read
        return await asyncio.gather(
            *(read(page.url, page.body, page.content_type, known=_unknown) for page in pages)
        )

    def close(self) -> None:
        """End the workers, also in the middle of a page; closing twice is allowed."""
        runner, self._runner = self._runner, None
        if runner is not None:
            with runner:
                runner.run(self._close())

    async def _close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()


def _unknown(_: bytes) -> Extract | None:
    """Know no text by its page: each page of a file is read by itself, as there are few."""
    return None
