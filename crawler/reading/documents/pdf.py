"""Read PDF documents with pdfium, page by page, within a time."""

from __future__ import annotations

import re
import time
import unicodedata
from contextlib import closing
from ctypes import byref, c_int, c_ushort, create_string_buffer
from typing import TYPE_CHECKING

import pypdfium2
from pypdfium2 import raw

from crawler.reading.documents.document_text import (
    MAX_TEXT_CHARACTERS,
    ROW,
    DocumentBlock,
    DocumentProperties,
    DocumentText,
    Lines,
    UnreadableError,
    clean,
    too_long,
)
from crawler.reading.documents.pdf_layout import Line, paragraphs
from crawler.reading.documents.pdf_printed import PrintedPages
from crawler.reading.reading import NoText
from neardup.verification import split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.reading.metadata.metadata_record import Metadata

_MAX_LINKS = 100_000
_MAX_URL_BYTES = 8192
_MIN_WORDS_A_PAGE = 5
"""Take a document for a scan, perhaps with a stamp, that has fewer words a page on the mean."""

_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
# Names that programs write where nobody gave a title.
_NO_TITLE = re.compile(
    r"untitled(?:[ -].*)?|(?:microsoft )?(?:word|powerpoint|excel) - .*|powerpoint presentation"
    r"|.*\.(?:docx?|pptx?|xlsx?|odt|rtf|tex|dvi|indd|qxd|pdf|txt|html?)|(?:about|data):.*|https?:.*",
    re.IGNORECASE,
)
# pdfium writes U+FFFE for the hyphen of a divided word, and no end of its line.
_LINE = re.compile("([^\r\n\ufffe\x02]*+[\ufffe\x02]?)(?:\r\n|\r|\n)?")
# A soft hyphen is seen at the end of a line only.
_UNSEEN = re.compile("[\x00-\x01\x03-\x08\x0b-\x1f\x7f\uffff\ufeff]|\u00ad(?!\\s*$)")
_LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}


def read_pdf(body: bytes, max_secs: float) -> DocumentText:
    """Read a PDF: its text in paragraphs, its links and its metadata.

    Args:
        body: The document.
        max_secs: CPU time after which a document is given up as too large.

    Raises:
        UnreadableError: It needs a password, is damaged, takes too long, or is a scan: two
            scans with the same stamp would have the same text.
    """
    deadline = time.process_time() + max_secs
    try:
        opened = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        raise _why_closed(error) from None
    with closing(opened) as document:
        found, links, count = list[Line](), list[str](), len(document)
        room, unreadable = MAX_TEXT_CHARACTERS, 0
        turn = deadline - max_secs / 2  # pdfium reads what is left in a tenth of the time
        printed = _printed(document, body, turn)
        for number in range(count):
            if time.process_time() > deadline:
                words = f"{count:,} pages, more than are read in {max_secs:g} s"
                raise UnreadableError(NoText.TOO_LARGE, words)
            try:
                page = document[number]
            except pypdfium2.PdfiumError:
                unreadable += 1
                continue
            with closing(page):
                drawn = None if printed is None else printed.lines(number, turn)
                room -= _read_page(page, number, found, room, drawn)
                links += _links(document, page, _MAX_LINKS - len(links))
        if unreadable and unreadable == count:
            raise UnreadableError(NoText.DAMAGED, "none of its pages can be read")
        metadata = _metadata(document)
    lines = Lines()
    for kind, text in paragraphs(found):
        lines.add(kind, text.strip("\x02\ufffe\u00ad"))
    _refuse_scan(lines.blocks, count - unreadable)
    return DocumentText(lines.blocks, metadata, links)


def _refuse_scan(blocks: list[DocumentBlock], pages: int) -> None:
    words = 0
    for block in blocks:
        words += len(split(block.text))
        if words >= _MIN_WORDS_A_PAGE * pages:
            return
    if blocks:
        raise UnreadableError(NoText.EMPTY, f"a scan, {words:,} words on {pages:,} pages")


def _why_closed(error: pypdfium2.PdfiumError) -> UnreadableError:
    if "assword" in str(error) or "ecurity" in str(error):
        return UnreadableError(NoText.ENCRYPTED, "needs a password")
    return UnreadableError(NoText.DAMAGED, " ".join(str(error).split())[:200])


