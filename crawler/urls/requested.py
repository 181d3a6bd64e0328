"""The URL to ask for: as the site wrote it, but for a host that the network takes otherwise."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from w3lib.url import safe_url_string

from crawler.urls.errors import MalformedUrl
from crawler.urls.hosts import canonical_host

_PLAIN_HOST = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d+)?(?=[/?#]|$)", re.IGNORECASE)


def requestable(url: str) -> str:
    """Return a URL that a request can be made of.

    Only the host is ever touched: ``straße.de`` is ``xn--strae-oqa.de`` since IDNA
    2008, where the downloader, by IDNA 2003, would ask ``strasse.de``, and a host
    with percent-encoded letters would be asked for by those very signs.

    Raises:
        MalformedUrl: No request can be made of it.
    """
    if _PLAIN_HOST.match(url):
        return url
    before_query, mark, query = url.partition("?")
    url = before_query.replace("\\", "/") + mark + query  # as browsers read it
    try:
        parts = urlsplit(url)
        userinfo, at, _ = parts.netloc.rpartition("@")
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port is not None else ""
        host = f"[{host}]" if ":" in host else canonical_host(host)
        made = parts._replace(netloc=f"{userinfo}{at}{host}{port}").geturl()
        safe_url_string(made)
    except MalformedUrl:
        raise
    except ValueError as error:
        raise MalformedUrl(f"no request can be made of {url[:100]!r}: {error}") from None
    return made
