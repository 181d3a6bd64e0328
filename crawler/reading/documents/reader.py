"""Read a document of any kind within the limits of a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.reading.documents.document_text import UnreadableError
from crawler.reading.documents.kinds import DocumentKind
from crawler.reading.reading import NoText

if TYPE_CHECKING:
    from crawler.reading.documents.document_text import DocumentText

_SHARE_OF_TIME = 0.7
"""Leave the rest of a page's time for what follows on the text."""


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
    found = _read(DocumentKind(kind), body, content_type, timeout_secs * _SHARE_OF_TIME)
    if not found.blocks:
        raise UnreadableError(NoText.EMPTY, "nothing in it")
    found.metadata, found.kind = found.headed(), kind
    return found


def _read(  # one a kind
    kind: DocumentKind, body: bytes, content_type: str | None, max_secs: float
) -> DocumentText:
    if kind == DocumentKind.PDF:
        from crawler.reading.documents.pdf import read_pdf  # noqa: PLC0415

        return read_pdf(body, max_secs)
    if kind in {DocumentKind.WORD, DocumentKind.SLIDES}:
        from crawler.reading.documents.office import read_slides, read_word  # noqa: PLC0415

        return read_word(body) if kind == DocumentKind.WORD else read_slides(body)
    if kind == DocumentKind.OPEN_DOCUMENT:
        from crawler.reading.documents.opendocument import read_open_document  # noqa: PLC0415

        return read_open_document(body)
    if kind == DocumentKind.EPUB:
        from crawler.reading.documents.epub import read_epub  # noqa: PLC0415

        return read_epub(body)
    if kind == DocumentKind.FEED:
        from crawler.reading.documents.feeds import read_feed  # noqa: PLC0415

        return read_feed(body, content_type)
    from crawler.reading.documents.plain import read_markdown, read_plain  # noqa: PLC0415

    read = read_markdown if kind == DocumentKind.MARKDOWN else read_plain
    return read(body, content_type)
