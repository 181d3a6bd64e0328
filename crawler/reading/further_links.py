"""Collect the references of a page that are in no ``href`` of an anchor and in no frame.

Attributes of any element are looked for in the tags of the page, each of which is read once: that
takes microseconds, a search in the tree a hundred.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from lxml.etree import XPath

from crawler.reading.flat_page import attributes_of
from crawler.reading.html_parsing import parse
from crawler.reading.link_kinds import (
    ANCHOR,
    ANY,
    CANONICAL,
    CITATION,
    COMMENT,
    DATA,
    EMBEDDED,
    FORM,
    FRAME,
    LAZY,
    OPEN_FORM,
    PAGES,
    PING,
    RESOURCE,
    SCRIPT,
    URL_ATTRIBUTES,
    URL_SETS,
)
from crawler.reading.page_elements import collect
from crawler.reading.value_addresses import addresses_of_set, addresses_of_style, ends_like_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping

    from crawler.reading.flat_page import Attribute
    from crawler.reading.page_elements import PageElements

Element = Any  # lxml has no types

MAX_GUESSES = 1_000
"""Take at most this many references of kinds that may lead nowhere from one page."""

_MAX_SCRIPT_CHARACTERS = 500_000
_MAX_URL = 2_048

_DATA = {
    f"data-{name}"
    for name in "href url link uri permalink location page-url target-url next-url next-page "
    "ajax-url load-url remote action hx-get".split()
}
_EVENTS = ("onclick", "onchange")
_PARAMETERS = frozenset("movie src url href filename data code codebase archive flashvars".split())
# What a user writes, or picks from what a page cannot list.
_OPEN_FIELDS = frozenset(
    "text search email url tel password number date datetime datetime-local month week time range"
    " color file".split()
)
_PRESSED = frozenset(("checkbox", "radio"))

# A mark behind a backslash ends a text within a text: what is between is read once. Of hundreds of
# texts few begin as references do, which the sign behind the mark tells at once.
_STRINGS = tuple(
    re.compile(
        rf"{mark}(?=[hH./\\?])((?:(?:https?:|\.{{1,2}})?(?:\\?/|\\u002f)|\?[\w.~-])"
        rf"(?:[^{mark}\\\s<>{{}}]|\\[^{mark}])*+)\\?{mark}",
        re.IGNORECASE,
    )
    for mark in "\"'`"
)
_NAMES_IN_STRINGS = tuple(
    re.compile(rf"{mark}([\w.~%@+-][^{mark}\\\s<>{{}}:]*+)\\?{mark}") for mark in "\"'`"
)
_ENDING = re.compile(r"\.(?:[xs]?htm|php|[aj]sp|cgi|cfm)")
_ESCAPED = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|(.))", re.DOTALL
)
# A path or URL as a whole: no space, no sign of markup, of a template or of a regular expression.
_ADDRESS = re.compile(
    r"(?:https?:)?//[^\s/?#<>{}|\\^`\"'*$()]+[^\s<>{}|\\^`\"'*$]*"
    r"|\.{0,2}/(?![/*])[^\s<>{}|\\^`\"'*$()]*"
    r"|\?[\w.~%-]+=[^\s<>{}|\\^`\"'*$()]*"
    r"|[\w.~%@+-]+(?:/[\w.~%@+:,=-]+)*\.(?:html?|xhtml|shtml|php\d?|aspx?|jspx?|cgi|cfm)"
    r"(?:[?#][^\s<>{}|\\^`\"']*)?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]")
# Handlers of a menu that go to its value, if they add nothing to it; and values that are URLs.
_GOES = re.compile(r"location(?!\.(?:hash|search))|\.href|\bopen\(|jump", re.IGNORECASE)
_OF_MENU = re.compile(rf"/|\A\?.|{_ENDING.pattern}", re.IGNORECASE)


class _Place(NamedTuple):
    """A place of references: attributes of elements.

    Attributes:
        kind: The kind of what stands there.
        names: The names of the attributes.
        of: The elements that have one there; None: all but others.
        others: Elements that have none there.
        is_certain: Whether a value is nothing but references.
    """

    kind: str
    names: frozenset[str] | set[str]
    of: Container[str] | None = None
    others: Container[str] = ()
    is_certain: bool = True

    def addresses(self, attributes: Mapping[str, list[Attribute]]) -> Iterator[str]:
        """Yield the references among the attributes of a page."""
        found = [one for name in self.names for one in attributes.get(name, ())]
        for _, name, tag, value in sorted(found) if len(self.names) > 1 else found:
            element = tag.partition(" ")[0].removesuffix("/")
            if element not in (self.of or (element,)) or element in self.others:
                continue
            for address in _SPLITS.get(name, _whole)(value):
                yield from (address,) if self.is_certain else _if_address(address)


def _whole(value: str) -> tuple[str, ...]:
    return (value,)


def _if_address(value: str) -> tuple[str, ...]:
    value = value.strip()
    return (value,) if len(value) <= _MAX_URL and _ADDRESS.fullmatch(value) else ()


def _texts_of_script(code: str) -> Iterator[str]:
    """Yield what looks like the address of a page among the texts of a script or of JSON.

    Complexity: O(length).
    """
    code = code[:_MAX_SCRIPT_CHARACTERS]
    patterns = _STRINGS
    if _ENDING.search(code):
        patterns += _NAMES_IN_STRINGS
    for pattern in patterns:
        for text in dict.fromkeys(pattern.findall(code)):
            if len(text) > _MAX_URL:
                continue
            if "\\" in text:
                text = _ESCAPED.sub(_unescaped, text)  # noqa: PLW2901
            if _is_page(text):
                yield text


def _is_page(text: str) -> bool:
    """Return whether a text is the address of what may be a page, and nothing else."""
    return bool(_ADDRESS.fullmatch(text) and _WORD.search(text) and not ends_like_file(text))


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code is None:
        return match[4]
    number = int(code, 16)
    is_character = number < 0x110000 and not 0xD800 <= number < 0xE000
    return chr(number) if is_character else "\ufffd"


_SPLITS: dict[str, Callable[[str], Iterable[str]]] = {
    **dict.fromkeys(URL_SETS, addresses_of_set),
    **dict.fromkeys(_EVENTS, _texts_of_script),
    "ping": str.split,
    "style": addresses_of_style,
}


def _of_attributes() -> Iterator[_Place]:
    """Yield the places of attributes that are read in one way of all their elements."""
    for attribute, kinds in URL_ATTRIBUTES.items():
        for kind in sorted({CITATION, PING, RESOURCE}.intersection(kinds.values())):
            of = {each for each in kinds if kinds[each] == kind}
            if attribute not in LAZY and ANY in of:
                yield _Place(kind, {attribute}, others=kinds.keys() - of)
            elif attribute not in LAZY:
                yield _Place(kind, {attribute}, of)


_PLACES = (
    *(_Place(SCRIPT, {name}) for name in _EVENTS),
    *_of_attributes(),
    _Place(RESOURCE, {"href", "xlink:href"}, ("image", "use", "script")),
    _Place(RESOURCE, {"imagesrcset"}),
    _Place(RESOURCE, {"style"}),
    _Place(RESOURCE, set(LAZY), is_certain=False),
    _Place(DATA, _DATA, is_certain=False),
)
_NAMES = frozenset({"property"}).union(*(place.names for place in _PLACES))
# Elements of formulas; others that begin so have no such attribute.
_OF_FORMULAS = XPath(
    "//*[starts-with(name(), 'm')]/@*[name() = 'href' or name() = 'xlink:href']",
    smart_strings=False,
)


def further_links(page: PageElements, utf8: bytes, kinds: Collection[str]) -> dict[str, str]:
    """Return references and their kinds, in the order of the places, not of the page.

    Args:
        page: Elements of the page, and its tags.
        utf8: Its text, which may have comments.
        kinds: Kinds that are wanted.
    """
    found: dict[str, str] = {}
    for kind, addresses in _of_elements(page, kinds):
        if kind in kinds:
            _add(found, kind, addresses)
    attributes = page.flat.attributes(_NAMES)
    if ANCHOR in kinds and "<math" in page.flat.distinct:
        _add(found, ANCHOR, _OF_FORMULAS(page.root))
    if CANONICAL in kinds:
        told = (one[2] for one in attributes.get("property", ()) if one[3] == "og:url")
        _add(found, CANONICAL, (attributes_of(tag).get("content", "") for tag in told))
    for place in _PLACES:
        if place.kind in kinds and not place.names.isdisjoint(attributes):
            _add(found, place.kind, place.addresses(attributes))
    if COMMENT in kinds:
        for comment in _comments(utf8):
            _add(found, COMMENT, _of_comment(comment))
            if len(found) >= MAX_GUESSES:
                break
    return found


def _of_elements(page: PageElements, kinds: Collection[str]) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield what the elements and the anchors of a page lead to, with its kind.

    Only elements that may have one of these kinds are looked at.
    """
    wanted = {tag: read for tag, (read, of) in _TELLING.items() if not of.isdisjoint(kinds)}
    for element in page.telling:
        if element.tag in wanted:
            yield wanted[element.tag](element)
    for address in page.followed if SCRIPT in kinds else ():
        if address[:11].lower() == "javascript:":
            yield SCRIPT, _texts_of_script(address)


