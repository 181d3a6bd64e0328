"""Combine an answer with its reading, and make rows of ``pages`` from it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.pages.judge import describe
from crawler.pages.page_row import PageRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pages.fetched import Fetched
    from crawler.reading.reading import Reading
    from neardup import Document


def row_of_reading(
    number: int, fetched: Fetched, payload: bytes, reading: Reading, visit: int
) -> PageRow:
    """Return the row of an answer that was read; ``payload`` is its payload digest."""
    row = blank_row(number, fetched, visit)
    if not fetched.is_cut:  # they belong to the whole page
        row.etag, row.last_modified = fetched.etag, fetched.last_modified
    row.title, row.author, row.date = reading.title, reading.author, reading.date
    row.language, row.declared_url = reading.language, reading.canonical_url
    row.payload_digest = row.last_payload_digest = payload
    row.visible_digest = reading.visible_digest
    return row


def blank_row(number: int, fetched: Fetched, visit: int) -> PageRow:
    """Return a row with the facts of an answer, or of a failed request."""
    now = time.time()
    return PageRow(
        id=number,
        key=fetched.key,
        url=fetched.url,
        canonical_url=fetched.canonical_url,
        latest=1,
        visit=visit,
        fetched_at=now,
        seen_visit=visit,
        seen_at=now,
        depth=fetched.depth,
        status=fetched.status or None,
        content_type=fetched.content_type,
        body_bytes=len(fetched.body),
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its payload digest and its reading."""

    fetched: Fetched
    payload: bytes
    reading: Reading

    def says(self, word: str) -> bool:
        """Return whether the page or its HTTP header has a directive for robots."""
        return bool({word, "none"} & (self.fetched.robots | set(self.reading.robots)))

    def left_out(self) -> Iterator[str]:
        """Yield a sentence for each limit that cut the links of the page."""
        if self.reading.links_cut:
            yield f"{self.reading.links_cut:,} links beyond READING_MAX_LINKS not taken"
        if self.reading.links_too_long:
            yield f"{self.reading.links_too_long:,} links longer than URLLENGTH_LIMIT not taken"

    def row(self, number: int, visit: int) -> PageRow:
        """Return the row of the answer without a verdict."""
        return row_of_reading(number, self.fetched, self.payload, self.reading, visit)

    def described(self, row: PageRow, previous: PageRow | None, min_words: int) -> Document | None:
        """Fill in a row's columns of the text; return the text, or None if none was read."""
        document, extract = self.reading.document(min_words), self.reading.extract
        if document is None or extract is None:
            return None
        describe(row, previous, document, extract)
        return document
