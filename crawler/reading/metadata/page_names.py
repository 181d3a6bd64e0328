"""Find what a page is called beside its title: its headings, and identifiers of its thing.

The first ``h1`` may be that of the site, the same on each page, as the name of an act is on each of
its sections. A subheading is what the main content is headed with behind it; it decides where title
and first heading are the same (``neardup.names``).

An identifier is ``kind:value``: a SKU, a GTIN, an ISBN, a DOI or the canonical URL. Only those of
the one thing that the page is about count; the products that it recommends have theirs too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml.etree import XPath, iterwalk

from crawler.reading.content.block_flags import hides

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.reading.page_elements import PageElements

Element = Any  # lxml has no types

MAX_IDENTIFIERS = 16
"""Take at most this many identifiers of a page."""
MAX_IDENTIFIER_CHARACTERS = 200
"""Leave out longer identifiers, canonical URLs too: a prefix of one may be that of another."""

_MAX_HEADING_CHARACTERS = 1000
_MAX_HEADINGS = 50
_MAX_SUBHEADINGS = 3
_MAX_SCOPES = 200
_MAX_PROPERTIES = 50
_MAX_VALUES = 10

_KINDS = {
    "sku": "sku",
    "mpn": "mpn",
    "isbn": "isbn",
    "productid": "productid",
    "identifier": "identifier",
    "gtin": "gtin",
    "gtin8": "gtin",
    "gtin12": "gtin",
    "gtin13": "gtin",
    "gtin14": "gtin",
}
"""Map the properties of schema.org that identify a thing, in lower case, to their kinds."""

_OF_METAS = {
    "product:retailer_item_id": "sku",
    "product:retailer_part_no": "sku",
    "product:mfr_part_no": "mpn",
    "product:ean": "gtin",
    "product:upc": "gtin",
    "product:isbn": "isbn",
    "book:isbn": "isbn",
    "books:isbn": "isbn",
    "og:isbn": "isbn",
    "citation_isbn": "isbn",
    "citation_doi": "doi",
    "prism.doi": "doi",
    "citation_arxiv_id": "identifier",
    "citation_pmid": "identifier",
    "dc.identifier": "identifier",
    "dcterms.identifier": "identifier",
}

# Parts of many pages, and lists of other things.
_NOT_THINGS = frozenset(
    "breadcrumblist contactpoint imageobject itemlist organization person place searchaction "
    "sitenavigationelement webpage website wpfooter wpheader".split()
)
_THING = re.compile(r"(?:schema\.org|data-vocabulary\.org)/(?:product|book)\w*", re.IGNORECASE)
_NO_DIGIT = re.compile(r"[^0-9x]+")
_NUMBERS = frozenset({"gtin", "isbn"})
_WORD = re.compile(r"\w")

# To ask each element for an attribute takes three times as long as to list the attributes.
_SCOPES = XPath(f"(/descendant::*/@itemtype)[position() <= {_MAX_SCOPES}]/..")
_PROPERTIES = XPath(f"(descendant::*/@itemprop)[position() <= {_MAX_PROPERTIES}]/..")
# "display: none" as an element's own style; a style sheet may hide more.
_HIDDEN = frozenset("head noscript script style svg template".split())

_LEVELS = ("h1", "h2", "h3", "h4", "h5", "h6")
_CONTENT = frozenset({"article", "main"})
_FRAME = frozenset({"aside", "dialog", "nav"})
_OF_ANY = frozenset({"header", "footer"})  # of the page, or of an article
_ROLES = frozenset("banner complementary contentinfo dialog navigation search".split())


class Heading(NamedTuple):
    """The first heading of a page: its text in one line, and its element."""

    text: str
    element: Element


def first_heading(root: Element) -> Heading | None:
    """Return the first visible ``h1``, else an ``h2`` that is the only one above the text, or None.

    Complexity: O(size of the page).
    """
    above: list[Heading] = []
    seen = 0
    is_above = True
    for element in root.iter("h1", "h2", "p"):
        if element.tag == "p":
            is_above = is_above and not _WORD.search(element.text or "")
            continue
        seen += 1
        if seen > _MAX_HEADINGS:
            break
        if element.tag == "h2" and not is_above:
            continue
        text = _text(element)
        if not _WORD.search(text) or _is_hidden(element):
            continue
        if element.tag == "h1":
            return Heading(text, element)
        above.append(Heading(text, element))
    return above[0] if len(above) == 1 else None


def subheading(content: Element, heading: Heading | None) -> str:
    """Return what the main content is headed with behind the first heading; empty: nothing.

    Those are headings of deeper and deeper levels without a paragraph between them, such as part,
    chapter and section. Headings of the frame are none of them: those in ``header``, ``nav``,
    ``aside`` and ``footer`` outside ``main`` and ``article``. One that is a link to another page
    names that one, and ends them.

    Args:
        content: Main content of the page, or its root; not changed.
        heading: First heading of the page.

    Complexity: O(size of the page).
    """
    first = None if heading is None else heading.element
    found: list[str] = []
    level = seen = 0
    for element in content.iter(*_LEVELS, "p"):
        if element.tag == "p":
            if found and _WORD.search(element.text or ""):
                break
            continue
        seen += 1
        if seen > _MAX_HEADINGS or (found and int(element.tag[1]) <= level):
            break
        if element is first:
            continue
        text = _text(element)
        if not _WORD.search(text) or _is_hidden(element) or _is_of_frame(element):
            continue
        if _leads_elsewhere(element, text):
            break
        found.append(text)
        level = int(element.tag[1])
        if len(found) == _MAX_SUBHEADINGS:
            break
    return " / ".join(found)


def _is_of_frame(element: Element) -> bool:
    is_headed = False
    for around in element.iterancestors():
        role = around.get("role")
        if around.tag in _CONTENT or role == "main":
            return False
        if around.tag in _FRAME or role in _ROLES:
            return True
        is_headed = is_headed or around.tag in _OF_ANY
    return is_headed


def _leads_elsewhere(element: Element, text: str) -> bool:
    """Whether all words of a heading are a link to another page."""
    return any(
        not link.get("href", "#").startswith("#") and len(_text(link)) >= len(text)
        for link in (*element.iter("a"), *element.iterancestors("a"))
    )


def _text(element: Element) -> str:
    """Return the text of an element in one line, without what is hidden within it."""
    parts: list[str] = []
    size = 0
    walk = iterwalk(element, events=("start", "end", "comment", "pi"))
    for event, each in walk:
        text = None if each is element else each.tail
        if event == "start":
            is_hidden = each is not element and _hides(each)
            text = None if is_hidden else each.text
            if is_hidden:
                walk.skip_subtree()
        if text:
            parts.append(text)
            size += len(text)
        if size > 2 * _MAX_HEADING_CHARACTERS:
            break
    line = " ".join(" ".join(parts)[: 2 * _MAX_HEADING_CHARACTERS].split())
    return line[:_MAX_HEADING_CHARACTERS]


def _is_hidden(element: Element) -> bool:
    return _hides(element) or any(map(_hides, element.iterancestors()))


def _hides(element: Element) -> bool:
    """Whether an element hides its content."""
    return element.tag in _HIDDEN or hides(element.tag, element.attrib)


def identifiers(
    page: PageElements,
    nodes: Iterable[dict[str, Any]],
    canonical_url: str | None,
    heading: Heading | None,
) -> tuple[str, ...]:
    """Return the identifiers of the thing that a page is about, as ``kind:value``, sorted.

    Args:
        page: Elements of the page.
        nodes: The objects that describe the page in JSON-LD.
        canonical_url: Absolute URL from ``rel=canonical``.
        heading: The first heading, which tells the main one of several things.
    """
    found = [
        *_of_nodes(nodes),
        *(_of_microdata(page.root, heading) if " itemtype=" in page.flat.distinct else ()),
        *((kind, page.metas[name]) for name, kind in _OF_METAS.items() if name in page.metas),
    ]
    lines = {line for kind, value in found if (line := _line(kind, value))}
    if canonical_url and len(canonical_url) <= MAX_IDENTIFIER_CHARACTERS:
        lines.add(f"canonical:{canonical_url}".encode("utf-8", "replace").decode())
    return tuple(sorted(lines)[:MAX_IDENTIFIERS])


def _line(kind: str, value: object) -> str | None:
    """Return an identifier in one spelling, or None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    if isinstance(value, int) and abs(value) >= 10**MAX_IDENTIFIER_CHARACTERS:
        return None
    text = " ".join(str(value)[: 2 * MAX_IDENTIFIER_CHARACTERS].split()).casefold()
    if kind in _NUMBERS:
        text = _NO_DIGIT.sub("", text).lstrip("0" if kind == "gtin" else "")
    elif kind == "doi":
        text = text.removeprefix("doi:").rpartition("doi.org/")[2].strip()
    if not _WORD.search(text) or len(text) > MAX_IDENTIFIER_CHARACTERS:
        return None
    return f"{kind}:{text}".encode("utf-8", "replace").decode()


