"""The rules, in the order in which they are applied. ``docs/urls.md`` gives the reason for each.

The order matters where one rule makes work for another: escapes are decoded before names are looked
for, session ids go before dots are resolved, and whatever may leave a query empty comes before the
rule that removes an empty one. Change a rule, or the order, and ``canonical.VERSION`` changes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawler.urls import arguments, hosts, paths, percent, sessions, tracking
from crawler.urls.canonical_rule import Rule, on_host, on_path, on_query

if TYPE_CHECKING:
    from crawler.urls.arguments import Removal
    from crawler.urls.parts import Parts

_OUTER = "".join(map(chr, range(0x21)))  # the C0 controls and the space
_REMOVED = str.maketrans("", "", "\t\n\r")
_BEFORE_QUERY = re.compile(r"[^?#]*")
_DEFAULT_PORTS = {"http": "80", "https": "443"}


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
    default = port in ("", _DEFAULT_PORTS[parts.scheme.lower()])
    return parts._replace(port=None if default else port)


def _drop_empty_userinfo(parts: Parts) -> Parts:
    if parts.userinfo is None:
        return parts
    return parts._replace(userinfo=parts.userinfo.removesuffix(":") or None)


def _canonical_escapes(parts: Parts) -> Parts:
    userinfo, path, query = parts.userinfo, percent.canonical_path(parts.path), parts.query
    if userinfo:
        userinfo = percent.canonical_userinfo(userinfo)
    if query:
        query = percent.canonical_query(query)
    if path == parts.path and query == parts.query and userinfo == parts.userinfo:
        return parts
    return parts._replace(userinfo=userinfo, path=path, query=query)


_path_jsessionid = on_path(sessions.remove_path_jsessionid)
_query_jsessionid = on_query(sessions.remove_jsessionid)
_sid = on_query(sessions.remove_session_shaped)
_s = on_query(sessions.remove_s)
_SID_NAMES = f"{sessions.remove_session_shaped.names}|{sessions.remove_s.names}"


def _remove_jsessionid(parts: Parts) -> Parts:
    return _query_jsessionid(_path_jsessionid(parts))


def _remove_sid(parts: Parts) -> Parts:
    return _s(_sid(parts))


def _fill_path(parts: Parts) -> Parts:
    return parts if parts.path else parts._replace(path="/")


def _drop_empty_query(parts: Parts) -> Parts:
    return parts._replace(query=None) if parts.query == "" else parts


def _drop_fragment(parts: Parts) -> Parts:
    return parts if parts.fragment is None else parts._replace(fragment=None)


def _removal(name: str, meaning: str, removal: Removal) -> Rule[Parts]:
    return Rule(name, meaning, on_query(removal), removal.names)


TEXT_RULES: tuple[Rule[str], ...] = (
    Rule("outer_space", "spaces and control characters around it, tabs, line breaks", _trim),
    Rule("backslashes", "a backslash before the query is a slash", _turn_backslashes),
)

PARTS_RULES: tuple[Rule[Parts], ...] = (
    Rule("scheme_case", "the scheme has no case", _lower_scheme),
    Rule("host_escapes", "%xx in a host is the character", on_host(hosts.decode_escapes)),
    Rule("idn", "an international name is its A-labels", on_host(hosts.to_ascii)),
    Rule("host_case", "the host has no case", on_host(hosts.lower)),
    Rule("trailing_dot", "a dot at the end of the host", on_host(hosts.drop_trailing_dot)),
    Rule("ipv4", "an IPv4 address in any spelling", on_host(hosts.dotted_ipv4)),
    Rule("ipv6", "an IPv6 address in any spelling", on_host(hosts.compress_ipv6)),
    Rule("default_port", "port 80 of http, 443 of https, none", _drop_default_port),
    Rule("empty_userinfo", "an empty user name or password", _drop_empty_userinfo),
    Rule("percent_encoding", "escapes that no server can tell apart", _canonical_escapes),
    Rule("jsessionid", "Java sessions, in the path or the query", _remove_jsessionid),
    Rule("aspnet_session", "ASP.NET sessions in the path", on_path(sessions.remove_path_aspnet)),
    Rule("dot_segments", "/./ and /../ in the path", on_path(paths.resolve_dots)),
    Rule("empty_path", "no path is the path /", _fill_path),
    _removal("utm", "utm_source and its kin", tracking.remove_utm),
    _removal("click_ids", "gclid, fbclid and their kin", tracking.remove_click_ids),
    _removal("analytics", "_ga, _gl, mtm_source and kin", tracking.remove_analytics),
    _removal("mailing", "mc_cid, _hsenc and their kin", tracking.remove_mailing),
    _removal("phpsessid", "PHP sessions", sessions.remove_phpsessid),
    _removal("aspsessionid", "classic ASP sessions", sessions.remove_aspsessionid),
    Rule("coldfusion", "CFID with CFTOKEN", on_query(sessions.remove_coldfusion), "cfid"),
    Rule("sid", "sid, sessionid, s and kin with the value of a session", _remove_sid, _SID_NAMES),
    Rule("empty_arguments", "&& or & at an end of the query", on_query(arguments.drop_empty)),
    Rule("sort_arguments", "the order of the arguments", on_query(arguments.sort_arguments)),
    Rule("empty_query", "a ? with nothing behind it", _drop_empty_query),
    Rule("fragment", "what stands behind #, which no server sees", _drop_fragment),
)
