"""The rules, in the order in which they are applied; ``docs/urls.md`` gives the reason for each.

The order matters where one rule enables another: escapes are decoded before names are searched,
session ids are removed before dots are resolved, and all rules that may leave a query empty come
before the one that removes an empty query. Change a rule, or the order, and ``canonical.VERSION``
changes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import quote, unquote_to_bytes

from crawler.urls import arguments, hosts

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.urls.arguments import Removal
    from crawler.urls.parts import Parts

T = TypeVar("T")

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH_SAFE = "%/:@!$&'()*+,;=~"
# Browsers and the downloader escape the apostrophe in a query, and only there.
_QUERY_SAFE = "%/?:@!$&()*+,;=~"
_PATH_UNSAFE = re.compile(r"[^A-Za-z0-9%/:@!$&'()*+,;=~._-]")
_QUERY_UNSAFE = re.compile(r"[^A-Za-z0-9%/?:@!$&()*+,;=~._-]")
# An escape, with a stray "%" that it would complete if it were decoded: "%%36%31" must not become
# "%61", which a second pass would make "a".
_ESCAPE = re.compile(r"(%[0-9A-Fa-f]?)?%([0-9A-Fa-f]{2})")

_DOT_SEGMENT = re.compile(r"/(?:\.|%2[eE]){1,2}(?=/|$)")

_OUTER = "".join(map(chr, range(0x21)))  # the C0 controls and the space
_REMOVED = str.maketrans("", "", "\t\n\r")
_BEFORE_QUERY = re.compile(r"[^?#]*")


@dataclass(frozen=True, slots=True)
class Rule(Generic[T]):
    """One reason why two URLs are the same page.

    Attributes:
        name: The name to switch it off by.
        meaning: One line for the user.
        apply: The rule on the whole text (``Rule[str]``) or on the parts (``Rule[Parts]``). Pure.
        arguments: Regular expression of names, if the rule only removes arguments
            with such names; all of these rules can be skipped at once.
        on_query: What it does to a query, which depends on no other part.
        is_tried: Whether no standard promises it, so that it is tried on each host
            (``crawler.url_rules.fixed_rules``).
        is_of_sessions: Whether it removes names that have another value for each visitor.
    """

    name: str
    meaning: str
    apply: Callable[[T], T]
    arguments: str = ""
    on_query: Callable[[str], str] | None = None
    is_tried: bool = False
    is_of_sessions: bool = False


def on_part(name: str, change: Callable[[str], str]) -> Callable[[Parts], Parts]:
    """Make a function of a part one of the parts; a part that is empty or absent is left alone."""

    def apply(parts: Parts) -> Parts:
        before = getattr(parts, name)
        after = change(before) if before else before
        return parts if after == before else parts._replace(**{name: after})

    return apply


def canonical_path(path: str) -> str:
    """Bring the percent-encoding of a path to its one form."""
    if _PATH_UNSAFE.search(path):
        path = quote(path, safe=_PATH_SAFE)
    return _ESCAPE.sub(_canonical_escape, path) if "%" in path else path


def canonical_query(query: str) -> str:
    """Bring the percent-encoding of a query to its one form; ``+`` and ``%20`` stay apart."""
    if _QUERY_UNSAFE.search(query):
        query = quote(query, safe=_QUERY_SAFE)
    return _ESCAPE.sub(_canonical_escape, query) if "%" in query else query


def canonical_userinfo(userinfo: str) -> str:
    """Escape a user name and a password in full: a client decodes both before it sends them."""
    user, colon, password = userinfo.partition(":")
    return f"{_escaped(user)}{colon}{_escaped(password)}"


def _canonical_escape(escape: re.Match[str]) -> str:
    stray, digits = escape.groups()
    character = chr(int(digits, 16))
    if stray is None and character in _UNRESERVED:
        return character
    return f"{stray or ''}%{digits.upper()}"


def _escaped(text: str) -> str:
    return quote(unquote_to_bytes(text), safe="")


def resolve_dots(path: str) -> str:
    """Resolve ``.`` and ``..``, also written ``%2e``, as the URL standard does.

    An empty segment counts as one: ``/a//../b`` is ``/a/b``. Above the root there is nothing.
    """
    if not _DOT_SEGMENT.search(path):
        return path
    kept: list[str] = []
    *folders, last = path.split("/")[1:]
    for segment in folders:
        _enter(kept, segment)
    if _dots(last):
        _enter(kept, last)
        last = ""
    return "".join(f"/{segment}" for segment in [*kept, last])


def _enter(kept: list[str], segment: str) -> None:
    dots = _dots(segment)
    if dots == 0:
        kept.append(segment)
    elif dots == 2 and kept:
        kept.pop()


def _dots(segment: str) -> int:
    plain = segment.lower().replace("%2e", ".") if len(segment) <= 6 else segment
    return len(plain) if plain in (".", "..") else 0


def _trim(text: str) -> str:
    text = text.strip(_OUTER)
    return text if text.isprintable() else text.translate(_REMOVED)


def _turn_backslashes(text: str) -> str:
    if "\\" not in text:
        return text
    return _BEFORE_QUERY.sub(lambda part: part[0].replace("\\", "/"), text, count=1)


def _lower_scheme(parts: Parts) -> Parts:
    return parts if parts.scheme.islower() else parts._replace(scheme=parts.scheme.lower())


def _drop_default_port(parts: Parts) -> Parts:
    if parts.port is None:
        return parts
    port = parts.port.lstrip("0") or parts.port[:1]
    default = f":{port}" in (":", hosts.DEFAULT_PORTS[parts.scheme.lower()])
    return parts._replace(port=None if default else port)


def _drop_empty_userinfo(parts: Parts) -> Parts:
    if parts.userinfo is None:
        return parts
    return parts._replace(userinfo=parts.userinfo.removesuffix(":") or None)


def _canonical_escapes(parts: Parts) -> Parts:
    userinfo, path, query = parts.userinfo, canonical_path(parts.path), parts.query
    if userinfo:
        userinfo = canonical_userinfo(userinfo)
    if query:
        query = canonical_query(query)
    if path == parts.path and query == parts.query and userinfo == parts.userinfo:
        return parts
    return parts._replace(userinfo=userinfo, path=path, query=query)


_path_jsessionid = on_part("path", arguments.remove_path_jsessionid)
_query_jsessionid = on_part("query", arguments.remove_jsessionid)
_SID_NAMES = f"{arguments.remove_session_shaped.names}|{arguments.remove_s.names}"


def _remove_jsessionid(parts: Parts) -> Parts:
    return _query_jsessionid(_path_jsessionid(parts))


def _remove_sid(query: str) -> str:
    return arguments.remove_s(arguments.remove_session_shaped(query))


def _fill_path(parts: Parts) -> Parts:
    return parts if parts.path else parts._replace(path="/")


def _drop_empty_query(parts: Parts) -> Parts:
    return parts._replace(query=None) if parts.query == "" else parts


def _drop_fragment(parts: Parts) -> Parts:
    return parts if parts.fragment is None else parts._replace(fragment=None)


def _of_query(
    name: str, meaning: str, change: Callable[[str], str], names: str = "", *, session: bool = False
) -> Rule[Parts]:
    return Rule(
        name,
        meaning,
        on_part("query", change),
        names,
        change,
        is_tried=True,
        is_of_sessions=session,
    )


def _removal(name: str, meaning: str, removal: Removal, *, session: bool = False) -> Rule[Parts]:
    return _of_query(name, meaning, removal, removal.names, session=session)


TEXT_RULES: tuple[Rule[str], ...] = (
    Rule("outer_space", "spaces and control characters around it, tabs, line breaks", _trim),
    Rule("backslashes", "a backslash before the query is a slash", _turn_backslashes),
)

PARTS_RULES: tuple[Rule[Parts], ...] = (
    Rule("scheme_case", "the scheme has no case", _lower_scheme),
    Rule("host_escapes", "%xx in a host is the character", on_part("host", hosts.decode_escapes)),
    Rule("idn", "an international name is its A-labels", on_part("host", hosts.to_ascii)),
    Rule("host_case", "the host has no case", on_part("host", hosts.lower)),
    Rule("trailing_dot", "a dot at the end of the host", on_part("host", hosts.drop_trailing_dot)),
    Rule("ipv4", "an IPv4 address in any spelling", on_part("host", hosts.dotted_ipv4)),
    Rule("ipv6", "an IPv6 address in any spelling", on_part("host", hosts.compress_ipv6)),
    Rule("default_port", "port 80 of http, 443 of https, none", _drop_default_port),
    Rule("empty_userinfo", "an empty user name or password", _drop_empty_userinfo),
    Rule(
        "percent_encoding",
        "escapes that no server can tell apart",
        _canonical_escapes,
        on_query=canonical_query,
    ),
    _of_query("query_escapes", ": / , @ ! $ ( ) * ? in a query, escaped", arguments.decode_escapes),
    Rule(
        "jsessionid",
        "Java sessions, in the path or the query",
        _remove_jsessionid,
        on_query=arguments.remove_jsessionid,
        is_tried=True,
        is_of_sessions=True,
    ),
    Rule(
        "aspnet_session",
        "ASP.NET sessions in the path",
        on_part("path", arguments.remove_path_aspnet),
        is_tried=True,
        is_of_sessions=True,
    ),
    Rule("dot_segments", "/./ and /../ in the path", on_part("path", resolve_dots)),
    Rule("empty_path", "no path is the path /", _fill_path),
    _removal("utm", "utm_source and its kin", arguments.remove_utm),
    _removal("click_ids", "gclid, fbclid and their kin", arguments.remove_click_ids),
    _removal("analytics", "_ga, _gl, mtm_source and kin", arguments.remove_analytics),
    _removal("mailing", "mc_cid, _hsenc and their kin", arguments.remove_mailing),
    _removal("phpsessid", "PHP sessions", arguments.remove_phpsessid, session=True),
    _removal("aspsessionid", "classic ASP sessions", arguments.remove_aspsessionid, session=True),
    _of_query("coldfusion", "CFID with CFTOKEN", arguments.remove_coldfusion, "cfid", session=True),
    _of_query(
        "sid",
        "sid, sessionid, s and kin with the value of a session",
        _remove_sid,
        _SID_NAMES,
        session=True,
    ),
    _of_query("blank_arguments", "an argument without a value", arguments.drop_blank),
    _of_query("empty_arguments", "&& or & at an end of the query", arguments.drop_empty),
    _of_query("sort_arguments", "the order of the arguments", arguments.sort_arguments),
    Rule("empty_query", "a ? with nothing behind it", _drop_empty_query, is_tried=True),
    Rule("fragment", "what stands behind #, which no server sees", _drop_fragment),
)
