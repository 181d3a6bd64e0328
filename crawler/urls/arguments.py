"""Sort the arguments of a query, and remove some of them.

An argument is the text between two ``&``. A ``;`` may separate arguments too (gitweb) or be data,
and only the server knows: so an argument with a ``;`` in it is never removed, since another one
might go with it, and a query with a ``;`` is never sorted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property


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

_remove_jsessionid = Removal("jsessionid")
remove_phpsessid = Removal("phpsessid")
remove_aspsessionid = Removal("aspsessionid[a-z]{8}")
remove_session_shaped = Removal("sid|sessid|sessionid|session_id|oscsid|zenid", _SESSION_SHAPED)
remove_s = Removal("s", _MD5)
_remove_coldfusion = Removal("cfid|cftoken")


def remove_jsessionid(query: str) -> str:
    """Remove ``jsessionid`` from a query."""
    return _remove_jsessionid(query) if "jsessionid=" in query.lower() else query


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
