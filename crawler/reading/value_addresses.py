"""Find the URLs within style sheets, ``srcset`` and refreshes, and write others there.

Those of a style sheet are ``url()``, ``src()``, ``@import`` and ``image-set()``. Tokens are those
of CSS Syntax 3 (https://www.w3.org/TR/css-syntax-3/#tokenization), as far as they decide where a
URL begins and ends: comments, strings, escapes, names, bad strings and URLs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Endings of what is no page, and of what names no page: /api/v1/users.json.
_NO_PAGE = re.compile(
    r"\.(?:js|mjs|cjs|css|map|json|xml|png|jpe?g|gif|webp|avif|svg|ico|bmp|woff2?|ttf|otf|eot"
    r"|mp[34]|webm|ogg|wav|m4a|wasm|txt|zip|gz|pdf)(?:[?#]|\Z)",
    re.IGNORECASE,
)
_ADDRESS_LIKE = re.compile(r"\s*(?:https?:)?[^\s<>{}\"':]*[./][^\s<>{}\"']*\s*\Z", re.IGNORECASE)
_WS = rb"\t\n\f\r "
_ESCAPE = rb"\\(?:[0-9a-fA-F]{1,6}+(?:\r\n|[%b])?+|[^0-9a-fA-F\n\f\r])" % _WS
_NAME = rb"(?:[a-zA-Z0-9_\x80-\xff-]|%b)++" % _ESCAPE
_COMMENT = rb"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"


def ends_like_file(address: str) -> bool:
    """Return whether an address is that of a file that is no page, by its ending."""
    return _NO_PAGE.search(address) is not None


def _string(mark: bytes) -> bytes:
    """Match a string; one without its mark at the end of a line is bad, and no URL."""
    return rb"%b(?:[^%b\\\n\f\r]++|\\(?:\r\n|[\s\S]|\Z))*+(?:%b|\Z)?+" % (mark, mark, mark)


def may_be_address(value: str) -> bool:
    """Return whether a value of any kind (``5``, ``true``, JSON) may be a URL."""
    return _ADDRESS_LIKE.match(value) is not None


# What is no part of a URL is passed over at once, names too: "1url(", "#url(" and "@url(" are no
# functions. Signs that end a rule count only within one.
_PASSED = (
    rb"%b(?!\()|[^\"'@(){};a-zA-Z0-9_\x80-\xff\\#/<-]++|%b|<!--|#(?:%b)?|[/<]|@(?!%b)|\\(?!%b)"
    % (_NAME, _COMMENT, _NAME, _NAME, _ESCAPE[2:])
)
_EVENT = rb"(?:(?P<string>%b|%b)|(?P<at>@%b)|(?P<name>%b)(?P<opening>\()|(?P<sign>[(){};]))?" % (
    _string(b'"'),
    _string(b"'"),
    _NAME,
    _NAME,
)
_IN_RULE = re.compile(rb"(?:%b)*+%b" % (_PASSED, _EVENT))
_OUTSIDE = re.compile(rb"(?:%b|[{};])*+%b" % (_PASSED, _EVENT))
_UNQUOTED = re.compile(
    rb"[%b]*+((?:[^\"'()\\\x00-\x20\x7f]|%b)*+)[%b]*+(?:\)|\Z)" % (_WS, _ESCAPE, _WS)
)
_QUOTED_FOLLOWS = re.compile(rb"[%b]*+[\"']" % _WS)
_BAD_URL = re.compile(rb"(?:[^)\\]++|\\(?:[\s\S]|\Z))*+\)?")
_ESCAPED = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|[\t\n\f\r ])?|\r\n|([\s\S])|\Z)")
_URLS = frozenset({"url", "src"})
_IMAGE_SETS = frozenset({"image-set", "-webkit-image-set"})
_SPECIAL = re.compile(r"[\s\"'()\\]")

_BEFORE = rb"[,%b]*+" % _WS
# Descriptors reach to a comma outside parentheses; those that are not closed to the end.
_DESCRIPTORS = rb"(?:[^,(]++|\([^)]*+(?:\)|\Z))*+"
_CANDIDATE = re.compile(rb"%b([^%b]++)(%b)" % (_BEFORE, _WS, _DESCRIPTORS))
_NO_DESCRIPTORS = re.compile(rb"%b([^%b]++)" % (_BEFORE, _WS))

_REFRESH = re.compile(
    rb"[%b]*+(?:\d++|(?=\.))[\d.]*+(?:[%b]++[;,]?+|[;,])[%b]*+(?:[uU][rR][lL][%b]*+=[%b]*+)?+"
    rb"(?:\"([^\"]*+)|'([^']*+)|(.*+))" % ((_WS,) * 5),
    re.DOTALL,
)
# A name may be written with escapes. Colours and transformations are functions too, and stand in
# a hundred attributes of a drawing.
_MAY_HOLD = (b"url(", b"src(", b"image-set(", b"@import", b"\\")


def may_hold_addresses(css: bytes) -> bool:
    """Return whether ``read_css`` may yield anything. Complexity: O(length)."""
    return any(map(css.lower().__contains__, _MAY_HOLD))


def read_css(css: bytes) -> Iterator[tuple[int, int]]:
    """Yield the positions of the URLs of a style sheet, or of one element's declarations.

    Empty URLs, URLs that are only a fragment of the document itself, and those of ``@namespace``
    are left out, since none of them is ever fetched.

    Complexity: O(length).
    """
    functions: list[str] = []
    rule = ""  # the at-rule whose prelude this is
    at = 0
    while (match := (_IN_RULE if rule else _OUTSIDE).match(css, at)) and match.lastgroup:
        at, kind = match.end(), match.lastgroup
        if kind == "string":
            is_url = rule == "import" or functions[-1:] in _STRINGS_ARE_URLS
            if is_url and _is_whole(match["string"]):
                yield from _address(css, match.start("string") + 1, at - 1)
                rule = "" if rule == "import" else rule
                if functions[-1:] == ["url"]:
                    functions[-1] = ""  # further strings modify the URL
        elif kind == "at":
            rule = read_escapes(match["at"][1:].decode("utf-8", "replace")).lower()
        elif kind == "opening":
            name = read_escapes(match["name"].decode("utf-8", "replace")).lower()
            if name != "url" or _QUOTED_FOLLOWS.match(css, at):
                functions.append(_role(name, rule))
                continue
            unquoted = _UNQUOTED.match(css, at)
            if unquoted is None:
                bad = _BAD_URL.match(css, at)
                at = bad.end() if bad else len(css)
                continue
            at = unquoted.end()
            if rule != "namespace":
                yield from _address(css, *unquoted.span(1))
                rule = "" if rule == "import" else rule
        elif match["sign"] == b"(":
            functions.append("")
        elif match["sign"] == b")":
            del functions[-1:]
        else:
            rule = ""


_STRINGS_ARE_URLS = (["url"], ["image-set"])


def _role(name: str, rule: str) -> str:
    if name in _URLS and rule != "namespace":
        return "url"
    return "image-set" if name in _IMAGE_SETS else ""


def _is_whole(string: bytes) -> bool:
    inner = string[1:-1]
    escaped = (len(inner) - len(inner.rstrip(b"\\"))) % 2
    return len(string) >= 2 and string[-1] == string[0] and not escaped


def _address(css: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    written = css[start:end].strip()
    if written and not written.startswith(b"#"):
        yield start, end


def read_escapes(text: str) -> str:
    r"""Read the escapes of CSS: ``\26 `` and ``\(``; an escaped end of a line is nothing."""
    return _ESCAPED.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        code = int(match[1], 16)
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return match[2] if match[2] and match[2] not in "\n\f\r" else ""


def write_css(address: str) -> str:
    """Write a URL for ``url()``, with quotes or without: both know these escapes."""
    address = address.replace("<", "%3C")  # "</style" would end the element
    return _SPECIAL.sub(lambda match: f"\\{ord(match[0]):x} ", address)


def read_srcset(value: bytes) -> Iterator[tuple[int, int]]:
    """Yield the positions of the URLs of a ``srcset``.

    Complexity: O(length).
    """
    at = 0
    while (address := _NO_DESCRIPTORS.match(value, at)) is not None:
        start, end = address.span(1)
        bare = start + len(address[1].rstrip(b","))
        if bare < end:
            at = end
        else:
            candidate = _CANDIDATE.match(value, start)
            at = end if candidate is None else candidate.end()
        yield start, bare


def write_srcset(address: str) -> str:
    """Write a URL so that no comma at its ends is taken for the list's."""
    bare = address.strip(",")
    if bare == address:
        return address
    start = address.index(bare) if bare else len(address)
    return "%2C" * start + bare + "%2C" * (len(address) - start - len(bare))


def read_refresh(content: bytes) -> tuple[int, int] | None:
    """Return the position of the URL of a refresh; None where a page reloads itself, or never.

    As in https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps:
    without seconds at the front it is none.
    """
    found = _REFRESH.match(content)
    if found is None or not found[found.lastindex or 0].strip():
        return None
    return found.span(found.lastindex or 0)


def addresses_of_style(text: str) -> Iterator[str]:
    """Yield the URLs of a style sheet, or of a style attribute."""
    css = text.encode("utf-8", "replace")
    if may_hold_addresses(css):
        for start, end in read_css(css):
            yield read_escapes(css[start:end].decode("utf-8", "replace"))


def addresses_of_set(text: str) -> Iterator[str]:
    """Yield the URLs of a ``srcset``."""
    value = text.encode("utf-8", "replace")
    for start, end in read_srcset(value):
        yield value[start:end].decode("utf-8", "replace")
