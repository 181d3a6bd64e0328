"""What a page was read to, in the parent and on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import zstandard

from neardup import Document
from neardup.whole import part_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Link(NamedTuple):
    """A link of a page.

    Attributes:
        url: Absolute, otherwise as the site wrote it, without its fragment.
        key: The crawl's key of that URL, 16 bytes.
        nofollow: Whether the page marks it ``rel=nofollow``.
        is_canonical: Whether the URL is the canonical one of its key.
        others: Further spellings of it on the page, which have the same key.
    """

    url: str
    key: bytes
    nofollow: bool
    is_canonical: bool = True
    others: tuple[str, ...] = ()


def distinct_urls(links: Iterable[Link]) -> Iterator[tuple[str, bool]]:
    """Yield every URL of some links in all its spellings, and whether it is ``nofollow``."""
    for link in links:
        yield link.url, link.nofollow
        for url in link.others:
            yield url, link.nofollow


class Metadata(NamedTuple):
    """What a page says of itself; None where it says nothing.

    Attributes:
        date: Of publication, ISO 8601: ``2024-05-31``.
        language: BCP 47: ``en``, ``pt-BR``.
        canonical_url: Absolute, from ``rel=canonical``.
        robots: Directives of robots meta tags, lower case, ``none`` spelt out as ``noindex`` and
            ``nofollow``.
        refresh_url: Where a meta refresh leads, absolute.
        refresh_secs: After how long.
    """

    title: str | None = None
    author: str | None = None
    date: str | None = None
    language: str | None = None
    canonical_url: str | None = None
    robots: tuple[str, ...] = ()
    refresh_url: str | None = None
    refresh_secs: float | None = None


NOTHING_SAID = Metadata()


@dataclass(frozen=True, slots=True)
class Extract:
    """The text of a page, and what a verdict on it can rest on.

    Which of it does is for the judge to say, since ``min_words`` may change while pages are read.

    Attributes:
        text_zstd: The text to store: the main text where it can be believed, with all that the
            page shows outside links (``neardup.whole``), else all that is visible. UTF-8,
            compressed by zstd.
        words: Tokens of that text, without the whole.
        digest: ``text_digest``, 16 bytes, of that text with its whole where a fingerprint may
            stand for it, otherwise of all that is visible.
        fingerprint: Of that text, however short; None where only equality of what is visible
            counts.
        is_main: Whether the text is one that a fingerprint may stand for.
        visible_digest: Of all that is visible, 16 bytes; None for a text without a page.
    """

    text_zstd: bytes
    words: int
    digest: bytes
    fingerprint: int | None
    is_main: bool
    visible_digest: bytes | None = None

    @property
    def text(self) -> str:
        """The text without its whole, decompressed at each call."""
        return part_of(self.judged_text)

    @property
    def judged_text(self) -> str:
        """The text with its whole, decompressed at each call."""
        return zstandard.decompress(self.text_zstd).decode()

    @property
    def digests(self) -> frozenset[bytes]:
        """Those by which the text may have been judged, by whatever parameters."""
        return frozenset(filter(None, (self.digest, self.visible_digest)))

    def document(self, min_words: int) -> Document:
        """What ``neardup.Deduplicator.judge_document`` takes; unpacked at each call.

        Of a text with fewer words only pages that show the same are duplicates.
        """
        digest, fingerprint = self.digest, self.fingerprint
        if self.words < min_words:
            digest, fingerprint = self.visible_digest or digest, None
        return Document(self.words, digest, fingerprint, self.judged_text)


@dataclass(frozen=True, slots=True)
class Reading:
    """A page as read. Whatever was learned before a failure is there.

    Attributes:
        url: The page's own.
        not_html: Why it is no page, in a few words; None for a page.
        failure: Why it could not be read to the end; None where it could.
        links: Distinct by key, in the order of the page.
        links_cut: Links beyond the limit.
        links_too_long: Links that are longer than any URL that is asked for.
        metadata: What the page says of itself.
        encoding: In which the body was read.
        visible_digest: ``text_digest``, 16 bytes, of all visible text; None where only links were
            asked for.
        extract: The text; None where only links were asked for, and after a failure.
        reused: The extract is that of another page with the same visible text.
        html_zstd: The body as it came, compressed by zstd, where ``keep_html`` is set and the
            extract is the page's own.
        notes: What was odd and did not keep the page from being read.
        parse_secs: CPU time of the worker for everything but the main text.
        extract_secs: CPU time of the worker for the main text.
    """

    url: str
    not_html: str | None = None
    failure: str | None = None
    links: tuple[Link, ...] = ()
    links_cut: int = 0
    metadata: Metadata = NOTHING_SAID
    encoding: str | None = None
    visible_digest: bytes | None = None
    extract: Extract | None = None
    reused: bool = False
    html_zstd: bytes | None = None
    notes: tuple[str, ...] = ()
    parse_secs: float = 0.0
    extract_secs: float = 0.0
    links_too_long: int = 0

    @property
    def title(self) -> str | None:
        """The page's title."""
        return self.metadata.title

    @property
    def author(self) -> str | None:
        """Who wrote the page."""
        return self.metadata.author

    @property
    def date(self) -> str | None:
        """When the page was published, ISO 8601."""
        return self.metadata.date

    @property
    def language(self) -> str | None:
        """The page's language, BCP 47."""
        return self.metadata.language

    @property
    def canonical_url(self) -> str | None:
        """What the page declares by ``rel=canonical``."""
        return self.metadata.canonical_url

    @property
    def robots(self) -> tuple[str, ...]:
        """Directives of robots meta tags."""
        return self.metadata.robots

    @property
    def text_zstd(self) -> bytes | None:
        """The text to store, compressed."""
        return None if self.extract is None else self.extract.text_zstd

    @property
    def text(self) -> str | None:
        """The text to store, decompressed at each call."""
        return None if self.extract is None else self.extract.text

    def document(self, min_words: int) -> Document | None:
        """As ``Extract.document``."""
        return None if self.extract is None else self.extract.document(min_words)
