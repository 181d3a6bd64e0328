"""Collect the references of a page that are in no ``href`` of an anchor and in no frame.

Attributes of any element are looked for only where their names are in the tags of the page, each of
which is searched once: that takes microseconds, a search in the tree a hundred.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from lxml.etree import XPath

from crawler.reading.flat_page import resolved
from crawler.reading.html_parsing import parse
from crawler.reading.link_kinds import (
    ANCHOR,
    CANONICAL,
    CITATION,
    COMMENT,
    DATA,
    EMBEDDED,
    FORM,
    FRAME,
    OPEN_FORM,
    PAGES,
    PING,
    RESOURCE,
    SCRIPT,
)
from crawler.reading.page_elements import collect
from crawler.reading.value_addresses import addresses_of_set, addresses_of_style, ends_like_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from crawler.reading.page_elements import PageElements

Element = Any  # lxml has no types

MAX_GUESSES = 1_000
"""Take at most this many references of kinds that may lead nowhere from one page."""

_MAX_SCRIPT_CHARACTERS = 500_000
_MAX_URL = 2_048

# Values of any other kind stand in such attributes too.
_DATA = re.compile(
    r" data-(?:href|url|link|uri|permalink|location|page-url|target-url|next-url|next-page"
    r"|ajax-url|load-url|remote|action|hx-get)=\"([^\"]*)"
)
_EVENTS = ("onclick", "onchange")
_PARAMETERS = frozenset("movie src url href filename data code codebase archive flashvars".split())
# What a user writes, or picks from what a page cannot list.
_OPEN_FIELDS = frozenset(
    "text search email url tel password number date datetime datetime-local month week time range"
    " color file".split()
)
_PRESSED = frozenset(("checkbox", "radio"))

# A mark behind a backslash ends a text within a text: what is between is read once.
_STRINGS = tuple(
    re.compile(
        rf"{mark}((?:(?:https?:|\.{{1,2}})?(?:\\?/|\\u002f)|\?[\w.~-])"
        rf"(?:[^{mark}\\\s<>{{}}]|\\[^{mark}])*+)\\?{mark}",
        re.IGNORECASE,
    )
    for mark in "\"'`"
)
_NAMES_IN_STRINGS = tuple(
    re.compile(rf"{mark}([\w.~%@+-][^{mark}\\\s<>{{}}:]*+)\\?{mark}") for mark in "\"'`"
)
_ENDINGS = (".htm", ".php", ".xhtml", ".shtml", ".asp", ".jsp", ".cgi", ".cfm")
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


class _Place(NamedTuple):
    """A place of references.

    Attributes:
        kind: The kind of what stands there.
        sign: Part of a tag without which a page has none.
        values: Expression of the values.
        split: Function that yields the references of a value.
    """

    kind: str
    sign: str
    values: XPath
    split: Callable[[str], Iterable[str]]


def _whole(value: str) -> tuple[str, ...]:
    return (value,)


def _if_address(value: str) -> tuple[str, ...]:
    value = value.strip()
    return (value,) if len(value) <= _MAX_URL and _ADDRESS.fullmatch(value) else ()


def _place(
    kind: str, sign: str, values: str, split: Callable[[str], Iterable[str]] = _whole
) -> _Place:
    return _Place(kind, sign, XPath(values, smart_strings=False), split)


def _texts_of_script(code: str) -> Iterator[str]:
    """Yield what looks like the address of a page among the texts of a script or of JSON.

    Complexity: O(length).
    """
    code = code[:_MAX_SCRIPT_CHARACTERS]
    patterns = _STRINGS
    if any(ending in code for ending in _ENDINGS):
        patterns += _NAMES_IN_STRINGS
    for pattern in patterns:
        for match in pattern.finditer(code):
            text = match[1]
            if len(text) > _MAX_URL:
                continue
            if "\\" in text:
                text = _ESCAPED.sub(_unescaped, text)
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


_IS_HREF = "name() = 'href' or name() = 'xlink:href'"
_PLACES = (
    # Elements of formulas; others that begin so have no such attribute.
    _place(ANCHOR, "<math", f"//*[starts-with(name(), 'm')]/@*[{_IS_HREF}]"),
    _place(CANONICAL, "og:url", "//meta[@property = 'og:url']/@content"),
    _place(CITATION, ' cite="', "//@cite"),
    _place(CITATION, ' longdesc="', "//@longdesc"),
    _place(CITATION, ' profile="', "/html/head/@profile"),
    _place(PING, ' ping="', "//a/@ping | //area/@ping", str.split),
    *(_place(SCRIPT, f' {name}="', f"//@{name}", _texts_of_script) for name in _EVENTS),
    _place(
        RESOURCE,
        ' src="',
        "//@src[not(parent::iframe | parent::frame | parent::embed | parent::portal)]",
    ),
    _place(RESOURCE, "<image", f"//image/@*[{_IS_HREF}]"),
    _place(RESOURCE, "<use", f"//use/@*[{_IS_HREF}]"),
    _place(RESOURCE, ' xlink:href="', f"//svg//script/@*[{_IS_HREF}]"),
    _place(RESOURCE, 'srcset="', "//@srcset | //@imagesrcset", addresses_of_set),
    _place(RESOURCE, ' data-src="', "//@data-src", _if_address),
    _place(RESOURCE, ' poster="', "//video/@poster"),
    _place(RESOURCE, ' background="', "//@background"),
    _place(RESOURCE, ' lowsrc="', "//img/@lowsrc"),
    _place(RESOURCE, ' dynsrc="', "//img/@dynsrc"),
    _place(RESOURCE, ' manifest="', "/html/@manifest"),
    _place(RESOURCE, "style", "//@style | //style/text()", addresses_of_style),
)


def further_links(page: PageElements, utf8: bytes, kinds: Collection[str]) -> dict[str, str]:
    """Return references and their kinds, in the order of the places, not of the page.

    Args:
        page: Elements of the page, and its tags, which decide what attributes are looked for.
        utf8: Its text, which may have comments.
        kinds: Kinds that are wanted.
    """
    found: dict[str, str] = {}
    for kind, addresses in _of_elements(page, kinds):
        if kind in kinds:
            _add(found, kind, addresses)
    for kind, sign, values, split in _PLACES:
        if kind in kinds and sign in page.tags:
            _add(found, kind, (each for value in values(page.root) for each in split(value)))
    if DATA in kinds:
        written = map(resolved, _DATA.findall(page.tags))
        _add(found, DATA, (each for value in written for each in _if_address(value)))
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
    wanted = {tag for tag, possible in _KINDS_OF.items() if not possible.isdisjoint(kinds)}
    for element in page.telling:
        if element.tag in wanted:
            yield _TELLING[element.tag](element)
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


_TELLING: dict[str, Callable[[Element], tuple[str, Iterable[str]]]] = {
    "applet": _of_embedded,
    "embed": _of_embedded,
    "form": _of_form,
    "frame": _of_frame,
    "iframe": _of_frame,
    "object": _of_embedded,
    "param": _of_parameter,
    "portal": _of_embedded,
    "script": _of_script,
}
_EMBEDDING = frozenset({EMBEDDED})
_KINDS_OF = dict.fromkeys(_TELLING, _EMBEDDING) | {
    "form": frozenset({FORM, OPEN_FORM}),
    "frame": frozenset({FRAME}),
    "iframe": frozenset({FRAME}),
    "script": frozenset({SCRIPT}),
}
