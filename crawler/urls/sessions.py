"""Session ids in the path and in the query: the visit, not the page."""

from __future__ import annotations

import re

from crawler.urls.arguments import Removal

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

remove_jsessionid = Removal("jsessionid")
remove_phpsessid = Removal("phpsessid")
remove_aspsessionid = Removal("aspsessionid[a-z]{8}")
remove_session_shaped = Removal("sid|sessid|sessionid|session_id|oscsid|zenid", _SESSION_SHAPED)
remove_s = Removal("s", _MD5)
_remove_coldfusion = Removal("cfid|cftoken")


def remove_path_jsessionid(path: str) -> str:
    """Take ``;jsessionid=...`` out of each segment of a path."""
    return _PATH_JSESSIONID.sub("", path) if ";" in path else path


def remove_path_aspnet(path: str) -> str:
    """Take the segments that hold an ASP.NET session, ``/(S(...))``, out of a path."""
    return _PATH_ASPNET.sub("", path) if "/(" in path else path


def remove_coldfusion(query: str) -> str:
    """Take ``CFID`` and ``CFTOKEN`` out of a query that has both; one alone may be data."""
    return _remove_coldfusion(query) if _CFID.search(query) and _CFTOKEN.search(query) else query
