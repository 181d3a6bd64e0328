"""Read a page from its bytes, in this process.

In two steps, because between them the parent may reply that it has the visible text already.
"""

from __future__ import annotations

import logging
import re
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import zstandard
from lxml.etree import fromstring

from crawler.reading.content.content_text import absolute
from crawler.reading.content.content_xml import (
    DOCUMENT,
    PackedContent,
    content_of_lines,
    pack_content,
    pack_lines,
    unpack_content,
)
from crawler.reading.content.main_content import TRAFILATURA, read_by_trafilatura, read_content
from crawler.reading.content_types import WallKind
from crawler.reading.decoding import decode
from crawler.reading.documents.document_text import UnreadableError
from crawler.reading.documents.kinds import DocumentKind
from crawler.reading.flat_page import FlatPage, in_attribute, resolved
from crawler.reading.further_links import further_links
from crawler.reading.html_parsing import parse
from crawler.reading.link_extraction import MEAN_LENGTH, MIN_ROOM, LinkReader, base_url, resolve
from crawler.reading.link_kinds import ANCHOR, REFRESH, note_kind
from crawler.reading.metadata.declared_headers import header_links, with_headers
from crawler.reading.metadata.metadata_reader import read_metadata
from crawler.reading.metadata.metadata_record import NO_METADATA
from crawler.reading.page_elements import collect
from crawler.reading.reading import Extracted, NoText, Parsed, ReadingTask, extract_of
from crawler.reading.text import Visible, ink, judge_page, judge_whole, tidy
from crawler.reading.url_joining import PlainJoiner
from crawler.reading.visible_text import read_visible
from crawler.reading.wall_signs import read_wall_signs
from crawler.urls.canonical import Canonicalizer
from neardup.boilerplate import block_hashes
from neardup.fingerprints.digest import text_digest, words_digest
from neardup.volatile.answers import set_aside
from neardup.whole import SEPARATOR, part_of, with_whole

if TYPE_CHECKING:
    from crawler.reading.content.main_content import MainContent
    from crawler.reading.documents.document_text import DocumentText
    from crawler.reading.page_elements import PageElements
    from crawler.reading.protocol import ReadingOptions
    from crawler.reading.text import JudgedText
    from neardup.volatile.answers import Volatile

Element = Any  # lxml has no types

logger = logging.getLogger(__name__)

_PERMALINKS = ("#", "¶", "§", "\N{LINK SYMBOL}", "\uf0c1", r"\^", "↩\ufe0e?", "↑")
_UNSEEN = "[ \t\n\r\xa0\u200b\u2060\ufeff]*+"
# The signs by which a heading links to itself, and the addresses of other links and of images.
# An expression that begins with a group is tried at every character.
_LINKED = re.compile(
    rf"<(?:ref target=\"#[^\"]*\"(?:/>|>{_UNSEEN}(?:{'|'.join(_PERMALINKS)})?{_UNSEEN}</ref>)"
    r"|(?P<tag>(?:ref|graphic)\b[^>]*? (?:target|src)=\")(?P<url>[^\"]*)\"|(?P<bare>ref)(?=/?>))"
)
_EMPTY = re.compile(r"\"></\w+>")
_WORD = re.compile(r">\s*[^<\s]")
_SHARE_OF_DOCUMENT = 0.7
"""Leave the rest of a page's time for what follows on the text."""
_NO_TAGS = FlatPage([], [])
_NO_PAGE = collect(parse(b""))  # links of documents are beside it


