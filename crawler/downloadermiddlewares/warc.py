"""Adapt ``crawler.warc`` to Scrapy: record every answer that comes over the network.

The module is imported only where ``WARC_ENABLED`` is set: other crawls need no warcio.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK
from twisted.internet.abstract import isIPAddress, isIPv6Address

from crawler.downloader.heads import ExchangeHeads
from crawler.downloader.large_bodies import DATA_LOSS, STOPPED, FileResponse, body_size
from crawler.downloadermiddlewares.conditional_requests import CONDITIONS
from crawler.downloadermiddlewares.limits import is_for_robots
from crawler.downloading.cookies import stored_cookies
from crawler.job_registry import CrawlerComponent, job_of
from crawler.options import Options
from crawler.pages import verdicts
from crawler.pages.reasons import Stored, in_words
from crawler.request_meta import RECORDED
from crawler.spiders.page_spider import PageSpider
from crawler.storage.errors import CrawlStorageError
from crawler.warc.archive import Archive
from crawler.warc.captures import REFUSED
from crawler.warc.record_writing import (
    OTHER,
    PAGE,
    Exchange,
    Headers,
    Recorded,
    is_as_long_as_declared,
)
from crawler.warc.sources import ArchiveError, archive_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers as ScrapyHeaders
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from crawler.downloading.message_head import MessageHead, TlsFacts
    from crawler.pages.page_context import Captured

_SECRETS = frozenset({b"authorization", b"proxy-authorization"})
_CACHED = "cached"

_prepared: dict[Path, Archive] = {}


class Recording(CrawlerComponent):
    """Records answers, nearest to the network of all downloader middlewares.

    It sees requests with all headers that the others added, and answers before they are
    decompressed, redirected or retried.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not Options(crawler.settings).boolean("WARC_ENABLED"):
            raise NotConfigured("WARC_ENABLED is False")
        self._crawler = crawler
        # Those that a site gave are what was asked with; those of a user are theirs, and stored
        # ones may come from a run in which that user was logged in.
        folder = job_of(crawler).folder
        is_stored = folder is not None and bool(stored_cookies(folder))
        is_given = is_stored or bool(getattr(crawler.spider, "cookies", ""))
        self._secrets = _SECRETS | ({b"cookie", b"set-cookie"} if is_given else frozenset())
        self._heads = ExchangeHeads.of(crawler)
        self._with_network = Options(crawler.settings).boolean("WARC_NETWORK")
        job = job_of(crawler)
        self._database = job.database
        folder = archive_folder(crawler.settings)
        prepared = folder in _prepared
        self._archive = _prepared.pop(folder) if prepared else open_archive(crawler.settings)
        self._database.before_commit.append(self._flush)
        job.callbacks.after_capture.append(self._note_verdict)
        job.callbacks.after_refusal.append(self._note_refusal)
        job.callbacks.after_picture.append(self._record_picture)
        job.callbacks.at_close.append(self._close)

    async def process_request(self, request: Request) -> None:
        """Ask for the whole answer where "not modified" would refer to what the archive lacks."""
        asked = [(request.headers.get(name) or b"").decode("latin-1") for name in CONDITIONS]
        with self._failing():
            if any(asked) and not await self._archive.holds(_url(request), (asked[0], asked[1])):
                for name in CONDITIONS:
                    request.headers.pop(name, None)

    async def process_response(self, request: Request, response: Response) -> Response:
        if _CACHED not in response.flags:
            with self._failing():
                sent, received, tls = self._heads.take(request)
                exchange = self._exchange(request, response, sent, received)
                recorded = await self._record(exchange, response)
                request.meta[RECORDED] = tuple(recorded)
                if self._with_network:
                    self._record_network(request, exchange, recorded, tls)
        return response

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """End the crawl where the archive cannot be written to."""
        try:
            yield
        except ArchiveError as error:
            self._database.fail(str(error))

    async def _record(self, exchange: Exchange, response: Response) -> Recorded:
        if not isinstance(response, FileResponse):
            return self._archive.record(exchange)
        with response.file.open() as file:
            return await self._archive.record_large(replace(exchange, file=file))

    def _without_secrets(self, headers: Headers) -> Headers:
        return tuple((name, value) for name, value in headers if name.lower() not in self._secrets)

    def _record_network(
        self, request: Request, exchange: Exchange, about: Recorded, tls: TlsFacts | None
    ) -> None:
        """Record what name servers and the handshake said of a host, once until it changes."""
        parts = urlsplit(request.url)
        host = parts.hostname or ""
        is_name = not isIPAddress(host) and not isIPv6Address(host)
        if is_name and exchange.address and not request.meta.get("proxy"):
            self._archive.record_address(host, exchange.at, exchange.address)
        if tls is not None:
            self._archive.note_once(f"tls:{parts.netloc}", about, tls.fields())

    def _exchange(
        self,
        request: Request,
        response: Response,
        sent: MessageHead | None,
        received: MessageHead | None,
    ) -> Exchange:
        headers = received.headers if received else _pairs(response.headers)
        truncated = _truncated(response.flags)
        if truncated is not None and is_as_long_as_declared(headers, body_size(response)):
            truncated = None
        address = response.ip_address
        latency = timedelta(seconds=request.meta.get("download_latency", 0.0))
        return Exchange(
            url=_url(request),
            at=datetime.now(UTC) - latency,
            status=response.status,
            headers=self._without_secrets(headers),
            status_line=received.first_line if received else None,
            body=response.body,
            method=request.method,
            request_headers=self._without_secrets(
                sent.headers if sent else _pairs(request.headers)
            ),
            request_line=sent.first_line if sent else None,
            request_body=request.body,
            protocol=response.protocol or "HTTP/1.1",
            address=None if address is None else str(address),
            truncated=truncated,
            kind=PAGE if self._is_page(request) else OTHER,
            depth=request.meta.get("depth", 0),
        )

    def _is_page(self, request: Request) -> bool:
        spider = self._crawler.spider
        if isinstance(spider, PageSpider):
            return request.callback is None or request.callback == spider.parse
        return request.callback is not NO_CALLBACK and not is_for_robots(request)

    def _note_verdict(self, meta: Mapping[str, Any], captured: Captured) -> None:
        if captured.verdict not in verdicts.DUPLICATES:
            return
        row = captured.row
        fields = [("verdict", captured.verdict), ("duplicate-of", captured.kept_url or "")]
        if row.distance is not None:
            fields.append(("distance", str(row.distance)))
        if row.similarity is not None:
            fields.append(("similarity", f"{row.similarity:.4f}"))
        if row.containment is not None:
            fields.append(("containment", f"{row.containment:.4f}"))
        self._note(meta, fields)

    def _note_refusal(self, meta: Mapping[str, Any], reason: Stored) -> None:
        self._note(meta, [(REFUSED, in_words(reason) or "")])

    def _note(self, meta: Mapping[str, Any], fields: Iterable[tuple[str, str]]) -> None:
        about = meta.get(RECORDED)
        if about is None:  # it came from a cache
            return
        with self._failing():
            self._archive.note(Recorded(*about), fields)

    def _record_picture(self, url: str, picture: bytes) -> None:
        with self._failing():
            self._archive.record_view(url.partition("#")[0], datetime.now(UTC), picture)

    def _flush(self) -> None:
        """Write the records of all pages that ``crawl.db`` is about to commit."""
        try:
            self._archive.flush()
        except ArchiveError as error:
            self._database.fail(str(error))
            raise CrawlStorageError(str(error)) from error

    def _close(self) -> None:
        with self._failing():
            self._archive.close()


