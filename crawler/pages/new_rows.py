"""The row of a capture before anything is said of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawler.pages.page_row import PageRow

if TYPE_CHECKING:
    from crawler.pages.fetched import Fetched
    from crawler.reading.reading import Reading


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
