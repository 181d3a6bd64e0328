"""Write the content of a page as plain text, Markdown, HTML or XML, as trafilatura does.

trafilatura is imported where it writes: it takes a tenth of a second.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from lxml.etree import strip_elements, strip_tags, tostring

from crawler.reading.content_xml import unpack_content

Element = Any  # lxml has no types

_MAX_ELEMENTS = 20_000
"""Write a content of more elements line by line: trafilatura would take seconds."""

_MAX_FORMULAS = 1000
"""Write a content with more beginnings of formulas, such as ``\\(``, line by line."""

_SCHEMES = frozenset({"", "http", "https", "mailto", "tel", "ftp"})
"""A link or image of any other, such as ``javascript``, is written as its text."""


class Shown(NamedTuple):
    """Parts of a content that are written beside its words.

    Attributes:
        links: Whether links lead somewhere; else only their words are written.
        images: Whether images are written.
    """

    links: bool = True
    images: bool = False


def shown_text(packed: bytes) -> str:
    """Return a stored content as plain text, a line for each paragraph, item and row.

    Raises:
        ContentError: It cannot be read.
    """
    return plain_text(unpack_content(packed))


def plain_text(body: Element) -> str:
    """Return a content as plain text, without where its links lead; its tree may be changed."""
    if all(child.tag == "p" and not len(child) and not child.tail for child in body):
        return "\n".join(filter(None, ((child.text or "").strip() for child in body)))
    if _is_too_large(body):
        return _joined(body)
    strip_tags(body, "ref")
    strip_elements(body, "graphic", with_tail=False)
    return _written(body, formatted=False)


def markdown(body: Element) -> str:
    """Return a content as Markdown."""
    # trafilatura looks for the end of a formula from each beginning on.
    formulas = sum(text.count("\\(") + text.count("\\[") for text in body.itertext())
    is_dear = formulas > _MAX_FORMULAS or _is_too_large(body)
    return _joined(body) if is_dear else _written(body, formatted=True)


def html(body: Element) -> Element:
    """Return a content as the root of a simple HTML page, without a head."""
    from trafilatura.htmlprocessing import convert_to_html  # noqa: PLC0415

    return convert_to_html(deepcopy(body))


def prepared(packed: bytes, url: str, shown: Shown) -> Element:
    """Return the tree of a stored content with what is to be written of it, its links absolute.

    Raises:
        ContentError: It cannot be read.
    """
    body = unpack_content(packed)
    if not shown.images:
        strip_elements(body, "graphic", with_tail=False)
    if not shown.links:
        strip_tags(body, "ref")
    for name, attribute in (("ref", "target"), ("graphic", "src")):
        for element in list(body.iter(name)):
            address = absolute(url, element.get(attribute) or "")
            if address:
                element.set(attribute, address)
            else:
                element.tag = "unwritten"
    strip_tags(body, "unwritten")
    return body


def absolute(base: str, address: str) -> str:
    """Return where a link leads, or nothing where no page can be."""
    try:
        found = urljoin(base, address.strip())
        return found if urlsplit(found).scheme.lower() in _SCHEMES else ""
    except ValueError:
        return ""


def xml(root: Element, method: str = "xml") -> str:
    """Return a tree as XML, or as HTML."""
    return str(tostring(root, encoding="unicode", method=method))


def _is_too_large(body: Element) -> bool:
    return sum(1 for _ in body.iter()) > _MAX_ELEMENTS


def _written(body: Element, *, formatted: bool) -> str:
    from trafilatura.xml import xmltotxt  # noqa: PLC0415

    try:
        return str(xmltotxt(body, include_formatting=formatted)).strip()
    except MemoryError:
        raise
    except Exception:  # of whatever tree, the words are there
        return _joined(body)


def _joined(body: Element) -> str:
    lines = (" ".join(text.split()) for text in body.itertext())
    return "\n".join(filter(None, lines))
