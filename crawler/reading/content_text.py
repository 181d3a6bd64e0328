"""Write the content of a page as plain text, as trafilatura does."""

from __future__ import annotations

from typing import Any

from crawler.reading.content_xml import unpack_content

Element = Any  # lxml has no types

_MAX_ELEMENTS = 50_000
"""Write a content of more elements line by line: trafilatura would take seconds."""


def shown_text(packed: bytes) -> str:
    """Return a stored content as plain text, a line for each paragraph, item and row.

    Raises:
        ContentError: It cannot be read.
    """
    return plain_text(unpack_content(packed))


def plain_text(body: Element) -> str:
    """Return a content as plain text."""
    if all(child.tag == "p" and not len(child) and not child.tail for child in body):
        return "\n".join(filter(None, ((child.text or "").strip() for child in body)))
    if sum(1 for _ in body.iter()) > _MAX_ELEMENTS:
        return _joined(body)
    from trafilatura.xml import xmltotxt  # noqa: PLC0415  # a tenth of a second, and not always

    try:
        return str(xmltotxt(body, include_formatting=False)).strip()
    except RecursionError:
        return _joined(body)


def _joined(body: Element) -> str:
    lines = (" ".join(text.split()) for text in body.itertext())
    return "\n".join(filter(None, lines))
