"""Read the entries of RSS and Atom feeds."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from html import unescape
from html.entities import html5
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from crawler.reading.decoding import decode
from crawler.reading.documents.document_text import (
    PARAGRAPH,
    DocumentProperties,
    DocumentText,
    Lines,
    UnreadableError,
)
from crawler.reading.documents.hypertext import add_hypertext, parse_fragment
from crawler.reading.documents.package import parse_xml
from crawler.reading.link_kinds import is_feed_namespace
from crawler.reading.metadata.dates import iso_date

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.reading.metadata.metadata_record import Metadata

Element = Any  # lxml has no types

_ENTRIES = frozenset({"item", "entry"})
# The first that an entry has; a summary says less than the content.
_CONTENTS = ("encoded", "content", "description", "summary")
_DATES = ("lastBuildDate", "updated", "pubDate", "date", "modified")
_ENTRY_DATES = ("published", "pubDate", "date", "issued", "updated", "modified")
_AUTHORS = ("creator", "author", "managingEditor", "publisher")
_MAILBOX = re.compile(r"[^\s@()]+@[^\s@()]+\s+\(([^()]+)\)")
"""An author of RSS: ``ann@example.com (Ann Example)``."""

_ABSOLUTE = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_XML = "{http://www.w3.org/XML/1998/namespace}"
_ATOM = "{http://www.w3.org/2005/Atom}"
_TEXT_TYPES = frozenset({"text", "text/plain"})
_HTML_TYPES = frozenset({"html", "text/html"})
_REFERENCE = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)"
    rb"|&(?:#[0-9]{1,9};|#[xX][0-9A-Fa-f]{1,8};|([A-Za-z][A-Za-z0-9]{1,40};))?",
    re.DOTALL,
)


# Possessive, and no tag beyond the next "<": each character is looked at once or twice.
_TOKEN = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<![A-Za-z]"
    rb"|<(?P<end>/?)(?P<name>[A-Za-z_\x80-\xff][\w:.\x80-\xff-]*+)"
    rb"(?P<rest>(?:[^<>\"']++|\"[^<\"]*+\"|'[^<']*+')*+|[^<>]*+)>"
    rb"|<[^<>]*+\Z|<",
    re.DOTALL,
)

_ATTRIBUTES = re.compile(
    rb"(?:\s++[A-Za-z_:\x80-\xff][\w:.\x80-\xff-]*+\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'))*+\s*+/?"
)


@dataclass(slots=True)
class _Entry:
    """The facts that an entry of a feed has about itself.

    Attributes:
        element: The entry.
        authors: Names of its authors.
        day: Day of its publication, or else of its last change.
        link: The page that it is about, as written.
    """

    element: Element
    authors: list[str]
    day: str | None
    link: str


def read_feed(body: bytes, content_type: str | None) -> DocumentText:
    """Read a feed: its title, and of each entry the title, authors, day and content.

    Titles of entries, or else their first lines, lead where the entries do. Faults of its XML are
    passed over, as readers of feeds do.

    Raises:
        UnreadableError: It cannot be read.
    """
    utf8 = _redeclared(decode(body, content_type).utf8)
    root = _root(utf8)
    lines = Lines()
    channel = next((one for one in root if _name(one) == "channel"), root)
    lines.add("h1", _title(_child(channel, "title")))
    for name in ("description", "subtitle"):
        _add_content(_child(channel, name), lines)
    links, targets = list(_links(channel)), dict[int, str]()
    entries = [_read_entry(one) for one in root.iter() if _name(one) in _ENTRIES and _is_own(one)]
    for entry in entries:
        start = len(lines.blocks)
        lines.add("h2", _title(_child(entry.element, "title")))
        lines.add(PARAGRAPH, " · ".join(filter(None, (", ".join(entry.authors), entry.day))))
        found = (_child(entry.element, name) for name in _CONTENTS)
        _add_content(next((one for one in found if one is not None), None), lines)
        if entry.link and len(lines.blocks) > start:
            targets[start] = entry.link
        links += _links(entry.element)
    return DocumentText(lines.blocks, _metadata(root, channel, entries), links, targets=targets)


def _read_entry(element: Element) -> _Entry:
    authors = (_author(one) for one in element if _name(one) in _AUTHORS)
    dates = (iso_date(_text(_child(element, name)).strip()) for name in _ENTRY_DATES)
    return _Entry(
        element,
        authors=list(dict.fromkeys(filter(None, authors))),
        day=next(filter(None, dates), None),
        link=next(_links(element), ""),
    )


def _root(utf8: bytes) -> Element:
    # After any fault of the XML libxml2 leaves out named entities, but no numbers.
    numbered = _REFERENCE.sub(_number, utf8)
    try:
        return parse_xml(numbered)
    except UnreadableError:
        return parse_xml(mended(numbered), recover=True)


def _redeclared(utf8: bytes) -> bytes:
    """Return XML without its declaration, which names the encoding that it had."""
    return utf8.partition(b"?>")[2] if utf8.lstrip().startswith(b"<?xml") else utf8


def _number(match: re.Match[bytes]) -> bytes:
    """Return a reference by name, or an ampersand that begins none, as numbers."""
    written: bytes = match[0]
    if written.startswith((b"<", b"&#")):
        return written
    characters = html5.get((match[1] or b"").decode())
    if characters is None:
        return b"&#38;" + written[1:]
    return b"".join(b"&#%d;" % ord(character) for character in characters)


def _name(element: Element) -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _is_own(element: Element) -> bool:
    """Return whether an element is one of RSS or Atom, and not of a module of feeds."""
    root = element.getroottree().getroot()
    # A namespace may hold brackets, which QName refuses.
    namespace, of_root = (one.tag[1:].rpartition("}")[0] for one in (element, root))
    return is_feed_namespace(namespace) or namespace == of_root


def _child(element: Element, name: str) -> Element | None:
    """Return the first child of a name; one of a module where the feed itself has none."""
    found = [one for one in element if _name(one) == name]
    return next(filter(_is_own, found), found[0] if found else None)


def _text(element: Element | None) -> str:
    return "" if element is None else "".join(element.itertext())


def _title(element: Element | None) -> str:
    """Return a title, in which RSS has references and perhaps markup, though it does not say so."""
    text = _text(element)
    if element is None or _type(element) not in _HTML_TYPES:
        return text
    if "type" not in element.attrib and "</" not in text:
        return unescape(text)
    lines = Lines()
    add_hypertext(parse_fragment(text), lines)
    return " ".join(block.text for block in lines.blocks)


def _add_content(element: Element | None, lines: Lines) -> None:
    if element is None:
        return
    if len(element):  # XHTML of Atom
        add_hypertext(element, lines)
    elif _type(element) in _TEXT_TYPES:
        for line in (element.text or "").split("\n"):
            lines.add(PARAGRAPH, line)
    elif element.text and element.text.strip():
        add_hypertext(parse_fragment(element.text), lines)


def _type(element: Element) -> str:
    """Return the type that an element declares or, as RFC 4287 has it, is of by default."""
    default = "text" if str(element.tag).startswith(_ATOM) else "html"
    return str(element.get("type", default)).strip().lower()


def _links(element: Element) -> Iterator[str]:
    """Yield the pages that a feed or an entry is about, from the base that ``xml:base`` gives.

    The name of an entry is its page where that is a URL, and where it has no link.
    """
    found = [one for one in element if _name(one) == "link" and _is_own(one)]
    alternate = (one for one in found if one.get("rel", "alternate") in {"alternate", "next"})
    links = [(one, (one.get("href") or one.text or "").strip()) for one in alternate]
    if not any(target for _, target in links) and _name(element) == "item":
        guid = _child(element, "guid")
        is_link = guid is not None and guid.get("isPermaLink", "true").strip().lower() != "false"
        target = _text(guid).strip()
        links = [(guid, target)] if is_link and _ABSOLUTE.match(target) else []
    for one, target in links:
        if target:
            with suppress(ValueError):  # http://[x
                yield urljoin(one.base or "", target)


def _metadata(root: Element, channel: Element, entries: list[_Entry]) -> Metadata:
    """Return the metadata of a feed; the newest day and the only author of its entries may do."""

    def said(*names: str) -> list[tuple[str, str]]:
        return [(f"feed:{name}", _text(_child(channel, name)).strip()) for name in names]

    newest = max((entry.day for entry in entries if entry.day), default=None)
    authors = {author for entry in entries for author in entry.authors}
    is_one = len(authors) == 1 and all(entry.authors for entry in entries)
    return DocumentProperties(
        title=[("feed:title", _title(_child(channel, "title")))],
        author=[
            *((f"feed:{name}", _author(_child(channel, name))) for name in _AUTHORS),
            ("feed:entries", authors.pop() if is_one else None),
        ],
        date=[*said(*_DATES), ("feed:entries", newest)],
        language=[*said("language"), ("feed:xml:lang", root.get(f"{_XML}lang"))],
    ).metadata()


def _author(element: Element | None) -> str:
    """Return the name of a person, without the address that a feed adds."""
    name = None if element is None else _child(element, "name")
    said = " ".join(_text(element if name is None else name).split())
    mailbox = _MAILBOX.fullmatch(said)
    return mailbox[1].strip() if mailbox else said


def mended(xml: bytes) -> bytes:
    """Return XML whose tags match: stray end tags are left out, and missing ones written.

    libxml2 recovers from one end tag too many; after a second one it drops all that follows.

    A "<" that begins no tag becomes a reference, and a tag with faulty attributes loses them. The
    root ends with the text, wherever its end tag stands.

    Complexity: O(size).
    """
    parts: list[bytes] = []
    waiting: list[bytes] = []
    names = Counter[bytes]()
    place = 0
    for token in _TOKEN.finditer(xml):
        parts.append(xml[place : token.start()])
        place = token.end()
        name = token["name"]
        if name is None:
            parts.append(_untagged(token[0], is_last=place == len(xml)))
        elif not token["end"]:
            is_whole = _ATTRIBUTES.fullmatch(token["rest"])
            parts.append(token[0] if is_whole else _bare(name, token["rest"]))
            if not token["rest"].endswith(b"/"):
                waiting.append(name)
                names[name] += 1
        elif names[name] and waiting[0] != name:
            while (inner := waiting.pop()) != name:
                names[inner] -= 1
                parts.append(b"</" + inner + b">")
            names[name] -= 1
            parts.append(token[0])
    parts.append(xml[place:])
    parts += (b"</" + name + b">" for name in reversed(waiting))
    return b"".join(parts)


def _bare(name: bytes, rest: bytes) -> bytes:
    return b"<" + name + (b"/>" if rest.endswith(b"/") else b">")


def _untagged(token: bytes, *, is_last: bool) -> bytes:
    """Return what is no tag: closed where the text breaks off within it."""
    if token.startswith(b"<![CDATA["):
        return token if token.endswith(b"]]>") else token + b"]]>"
    if token.startswith((b"<!", b"<?")):
        is_whole = token.endswith((b"-->", b"?>")) or not token.startswith((b"<!--", b"<?"))
        return token if is_whole else b""
    return b"" if is_last else b"&#60;"
