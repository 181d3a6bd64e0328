"""Request what the scripts and forms of a mirror name, each at the URL that the server answers."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from crawler.frontier.seen import RECENT_URLS, RecentDepths
from crawler.mirror.documents.places import LinkRole
from crawler.mirror.documents.scripts import is_file_name, other_form
from crawler.reading.content_types import why_not_html
from crawler.reading.link_extraction import resolve
from crawler.reading.link_kinds import OPEN_FORM, SCRIPT, Follow
from crawler.request_meta import (
    AGAIN,
    FOR_A_PAGE,
    LED_BY,
    LINK_KIND,
    depth_of,
    is_apart,
    link_source,
)
from crawler.storage.errors import CrawlStorageError
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy import Request
    from scrapy.http import Response

    from crawler.mirror.documents.linked_document import DocumentLink, LinkedDocument
    from crawler.mirror.endings import WantedNames
    from crawler.spiders.site import SiteSpider

FURTHER: Final = "mirror_further"
"""list: URLs that are requested one after the other where a guess is not there."""

PAGE_OF: Final = "mirror_page_of"
"""str: the page that runs the script which named this file."""

_KINDS = {LinkRole.NAMED: SCRIPT, LinkRole.FORM: OPEN_FORM}


class NamedFiles:
    """Makes the requests for what scripts and forms name, after those for all pages.

    A text of a script is joined to the script, and where nothing is there to the page that runs it.
    An HTTP error of such a URL is no fault of the site. Of a host where less than one such request
    in twenty finds something, few are made, as ``crawler.url_rules.file_links`` counts them.

    Args:
        spider: The spider of the mirror.
        wanted: Which names of files the user wants.
    """

    def __init__(self, spider: SiteSpider, wanted: WantedNames) -> None:
        self._spider = spider
        self._wanted = wanted
        self._lately: RecentDepths[str] = RecentDepths(RECENT_URLS)

    def requests(self, response: Response, document: LinkedDocument) -> Iterator[Request]:
        """Yield requests for what a document names and nothing else in it leads to."""
        is_page = why_not_html(_type(response), response.body) is None
        page = response.url if is_page else self._page_of(response)
        base = document.base if is_page else page
        others = {link.url for link in document.links if link.kind not in _KINDS}
        named = {link.url: link for link in document.links if link.kind in _KINDS}
        for url, link in named.items():
            if url is None or url in others:
                continue
            kind = _KINDS[link.kind]
            if self._spider.link_kinds[kind] is Follow.NO:
                continue
            is_form = kind == OPEN_FORM
            urls = [url.partition("?")[0]] if is_form else _candidates(link, url, base)
            request = self._request(urls, kind, response, page)
            if request is not None:
                yield request

    def not_there(self, url: str, meta: Mapping[str, Any]) -> Iterator[Request]:
        """Note that what is named is not at a URL; yield the request for the next one, if any."""
        self._spider.note_guess(meta, url, is_page=False)
        kept: dict[str, Any] = {name: meta[name] for name in _KEPT if name in meta}
        urls = meta.get(FURTHER, ())
        for number, another in enumerate(urls, 1):
            if self._is_met(another):
                return
            if self._may_ask(another):
                further = self._spider.guess_request(
                    another, meta[LINK_KIND], kept | {FURTHER: urls[number:]}
                )
                if further is not None:
                    yield further
                return

    def is_another(self, response: Response) -> bool:
        """Return whether a page came for the name of a file: what some servers send for any URL."""
        meta = response.meta
        if not is_apart(meta):
            return False
        asked = (*meta.get("redirect_urls", ()), response.url)[0]
        return is_file_name(asked) and why_not_html(_type(response), response.body) is None

    def is_taken(self, response: Response) -> bool:
        """Note that a named file is there; return whether a link led to it meanwhile.

        The request of that link stores it.
        """
        request = response.request
        if request is None or AGAIN in request.meta or not is_apart(request.meta):
            return False
        key, seen = self._spider.key_of(request), self._spider.frontier.seen
        if seen.add(key, depth_of(request.meta)):
            return False
        with suppress(CrawlStorageError):  # the job remembers it, and the crawl ends
            self._spider.files.note_guess(request.meta, response.url, is_page=True)
        return True

    def _page_of(self, response: Response) -> str:
        """Return the page that runs a script, or the first one of the site if it is not known."""
        assert response.request is not None
        source = response.meta.get(PAGE_OF) or link_source(response.request)
        return str(source or self._spider.seeds[0])

    def _request(self, urls: list[str], kind: str, response: Response, page: str) -> Request | None:
        if any(map(self._is_met, urls)):
            return None
        urls = [url for url in urls if self._may_ask(url)]
        depth = response.meta.get("depth", 0) + 1
        if not urls or not self._lately.is_new(urls[0], depth):
            return None
        if self._spider.is_too_deep(depth):
            return None
        self._spider.link_counts.note_met(kind)
        key = self._spider.job.canonicalizer.key(urls[0])
        if self._spider.files.is_guess_put_aside(kind, urls[0], key, depth, page):
            return None
        meta = {FURTHER: urls[1:], PAGE_OF: page}
        if is_file_name(urls[0]):
            meta[FOR_A_PAGE] = response.meta.get(FOR_A_PAGE, 0) + 1
        return self._spider.guess_request(urls[0], kind, meta)

    def _may_ask(self, url: str) -> bool:
        meta = {FOR_A_PAGE: 1} if is_file_name(url) else {}
        return self._spider.may_ask(url, meta) and self._wanted.allows(url)

    def _is_met(self, url: str) -> bool:
        try:
            keys = self._spider.job.canonicalizer
            seen = self._spider.frontier.seen
            return keys.key(url) in seen or keys.description_key(url) in seen
        except MalformedUrl:
            return True


def _type(response: Response) -> str:
    return (response.headers.get(b"Content-Type") or b"").decode("latin-1")


_KEPT = (FOR_A_PAGE, PAGE_OF, "depth", LED_BY)


def _candidates(link: DocumentLink, url: str, page: str) -> list[str]:
    """Return what a text may mean: joined to its script, as another version of it, to the page."""
    urls = [url]
    if other := other_form(url):
        urls.append(other)
    try:
        joined = resolve(page, link.written.partition("#")[0])
    except ValueError:
        joined = None
    if joined is not None:
        urls.append(joined)
    return list(dict.fromkeys(urls))