def _of_nodes(nodes: Iterable[dict[str, Any]]) -> Iterator[tuple[str, object]]:
    """Yield the identifiers of the one object that has any; those of several are of a list."""
    things = [found for node in nodes if _is_thing(node) and (found := list(_of_node(node)))]
    distinct = list({repr(found): found for found in things[:_MAX_SCOPES]}.values())
    if len(distinct) == 1:
        yield from distinct[0]


def _is_thing(node: dict[str, Any]) -> bool:
    kinds = node.get("@type")
    named = kinds[:_MAX_VALUES] if isinstance(kinds, list) else [kinds]
    words = {str(kind).rpartition("/")[2].lower() for kind in named if isinstance(kind, str)}
    return not words & _NOT_THINGS


def _of_node(node: dict[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in node.items():
        kind = _KINDS.get(name.lower()) if len(name) <= MAX_IDENTIFIER_CHARACTERS else None
        if kind is not None:
            values = value[:_MAX_VALUES] if isinstance(value, list) else [value]
            yield from ((kind, _value(each)) for each in values)


def _value(value: object) -> object:
    """Return the value of an identifier, also of a ``PropertyValue``."""
    if isinstance(value, dict):
        return value.get("value", value.get("@value"))
    return value


def _of_microdata(root: Element, heading: Heading | None) -> Iterator[tuple[str, object]]:
    """Yield the properties of the page's one product or book, or of the one with the heading."""
    outermost = [
        scope
        for scope in _SCOPES(root)
        if _THING.search(scope.get("itemtype")) and not _is_within_thing(scope)
    ]
    if len(outermost) > 1:
        around = () if heading is None else (heading.element, *heading.element.iterancestors())
        outermost = [scope for scope in outermost if scope in around]
    if len(outermost) != 1:
        return
    for element in _PROPERTIES(outermost[0]):
        for name in element.get("itemprop").lower().split()[:_MAX_VALUES]:
            if name in _KINDS and _thing_around(element) is outermost[0]:
                yield _KINDS[name], element.get("content") or _text(element)


def _is_within_thing(scope: Element) -> bool:
    return any(_is_thing_scope(around) for around in scope.iterancestors())


def _thing_around(element: Element) -> Element | None:
    """Return the innermost product or book around a property: an offer belongs to its product."""
    return next(filter(_is_thing_scope, element.iterancestors()), None)


def _is_thing_scope(element: Element) -> bool:
    return _THING.search(element.get("itemtype", "")) is not None
