"""Write the content of a page as plain text, Markdown, HTML or XML, as trafilatura does.

trafilatura is imported where it writes: it takes a tenth of a second.
"""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from lxml.etree import XPath, strip_elements, strip_tags, tostring

from crawler.reading.content.content_xml import unpack_content

Element = Any  # lxml has no types

_MAX_ELEMENTS = 20_000
"""Write a content of more elements line by line: trafilatura would take seconds."""

_MAX_FORMULAS = 1000
"""Write a content with more beginnings of formulas, such as ``\\(``, line by line."""

_INLINE_PLACES = frozenset({"p", "item", "cell", "head", "hi", "ref", "quote", "del"})
"""Code within one of these elements is a part of a line."""

_INLINE_CODE = "inline-code"

_SCHEMES = frozenset({"", "http", "https", "mailto", "tel", "ftp"})
"""A link or image of any other, such as ``javascript``, is written as its text."""

# trafilatura leaves out the marks that join letters of Persian, of Hindi and of emoji, and those of
# direction; and where a page says "&lt;" in so many words it writes "<".
_TEXT = XPath("string()", smart_strings=False)
_MARKS = re.compile(
    "[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\U000e0020-\U000e007f]"
)
_REFERENCE = re.compile("&#?[A-Za-z0-9]{1,40};")
_ASCII = bytes(range(128))
_LINEAR_A = range(0x10600, 0x10737)
"""Characters that stand for those meanwhile: hardly a page has any."""


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
    # trafilatura leaves out the text in code that stands in another element.
    strip_tags(body, "ref", "hi", "del")
    strip_elements(body, "graphic", with_tail=False)
    return _written(body, formatted=False)


def markdown(body: Element) -> str:
    """Return a content as Markdown."""
    # trafilatura looks for the end of a formula from each beginning on.
    formulas = sum(text.count("\\(") + text.count("\\[") for text in body.itertext())
    if formulas > _MAX_FORMULAS or _is_too_large(body):
        return _joined(body)
    body = deepcopy(body)
    _simplify_code(body)
    return _written(body, formatted=True)


def html(body: Element) -> Element:
    """Return a content as the root of a simple HTML page, without a head."""
    from trafilatura.htmlprocessing import convert_to_html  # noqa: PLC0415

    body = deepcopy(body)
    for code in body.iter("code"):
        if code.getparent().tag in _INLINE_PLACES and code.find(".//lb") is None:
            code.tag = _INLINE_CODE  # trafilatura writes all code as blocks
    root = convert_to_html(body)
    for code in root.iter(_INLINE_CODE):
        code.tag = "code"
    return root


def _simplify_code(body: Element) -> None:
    """Turn code that is a link into a link that is code, and take all else out of inline code.

    trafilatura writes neither the text behind elements in code nor that behind such code.
    """
    for code in list(body.iter("code")):
        inner = list(code)
        if len(inner) == 1 and inner[0].tag == "ref" and not code.text and not inner[0].tail:
            link = inner[0]
            code.tag, link.tag = "ref", "code"
            code.set("target", link.attrib.pop("target", ""))
            strip_tags(link, "*")
        else:
            strip_tags(code, "ref", "hi", "code", "del")


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

    lost = _lost_characters(_TEXT(body))
    stands = _stand_ins(body, lost) if lost else {}
    if stands:
        body = _translated(body, stands)
    back = {ord(stand): character for character, stand in stands.items()}
    try:
        written = str(xmltotxt(body, include_formatting=formatted)).strip()
        return written.translate(back) if back else written
    except MemoryError:
        raise
    except Exception:  # of whatever tree, the words are there
        return _joined(body)


def _lost_characters(text: str) -> set[str]:
    """Return the characters of a text that trafilatura would leave out or write otherwise."""
    # Most texts have a few characters beyond ASCII, and to search these alone is a tenth of it all.
    beyond = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    lost = set(_MARKS.findall(beyond.decode("utf-8", "surrogatepass")))
    return lost | {"&"} if _REFERENCE.search(text) else lost


def _stand_ins(body: Element, lost: set[str]) -> dict[str, str]:
    """Return a character that a content does not have for each one that would be lost of it."""
    used = set().union(*map(set, body.itertext()))
    free = (character for character in map(chr, _LINEAR_A) if character not in used)
    return dict(zip(sorted(lost), free, strict=False))


def _translated(body: Element, stands: dict[str, str]) -> Element:
    copy = deepcopy(body)
    table = str.maketrans(stands)
    for element in copy.iter():
        element.text = element.text and element.text.translate(table)
        element.tail = element.tail and element.tail.translate(table)
    return copy


def _joined(body: Element) -> str:
    lines = (" ".join(text.split()) for text in body.itertext())
    return "\n".join(filter(None, lines))
