"""What an answer says where its text is not read: its bytes stand for it."""

from __future__ import annotations

import zstandard

from crawler.reading.content_types import why_not_html
from crawler.reading.reading import Extract, Reading
from neardup import payload_digest

_NO_TEXT = zstandard.ZstdCompressor().compress(b"")


def reading_without_text(url: str, body: bytes, content_type: str | None) -> Reading:
    """A reading for which two pages say the same only where they have the same bytes."""
    reason = why_not_html(content_type, body)
    if reason is not None:
        return Reading(url, not_html=reason)
    digest = payload_digest(body)
    return Reading(
        url,
        visible_digest=digest,
        extract=Extract(_NO_TEXT, 0, digest, None, is_main=False, visible_digest=digest),
    )
