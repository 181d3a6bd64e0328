"""Define one capture of a page, a row of the table ``pages``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.pages.reasons import Stored

_SIGN_BIT = 1 << 63
_WRAP = 1 << 64


@dataclass(slots=True)
class PageRow:
    """A row of ``pages``, in the order of its columns; digests are 16 bytes, ``text`` is zstd."""

    id: int
    key: bytes
    url: str
    canonical_url: str
    latest: int
    visit: int
    fetched_at: float
    seen_visit: int
    seen_at: float
    depth: int
    status: int | None
    content_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    body_bytes: int = 0
    title: str | None = None
    author: str | None = None
    date: str | None = None
    language: str | None = None
    declared_url: str | None = None
    words: int | None = None
    is_main: int | None = None
    payload_digest: bytes | None = None
    visible_digest: bytes | None = None
    text_digest: bytes | None = None
    last_payload_digest: bytes | None = None
    last_text_digest: bytes | None = None
    words_digest: bytes | None = None
    links: int = 0
    fingerprint: int | None = None
    verdict: str = ""
    reason: Stored | None = None
    duplicate_of: int | None = None
    distance: int | None = None
    similarity: float | None = None
    parameters: int | None = None
    better_copy: int = 0
    text: bytes | None = None
    html: bytes | None = None

    @property
    def has_own_words(self) -> bool:
        """Whether the digests and the text come from the page's own answer.

        They do not if a near-duplicate took over the text of its original.
        """
        return self.payload_digest is not None

    def says_what_it_said(self, previous: PageRow) -> bool:
        """Return whether an answer repeats the page's last version, whichever page has its text."""
        if previous.last_text_digest is None:
            return False
        same_payload = self.last_payload_digest == previous.last_payload_digest
        return same_payload or self.last_text_digest == previous.last_text_digest

    def values(self) -> tuple[object, ...]:
        """Return the row for SQLite, with the fingerprint as a signed number."""
        row = [getattr(self, name) for name in COLUMNS]
        row[_FINGERPRINT] = to_signed(self.fingerprint)
        return tuple(row)


COLUMNS = tuple(field.name for field in fields(PageRow))
_FINGERPRINT = COLUMNS.index("fingerprint")


def row_of(values: tuple[object, ...]) -> PageRow:
    """Read a row selected as ``COLUMNS``."""
    row = PageRow(*values)  # type: ignore[arg-type]  # the schema gives the types
    row.fingerprint = to_unsigned(row.fingerprint)
    return row


def to_signed(fingerprint: int | None) -> int | None:
    """Return 64 bits as SQLite's signed integer."""
    if fingerprint is None or fingerprint < _SIGN_BIT:
        return fingerprint
    return fingerprint - _WRAP


def to_unsigned(fingerprint: int | None) -> int | None:
    """Undo ``to_signed``."""
    if fingerprint is None or fingerprint >= 0:
        return fingerprint
    return fingerprint + _WRAP