_HREFS = XPath("//@href | //@src | //form/@action", smart_strings=False)


def _add(found: dict[str, str], kind: str, addresses: Iterable[str]) -> None:
    for address in addresses:
        if kind not in PAGES and len(found) >= MAX_GUESSES:
            return
        if kind == RESOURCE and ends_like_file(address):
            continue
        if address.strip() and address not in found:
            found[address] = kind


def _comments(utf8: bytes) -> Iterator[bytes]:
    start = utf8.find(b"<!--")
    while start >= 0:
        end = utf8.find(b"-->", start + 4)
        if end < 0:
            return
        yield utf8[start + 4 : end]
        start = utf8.find(b"<!--", end)


def _of_comment(comment: bytes) -> Iterable[str]:
    if b"<" in comment:
        return list(_HREFS(parse(comment)))
    return filter(_is_page, comment.decode("utf-8", "replace").split())


def _of_frame(frame: Element) -> tuple[str, Iterable[str]]:
    markup = frame.get("srcdoc")
    if markup is None:
        return FRAME, ()
    return FRAME, collect(parse(markup.encode("utf-8", "replace"))).followed


def _of_embedded(element: Element) -> tuple[str, Iterable[str]]:
    values = map(element.get, ("src", "data", "codebase", "code", "classid"))
    archives = (element.get("archive") or "").replace(",", " ").split()
    return EMBEDDED, (*(value for value in values if value is not None), *archives)