def prepare_archive(settings: BaseSettings) -> Archive:
    """Open the archive of a crawl that is about to start, so that errors come before it.

    Raises:
        ArchiveError: It cannot be used.
        ValueError: No setting says where it is.
    """
    archive = _prepared[archive_folder(settings)] = open_archive(settings)
    return archive


def open_archive(settings: BaseSettings) -> Archive:
    """Return the archive that the settings name.

    Raises:
        ArchiveError: It cannot be used.
        ValueError: No setting says where it is.
    """
    folder = archive_folder(settings)
    if folder.is_symlink():
        raise ArchiveError(
            f"{folder}: is a symbolic link; say with WARC_FOLDER where the files are to go"
        )
    name = f"crawl-once/{version('crawl-once')} Scrapy/{version('scrapy')}"
    about = {
        "software": f"{name} warcio/{version('warcio')}",
        "format": "WARC File Format 1.1",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "robots": "obey" if settings.getbool("ROBOTSTXT_OBEY") else "ignore",
        "http-header-user-agent": str(settings["USER_AGENT"]),
    }
    max_bytes = Options(settings).integer("WARC_MAX_FILE_BYTES")
    return Archive(folder, str(settings["BOT_NAME"]), max_bytes, about)


def archive_folder(settings: BaseSettings) -> Path:
    """Return the directory of the WARC files.

    Raises:
        ValueError: Neither WARC_FOLDER nor JOBDIR says it.
    """
    folder = str(Options(settings).raw("WARC_FOLDER"))
    if folder:
        return Path(folder).resolve()
    if not settings["JOBDIR"]:
        raise ValueError("WARC_ENABLED: where to? set WARC_FOLDER, or JOBDIR")
    return archive_of(Path(settings["JOBDIR"]))


def _url(request: Request) -> str:
    return request.url.partition("#")[0]


def _pairs(headers: ScrapyHeaders) -> Headers:
    return tuple((name, value) for name in headers for value in headers.getlist(name))


def _truncated(flags: Iterable[str]) -> str | None:
    reasons = {DATA_LOSS: "disconnect", STOPPED: "length"}
    return next((reasons[flag] for flag in flags if flag in reasons), None)
