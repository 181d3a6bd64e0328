"""The rules, in the order in which they are applied; ``docs/urls.md`` gives the reason for each.

The order matters where one rule enables another: escapes are decoded before names are searched,
session ids are removed before dots are resolved, and all rules that may leave a query empty come
before the one that removes an empty query. Change a rule, or the order, and ``canonical.VERSION``
changes.

An argument is the text between two ``&``. A ``;`` may separate arguments too (gitweb) or be data,
and only the server knows: so an argument with a ``;`` in it is never removed, since another one
might go with it, and a query with a ``;`` is never sorted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import quote, unquote_to_bytes

from crawler.urls import hosts

if TYPE_CHECKING:
    from collections.abc import Callable

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


def sort_arguments(query: str) -> str:
    """Sort arguments by name; those of one name keep their order.

    ``a[1]`` and ``a[2]`` count as one name, ``a``; arguments without ``=`` as one too, so that
    ``?paris&rome`` and ``?rome&paris`` stay two pages.
    """
    if "&" not in query or ";" in query:
        return query
    return "&".join(sorted(query.split("&"), key=_name))


def drop_empty(query: str) -> str:
    """Drop empty arguments, which every reader of forms skips: ``&&``, or ``&`` at an end."""
    if "&&" not in query and not query.startswith("&") and not query.endswith("&"):
        return query
    return "&".join(filter(None, query.split("&")))


def drop_blank(query: str) -> str:
    """Drop arguments that have a name and no value, which most programs take for absent."""
    if "=&" not in query and not query.endswith("="):
        return query
    return "&".join(argument for argument in query.split("&") if not _BLANK.fullmatch(argument))


def decode_escapes(query: str) -> str:
    """Decode escapes of characters that may stand for themselves and separate no arguments."""
    return _PLAIN_ESCAPE.sub(_decoded, query) if "%" in query else query


def _decoded(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16))


_BLANK = re.compile("[^=;]+=")
# The characters ! $ ( ) * , / : ? @; forms escape most of them, and people write them as they are.
_PLAIN_ESCAPE = re.compile("%(2[1489ACF]|3[AF]|40)")


@dataclass(frozen=True)
class Removal:
    """Removes arguments from a query.

    Attributes:
        names: Regular expression of the whole name, whatever its case.
        value: Regular expression of the whole value, whatever its case.
        keep: Regular expression of the names that stay although ``names`` matches.
    """

    names: str
    value: str = "[^&;]*"
    keep: str = "(?!)"

    def __call__(self, query: str) -> str:
        shorter = self._argument.sub("", query)
        return shorter[1:] if shorter.startswith("&") and not query.startswith("&") else shorter

    @cached_property
    def _argument(self) -> re.Pattern[str]:
        return re.compile(
            rf"(?:^|&)(?!(?:{self.keep})=)(?:{self.names})=(?:{self.value})(?=&|\Z)",
            re.IGNORECASE | re.ASCII,
        )


def _name(argument: str) -> str:
    name, equals, _ = argument.partition("=")
    # user[][name] and user[][age] belong together, in the order in which they stand.
    return name.partition("[")[0].partition("%5B")[0].partition("%5b")[0] if equals else ""


_PATH_JSESSIONID = re.compile(r";jsessionid=[^/;]*", re.IGNORECASE | re.ASCII)
# System.Web.SessionState.SessionIDManager: 24 characters of a to z and 0 to 5. Around it may stand
# an anonymous id, a forms ticket and the mark X(1); ASP.NET 1.1 wrote the bare id in parentheses.
_ASPNET_ID = "[a-z0-5]{24}"
_ASPNET_MARK = r"(?:[AFPX]\([0-9A-Za-z_-]+\))*"
_PATH_ASPNET = re.compile(
    rf"/\((?:{_ASPNET_MARK}S\({_ASPNET_ID}\){_ASPNET_MARK}"
    rf"|(?=[a-z]*[0-5])(?=[0-5]*[a-z]){_ASPNET_ID})\)(?=/)",
    re.IGNORECASE | re.ASCII,
)
_CFID = re.compile(r"(?:^|&)CFID=[^&;]*(?=&|\Z)", re.IGNORECASE | re.ASCII)
_CFTOKEN = re.compile(r"(?:^|&)CFTOKEN=[^&;]*(?=&|\Z)", re.IGNORECASE | re.ASCII)
# Two digits and two letters at least: neither a number nor a word.
_MIXED = "(?=(?:[a-z]{0,62}[0-9]){2})(?=(?:[0-9]{0,62}[a-z]){2})"
# MD5, as phpBB, vBulletin and older PHP write it.
_MD5 = f"{_MIXED}[0-9a-f]{{32}}"
# What PHP wrote in its several settings: 128 or 160 bits in 4 or 5 bits a character, or SHA-256.
_SESSION_SHAPED = f"{_MIXED}(?:[0-9a-v]{{26}}|[0-9a-v]{{32}}|[0-9a-f]{{40}}|[0-9a-f]{{64}})"

_jsessionid_argument = Removal("jsessionid")
remove_phpsessid = Removal("phpsessid")
remove_aspsessionid = Removal("aspsessionid[a-z]{8}")
remove_session_shaped = Removal("sid|sessid|sessionid|session_id|oscsid|zenid", _SESSION_SHAPED)
remove_s = Removal("s", _MD5)
_remove_coldfusion = Removal("cfid|cftoken")


def remove_jsessionid(query: str) -> str:
    """Remove ``jsessionid`` from a query."""
    return _jsessionid_argument(query) if "jsessionid=" in query.lower() else query


def remove_path_jsessionid(path: str) -> str:
    """Remove ``;jsessionid=...`` from each segment of a path."""
    return _PATH_JSESSIONID.sub("", path) if ";" in path else path


def remove_path_aspnet(path: str) -> str:
    """Remove the segments that hold an ASP.NET session, ``/(S(...))``, from a path."""
    return _PATH_ASPNET.sub("", path) if "/(" in path else path


def remove_coldfusion(query: str) -> str:
    """Remove ``CFID`` and ``CFTOKEN`` from a query that has both; one alone may be data."""
    return _remove_coldfusion(query) if _CFID.search(query) and _CFTOKEN.search(query) else query


# Universal Transverse Mercator: the coordinates of a map sheet are utm_ too, and choose the page.
_GEOGRAPHY = (
    "utm_(?:zone|band|datum|epsg|srid|hemi(?:sphere)?|north(?:ing)?|east(?:ing)?"
    "|lat(?:itude)?|lon(?:g|gitude)?|lng|coord[a-z]*|grid[a-z]*|sheet|square|tile)"
)

# https://support.google.com/analytics/answer/10917952; other tools add names of their own. Names of
# one or two letters (utm_x, utm_e) are coordinates as well.
remove_utm = Removal(r"utm_[a-z][a-z_-]{2,}", keep=_GEOGRAPHY)

remove_click_ids = Removal(
    "gclid|gclsrc|gbraid|wbraid|dclid|gad_source|gad_campaignid|srsltid"  # Google
    "|fbclid|igshid|igsh"  # Facebook, Instagram
    "|msclkid"  # Microsoft
    "|yclid|ysclid|ymclid"  # Yandex
    "|twclid|ttclid|rdt_cid|li_fat_id|sccid|epik"  # X, TikTok, Reddit, LinkedIn, Snap, Pinterest
    "|irclickid"  # Impact
)

# Links between one owner's sites carry the visitor's cookie along.
remove_analytics = Removal(
    "_ga|_gl|_gac"  # Google
    "|(?:mtm|matomo|pk|piwik)_(?:campaign|keyword|kwd|source|medium|content|cid|group|placement)"
    "|_openstat"  # Yandex
)

remove_mailing = Removal(
    "mc_cid|mc_eid|mc_tc"  # Mailchimp
    "|_hsenc|_hsmi|__hstc|__hssc|__hsfp|hsctatracking"  # HubSpot
    "|mkt_tok"  # Marketo
    "|oly_enc_id|oly_anon_id|vero_id|vero_conv|_ke|ck_subscriber_id"  # Omeda, Vero, Klaviyo, Kit
)


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


_path_jsessionid = on_part("path", remove_path_jsessionid)
_query_jsessionid = on_part("query", remove_jsessionid)
_SID_NAMES = f"{remove_session_shaped.names}|{remove_s.names}"


def _remove_jsessionid(parts: Parts) -> Parts:
    return _query_jsessionid(_path_jsessionid(parts))


def _remove_sid(query: str) -> str:
    return remove_s(remove_session_shaped(query))


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
    _of_query("query_escapes", ": / , @ ! $ ( ) * ? in a query, escaped", decode_escapes),
    Rule(
        "jsessionid",
        "Java sessions, in the path or the query",
        _remove_jsessionid,
        on_query=remove_jsessionid,
        is_tried=True,
        is_of_sessions=True,
    ),
    Rule(
        "aspnet_session",
        "ASP.NET sessions in the path",
        on_part("path", remove_path_aspnet),
        is_tried=True,
        is_of_sessions=True,
    ),
    Rule("dot_segments", "/./ and /../ in the path", on_part("path", resolve_dots)),
    Rule("empty_path", "no path is the path /", _fill_path),
    _removal("utm", "utm_source and its kin", remove_utm),
    _removal("click_ids", "gclid, fbclid and their kin", remove_click_ids),
    _removal("analytics", "_ga, _gl, mtm_source and kin", remove_analytics),
    _removal("mailing", "mc_cid, _hsenc and their kin", remove_mailing),
    _removal("phpsessid", "PHP sessions", remove_phpsessid, session=True),
    _removal("aspsessionid", "classic ASP sessions", remove_aspsessionid, session=True),
    _of_query("coldfusion", "CFID with CFTOKEN", remove_coldfusion, "cfid", session=True),
    _of_query(
        "sid",
        "sid, sessionid, s and kin with the value of a session",
        _remove_sid,
        _SID_NAMES,
        session=True,
    ),
    _of_query("blank_arguments", "an argument without a value", drop_blank),
    _of_query("empty_arguments", "&& or & at an end of the query", drop_empty),
    _of_query("sort_arguments", "the order of the arguments", sort_arguments),
    Rule("empty_query", "a ? with nothing behind it", _drop_empty_query, is_tried=True),
    Rule("fragment", "what stands behind #, which no server sees", _drop_fragment),
)
