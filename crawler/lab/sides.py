"""The two texts of a comparison: of stored pages, of HTML, of files."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from crawler.lab.crawl_source import CrawlSource, SourceError
from crawler.reading.content.content_text import shown_text
from crawler.reading.content.content_xml import ContentError
from crawler.reading.content_types import why_not_html
from crawler.reading.documents.kinds import document_kind
from crawler.reading.pool import Html, read_html
from crawler.reading.worker_pool import ReadingError
from crawler.urls.canonical import Canonicalizer
from crawler.urls.parts import MalformedUrl
from neardup.names import NO_NAME, Name, name_of, unpacked
from neardup.whole import readable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawler.lab.crawl_source import Blocks, LabPage, Sources
    from crawler.lab.session import Session
    from crawler.reading.content.content_xml import PackedContent

MAX_BYTES = 32 * 1024 * 1024
"""The largest size of a file, in bytes."""

_CANONICALIZER = Canonicalizer()
_COMPARED = 5_000
"""The number of URLs among which a similar one is looked for; more take seconds."""

_XML = "application/xml"
_ENDINGS = (".html", ".htm", ".xhtml")


class ComparedText(StrEnum):
    """The text of a page whose words are shown side by side."""

    JUDGED = "judged"
    SHOWN = "shown"


@dataclass(frozen=True, slots=True)
class TextSide:
    """A text to compare.

    Attributes:
        name: The URL or the file.
        title: The title; empty where there is none.
        text: The text that would be judged.
        is_main: Whether a fingerprint may stand for it.
        called: What the text is called, for the verdict.
        blocks: The hashes of the blocks that are boilerplate at the page's host; None: that is not
            known.
        content: The content that is shown of the page; None for a text that came without one.
        picture: A picture of the page as WebP, where the crawl keeps them; else None.
    """

    name: str
    title: str
    text: str
    is_main: bool = True
    called: Name = NO_NAME
    blocks: Blocks = None
    content: PackedContent | None = None
    picture: bytes | None = None

    def words_of(self, compared: ComparedText) -> str:
        """Return the judged text with its whole below it, or the shown text.

        A text that came without a page is judged and shown as it is.

        Raises:
            SourceError: The content is damaged.
        """
        if compared is ComparedText.JUDGED or self.content is None:
            return readable(self.text)
        try:
            return shown_text(self.content.xml_zstd)
        except ContentError as error:
            hint = "crawl-once verify DIR says more"
            raise SourceError(
                f"{self.name}: what is shown of it cannot be read: {error}; {hint}"
            ) from None


def place_of(pages: Sequence[LabPage], url: str) -> int:
    """Return the place of the newest page of a URL, else of one of the same canonical URL.

    Raises:
        SourceError: There is none; a similar URL is proposed.

    Complexity: O(pages).
    """
    places = [place for place, page in enumerate(pages) if page.url == url]
    if places:
        return places[-1]
    key = _key(url)
    for place in range(len(pages) - 1, -1, -1):
        if key is not None and _key(pages[place].url) == key:
            return place
    urls = (page.url for page in islice(pages, _COMPARED))
    close = difflib.get_close_matches(url, list(urls), n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise SourceError(f"{url}: no page with a text has this URL{hint}")


def _key(url: str) -> bytes | None:
    try:
        return _CANONICALIZER.key(url)
    except MalformedUrl:
        return None


def stored_side(session: Session, sources: Sources, url: str) -> TextSide:
    """Return the text of a stored page.

    Raises:
        SourceError: No page has this URL, or its text is not stored.
    """
    (side,) = sides_of([session.pages[place_of(session.pages, url)]], sources)
    if side is None:
        raise SourceError(f"{url}: the text of this page is not held in {sources.name}")
    return side


def stored_texts(folder: Path, page_id: int) -> TextSide | None:
    """Return the texts of a page of a crawl directory by its id; None: they are not stored.

    Raises:
        SourceError: They cannot be read.
    """
    source = CrawlSource(folder)
    (text,) = source.texts([page_id])
    return None if text is None else TextSide("", "", text, content=source.content(page_id))


def sides_of(pages: Sequence[LabPage], sources: Sources) -> list[TextSide | None]:
    """Return the texts of pages; None for one that is not stored.

    Raises:
        SourceError: They cannot be read.
    """
    boilerplate = sources.boilerplate()
    sides: list[TextSide | None] = []
    for page, text in zip(pages, sources.texts([page.id for page in pages]), strict=True):
        if text is None:
            sides.append(None)
            continue
        called, blocks = unpacked(page.name), boilerplate(page)
        shown = sources.content(page.id), sources.picture(page.id)
        sides.append(TextSide(page.url, page.title, text, page.is_main, called, blocks, *shown))
    return sides


def read_pages(pages: Sequence[Html]) -> list[TextSide]:
    """Read HTML as a crawl does.

    Raises:
        SourceError: One of them is no page, or no worker could be started.
    """
    try:
        readings = read_html(pages)
    except ReadingError as error:
        raise SourceError(str(error)) from None
    sides = []
    for page, reading in zip(pages, readings, strict=True):
        extract = reading.extract
        if extract is None:
            why = reading.not_html or reading.failure or "nothing in it"
            raise SourceError(f"{page.url}: no page: {why}")
        title, called = reading.metadata.title or "", reading.metadata.name(extract.text)
        side = TextSide(page.url, title, extract.judged_text, extract.is_main, called)
        sides.append(replace(side, content=extract.shown))
    return sides


def read_files(paths: Sequence[Path]) -> list[TextSide]:
    """Read files, HTML and documents as a crawl does and any other as plain text in UTF-8.

    Raises:
        SourceError: One of them cannot be read, or is neither.
    """
    contents = [_content(path) for path in paths]
    pages = {
        place: Html(path.resolve().as_uri(), content, _XML if is_document else None)
        for place, (path, content) in enumerate(zip(paths, contents, strict=True))
        # PDF and packed files are told by their bytes, feeds where XML is declared.
        if (is_document := document_kind(_XML, content) is not None) or _is_html(path, content)
    }
    read = dict(zip(pages, read_pages(list(pages.values())), strict=True)) if pages else {}
    return [
        replace(read[place], name=str(path)) if place in read else _plain_side(path, content)
        for place, (path, content) in enumerate(zip(paths, contents, strict=True))
    ]


def _plain_side(path: Path, content: bytes) -> TextSide:
    """Return a text in UTF-8, which its first lines name."""
    text = _decoded(path, content)
    return TextSide(str(path), "", text, called=name_of(text))


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from None
    if len(content) > MAX_BYTES:
        raise SourceError(f"{path}: larger than {MAX_BYTES // 2**20} MB")
    return content


def _is_html(path: Path, content: bytes) -> bool:
    return path.suffix.lower() in _ENDINGS or why_not_html(None, content) is None


def _decoded(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{path}, byte {error.start:,}: no HTML, document or text in UTF-8: {error.reason}"
        ) from None
