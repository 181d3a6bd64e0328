"""The item of a page, as feeds and ``scrapy pages`` write it."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(slots=True)
class Page:
    """A captured page with its verdict.

    ``url`` is the URL as requested, ``canonical_url`` the dedup key;
    ``fetched_at`` is ISO 8601 in UTC; digests and the fingerprint are
    hexadecimal; ``duplicate_of`` is the URL of the kept page, ``distance`` in
    bits and ``similarity`` from 0 to 1 are those to it, or for ``changed``
    those to the page's own last version.
    """

    url: str
    canonical_url: str
    status: int | None
    fetched_at: str
    depth: int
    title: str | None
    author: str | None
    date: str | None
    language: str | None
    words: int | None
    text: str | None
    payload_digest: str | None
    text_digest: str | None
    fingerprint: str | None
    verdict: str
    reason: str | None
    duplicate_of: str | None
    distance: int | None
    similarity: float | None


PAGE_FIELDS = tuple(field.name for field in fields(Page))
