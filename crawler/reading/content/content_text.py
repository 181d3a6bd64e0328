"""Write the content of a page as plain text, Markdown, HTML or XML."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from lxml import etree
from lxml.etree import strip_elements, strip_tags, tostring

from crawler.reading.content.content_xml import unpack_content
from crawler.reading.content.markdown_writer import MarkdownWriter
from crawler.reading.content.text_writer import TextWriter, is_block

Element = Any  # lxml has no types

_HTML = {"quote": "blockquote", "lb": "br", "graphic": "img", "ref": "a", "row": "tr"}
_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
_EMPHASIS = {"#b": "b", "#i": "i", "#u": "u", "#t": "kbd", "#sub": "sub", "#sup": "sup"}

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
    return plain_text(unpack_content(packed, only_text=True))


def plain_text(body: Element) -> str:
    """Return a content as plain text, without where its links lead."""
    return TextWriter().write(body)


def markdown(body: Element) -> str:
    """Return a content as Markdown."""
    return MarkdownWriter().write(deepcopy(body))


def html(body: Element) -> Element:
    """Return a content as the root of a simple HTML page, without a head."""
    body = deepcopy(body)
    blocks = {code for code in body.iter("code") if is_block(code)}
    for element in list(body.iter(*_HTML, "head", "hi", "list", "item", "cell", "code")):
        attributes = dict(element.attrib)
        if element.tag != "graphic":
            element.attrib.clear()
        element.tag = "pre" if element in blocks else _html_tag(element.tag, attributes)
        if element.tag == "a":
            element.set("href", attributes.get("target", ""))
        elif element.tag == "li" and "n" in attributes:
            element.set("value", attributes["n"])
    root = etree.Element("html")
    root.append(body)
    return root


def _html_tag(tag: str, attributes: dict[str, str]) -> str:
    rend = attributes.get("rend", "")
    if tag == "head":
        return rend if rend in _HEADINGS else "h3"
    if tag == "hi":
        return _EMPHASIS.get(rend, "i")
    if tag == "list":
        return rend if rend in {"ol", "dl"} else "ul"
    if tag == "item":
        return rend[:2] if rend.startswith(("dt", "dd")) else "li"
    if tag == "cell":
        return "th" if attributes.get("role") == "head" else "td"
    return _HTML.get(tag, tag)


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
