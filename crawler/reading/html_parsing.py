"""Parse UTF-8 into a tree, once a page, without losing any of it.

libxml2 gives up silently where browsers go on: behind the end of the root, below 2,048 elements and
behind what ``noscript`` leaves open. It leaves in the head what begins the body for them. Each is
repaired before or after.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from lxml import etree
from lxml.etree import ErrorLevels, ErrorTypes
from lxml.html import HtmlElement, HTMLParser

from crawler.reading.text import BLOCKS

Element = Any  # lxml has no types

# lxml.html looks the class of each element up in Python; this lookup is done in C.
_LOOKUP = etree.ElementDefaultClassLookup(element=HtmlElement)
_PARSER = HTMLParser(
    encoding="utf-8",
    remove_comments=True,
    remove_pis=True,
    collect_ids=False,
    default_doctype=False,
    huge_tree=True,
)
_PARSER.set_element_class_lookup(_LOOKUP)

# Both are sought by their first byte alone, which takes half the time of ignoring case.
# <html lang="en" />: a closed root, after which libxml2 reads nothing.
_CLOSED_ROOT = re.compile(
    rb"(<[hH][tT][mM][lL](?=[\s/])(?:[^<>\"'/]|/(?!\s*>)|\"[^\"]*\"|'[^']*')*+)/\s*>"
)
# In a comment, a script or a value of an attribute, what follows may be their end.
_ROOT_END = re.compile(
    rb"<(?=/[hH][tT][mM][lL][\s/>])(?:=\s*+\"[^\"<]*+\"|=\s*+'[^'<]*+'|[^<>\"'-]|-(?!-))*+>"
)
# Quotes are quotes where a value begins; elsewhere they are characters of a name.
_ATTRIBUTES = rb"(?:=\s*+\"[^\"]*+\"|=\s*+'[^']*+'|[^<>])*+"
_TAG = re.compile(rb"<(/?)([a-z][^\s/<>]*)(%b)(>?)" % _ATTRIBUTES, re.IGNORECASE)
_RAW = frozenset(b"script style textarea title xmp iframe".split())
# Elements that are text up to their ends, or to that of the page; ``noscript`` with what it holds;
# other tags, whose values may look like these.
_NOSCRIPT = re.compile(
    rb"<!--(?:.*?-->|.*)"
    rb"|<(%b)(?=[\s/>])(?:.*?</\1(?=[\s/>])|.*)"
    rb"|(<noscript(?=[\s/>])[^<>]*+>)(?:(.*?)(?=</noscript[\s/>])|.*)"
    rb"|</?[a-z]%b" % (b"|".join(_RAW), _ATTRIBUTES),
    re.IGNORECASE | re.DOTALL,
)
_BEGIN = re.compile(rb"</?[a-z]", re.IGNORECASE)
_WHOLE_TAG = re.compile(rb"<(/?)([a-z][^\s/<>]*)(?:[^<>\"']|\"[^\"]*\"|'[^']*')*+>", re.IGNORECASE)
_VOID = frozenset(b"area base br col embed hr img input link meta source track wbr".split())
# Tags that cannot nest, or whose nesting does no harm.
_KEPT = frozenset(
    b"html head body title meta base link script style br hr img area frame input".split()
)
_CLOSED = frozenset(b"a iframe video audio object source embed".split())
# Any other element ends the head (https://html.spec.whatwg.org/#parsing-main-inhead).
_OF_HEAD = frozenset(
    "base basefont bgsound link meta noframes noscript script style template title".split()
)
# A section of XHTML whose signs are text, but in a script or style.
_CDATA = re.compile(
    rb"<(script|style)\b[^<>]*+(?<!/)>.*?(?:</\1|\Z)|<!\[CDATA\[(.*?)(?:\]\]>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_BREAKS = re.compile(rb"<p>(?:\s*<p>)+")
_PARAGRAPHS = frozenset(name.encode() for name in BLOCKS)

FLATTENED = "data-flattened"
"""Attribute of the root of a page that was nested too deeply: most others are lost."""


def parse(utf8: bytes, content_type: str | None = None) -> Element:
    """Return the root element of a page; an empty ``html`` element for a page without any.

    Args:
        utf8: Valid UTF-8 without control characters, as ``decode`` returns it.
        content_type: Type that is declared; XHTML may have CDATA sections.

    Raises:
        MemoryError: The tree does not fit.
    """
    if b"<![CDATA[" in utf8 and "xml" in (content_type or ""):
        utf8 = _CDATA.sub(_as_text, utf8)
    utf8 = _reopen_root(utf8)
    if _leaves_open(utf8):
        utf8 = _NOSCRIPT.sub(_close_within, utf8)
    root = _parse(utf8)
    last = _PARSER.error_log.last_error
    if last is not None and last.level == ErrorLevels.FATAL:
        # "Excessive depth in document": the rest of the page is missing from the tree.
        # All text and all links stay of a page nested too deeply for libxml2 (2,048 elements).
        root = _parse(_BREAKS.sub(b"<p>", _TAG.sub(_flat_tag, utf8)))
        root.set(FLATTENED, "yes")
    _empty_head(root)
    _read_noframes(root)
    if b"shadowroot" in utf8:
        _show_shadow_trees(root)
    if b"math/" in utf8:
        _show_formulas(root)
    root.getroottree().docinfo.clear()  # libxml2 would write XHTML with attributes of its own
    return root


def _parse(utf8: bytes) -> Element:
    try:
        root = etree.fromstring(utf8, _PARSER)
    except etree.XMLSyntaxError:
        last = _PARSER.error_log.last_error
        if last is not None and last.type == ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from None
        if last is not None and last.type != ErrorTypes.ERR_DOCUMENT_EMPTY:
            raise
        root = None
    # Nothing but white space and comments.
    return etree.fromstring(b"<html></html>", _PARSER) if root is None else root


def _as_text(section: re.Match[bytes]) -> bytes:
    text: bytes | None = section[2]
    return section[0] if text is None else text.replace(b"&", b"&amp;").replace(b"<", b"&lt;")


def _reopen_root(utf8: bytes) -> bytes:
    """Let the page go on after ``<html/>`` and after ``</html>``, as browsers do."""
    utf8 = _CLOSED_ROOT.sub(rb"\1>", utf8)
    first = _ROOT_END.search(utf8)
    if first is None or not utf8[first.end() :].strip():
        return utf8
    return utf8[: first.start()] + _ROOT_END.sub(b" ", utf8[first.start() :])


def _flat_tag(match: re.Match[bytes]) -> bytes:
    slash, name, attributes, end = match.groups()
    if not end:
        return match[0]
    name = name.lower()
    if name in _KEPT:
        return match[0]
    if name in _CLOSED and not slash:
        return b"<%b%b></%b>" % (name, attributes, name)
    # Paragraphs end each other.
    return b"<p>" if name in _PARAGRAPHS else b" "


def _close_within(match: re.Match[bytes]) -> bytes:
    """Close what is left open within ``noscript``, which would hold what follows it.

    A browser that runs scripts reads all up to its end tag as text, any other one ends there
    what has begun in it.
    """
    begin, inner = match[2], match[3]
    return match[0] if begin is None or inner is None else begin + _closed(inner)


def _leaves_open(utf8: bytes) -> bool:
    """Return whether a ``noscript`` of a page may have markup in it that is not closed there."""
    lowered = utf8.lower()
    end = 0
    while (start := lowered.find(b"<noscript", end)) >= 0:
        end = lowered.find(b"</noscript", start)
        if end < 0:
            return False
        inner = utf8[start:end].partition(b">")[2]
        if b"<" in inner and _closed(inner) != inner:
            return True
    return False


def _closed(markup: bytes) -> bytes:
    """Return a part of a page with the end tags that it lacks, and without those of nothing.

    What follows a comment, a text of its own or a tag that does not end in it is left out.
    """
    kept, inside, opened = list[bytes](), list[bytes](), Counter[bytes]()
    lowered, at = markup.lower(), 0
    while (start := markup.find(b"<", at)) >= 0:
        kept.append(markup[at:start])
        tag = _WHOLE_TAG.match(markup, start)
        if tag is None:
            end = _end_of_other(markup, start)
            if end is None:
                break
        else:
            end, name = tag.end(), tag[2].lower()
            if tag[1] and not opened[name]:
                at = end
                continue
            if tag[1]:
                while (last := inside.pop()) != name:
                    kept.append(b"</%b>" % last)
                    opened[last] -= 1
                opened[name] -= 1
            elif name not in _VOID:
                inside.append(name)
                opened[name] += 1
                if name in _RAW:
                    closing = lowered.find(b"</" + name, end)
                    if closing < 0:
                        kept.append(markup[start:end])
                        break
                    end = closing
        kept.append(markup[start:end])
        at = end
    else:
        kept.append(markup[at:])
    kept += [b"</%b>" % name for name in reversed(inside)]
    return b"".join(kept)


def _end_of_other(markup: bytes, start: int) -> int | None:
    """Return where a comment or a sign that begins no tag ends; None where it does not."""
    if markup.startswith(b"<!--", start):
        end = markup.find(b"-->", start)
        return None if end < 0 else end + len(b"-->")
    return None if _BEGIN.match(markup, start) else start + 1


def _show_shadow_trees(root: Element) -> None:
    """Turn templates that browsers show in place of their parents' content into containers."""
    for template in root.iter("template"):
        if template.get("shadowrootmode") or template.get("shadowroot"):
            template.tag = "div"


def _show_formulas(root: Element) -> None:
    """Turn scripts that hold formulas, which a script of the page draws, into text."""
    for script in root.iter("script"):
        if script.get("type", "").startswith(("math/tex", "math/asciimath")):
            script.tag = "math"


def _read_noframes(root: Element) -> None:
    """Turn the text of ``noframes`` into elements: libxml2 2.14 leaves its markup as text."""
    for holder in list(root.iter("noframes")):
        if holder.text and "<" in holder.text and len(holder) == 0:
            inner = _parse(holder.text.encode("utf-8", "replace"))
            holder.text = None
            holder.extend(list(inner))


def _empty_head(root: Element) -> None:
    """Move what is no part of a head into the body.

    libxml2 knows neither ``article`` nor elements of a site's own, and a page may leave out the
    tags of its head and body.
    """
    head = next(root.iterchildren("head"), None)
    moved = [] if head is None else [one for one in head if one.tag not in _OF_HEAD]
    if not moved:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    moved[-1].tail = (moved[-1].tail or "") + (body.text or "")
    body.text = None
    for element in reversed(moved):  # at any other place, all that stands before it is counted
        body.insert(0, element)
