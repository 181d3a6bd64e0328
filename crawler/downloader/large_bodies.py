"""Have Scrapy write large bodies to the disk while they come, where nothing is read of them.

Scrapy's responses have their bodies as bytes, and its handler has a body twice at its end. Here a
response has the first bytes, and the file with all of them.
"""

from __future__ import annotations

from contextlib import suppress
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from crawler.downloading.encodings import AnswerError, Opening, codings
from crawler.downloading.message_head import range_in
from crawler.job_registry import SharedByComponents
from crawler.pages.page_context import LARGE_BYTES, BodyFile, StoredPart
from crawler.reading.content_types import SNIFFED_BYTES, is_media

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.mirror.downloads import Download
    from crawler.mirror.file_store import MirrorStore


DATA_LOSS = "dataloss"
"""Flag of a response, which Scrapy sets: the server sent less than it declared."""

STOPPED = "download_stopped"
"""Flag of a response, which Scrapy sets: the crawl closed the connection before all of it came."""

_CODED_BYTES = 2**16
"""Keep smaller bodies in a coding in memory: they may have a thousand times as many bytes."""

_ZSTD_BYTES = 2**17 + 2**10
"""Likewise of zstd, which opens whole blocks alone: nothing is known of a body before the first."""


class EndlessAnswerError(DownloadTimeoutError):
    """An answer began, and did not end in time: that says nothing against its host."""


class FileResponse(Response):
    """A response whose body is in a file; ``body`` is its beginning."""

    __slots__ = ("file",)
    attributes: tuple[str, ...] = (*Response.attributes, "file")

    def __init__(self, url: str, *args: Any, file: BodyFile, **kwargs: Any) -> None:
        self.file = file
        super().__init__(url, *args, **kwargs)


def without_file(response: Response) -> Response:
    """Return a response without the file of its body, which is gone, and without a body then."""
    if not isinstance(response, FileResponse):
        return response
    parts = {name: getattr(response, name) for name in Response.attributes}
    return Response(**parts | {"body": b""})


def body_size(response: Response) -> int:
    """Return the bytes of the whole body of a response."""
    return response.file.size if isinstance(response, FileResponse) else len(response.body)


class LargeBodies(SharedByComponents):
    """Directs the bodies of answers to memory or to the disk.

    The bytes of a body are collected in ``_ResponseReader._bodybuf``. It is private to Scrapy, so
    it is looked for at the start.

    Attributes:
        parts: The stored part that each request under way continues.
        begun: The requests of which a body began to come.

    Raises:
        RuntimeError: This version of Scrapy collects bodies otherwise.
    """

    def __init__(self, crawler: Crawler) -> None:
        # Commands that crawl nothing import spiders too, and this takes half a second.
        from scrapy.core.downloader.handlers.http11 import _ResponseReader  # noqa: PLC0415

        if "_bodybuf" not in _ResponseReader.__init__.__code__.co_names:
            raise RuntimeError(
                "this version of Scrapy keeps no _ResponseReader._bodybuf, by which large bodies "
                "are written to the disk; use another version"
            )
        self._crawler = crawler
        self._buffers: WeakKeyDictionary[Request, _Buffer] = WeakKeyDictionary()
        self.parts: WeakKeyDictionary[Request, StoredPart] = WeakKeyDictionary()
        self.begun: WeakSet[Request] = WeakSet()

    def deliver(self, deliver: Callable[[Any], None], reader: Any) -> None:
        """Let an answer's body be delivered to Scrapy's reader; replaces ``deliverBody``."""
        request, response = reader._request, reader._txresponse
        self.begun.add(request)
        self._bound_joined(reader)
        spider: Any = self._crawler.spider
        store = getattr(spider, "large_bodies", None)
        is_page = request.callback is None or request.callback == spider.parse
        if store is not None and is_page and request.method == "GET":
            buffer = self._buffer(store, spider.key_of(request), request, response)
            if buffer is not None:
                buffer.cancel, buffer.reader = reader._finished.cancel, reader
                reader._bodybuf = self._buffers[request] = buffer
                buffer.write(b"")  # a rest belongs to its file, even if nothing of it comes
        deliver(reader)
        is_told = isinstance(response.length, int)
        if reader._maxsize and is_told and response.length > reader._maxsize:
            reader._finished.cancel()

    def _bound_joined(self, reader: Any) -> None:
        """Bound the whole of a body whose rest comes as any other body is."""
        found = range_in(_header(reader._txresponse, b"Content-Range"))
        is_rest = reader._txresponse.code == HTTPStatus.PARTIAL_CONTENT
        if is_rest and found is not None and reader._maxsize:
            reader._maxsize = max(reader._maxsize - found.first, 1)

    def _buffer(
        self, store: MirrorStore, key: bytes, request: Request, response: Any
    ) -> _Buffer | None:
        layers = codings(
            value.decode("latin-1") for value in _headers(response, b"Content-Encoding")
        )
        etag = None if layers else _text(_header(response, b"ETag"))
        part = self.parts.get(request)
        if response.code == HTTPStatus.OK:
            is_long = isinstance(response.length, int) and response.length >= LARGE_BYTES
            content_type = _text(_header(response, b"Content-Type"))

            def begin(head: bytes) -> Download | None:
                if part is not None and part.file is not None:
                    part.file.drop()  # the whole of another version comes
                start = start_of(head, layers)
                is_taken = bool(start) and store.takes(start, request.url, content_type)
                return store.begin(key, etag) if is_taken else None

            return _Buffer(begin, telling_bytes(layers, is_long=is_long))
        found = range_in(_header(response, b"Content-Range"))
        if response.code != HTTPStatus.PARTIAL_CONTENT or part is None or found is None:
            return None
        if part.body is not None or etag != part.etag or found.first != part.size:
            return None
        return _Buffer(lambda _: store.go_on(key), 0)

    def finished(self, request: Request, response: Response) -> Response:
        """Return the response with the file of its body, if that went to the disk.

        Raises:
            Exception: What was raised when the body was written.
        """
        file = self.ended(request)
        if file is None:
            return response
        rest = file.came - len(response.body)
        self._crawler.stats.inc_value("downloader/response_bytes", rest)
        parts = {name: getattr(response, name) for name in Response.attributes}
        return FileResponse(**parts | {"body": file.head, "file": file})

    def timed_out(self, request: Request) -> Response | None:
        """Return what came of an answer until its time was over, as one that broke off.

        Returns:
            None where nothing came, or where parts are not kept.
        """
        buffer = self._buffers.get(request)
        if buffer is None or (buffer.file is None and not buffer.tell()):
            return None
        reader = buffer.reader
        answer = reader._txresponse
        if not isinstance(answer.length, int) and is_media(
            _text(_header(answer, b"Content-Type")) or ""
        ):
            request.meta["dont_retry"] = True  # nothing says that it ever ends
        headers = Headers(answer.headers.getAllRawHeaders())
        if isinstance(answer.length, int):
            headers[b"Content-Length"] = str(answer.length)
        body = buffer.getvalue()
        kind = responsetypes.from_args(headers=headers, url=request.url, body=body)
        return kind(
            request.url.partition("#")[0],
            status=answer.code,
            headers=headers,
            body=body,
            flags=[DATA_LOSS],
            certificate=reader._certificate,
            ip_address=reader._ip_address,
            protocol="{}/{}.{}".format(answer.version[0].decode(), *answer.version[1:]),
        )

    def ended(self, request: Request) -> Download | None:
        """End the file of a request's body, and return it; None where the body is in memory.

        Raises:
            Exception: What was raised when the body was written.
        """
        buffer = self._buffers.pop(request, None)
        if buffer is not None:
            buffer.reader = None  # which has the buffer
        if buffer is None or buffer.file is None:
            part = self.parts.get(request)
            if part is not None and part.file is not None:
                part.file.release()
            return None
        buffer.file.end()
        if buffer.is_too_large:
            buffer.file.drop()
        if buffer.error is not None:
            raise buffer.error
        return buffer.file