def _of_parameter(parameter: Element) -> tuple[str, Iterable[str]]:
    name, value = parameter.get("name", "").lower(), parameter.get("value", "")
    is_address = name in _PARAMETERS or parameter.get("valuetype", "").lower() == "ref"
    return EMBEDDED, (value,) if is_address else _if_address(value)


def _of_script(script: Element) -> tuple[str, Iterable[str]]:
    return SCRIPT, _texts_of_script(script.text or "")


def _of_form(form: Element) -> tuple[str, list[str]]:
    """Return the kind of a form, and the addresses that it and its buttons lead to.

    Those of a form without a field to write in have the query that it is sent with as it is. A form
    within another one is none to browsers.
    """
    if next(form.iterancestors("form"), None) is not None:
        return FORM, []
    fields = list(form.iter("input", "select", "textarea"))
    actions = [form.get("action", "")] if _is_got(form.get("method")) else []
    for button in form.iter("input", "button"):
        action = button.get("formaction")
        if action is not None and _is_got(button.get("formmethod") or form.get("method")):
            actions.append(action)
    if any(map(_is_open, fields)):
        return OPEN_FORM, actions
    query = urlencode([sent for sent in map(_sent, fields) if sent is not None])
    if query:
        bare = (action.partition("#")[0].partition("?")[0] for action in actions)
        room = _MAX_URL - len(query)
        actions = [f"{action}?{query}" for action in bare if len(action) < room]
    return FORM, actions


def _is_got(method: str | None) -> bool:
    return (method or "get").strip().lower() != "post"


def _is_open(field: Element) -> bool:
    """Return whether a user writes into a field, or picks what the page does not list."""
    return field.tag == "textarea" or (field.tag == "input" and _type(field) in _OPEN_FIELDS)


def _type(field: Element) -> str:
    return str(field.get("type", "text")).strip().lower()


def _sent(field: Element) -> tuple[str, str] | None:
    """Return name and value of a field as it is sent when nothing is changed."""
    name = field.get("name")
    if not name:
        return None
    if field.tag == "select":
        options = list(field.iter("option"))
        chosen = [option for option in options if "selected" in option.attrib] or options
        return (name, chosen[0].get("value", chosen[0].text or "")) if chosen else None
    if _type(field) == "hidden":
        return name, field.get("value", "")
    is_sent = _type(field) in _PRESSED and "checked" in field.attrib
    return (name, field.get("value", "on")) if is_sent else None


def _of_select(select: Element) -> tuple[str, Iterable[str]]:
    """Return the options that look like URLs: links where the handler of their menu goes there.

    Those of a menu within another one are the outer one's.
    """
    if next(select.iterancestors("select"), None) is not None:
        return SCRIPT, ()
    handler = select.get("onchange", "")
    values = [option.get("value", "").strip() for option in select.iter("option")]
    if "+" in handler or not _GOES.search(handler):
        return SCRIPT, filter(_is_page, values)
    return ANCHOR, [value for value in values if _OF_MENU.search(value) and " " not in value]


_TELLING: dict[str, tuple[Callable[[Element], tuple[str, Iterable[str]]], frozenset[str]]] = {
    **dict.fromkeys(("applet", "embed", "object", "portal"), (_of_embedded, frozenset({EMBEDDED}))),
    **dict.fromkeys(("frame", "iframe"), (_of_frame, frozenset({FRAME}))),
    "form": (_of_form, frozenset({FORM, OPEN_FORM})),
    "param": (_of_parameter, frozenset({EMBEDDED})),
    "script": (_of_script, frozenset({SCRIPT})),
    "select": (_of_select, frozenset({ANCHOR, SCRIPT})),
}
"""Functions that read an element, and the kinds of links that it may hold."""
