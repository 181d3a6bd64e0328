"""Make requests for other spellings of a URL, as ``crawler.frontier.spellings`` chooses them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    IgnoreRequest,
    UnsupportedURLSchemeError,
)
from scrapy.spidermiddlewares.httperror import HttpError

from crawler.downloadermiddlewares.limits import PrivateAddressError
from crawler.downloading.encodings import AnswerError
from crawler.frontier.spellings import StoredSpellings
from crawler.job_registry import job_of
from crawler.request_meta import LED_BY, SPELLING, for_another_spelling
from crawler.storage.errors import CrawlStorageError
from crawler.urls.hosts import requestable, sent
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

# Of the host as it is now, or of the network: every spelling would be answered so.
_OF_THE_HOST = frozenset({408, 425, 429, 502, 503, 504})
_NEVER = (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadCancelledError,
    AnswerError,
    PrivateAddressError,
)
_ALWAYS = (IgnoreRequest, UnsupportedURLSchemeError, ValueError)


class OtherSpellings:
    """Makes requests for the spellings of a crawl's URLs.

    The frontier may be given another store of spellings until the crawl begins.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._job = job_of(crawler)
        self._frontier = self._job.frontier

    def passes(self, request: Request, key: bytes) -> bool:
        """Return whether a request whose key was queued before is made all the same."""
        if request.method != "GET" or request.body or self.is_canonical(request.url):
            return False
        if not self._frontier.spellings.is_wanted(key, request.url):
            return False
        request.meta[SPELLING] = True
        return self._frontier.spellings.note_asked(key, request.url)

    def is_canonical(self, url: str) -> bool:
        try:
            return self._job.canonicalizer.known_as(url).is_canonical
        except MalformedUrl:
            return True

    def failed(self, request: Request) -> list[str]:
        """Return the spellings of a request's URL that gave no page: its own, and its sources."""
        of = self._crawler.request_fingerprinter.fingerprint
        key = of(request)
        sources = request.meta.get("redirect_urls", ())
        return [url for url in sources if of(request.replace(url=url)) == key] + [request.url]

    def canonical_url(self, request: Request) -> str | None:
        """Return the canonical URL of a request, if it may be requested and is another spelling."""
        try:
            url = self._job.canonicalizer(request.url)
            is_another = sent(url) != sent(request.url)
        except MalformedUrl:
            return None
        return url if is_another and self._job.run.may_ask(url, request.meta) else None

    def following(self, request: Request) -> str | None:
        """Return the spelling to request after a request gave no page; None where there is none."""
        spellings = self._frontier.spellings
        assert isinstance(spellings, StoredSpellings)
        key = self._crawler.request_fingerprinter.fingerprint(request)
        canonical_url, failed = self.canonical_url(request), self.failed(request)
        while url := spellings.replacement(key, failed, canonical_url):
            if self._crawler.request_fingerprinter.fingerprint(request.replace(url=url)) == key:
                return url
            failed.append(url)  # it is requested as a page of its own
        return None

    def another(self, request: Request, url: str) -> Request:
        """Return the request for another spelling of a URL, like the one for this spelling."""
        meta = for_another_spelling(request.meta)
        sources = request.meta.get("redirect_urls", ())
        if sources:
            meta[LED_BY] = sources[0]
        return request.replace(url=url, meta=meta, dont_filter=False)


def requestable_request(request: Request) -> Request:
    """Return the request with a URL that can be sent; the target of a redirect has any spelling."""
    if request.url.startswith(("http://", "https://")):
        with suppress(MalformedUrl):
            url = requestable(request.url)
            return request if url == request.url else request.replace(url=url)
    return request


def source_of(request: Request) -> Request:
    """Return the request that was redirected to the target of this one."""
    *before, url = request.meta["redirect_urls"]
    meta = {**request.meta, "redirect_urls": before}
    return request.replace(url=url, meta=meta)


def ask_another(crawler: Crawler, request: Request, error: BaseException | None) -> bool:
    """Request another spelling of a URL that gave no page; return whether there is one.

    Args:
        crawler: The crawler; a scheduler that is not ours requests nothing.
        request: The request that gave no page.
        error: Why it gave none.
    """
    ask = getattr(crawler.engine.scheduler, "ask_another", None)
    if ask is None or error is None or not _may_be_spelling(error, request):
        return False
    try:
        return bool(ask(request))
    except CrawlStorageError:  # the job remembers it, and the crawl ends
        return True


def _may_be_spelling(error: BaseException, request: Request) -> bool:
    """Return whether another spelling of a URL may give a page where this one failed.

    A connection that breaks off may be a firewall's answer to an argument, or a host that is
    down: then only the next spelling is tried.
    """
    if isinstance(error, HttpError):
        return error.response.status not in _OF_THE_HOST
    if isinstance(error, _NEVER):
        return False
    return isinstance(error, _ALWAYS) or SPELLING not in request.meta
