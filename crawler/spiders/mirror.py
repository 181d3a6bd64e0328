"""The spider of ``crawl-once mirror``: every page of a site, and the files that the pages need."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from scrapy.exceptions import CloseSpider
from scrapy.spidermiddlewares.httperror import HttpError

from crawler.downloadermiddlewares.limits import UnopenedBodyError
from crawler.frontier.seen import RECENT_URLS, RecentDepths
from crawler.mirror.documents.places import LinkRole
from crawler.mirror.documents.scripts import is_file_name
from crawler.mirror.endings import WantedNames
from crawler.mirror.errors import MirrorError
from crawler.mirror.file_store import MirrorStore, reading_without_text
from crawler.mirror.folder import MirrorFolder
from crawler.mirror.paths import STATE_FOLDER
from crawler.options import Options
from crawler.pages import verdicts
from crawler.pages.page_context import Captured
from crawler.pages.reasons import Reason
from crawler.pages.visits import NO
from crawler.reading.content_types import why_not_html
from crawler.reading.link_kinds import ANCHOR, OPEN_FORM, SCRIPT, Follow
from crawler.request_meta import FOR_A_PAGE, LINK_KIND, RETRY_TIMES, SEED, WHOLE, is_apart
from crawler.spiders.argument_table import MIRROR
from crawler.spiders.named_files import PAGE_OF, NamedFiles
from crawler.spiders.site import SiteSpider
from crawler.urls.scope import MARKED_NOFOLLOW, Scope

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator, Mapping
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.mirror.documents.linked_document import DocumentLink, LinkedDocument
    from crawler.pages.page_context import Fetched, StoredPart
    from crawler.pages.page_row import StoredUrl
    from crawler.spiders.argument_table import Argument
    from crawler.spiders.arguments import RenderChoice

NEEDED = 1
"""Priority of a file that a page needs: before further pages, so that stored pages are complete."""

_MAX_STEPS = 5
"""Request files that are more steps away only after pages, and within the greatest depth alone.

