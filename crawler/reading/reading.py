"""Define the steps in which a page is read, and their result.

The worker has the facts of a text that a verdict needs; the parent has what they are compared with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import zstandard

from crawler.reading.content.content_xml import (
    PackedContent,
    StoredText,
    content_of_lines,
    decompress,
)
from crawler.reading.content_types import WallKind
from crawler.reading.link_kinds import ANCHOR
from crawler.reading.metadata.metadata_record import (
    NO_HEADERS,
    NO_METADATA,
    Metadata,
    PageHeaders,
)
from neardup import Document, analyse
from neardup.features.shingles import count_words
from neardup.fingerprints.digest import text_digest
from neardup.names import NO_NAME
from neardup.whole import part_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neardup import Parameters


class Link(NamedTuple):
    """A link of a page.

    Attributes:
        url: Absolute URL, otherwise as the site wrote it, without its fragment.
        key: The crawl's key of that URL, 16 bytes.
        nofollow: Whether the page marks it ``rel=nofollow``.
        is_canonical: Whether the URL is the canonical one of its key.
        others: Further spellings of it on the page, which have the same key.
        kind: Its kind, as in ``crawler.reading.link_kinds``.
        text: What an anchor shows, on one line and cut to 100 characters; empty for other kinds.
    """

    url: str
    key: bytes
    nofollow: bool
    is_canonical: bool = True
    others: tuple[str, ...] = ()
    kind: str = ANCHOR
    text: str = ""


class StoredLink(NamedTuple):
    """A link as it is stored: a URL in one of its spellings, without its key."""

    url: str
    nofollow: bool
    kind: str = ANCHOR
    text: str = ""


Places = tuple[list[str] | None, dict[str, list[str]]]
"""Names of the places within a page, None where its HTML does not tell; fragments by linked URL."""


def distinct_urls(links: Iterable[Link]) -> list[tuple[str, bool, str, str]]:
    """Return the parts of a ``StoredLink`` for every URL of some links in all its spellings.

    They are plain, since a page has many, and they are written at once.
    """
    found = []
    for link in links:
        found.append((link.url, link.nofollow, link.kind, link.text))
        if link.others:
            found += [(url, link.nofollow, link.kind, "") for url in link.others]
    return found


class NoText(StrEnum):
    """The reason why an answer has no text that can be judged."""

    OTHER_TYPE = "other_type"
    LIBRARY_MISSING = "library_missing"
    ENCRYPTED = "encrypted"
    DAMAGED = "damaged"
    TOO_LARGE = "too_large_to_read"
    EMPTY = "no_text"


class WallSigns(NamedTuple):
    """Signs by which a page with few words may be no page at all.

    Attributes:
        skeleton: Digest, 16 bytes, of its text without what repeats its URL.
        kind: A ``WallKind`` that its wording and its fields show, or empty.
    """

    skeleton: bytes
    kind: str


@dataclass(frozen=True, slots=True)
class Extract:
    """The text of a page, and the facts for a verdict on it.

    The judge chooses among them, since ``min_words`` may change while pages are read.

    Attributes:
        text_zstd: Text to judge: the main text if it is credible, with all text of the
            page outside links (``neardup.whole``), else all visible text. UTF-8,
            compressed by zstd.
        words: Number of tokens of that text, without the whole.
        digest: ``text_digest``, 16 bytes, of that text with its whole if a fingerprint may
            stand for it, otherwise of all visible text.
        fingerprint: Fingerprint of that text, however short; None if only equality of the
            visible text counts.
        is_main: Whether a fingerprint may stand for the text.
        visible_digest: Digest of all visible text, 16 bytes; None for a text without a page.
        signature: MinHash signature of that text (``neardup.Document``); None without a
            fingerprint, and where it was not computed yet.
        blocks: ``neardup.boilerplate.block_hashes`` of that text; None where they were not
            computed yet.
        sample: Its passages (``neardup.Document``), None where ``signature`` is.
        words_digest: ``words_digest`` of that text with its whole; None where ``blocks`` is.
        content: Content to show; None: it is made of the lines of the text.
    """

    text_zstd: bytes
    words: int
    digest: bytes
    fingerprint: int | None
    is_main: bool
    visible_digest: bytes | None = None
    signature: bytes | None = None
    blocks: bytes | None = None
    sample: bytes | None = None
    words_digest: bytes | None = None
    content: PackedContent | None = None

    @property
    def shown(self) -> PackedContent:
        """The content to show, which may be made at each call."""
        return self.content or content_of_lines(self.text)

    @property
    def text(self) -> str:
        """The text without its whole, decompressed at each call."""
        return part_of(self.judged_text)

    @property
    def judged_text(self) -> str:
        """The text with its whole, decompressed at each call."""
        return decompress(self.text_zstd).decode()

    @property
    def digests(self) -> frozenset[bytes]:
        """The digests by which the text may have been judged, under any parameters."""
        return frozenset(filter(None, (self.digest, self.visible_digest)))

    def document(self, min_words: int, name: str = "", group: int | None = None) -> Document:
        """Return the argument of ``neardup.Deduplicator.judge_document``, unpacked at each call.

        A text with fewer words has only pages with the same visible text as duplicates.
        """
        is_long = self.words >= min_words
        return Document(
            self.words,
            self.digest if is_long else self.visible_digest or self.digest,
            self.fingerprint if is_long else None,
            self.judged_text,
            name=name,
            signature=self.signature if is_long else None,
            group=group,
            sample=self.sample if is_long else None,
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """A page as read, with all that was learned before a failure.

    Attributes:
        url: URL of the page.
        not_html: Reason in a few words why it is no page; None for a page or a document.
        failure: Reason why it could not be read to the end, or None.
        links: Links, distinct by key, in the order of the page.
        links_cut: Number of links beyond the limit.
        links_too_long: Number of links that are longer than any URL that is requested.
        metadata: Metadata of the page.
        encoding: Encoding in which the body was read.
        visible_digest: ``text_digest``, 16 bytes, of all visible text; None if only links were
            requested.
        extract: Text of the page; None if only links were requested, and after a failure.
        reused: Whether the extract is that of another page with the same visible text.
        html_zstd: Body as it came, compressed by zstd, if ``keep_html`` is set and the
            extract is the page's own.
        malformed: References that are no URL, each with what it shows.
        parse_secs: CPU time of the worker for everything but the main text.
        extract_secs: CPU time of the worker for the main text.
        signs: Signs of a page with few words; None for any other, and if only links were requested.
        name: What the page is called, packed, where the extract is its own.
        no_text: Code of the reason in ``not_html``.
        volatile: Slots of what was set aside in the visible text, and what stands there.
        places: Places within the page, and those that it links to; None where they were not wanted.
    """

    url: str
    not_html: str | None = None
    failure: str | None = None
    links: tuple[Link, ...] = ()
    links_cut: int = 0
    metadata: Metadata = NO_METADATA
    encoding: str | None = None
    visible_digest: bytes | None = None
    extract: Extract | None = None
    reused: bool = False
    html_zstd: bytes | None = None
    malformed: tuple[tuple[str, str], ...] = ()
    parse_secs: float = 0.0
    extract_secs: float = 0.0
    links_too_long: int = 0
    signs: WallSigns | None = None
    name: str | None = None
    no_text: NoText = NoText.OTHER_TYPE
    volatile: tuple[tuple[int, str], ...] = ()
    places: Places | None = None

    @property
    def is_page(self) -> bool:
        """Whether it was read, and is HTML or a document."""
        return self.not_html is None and self.failure is None

    @property
    def is_app_shell(self) -> bool:
        """Whether the page shows next to nothing until its scripts fill it."""
        return self.signs is not None and self.signs.kind == WallKind.SHELL

    @property
    def stored_text(self) -> StoredText | None:
        """The text to store, with its content."""
        if self.extract is None:
            return None
        return StoredText(self.extract.text_zstd, *self.extract.shown)

    @property
    def text(self) -> str | None:
        """The text to judge, without its whole, decompressed at each call."""
        return None if self.extract is None else self.extract.text

    def document(self, min_words: int, group: int | None = None) -> Document | None:
        """Return the text as ``Extract.document`` does, with the page's own name, or None."""
        extract, name = self.extract, self.name
        if extract is None:
            return None
        if name is None:
            name = self.metadata.name(extract.text).packed()
        return extract.document(min_words, name, group)


