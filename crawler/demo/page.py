"""One answer of the demo site: what a server says for a path."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

HTML = "text/html; charset=utf-8"

_FIRST_EDITION = datetime(2024, 1, 6, 9, 30, tzinfo=UTC)
_YEAR_MINUTES = 366 * 24 * 60


@dataclass(frozen=True)
class Page:
    """Status, headers and body; the length is the server's to add."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200


def document(body: bytes, content_type: str = HTML) -> Page:
    """A page with validators made from its bytes, so that equal bytes have equal ones."""
    digest = hashlib.blake2b(body, digest_size=8)
    age = timedelta(minutes=int.from_bytes(digest.digest()) % _YEAR_MINUTES)
    return Page(
        body,
        {
            "Content-Type": content_type,
            "ETag": f'"{digest.hexdigest()}"',
            "Last-Modified": format_datetime(_FIRST_EDITION + age, usegmt=True),
        },
    )


def redirect(location: str) -> Page:
    return Page(b"", {"Content-Type": HTML, "Location": location}, 301)


def missing(path: str) -> Page:
    """What the server says for a path that the site has not."""
    text = f"<!DOCTYPE html><title>Not found</title><p>Nothing is kept at {escape(path)}.</p>"
    return Page(text.encode(), {"Content-Type": HTML}, 404)