A frame of a frame comes after pages too: there may be very many.
"""

_GONE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
_BYTES = "application/octet-stream"
_HTML = "text/html; charset=utf-8"
_FOLLOWED = frozenset({LinkRole.PAGE, LinkRole.FRAME})
_NEEDED = frozenset({LinkRole.REQUISITE, LinkRole.FEED, LinkRole.FRAME})


class MirrorSpider(SiteSpider):
    """Fetches the pages of ``site`` with all files that they need; everything becomes a file."""

    name = "mirror"
    is_mirror = True
    fits_fleet = False
    arguments: ClassVar[Mapping[str, Argument]] = MIRROR
    planned: ClassVar[tuple[str, ...]] = (*SiteSpider.planned, "requisites", "accept", "reject")

    requisites: str = "host"
    accept: str = ""
    reject: str = ""
    text: str = "yes"
    gone: str = "keep"
    search: str = "no"
    keep_versions: str = "no"

    mirror: MirrorStore
    around: Scope
    wanted: WantedNames
    reads_text: bool
    _is_recorded: bool
    _documents: WeakKeyDictionary[Response, LinkedDocument]
    _named: NamedFiles
    _needed_lately: RecentDepths[str]
    _followed_lately: RecentDepths[str]

    @classmethod
    def check_arguments(cls, arguments: Mapping[str, str]) -> None:
        super().check_arguments(arguments)
        if arguments.get("text") == "no" and cls.render_choice(arguments).mode != NO:
            raise ValueError("-a text=no reads no page, and -a render needs what is read of it")
        if arguments.get("text") == "no" and arguments.get("check_fragments") == "yes":
            raise ValueError("-a text=no reads no page, and -a check_fragments needs its places")

    @classmethod
    def render_choice(cls, arguments: Mapping[str, str]) -> RenderChoice:
        """Return which pages are shown in a browser: none where no page is read.

        The files of a mirror are what came; of a page that is judged by what a browser shows, it
        is the document that it shows.
        """
        choice = super().render_choice(arguments)
        is_read = arguments.get("text") != "no"
        return choice._replace(mode=choice.mode or ("" if is_read else NO), for_disk=True)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        if spider.job.folder is None or spider.job.folder.name != STATE_FOLDER:
            raise ValueError("a mirror is made by crawl-once mirror URL DIR")
        spider.processor.read_documents = False  # they are files
        spider.processor.pool.change(shows_lines=True)  # the files show the pages
        spider.reads_text = spider.processor.keep_links = spider.text == "yes"
        spider.job.tell(
            needs_workers=spider.reads_text,
            urgent_priority=NEEDED,
            title=str(spider.job.folder.parent),
        )
        folder = MirrorFolder(spider.job.folder.parent)
        spider.mirror = MirrorStore(spider.job.database, folder)
        spider.job.callbacks.at_close.append(spider.mirror.close)
        spider.around = _around(spider.within)
        spider.wanted = WantedNames(spider.accept, spider.reject)
        spider._is_recorded = Options(crawler.settings).boolean("WARC_ENABLED")
        spider.mirror.resumes = not spider._is_recorded
        if not crawler.settings.getbool("HTTPCACHE_ENABLED"):
            spider.large_bodies = spider.mirror
        spider.job.tell(bytes_before=spider.mirror.bytes)
        spider._documents = WeakKeyDictionary()
        spider._named = NamedFiles(spider, spider.wanted)
        spider._needed_lately = RecentDepths(RECENT_URLS)
        spider._followed_lately = RecentDepths(RECENT_URLS)
        return spider

    @classmethod
    def file_endings(cls, options: Options) -> frozenset[str]:
        return frozenset()

    def is_unwanted(self, content_type: str, size: int | None) -> bool | None:
        """Return that no answer is: files are wanted as pages are."""
        return False

    async def captured(
        self, fetched: Fetched, response: Response, turn: Awaitable[object] | None = None
    ) -> Captured:
        """Judge an answer and write it to its file, with nothing awaited in between."""
        if self.reads_text:
            found = await super().captured(fetched, response, turn)
        else:
            reading = reading_without_text(
                fetched.url, fetched.body, fetched.content_type, apart=fetched.cut is not None
            )
            found = await self.processor.capture_read(fetched, reading)
        document = self._kept(fetched, found, is_seed=SEED in response.meta)
        if document is not None:
            self._documents[response] = document
        if why_not_html(fetched.content_type, fetched.body) is not None:
            self.result.files += 1
        return found

    def _kept(self, fetched: Fetched, found: Captured, *, is_seed: bool) -> LinkedDocument | None:
        """Write what was judged of an answer, unless the file has more of the page."""
        if found.is_less_than_shown:
            with suppress(MirrorError):
                return self.mirror.still(fetched.key)
        if found.document:
            fetched = replace(fetched, body=found.document, content_type=_HTML)
        return self._keep(fetched, is_seed=is_seed)

    def _keep(self, fetched: Fetched, *, is_seed: bool) -> LinkedDocument | None:
        if fetched.is_stopped:  # there is no end of it
            return None
        try:
            document = self.mirror.keep(fetched, is_seed=is_seed)
        except (MirrorError, OSError) as error:
            self.result.stop(str(error))
            raise CloseSpider("mirror") from error
        self.result.repaired_files = self.mirror.repaired
        return document

    async def parse(self, response: Response) -> Iterable[Any]:
        """Capture an answer, unless it is none to what was asked for."""
        if self._named.is_another(response):
            return self._named.not_there(response.url, response.meta)
        if self._named.is_taken(response):
            return ()
        return await super().parse(response)

    def failed(self, failure: Failure) -> Iterator[Any]:
        """Store a failure; a body that cannot be decompressed is kept as it came, as a part."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy puts it there
        if PAGE_OF in request.meta and isinstance(failure.value, HttpError):
            yield from self._named.not_there(request.url, request.meta)
            return
        if isinstance(failure.value, HttpError) and failure.value.response.status in _GONE:
            self.mirror.downloads.drop_earlier(self.key_of(request))
        if isinstance(failure.value, UnopenedBodyError):
            fetched = replace(
                self.fetched_of(failure.value.response),
                key=self.key_of(request),
                content_type=_BYTES,
                cut=Reason.CUT_STREAM,
            )
            self._keep(fetched, is_seed=SEED in request.meta)
        if isinstance(failure.value, MirrorError):  # a large body could not be written
            self.result.stop(str(failure.value))
            raise CloseSpider("mirror") from failure.value
        yield from super().failed(failure)

    def still(self, fetched: Fetched, response: Response) -> Captured | None:
        """Accept "not modified" for an answer if its file is unchanged since it was written."""
        try:
            document = self.mirror.still(fetched.key)
        except MirrorError:
            return None
        if document is not None:
            self._documents[response] = document
        return super().still(fetched, response)

    async def part_of(self, request: Request) -> StoredPart | None:
        """Return the stored part of a file; None where an archive is to have the whole answer.

        A retry continues a body whose download broke off, and requests the whole of any other.
        """
        if self._is_recorded:
            return None
        key = self.key_of(request)
        part = await self.mirror.downloads.part(key)
        is_first = WHOLE in request.meta and RETRY_TIMES not in request.meta
        return await self.mirror.part(key) if part is None and is_first else part

    def drop_part(self, request: Request) -> None:
        """Request the whole next time: what came is not the rest of the part."""
        if not self._is_recorded:
            self.mirror.downloads.drop(self.key_of(request))

    def note_redirected(self, request: Request) -> None:
        self.mirror.downloads.drop_earlier(self.key_of(request))

    def guess_request(
        self,
        url: str,
        kind: str,
        meta: Mapping[str, Any] | None = None,
        source: str | None = None,
    ) -> Request | None:
        """Return the request for a URL that may be no page; that for a file's name is apart."""
        if kind == SCRIPT and is_file_name(url):
            meta = {FOR_A_PAGE: 1, **(meta or {})}
        return super().guess_request(url, kind, meta, source)

    def key_of(self, request: Request) -> bytes:
        """Return the key of a request's page, also where that of the request is another."""
        own = self.job.canonicalizer.key_of(request.url) if is_apart(request.meta) else b""
        return own or super().key_of(request)

    def page_request(
        self, url: str, meta: dict[str, Any] | None = None, source: str | None = None
    ) -> Request | None:
        request = super().page_request(url, meta, source)
        is_again = self.job.visits.number > 1
        if request is not None and is_again and not self.mirror.holds_whole(self.key_of(request)):
            request.meta[WHOLE] = True
        return request

    async def first_requests(self) -> AsyncIterator[Request]:
        """Yield the first requests, and those for parts that came before the mirror was stopped."""
        async for request in super().first_requests():
            yield request
        for known in self.mirror.table.parts_of_visit(self.job.visits.number):
            again = self.known_request(known)
            if again is not None:
                again.meta[WHOLE] = True
                yield again.replace(dont_filter=True)

    def known_request(self, known: StoredUrl) -> Request | None:
        """Return the request for a known URL, also for a file that pages of the scope need."""
        request = super().known_request(known)
        if request is None and self.within.excludes(known.url):
            return None
        if request is None and self.mirror.holds(known.key):
            meta = {"depth": known.depth, FOR_A_PAGE: 1}
            request = self.page_request(known.url, meta, known.referer)
        if request is not None and self.mirror.is_no_page(known.key):
            request.meta[FOR_A_PAGE] = 1  # it may move to where it might have been
        return request

    def _note_seed(self, response: Response, captured: Captured) -> None:
        """Note a seed that is no page; a file is as good a seed as a page."""
        if captured.verdict != verdicts.NOT_HTML:
            super()._note_seed(response, captured)

    def _may_land(self, response: Response, source: str) -> bool:
        if FOR_A_PAGE in response.meta and self._may_need(response.url):
            return True
        before = self.within
        may_land = super()._may_land(response, source)
        if self.within is not before:
            self.around = _around(self.within)
            # What was refused a short while ago may be within the scope now.
            self._needed_lately.clear()
            self._followed_lately.clear()
        return may_land

    def leads_further(self, key: bytes) -> bool:
        """Return whether a document is a page: its links are read when its turn comes."""
        return not self.mirror.is_no_page(key) and self.job.store.previous(key) is not None

    def _tries_of_cookies(self, response: Response, captured: Captured) -> list[Request]:
        """Send none: what is compared is the text of a page, and a mirror has its bytes."""
        return []

    def links_of(self, key: bytes, response: Response | None = None) -> Captured | None:
        """Return the stored capture of a page, if its links can be read from its file."""
        row = self.job.store.previous(key)
        if row is None:
            return None
        try:
            document = self.mirror.still(key)
        except MirrorError:  # what it leads to is in its file alone
            return None
        if document is not None and response is not None:
            self._documents[response] = document
        return Captured(row, row.verdict)

    def follow(self, response: Response, captured: Captured) -> Iterator[Request]:
        document = self._documents.pop(response, None)
        if document is None:
            return
        needed = {link.url: link.kind for link in document.links if link.kind in _NEEDED}
        for url, kind in needed.items():
            if url is None:
                continue
            request = self._needed(url, kind, response)
            # A duplicate mostly needs files that are there; a rule may be learned meanwhile.
            if request is not None and captured.is_duplicate:
                request = request.replace(priority=0)
            if request is not None:
                yield request
        if not ((captured.nofollow or document.nofollow) and self.obey_nofollow):
            yield from self._pages(response, captured, document)
            yield from self._named.requests(response, document)

    def _needed(self, url: str, kind: LinkRole, response: Response) -> Request | None:
        steps = response.meta.get(FOR_A_PAGE, 0)
        is_far = steps >= _MAX_STEPS
        may_wait = is_far or (steps > 0 and kind is LinkRole.FRAME)
        depth = response.meta.get("depth", 0) + 1
        if is_far and self.is_too_deep(depth):
            return None
        if not self._needed_lately.is_new(url, depth):
            return None
        if not self._may_need(url) or not self.wanted.allows(url):
            return None
        request = self.page_request(url, {FOR_A_PAGE: steps + 1})
        if request is None or may_wait:
            return request
        return request.replace(priority=NEEDED)

    def may_ask(self, url: str, meta: Mapping[str, Any]) -> bool:
        return super().may_ask(url, meta) or (FOR_A_PAGE in meta and self._may_need(url))

    def may_be_led(self, url: str, meta: Mapping[str, Any]) -> bool:
        return (FOR_A_PAGE in meta and self._may_need(url)) or super().may_be_led(url, meta)

    def _may_need(self, url: str) -> bool:
        if self.within.excludes(url):
            return False
        return self.requisites == "all" or self.around.allows(url)

    def _pages(
        self, response: Response, captured: Captured, document: LinkedDocument
    ) -> Iterator[Request]:
        depth = response.meta.get("depth", 0) + 1
        if self.is_too_deep(depth):
            return
        if not self.within.allows(response.url):  # a frame, or a style, from elsewhere
            return
        urls = dict.fromkeys(link.url for link in document.links if self._is_to_page(link))
        for url in urls:
            assert url is not None
            if not self._followed_lately.is_new(url, depth):
                continue
            refused = self.within.refusal(url)
            if refused is not None:
                self.result.refuse_link(refused)
            elif self.wanted.allows(url):
                request = self.page_request(url)
                if request is not None:
                    if self.key_of(request) not in self.frontier.seen:
                        self.link_counts.note_met(ANCHOR)
                    yield request
        yield from self._others(response.url, captured, depth)

    def _others(self, page_url: str, captured: Captured, depth: int) -> Iterator[Request]:
        """Yield requests for links that are not in the markup as links, or may lead nowhere."""
        for link in captured.links:
            is_refused = link.nofollow and self.obey_nofollow
            is_page = self.link_kinds[link.kind] is Follow.PAGE
            is_met = self.has_met(link.url) if is_page else link.key in self.frontier.seen
            if is_refused or link.kind == OPEN_FORM or is_met:
                continue
            request = None
            if not is_page:
                request = self.guess(link, depth, page_url)
            elif self._followed_lately.is_new(link.url, depth) and self.may_follow(link.url):
                self.link_counts.note_met(link.kind)
                request = self.page_request(link.url, {LINK_KIND: link.kind})
            if request is not None:
                yield request

    def may_follow(self, url: str) -> bool:
        return super().may_follow(url) and self.wanted.allows(url)

    def _is_to_page(self, link: DocumentLink) -> bool:
        is_followed = link.kind in _FOLLOWED and link.url is not None
        if is_followed and link.nofollow and self.obey_nofollow:
            self.result.refuse_link(MARKED_NOFOLLOW)
            return False
        return is_followed


def _around(within: Scope) -> Scope:
    """Return the scope of the site's hosts, including the target of a redirected seed."""
    return Scope(within.seeds, "domain" if within.kind == "domain" else "host")
