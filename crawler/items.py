"""The item of a page, as feeds and ``crawl-once pages`` write it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from crawler.pages.export import comments_of, fields_of, text_of
from crawler.pages.page_row import COLUMNS
from crawler.reading.content.content_text import Shown, prepared
from crawler.reading.content.content_text import markdown as markdown_text

if TYPE_CHECKING:
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

ROW_FORMATS = ("jsonl", "jl", "json", "csv", "xml", "parquet")
"""Formats of feeds and tables of pages."""

LINK_FORMATS = (*ROW_FORMATS, "graphml")
"""Formats of tables of links."""


def page_of_capture(captured: Captured, *, markdown: bool = False) -> Page:
    """Return the item of a page, with its content as Markdown if that is wanted."""
    page = _page_of(captured)
    if not markdown:
        return page
    values = {name: getattr(page, name) for name in PAGE_FIELDS}
    return with_markdown(values, captured.row.content)


def with_markdown(page: dict[str, Any], content: bytes | None) -> MarkdownPage:
    """Return the item of the fields of a page, and of its content as it is stored."""
    said = None if content is None else markdown_text(prepared(content, page["url"], Shown()))
    return MarkdownPage(**page, markdown=said)


def _page_of(captured: Captured) -> Page:
    row = dict(zip(COLUMNS, captured.row.values(), strict=True))
    named = {
        "kept_url": captured.kept_url,
        "resembled_url": captured.resembled_url,
        "part_of_url": captured.part_of_url,
        "away": None,
        "better_urls": None,
    }
    page = CapturedPage(**fields_of(row | named) | {"verdict": captured.verdict})
    del page.text, page.comments
    page.content = captured.row.content
    return page