class PageReader:
    """Reads one page after the other, each in two steps; it is not thread-safe."""

    def __init__(self, options: ReadingOptions) -> None:
        self._options = options
        self._kinds = frozenset(options.link_kinds)
        disabled = options.disabled_url_rules
        self._links = LinkReader(
            Canonicalizer(disabled),
            options.max_links,
            max_url_length=options.max_url_length,
            keep_fragments="fragment" in disabled,
            kinds=options.link_kinds,
        )
        self._compress = zstandard.ZstdCompressor().compress
        self._root: Element = None
        self._page = _NO_TAGS
        self._visible: Visible | None = None
        self._shown: Visible | None = None
        self._is_apart = False
        self._visible_digest = b""
        self._body = b""
        self._url = self._base = ""
        self._metadata = NO_METADATA
        self._document: DocumentText | None = None
        self._made_at: float | None = None
        self._fixed_slots: tuple[int, ...] = ()

    def parse(self, job: ReadingTask) -> Parsed:
        """Take the first step without the visible text, which ``see`` adds.

        Raises:
            UnreadableError: No text can be read of a document.
            MemoryError: The page does not fit.
        """
        started = time.process_time()
        self.forget()
        self._url, self._is_apart = job.url, job.apart
        self._made_at, self._fixed_slots = job.made_at, job.fixed_slots
        if job.kind is not None:
            return self._parse_document(job, job.kind, started)
        decoded = decode(job.body, job.content_type)
        self._body = job.body
        self._root = parse(decoded.utf8, job.content_type)
        page = collect(self._root)
        self._page = page.flat
        self._base = base = base_url(page.base, job.url)
        said = read_metadata(page, base, job.url)
        self._metadata = metadata = with_headers(said, job.headers, job.url)
        if self._options.extractor is not None:
            secs = time.process_time() - started
            return Parsed([], 0, metadata, decoded.encoding, None, secs)
        more = {} if metadata.refresh_url is None else {metadata.refresh_url: REFRESH}
        for address, kind in header_links(job.headers, job.url).items():
            with suppress(ValueError):  # what is no URL leads nowhere
                url = resolve(job.url, address)  # not against the base of the page
                if url is not None:
                    note_kind(more, url, kind)
        for address, kind in self._further(page, decoded.utf8).items():
            note_kind(more, address, kind)
        found = self._links.read(page, base, decoded.encoding, more)
        parsed = Parsed(found.links, found.cut, metadata, decoded.encoding, None, 0, found.too_long)
        if self._options.places:
            places = self._links.places(page, job.url, found.targets)
            parsed = parsed._replace(places=places)
        return parsed._replace(malformed=found.malformed, secs=time.process_time() - started)

    def _further(self, page: PageElements, utf8: bytes) -> dict[str, str]:
        """Return the references beside the anchors."""
        try:
            return further_links(page, utf8, self._kinds)
        except MemoryError:
            raise
        except Exception:  # whatever it is, the page and its other links must not be lost
            logger.debug("%s: no further links", self._url, exc_info=True)
            return {}

    def see(self, parsed: Parsed) -> Parsed:
        """Add the digest of the visible text of the last ``parse``, and its signs of a wall.

        Raises:
            MemoryError: The page does not fit.
        """
        started = time.process_time()
        if self._document is not None:
            digest = self._visible_digest = self._digest(self._document.text)
            secs = parsed.secs + time.process_time() - started
            return parsed._replace(visible_digest=digest, secs=secs)
        self._shown = read_visible(self._page)
        self._visible, volatile = self._set_aside(self._shown)
        signs = read_wall_signs(self._root, self._visible, self._url)
        self._is_apart |= signs is not None and signs.kind == WallKind.SHELL
        digest = self._visible_digest = self._digest(self._visible.whole())
        secs = parsed.secs + time.process_time() - started
        return parsed._replace(visible_digest=digest, signs=signs, secs=secs, volatile=volatile)

    def _set_aside(self, visible: Visible) -> tuple[Visible, tuple[tuple[int, str], ...]]:
        """Return texts without what the server wrote for this answer alone, and that."""
        text, found = self._stable(visible.text)
        if found:
            is_frameset, others = visible.is_frameset, (visible.unlinked, *visible[3:])
            unlinked, *rest = (self._stable(other)[0] for other in others)
            visible = Visible(text, unlinked, is_frameset, *rest)
        return visible, tuple((place.slot, place.said) for place in found)

    def _stable(self, text: str) -> tuple[str, tuple[Volatile, ...]]:
        if self._made_at is None:
            return text, ()
        return set_aside(text, self._made_at, self._metadata.language, self._fixed_slots)

    def _digest(self, visible: str) -> bytes:
        return text_digest(with_whole(visible, self._url) if self._is_apart else visible)

    def _told_apart(self, text: str) -> str:
        """Return a text, and beside that of a page which is not known whole the URL of the page.

        Such a page says the same at every URL, and shows something else at each: its scripts fill
        it, and did not. Nor is a part of a page a copy of one that says the same so far. A page
        without a word is told apart by its bytes, and so by its URL (``PageContext.take``).
        """
        if not self._is_apart or not text.strip():
            return text
        return f"{text}\n{self._url}" if SEPARATOR in text else with_whole(text, self._url)

    def _apart(self, judged: JudgedText) -> JudgedText:
        is_main = judged.is_main and not self._is_apart
        return judged._replace(text=self._told_apart(judged.text), is_main=is_main)

    def extract(self) -> Extracted:
        """Take the second step for the page of the last ``see``.

        Raises:
            MemoryError: The page does not fit.
        """
        started = time.process_time()
        is_html, text_alone = self._document is None, self._options.extractor is not None
        content = html_zstd = blocks = words = name = None
        if self._document is not None:
            judged = self._apart(judge_whole(self._document.text))
            if not text_alone:
                packed = pack_content(self._document.body())
                content = PackedContent(packed, DOCUMENT, self._document.kind)
        elif self._visible is not None and self._shown is not None:
            found = main_content(
                self._root,
                self._page,
                self._url,
                with_body=not (self._options.shows_lines or text_alone),
                by_trafilatura=self._options.extractor == TRAFILATURA,
            )
            main = "" if found is None or found.is_cut else self._stable(found.text)[0]
            judged = self._apart(judge_page(main, self._visible))
            if self._options.shows_lines:
                content = content_of_lines(part_of(judged.text))
            elif not text_alone:
                content = shown_content(found, self._base, self._shown)
        else:
            raise RuntimeError("extract() follows see()")
        # What follows may take as much memory as the page.
        found, body = None, self._body
        self.forget()
        utf8 = judged.text.encode("utf-8", "replace")
        text, packed, digest = utf8.decode(), self._compress(utf8), self._visible_digest
        extract = extract_of(text, packed, judged.is_main, digest, self._options.parameters)
        if not text_alone:
            html_zstd = self._compress(body) if self._options.keep_html and is_html else None
            blocks, name = block_hashes(judged.text), self._name(part_of(judged.text))
            words = words_digest(text)
        extract = replace(extract, blocks=blocks, words_digest=words, content=content)
        return Extracted(extract, html_zstd, time.process_time() - started, name)

    def _name(self, text: str) -> str:
        """Return what the page is called, packed."""
        said = self._metadata
        full_title, title, heading, subheading = (
            None if name is None else self._stable(name)[0]
            for name in (said.full_title, said.title, said.heading, said.subheading)
        )
        said = said._replace(
            full_title=full_title, title=title, heading=heading, subheading=subheading
        )
        return said.name(text).packed()

    def forget(self) -> None:
        self._root = self._visible = self._shown = self._document = None
        self._page = _NO_TAGS
        self._body = b""

    def _parse_document(self, job: ReadingTask, kind: str, started: float) -> Parsed:
        found = read_document(kind, job.body, job.content_type, self._options.timeout_secs)
        found.metadata = with_headers(found.metadata, job.headers, job.url)
        self._document, self._metadata = found, found.metadata
        followed = found.links if self._options.document_links else []
        more = header_links(job.headers, job.url) | dict.fromkeys(followed, ANCHOR)
        links = self._links.read(_NO_PAGE, job.url, "utf-8", more)
        secs = time.process_time() - started
        parsed = Parsed(links.links, links.cut, found.metadata, "utf-8", None, secs, links.too_long)
        return parsed._replace(malformed=links.malformed)