class ReadingTask(NamedTuple):
    """A page to read.

    Attributes:
        kind: A ``DocumentKind``; None for HTML.
        headers: Headers that describe it.
        apart: Whether the text is told apart by the URL from the same text of any other page.
        made_at: Seconds since 1970 at which the answer was made; None: nothing is set aside in its
            text (``neardup.volatile.answers``).
        fixed_slots: Slots that are content, in which nothing is set aside.
    """

    url: str
    body: bytes
    content_type: str | None = None
    links_only: bool = False
    kind: str | None = None
    headers: PageHeaders = NO_HEADERS
    apart: bool = False
    made_at: float | None = None
    fixed_slots: tuple[int, ...] = ()


class Parsed(NamedTuple):
    """The first step: everything but the main text."""

    links: list[Link]
    links_cut: int
    metadata: Metadata
    encoding: str
    visible_digest: bytes | None
    secs: float
    links_too_long: int = 0
    malformed: tuple[tuple[str, str], ...] = ()
    volatile: tuple[tuple[int, str], ...] = ()
    places: Places | None = None
    signs: WallSigns | None = None


class Extracted(NamedTuple):
    """The second step: the text.

    Attributes:
        extract: The text, and the facts for a verdict on it.
        html_zstd: Body, if it is to be kept.
        secs: CPU time of the step.
        name: What the page is called by its metadata and this text, packed.
    """

    extract: Extract
    html_zstd: bytes | None
    secs: float
    name: str | None


