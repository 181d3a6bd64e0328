"""An answer that was read, with what stands in it for verdicts."""

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
    """The row of an answer that was read; ``payload`` is the digest of its bytes."""
    row = blank_row(number, fetched, visit)
    if not fetched.is_cut:  # they are those of the whole
        row.etag, row.last_modified = fetched.etag, fetched.last_modified
    row.title, row.author, row.date = reading.title, reading.author, reading.date
    row.language, row.declared_url = reading.language, reading.canonical_url
    row.payload_digest = row.last_payload_digest = payload
    row.visible_digest = reading.visible_digest
    return row


def blank_row(number: int, fetched: Fetched, visit: int) -> PageRow:
    """The row of an answer, or of none."""
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
    """What came for a URL, its ``payload_digest``, and what it was read to."""

    fetched: Fetched
    payload: bytes
    reading: Reading

    def says(self, word: str) -> bool:
        """Whether the page, or who sent it, has a directive for robots."""
        return bool({word, "none"} & (self.fetched.robots | set(self.reading.robots)))

    def left_out(self) -> Iterator[str]:
        """Which links of the page were not taken, and why."""
        if self.reading.links_cut:
            yield f"{self.reading.links_cut:,} links beyond READING_MAX_LINKS not taken"
        if self.reading.links_too_long:
            yield f"{self.reading.links_too_long:,} links longer than URLLENGTH_LIMIT not taken"

    def row(self, number: int, visit: int) -> PageRow:
        """The row of the answer before anything is said of it."""
        return row_of_reading(number, self.fetched, self.payload, self.reading, visit)

    def described(self, row: PageRow, previous: PageRow | None, min_words: int) -> Document | None:
        """Fill in what a row says of the text; the text, None where none was read."""
        document, extract = self.reading.document(min_words), self.reading.extract
        if document is None or extract is None:
            return None
        describe(row, previous, document, extract)
        return document