def main_content(
    root: Element,
    page: FlatPage,
    url: str,
    *,
    with_body: bool,
    by_trafilatura: bool,
) -> MainContent | None:
    """Return the main content of a page, or None where none was found.

    Raises:
        MemoryError: The page does not fit.
    """
    try:
        if by_trafilatura:
            return read_by_trafilatura(root)
        return read_content(root, page, with_body=with_body)
    except MemoryError:
        raise
    except Exception:  # whatever it is, the page must not be lost
        logger.debug("%s: no content", url, exc_info=True)
        return None


def shown_content(found: MainContent | None, base: str, visible: Visible) -> PackedContent:
    """Return the content of a page, or where none is found its text outside links, or all text.

    The text of a page that is too long to be looked at as a whole is all of it: that outside links,
    or for long lists of links all that is visible.

    Args:
        found: Main content of the page; its links become absolute.
        base: URL against which they are resolved.
        visible: Visible text of the page.

    Raises:
        MemoryError: The page does not fit.
    """
    try:
        if found is not None and found.is_cut:
            return whole_content(found, visible)
        if found is not None and _WORD.search(found.xml):
            packed = pack_content(with_absolute_links(found.xml, base), found.comments)
            if found.source == TRAFILATURA:
                unpack_content(packed)  # no tree of it is known that cannot be read
            return PackedContent(packed, found.kind, found.source)
    except MemoryError:
        raise
    except Exception:  # whatever it is, the page must not be lost
        logger.debug("content not packed, all text is shown", exc_info=True)
    unlinked = tidy(visible.unlinked)
    if unlinked:
        return PackedContent(pack_lines(unlinked), None, "unlinked")
    return PackedContent(pack_lines(tidy(visible.text)), None, "visible")