class _Buffer(BytesIO):
    """The bytes of a body, in memory until so many came that a file may take them."""

    def __init__(self, begin: Callable[[bytes], Download | None], min_bytes: int) -> None:
        super().__init__()
        self.file: Download | None = None
        self.error: Exception | None = None
        self.is_too_large = False
        self.cancel: Callable[[], None]
        self.reader: Any
        self._begin: Callable[[bytes], Download | None] | None = begin
        self._min_bytes = min_bytes

    def write(self, data: Any) -> int:
        try:
            if self.file is None:
                super().write(data)
                self._move_if_due()
            else:
                self.file.write(data)
        except Exception as error:  # Twisted would take it for a lost connection
            self.error = error
            self.cancel()
        return len(data)

    def _move_if_due(self) -> None:
        if self._begin is None or self.tell() < self._min_bytes:
            return
        begin, self._begin = self._begin, None
        self.file = begin(self.getvalue())
        if self.file is not None:
            self.file.write(self.getvalue())
            self.seek(0)
            super().truncate()

    def truncate(self, size: int | None = None, /) -> int:
        """Forget the body; Scrapy calls it where more came than ``DOWNLOAD_MAXSIZE``."""
        self.is_too_large = True
        return super().truncate(size)


def telling_bytes(layers: list[str], *, is_long: bool) -> int:
    """Return how many bytes of a body tell whether it may go to a file."""
    if layers:
        return _ZSTD_BYTES if "zstd" in layers else _CODED_BYTES
    return SNIFFED_BYTES if is_long else LARGE_BYTES


def start_of(head: bytes, layers: list[str]) -> bytes:
    """Return the first bytes of a body without its codings; none if they cannot be had."""
    start = b""
    with suppress(AnswerError):
        for piece in Opening(layers, LARGE_BYTES).pieces([head]):
            start += piece[:SNIFFED_BYTES]
            if len(start) >= SNIFFED_BYTES:
                break
    return start[:SNIFFED_BYTES]


def _headers(response: Any, name: bytes) -> list[bytes]:
    values: list[bytes] = response.headers.getRawHeaders(name, [])
    return values


def _header(response: Any, name: bytes) -> bytes | None:
    return next(iter(_headers(response, name)), None)


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("latin-1")
