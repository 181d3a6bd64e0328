"""The item of a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.items import Page
from crawler.pages.export import hex_digest, hex_fingerprint, iso_time
from crawler.pages.judged_documents import unpack

if TYPE_CHECKING:
    from crawler.pages.fetched import Captured


def page_of_capture(captured: Captured) -> Page:
    """The item that a spider yields for a capture."""
    row = captured.row
    return Page(
        url=row.url,
        canonical_url=row.canonical_url,
        status=row.status,
        fetched_at=iso_time(row.fetched_at),
        depth=row.depth,
        title=row.title,
        author=row.author,
        date=row.date,
        language=row.language,
        words=row.words,
        text=None if row.text is None else unpack(row.text),
        payload_digest=hex_digest(row.payload_digest),
        text_digest=hex_digest(row.text_digest),
        fingerprint=hex_fingerprint(row.fingerprint),
        verdict=captured.verdict,
        reason=row.reason,
        duplicate_of=captured.kept_url,
        distance=row.distance,
        similarity=row.similarity,
    )
