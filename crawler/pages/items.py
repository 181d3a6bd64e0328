"""The item of a page, as feeds and ``crawl-once pages`` write it."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crawler.pages.page_row import COLUMNS, times_named, to_unsigned
from crawler.pages.reasons import Reason, detail_of, in_words
from crawler.pages.verdicts import UNCHANGED
from crawler.reading.content.content_text import Shown, prepared, shown_text
from crawler.reading.content.content_text import markdown as markdown_text
from crawler.reading.content.content_xml import decompress, unpack_content

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from crawler.pages.page_context import Captured


@dataclass(slots=True)
class Page:
    """A captured page with its verdict.

    ``url`` is the URL as requested, ``canonical_url`` the dedup key;
    ``text`` is the main content as plain text, ``page_type`` its kind and
    ``content_source`` what found it; ``comments`` are those of readers,
    which are no part of it; ``words``, digests and fingerprint
    are of the text that is judged, which may have more: without a
    credible main text it is all that is visible;
    ``fetched_at`` is ISO 8601 in UTC; digests and the fingerprint are
    hexadecimal; ``duplicate_of`` is the URL of the kept page, and
    ``resembles`` that of a kept page with nearly these words and another
    name; ``distance`` in bits and ``similarity`` from 0 to 1 are those to
    it, or for ``changed`` those to the page's own last version;
    ``part_of`` is the URL of a page kept before that has this share, 0 to
    1, of its word 5-shingles: ``containment``. For ``contained`` that
    page is ``duplicate_of``. ``away`` is the outcome of the last visit of
    its URL where that gave no page any more: ``gone``, ``moved``,
    ``forbidden`` or ``failed``; its text stays. ``better_url`` is where
    this very text stands too, at a URL that names its language, is nearer
    to a seed, by https or shorter; it was met later.

    ``title`` is without the name of the site, ``full_title`` as the page has
    it; ``date`` is the day of publication, or that of the last change where
    the page names only that (``published``, ``modified``); ``sitename``,
    ``description``, ``image``, ``tags`` and ``categories`` are named as in
    trafilatura; ``declared_url`` is ``rel=canonical``, ``declared_type``
    ``og:type``; ``alternates`` are ``hreflang`` and ``url`` of translations;
    ``sources`` tells where each value was found: ``{"author": "meta:author"}``.
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
    declared_url: str | None
    full_title: str | None
    h1: str | None
    published: str | None
    modified: str | None
    sitename: str | None
    description: str | None
    image: str | None
    tags: list[str] | None
    categories: list[str] | None
    alternates: list[dict[str, str]] | None
    identifiers: list[str] | None
    schema_type: str | None
    declared_type: str | None
    sources: dict[str, str] | None
    words: int | None
    text: str | None
    comments: str | None
    page_type: str | None
    content_source: str | None
    payload_digest: str | None
    text_digest: str | None
    fingerprint: str | None
    verdict: str
    reason: str | None
    duplicate_of: str | None
    resembles: str | None
    distance: int | None
    similarity: float | None
    part_of: str | None
    containment: float | None
    away: str | None
    better_url: str | None


class CapturedPage(Page):
    """A page whose texts are made of its stored content when they are first asked for."""

    __slots__ = ("content",)
    content: bytes | None

    def __getattr__(self, name: str) -> Any:
        """Return the text or the comments, which are not set yet."""
        if name not in {"text", "comments"}:
            raise AttributeError(name)
        setattr(self, name, (text_of if name == "text" else comments_of)(self.content))
        return getattr(self, name)


@dataclass(slots=True)
class MarkdownPage(Page):
    """A captured page with its main content as Markdown, where ``NEARDUP_MARKDOWN`` is set."""

    markdown: str | None


PAGE_FIELDS = tuple(field.name for field in fields(Page))

_COLUMNS = frozenset(COLUMNS)

ROW_FORMATS = ("jsonl", "jl", "json", "csv", "xml", "parquet")
"""Formats of feeds and tables of pages."""