def with_absolute_links(xml: str, base: str) -> str:
    """Return a content whose links and images name whole URLs: pages of equal text share one.

    The signs by which a heading links to itself are left out. So that a long base does not make a
    page of gigabytes, links beyond some size stay as they are written.
    """
    join, room = PlainJoiner(base).join, MIN_ROOM

    def linked(found: re.Match[str]) -> str:
        nonlocal room
        room += MEAN_LENGTH
        if found.lastgroup is None:
            return ""
        if len(base) > room:
            return found[0]
        address = resolved(found["url"] or "")
        url = join(address) or absolute(base, address) or address
        room -= len(url)
        tag: str = found["tag"] or 'ref target="'
        return f'<{tag}{in_attribute(url)}"'

    written = _LINKED.sub(linked, xml)
    return _EMPTY.sub('"/>', written) if '"></' in written else written


def whole_content(found: MainContent, visible: Visible) -> PackedContent:
    """Return the text outside links where it has as much as the content found, or all text."""
    unlinked = tidy(visible.unlinked)
    if ink(unlinked) >= ink("".join(fromstring(found.xml).itertext())):
        return PackedContent(pack_lines(unlinked), found.kind, "unlinked")
    return PackedContent(pack_lines(tidy(visible.text)), found.kind, "visible")


def read_document(
    kind: str, body: bytes, content_type: str | None, timeout_secs: float
) -> DocumentText:
    """Read a document; what each kind needs is imported with its first document.

    Args:
        kind: A ``DocumentKind``.
        body: The document.
        content_type: Header of that name.
        timeout_secs: Time that the worker may use.

    Raises:
        UnreadableError: No text can be read of it, or it has none.
        MemoryError: It does not fit.
    """
    found = _read_kind(DocumentKind(kind), body, content_type, timeout_secs * _SHARE_OF_DOCUMENT)
    if not found.blocks:
        raise UnreadableError(NoText.EMPTY, "nothing in it")
    found.metadata, found.kind = found.headed(), kind
    return found


def _read_kind(  # one a kind
    kind: DocumentKind, body: bytes, content_type: str | None, max_secs: float
) -> DocumentText:
    if kind == DocumentKind.PDF:
        from crawler.reading.documents.pdf import read_pdf  # noqa: PLC0415

        return read_pdf(body, max_secs)
    if kind in {DocumentKind.WORD, DocumentKind.SLIDES}:
        from crawler.reading.documents.office import read_slides, read_word  # noqa: PLC0415

        return read_word(body) if kind == DocumentKind.WORD else read_slides(body)
    if kind == DocumentKind.OPEN_DOCUMENT:
        from crawler.reading.documents.office import read_open_document  # noqa: PLC0415

        return read_open_document(body)
    if kind == DocumentKind.EPUB:
        from crawler.reading.documents.hypertext import read_epub  # noqa: PLC0415

        return read_epub(body)
    if kind == DocumentKind.FEED:
        from crawler.reading.documents.feeds import read_feed  # noqa: PLC0415

        return read_feed(body, content_type)
    from crawler.reading.documents.plain import read_markdown, read_plain  # noqa: PLC0415

    read = read_markdown if kind == DocumentKind.MARKDOWN else read_plain
    return read(body, content_type)