def _printed(document: pypdfium2.PdfDocument, body: bytes, deadline: float) -> PrintedPages | None:
    """Return the pages of a document that Chromium printed, None for another."""
    if not document.get_metadata_value("Producer").startswith("Skia/PDF"):
        return None
    try:
        return PrintedPages(body, deadline)
    except Exception:  # whatever it is, pdfium reads the document too
        return None


def _read_page(
    page: pypdfium2.PdfPage,
    number: int,
    found: list[Line],
    room: int,
    lines: list[Line] | None,
) -> int:
    """Add the lines of a page, or those that pdfium finds; return how many characters it has.

    Raises:
        UnreadableError: It has more than there is room for.
    """
    try:
        opened = page.get_textpage()
    except pypdfium2.PdfiumError:
        return 0
    with closing(opened) as text_page:
        count: int = text_page.count_chars()
        if count > room:
            raise too_long()
        if count > 0:
            # Half as much as pdfium has is not the whole page.
            is_whole = lines is not None and 2 * sum(len(line.text) for line in lines) > count
            for line in lines if lines and is_whole else _lines(text_page, number):
                text = _UNSEEN.sub("", line.text).translate(_LIGATURES)
                text = text.rstrip() if line.kind == ROW else text.strip()
                if text.strip("\x02\ufffe \t"):
                    found.append(line._replace(text=text))
        return count


def _lines(text_page: pypdfium2.PdfTextPage, number: int) -> Iterator[Line]:
    box = raw.FS_RECTF()
    handle = text_page.raw
    at = 0
    for found in _LINE.finditer(text_page.get_text_range()):
        written = found[1]
        start, at = at, at + _units(found[0])
        text = written.strip()
        if not text:
            continue
        start += len(written) - len(written.lstrip())
        ends = []
        for place in (start, start + _units(text) - 1):
            char = raw.FPDFText_GetCharIndexFromTextIndex(handle, place)
            if char >= 0 and raw.FPDFText_GetLooseCharBox(handle, char, byref(box)):
                ends.append((box.left, box.right, box.bottom, box.top))
        if not ends:
            ends = [(0.0, 0.0, 0.0, 0.0)]
        left, right = min(end[0] for end in ends), max(end[1] for end in ends)
        bottom, height = ends[0][2], ends[0][3] - ends[0][2]
        yield Line(text, number, left, right, bottom, max(height, 0.1))


def _units(text: str) -> int:
    """Return the length of a text in units of UTF-16, by which pdfium counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _links(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, room: int) -> Iterator[str]:
    """Yield the targets of the link annotations of a page."""
    place, link = c_int(0), raw.FPDF_LINK()
    while room > 0 and raw.FPDFLink_Enumerate(page.raw, byref(place), byref(link)):
        room -= 1
        action = raw.FPDFLink_GetAction(link)
        kind = raw.FPDFAction_GetType(action) if action else 0
        if kind == raw.PDFACTION_URI:
            size = raw.FPDFAction_GetURIPath(document.raw, action, None, 0)
            if 1 < size <= _MAX_URL_BYTES:
                buffer = create_string_buffer(size)
                raw.FPDFAction_GetURIPath(document.raw, action, buffer, size)
                yield buffer.value.decode("utf-8", "replace")


def _metadata(document: pypdfium2.PdfDocument) -> Metadata:
    said = document.get_metadata_dict(skip_empty=True)
    title = clean(said.get("Title"))
    is_title = title is not None and not _NO_TITLE.fullmatch(title)
    return DocumentProperties(
        title=[("pdf:Title", title if is_title else None)],
        author=[("pdf:Author", said.get("Author"))],
        date=[("pdf:CreationDate", _day(said.get("CreationDate", "")))],
        modified=[("pdf:ModDate", _day(said.get("ModDate", "")))],
        language=[("pdf:Lang", _language(document))],
        description=[("pdf:Subject", said.get("Subject"))],
        tags=[("pdf:Keywords", said.get("Keywords"))],
    ).metadata()


def _day(written: str) -> str | None:
    """Return the day of a date of PDF; a month or a day that it lacks is the first one."""
    day = _DATE.match(written)
    return None if day is None else "-".join(part or "01" for part in day.groups())


def _language(document: pypdfium2.PdfDocument) -> str | None:
    size = raw.FPDFCatalog_GetLanguage(document.raw, None, 0)
    if not 2 < size <= _MAX_URL_BYTES:
        return None
    buffer = (c_ushort * (size // 2))()
    raw.FPDFCatalog_GetLanguage(document.raw, buffer, size)
    return clean(bytes(buffer).decode("utf-16-le", "replace").rstrip("\0"))