LINK_FORMATS = (*ROW_FORMATS, "graphml")
"""Formats of tables of links."""


def fields_of(row: Mapping[str, Any] | sqlite3.Row) -> dict[str, Any]:
    """Return the fields of ``Page`` for a row of ``pages`` and its joined URLs, without the texts.

    A field has the value of the column of its name, or else of that key in the column
    ``metadata``, unless it is computed here; None: not known.
    """
    unchanged = row["seen_visit"] > row["visit"]
    loaded = json.loads(row["metadata"]) if row["metadata"] else {}
    metadata = loaded if isinstance(loaded, dict) else {}  # crawl-once verify finds what is none
    sources = metadata.get("sources") or {}
    is_change = "date" in sources and sources["date"] == sources.get("modified")
    stored = {name: row[name] if name in _COLUMNS else metadata.get(name) for name in PAGE_FIELDS}
    return stored | {
        "fetched_at": iso_time(row["seen_at"] if unchanged else row["fetched_at"]),
        "full_title": metadata.get("full_title") or row["title"],
        "published": None if is_change else row["date"],
        "text": None,
        "comments": None,
        "payload_digest": _hex_digest(row["payload_digest"]),
        "text_digest": _hex_digest(row["text_digest"]),
        "fingerprint": _hex_fingerprint(to_unsigned(row["fingerprint"])),
        "verdict": UNCHANGED if unchanged else row["verdict"],
        "reason": in_words(row["reason"]),
        "duplicate_of": row["kept_url"],
        "resembles": row["resembled_url"] or detail_of(row["reason"], Reason.RESEMBLES),
        "part_of": row["part_of_url"],
        "away": row["away"],
        "better_url": max(
            (row["better_urls"] or "").splitlines(),
            key=lambda url: (times_named(url, row["language"]), -len(url)),
            default=None,
        ),
    }


def page_of(row: sqlite3.Row) -> dict[str, Any]:
    """Return what ``fields_of`` does, with the texts."""
    return fields_of(row) | _texts(row["content"])


def _texts(content: bytes | None) -> dict[str, str | None]:
    return {"text": text_of(content), "comments": comments_of(content)}


def page_of_capture(captured: Captured, *, markdown: bool = False) -> Page:
    """Return the item of a page, with its content as Markdown if that is wanted."""
    row, content = dict(zip(COLUMNS, captured.row.values(), strict=True)), captured.row.content
    named = {
        "kept_url": captured.kept_url,
        "resembled_url": captured.resembled_url,
        "part_of_url": captured.part_of_url,
        "away": None,
        "better_urls": None,
    }
    shown = fields_of(row | named) | {"verdict": captured.verdict}
    if markdown:
        return with_markdown(shown | _texts(content), content)
    page = CapturedPage(**shown)
    del page.text, page.comments
    page.content = content
    return page


def with_markdown(page: dict[str, Any], content: bytes | None) -> MarkdownPage:
    """Return the item of the fields of a page, and of its content as it is stored."""
    said = None if content is None else markdown_text(prepared(content, page["url"], Shown()))
    return MarkdownPage(**page, markdown=said)


def text_of(content: bytes | None) -> str | None:
    """Return a stored content as plain text."""
    return None if content is None else shown_text(content)


def comments_of(content: bytes | None) -> str | None:
    """Return the comments beside a stored content, a line for each block, or None without any."""
    if content is None or not decompress(content).startswith(b"<doc>"):
        return None
    comments = unpack_content(content).getnext()
    return None if comments is None else "\n".join(comments.itertext()) or None


def iso_time(seconds: float) -> str:
    """Return seconds since 1970 as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _hex_digest(digest: bytes | None) -> str | None:
    return None if digest is None else digest.hex()


def _hex_fingerprint(fingerprint: int | None) -> str | None:
    return None if fingerprint is None else f"{fingerprint:016x}"
