"""Make readings of answers in a mirror that reads no text: their bytes stand for it."""

from __future__ import annotations

import zstandard

from crawler.reading.content_types import why_not_html
from crawler.reading.reading import Extract, Reading
from neardup.fingerprints.digest import payload_digest

_NO_TEXT = zstandard.ZstdCompressor().compress(b"")


def reading_without_text(
    url: str, body: bytes, content_type: str | None, *, apart: bool
) -> Reading:
    """Return a reading that equals another only if the bytes are equal.

    Args:
        url: URL of the answer.
        body: Bytes as they came.
        content_type: Header of that name.
        apart: Whether it equals none, as that of an answer which is not whole.
    """
    reason = why_not_html(content_type, body)
    if reason is not None:
        return Reading(url, not_html=reason)
    digest = payload_digest(body + url.encode() if apart else body)
    extract = Extract(_NO_TEXT, 0, digest, None, is_main=False, visible_digest=digest)
    return Reading(url, visible_digest=digest, extract=extract)
