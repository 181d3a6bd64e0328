"""The URL to request: the site's own spelling, but for a host that the network reads otherwise."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from w3lib.url import safe_url_string

from crawler.urls.hosts import canonical_host
from crawler.urls.parts import PLAIN_HOST, MalformedUrl

_PLAIN_HOST = re.compile(rf"https?://{PLAIN_HOST}(?::\d+)?(?=[/?#]|$)")
DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def requestable(url: str) -> str:
    """Return a URL that a request can be made for.

    Only the part before the path is ever changed: ``straße.de`` is ``xn--strae-oqa.de``
    since IDNA 2008, where the downloader, by IDNA 2003, would request ``strasse.de``; a host with
    percent-encoded letters, a user name or a dot at its end would be requested with those very
    characters. A name and a password are left out, as browsers do in the requests that they send.

    Raises:
        MalformedUrl: No request can be made for it.
    """
    if _PLAIN_HOST.match(url):
        return url
    before_query, mark, query = url.partition("?")
    url = before_query.replace("\\", "/") + mark + query  # as browsers read it
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port is not None else ""
        host = f"[{host}]" if ":" in host else canonical_host(host)
        made = parts._replace(netloc=f"{host}{port}").geturl()
        safe_url_string(made)
    except MalformedUrl:
        raise
    except ValueError as error:
        raise MalformedUrl(f"no request can be made of {url[:100]!r}: {error}") from None
    return made


def sent(url: str) -> str:
    """Return the URL as a server gets it: spellings with the same result are requested once.

    Raises:
        MalformedUrl: No request can be made for it.
    """
    parts = urlsplit(safe_url_string(requestable(url)))
    host = parts.netloc.lower().removesuffix(DEFAULT_PORTS.get(parts.scheme, ":"))
    return parts._replace(netloc=host, path=parts.path or "/", fragment="").geturl()
