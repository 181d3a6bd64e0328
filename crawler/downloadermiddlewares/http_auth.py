"""Send a user name and a password to the hosts of the seeds, and store them nowhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from weakref import WeakSet

from scrapy.exceptions import NotConfigured
from w3lib.http import basic_auth_header

if TYPE_CHECKING:
    from collections.abc import Collection

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_HEADER = b"Authorization"


class HttpAuth:
    """Sends HTTPAUTH_USER and HTTPAUTH_PASS, from the settings or the environment.

    They go to HTTPAUTH_DOMAIN and its subdomains, or where that is not set to the hosts of the
    seeds; to the host of an ``https`` seed by ``https`` alone. Scrapy's own middleware leaves the
    header in the request, which a retry puts into the queue; here it is removed before any other
    component sees the answer, and archives leave it out.

    Raises:
        ValueError: No host is known for them.
    """

    def __init__(self, user: str, password: str, domain: str, seeds: Collection[str]) -> None:
        if not domain and not seeds:
            raise ValueError("HTTPAUTH_DOMAIN must say to which host HTTPAUTH_PASS may be sent")
        self._header = basic_auth_header(user, password)
        self._domain = domain
        parts = [urlsplit(seed) for seed in seeds]
        self._hosts = {one.hostname for one in parts if one.scheme == "http"}
        self._https_hosts = {one.hostname for one in parts}
        self._given: WeakSet[Request] = WeakSet()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> HttpAuth:
        user, password, domain = (
            str(crawler.settings.get(name) or os.environ.get(name, ""))
            for name in ("HTTPAUTH_USER", "HTTPAUTH_PASS", "HTTPAUTH_DOMAIN")
        )
        if not user and not password:
            raise NotConfigured
        return cls(user, password, domain, getattr(crawler.spider, "seeds", ()))

    def process_request(self, request: Request) -> None:
        if _HEADER in request.headers or not self._is_for(request.url):
            return
        request.headers[_HEADER] = self._header
        self._given.add(request)

    def _is_for(self, url: str) -> bool:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if self._domain:
            return f".{host}".endswith(f".{self._domain.lower()}")
        return host in (self._https_hosts if parts.scheme == "https" else self._hosts)

    def process_response(self, request: Request, response: Response) -> Response:
        self._take_back(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        self._take_back(request)

    def _take_back(self, request: Request) -> None:
        if request in self._given:
            self._given.discard(request)
            request.headers.pop(_HEADER, None)