def to_reading(url: str, parsed: Parsed, extracted: Extracted | None = None) -> Reading:
    return Reading(
        url,
        links=tuple(parsed.links),
        links_cut=parsed.links_cut,
        links_too_long=parsed.links_too_long,
        metadata=parsed.metadata,
        encoding=parsed.encoding,
        visible_digest=parsed.visible_digest,
        signs=parsed.signs,
        volatile=parsed.volatile,
        places=parsed.places,
        extract=None if extracted is None else extracted.extract,
        html_zstd=None if extracted is None else extracted.html_zstd,
        malformed=parsed.malformed,
        parse_secs=parsed.secs,
        extract_secs=0.0 if extracted is None else extracted.secs,
        name=None if extracted is None else extracted.name,
    )


def extract_of(
    text: str, packed: bytes, is_main: bool, visible_digest: bytes | None, parameters: Parameters
) -> Extract:
    """Return a text with the facts for its verdict.

    Args:
        text: The text.
        packed: The same, packed by zstd.
        is_main: Whether a fingerprint may stand for the text.
        visible_digest: Digest of all visible text.
        parameters: Parameters, whose features count here.
    """
    if not is_main:  # only pages with the same visible text are its duplicates
        words = count_words(part_of(text))
        digest = visible_digest or text_digest(text)
        return Extract(packed, words, digest, None, is_main, visible_digest)
    # Its name is made of the page's metadata too, so that one made of its lines alone is no use.
    document = analyse(text, _of_any_length(parameters), NO_NAME)
    return Extract(
        packed,
        document.words,
        document.digest,
        document.fingerprint,
        is_main,
        visible_digest,
        document.signature,
        sample=document.sample,
    )


@lru_cache(1)
def _of_any_length(parameters: Parameters) -> Parameters:
    return replace(parameters, min_words=1)


def reading_of_text(url: str, text: bytes, parameters: Parameters, title: str = "") -> Reading:
    """Return the reading of a text in UTF-8 that came without a page."""
    valid = text.decode("utf-8", "replace")
    extract = extract_of(valid, zstandard.compress(valid.encode()), True, None, parameters)
    return Reading(url, metadata=NO_METADATA._replace(title=title or None), extract=extract)
