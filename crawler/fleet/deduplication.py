"""Ask the fleet's deduplicator about the pages of a worker."""

from __future__ import annotations

import asyncio
import json
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import zstandard

from crawler.fleet.membership import prefix_of
from crawler.pages.page_row import OriginalPage
from crawler.pages.shared_verdicts import FleetKeptText, PageVerdict
from crawler.reading.content.content_xml import compress, decompress
from crawler.storage.errors import CrawlStorageError
from neardup import Parameters
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from neardup import Document
    from neardup.storage.redis import shared_evidence as verdicts

T = TypeVar("T")

logger = logging.getLogger(__name__)

MAX_FAILED_JUDGEMENTS = 20
"""Stop a worker after this many failed judgements in a row: each would break a request."""

MAX_BESIDE_BYTES = 1 << 16
"""The largest size of a packed content, in bytes; a larger one is left out."""

_MAX_XML_BYTES = 1 << 22
"""The largest size of a content, in bytes, since it is packed in the thread of the event loop."""

_DIGESTS = ("key", "text_digest", "visible_digest", "words_digest")
_FIELDS = OriginalPage.__dataclass_fields__.keys()


class FleetVerdicts:
    """Implements ``crawler.pages.shared_verdicts.SharedVerdicts`` with the fleet's deduplicator.

    A kept text whose page cannot be read, because another program wrote it, is left aside: what
    repeats it is kept.

    Args:
        shared: The fleet's deduplicator.
        prefix: Prefix of its keys, for messages.
        fail: Callback for the reason why this worker cannot go on.
    """

    def __init__(
        self, shared: SharedDeduplicator, prefix: str, fail: Callable[[str], None]
    ) -> None:
        self._shared = shared
        self._prefix = prefix
        self._fail = fail
        self._asking: set[asyncio.Task[Any]] = set()
        self._is_over = False
        self._failed = 0
        self._told: set[str] = set()

    def tune(self, parameters: Parameters) -> None:
        self._shared.tune(parameters)

    async def find_payload(self, digest: bytes, owner: bytes) -> PageVerdict | None:
        """Return the kept page that was read from these bytes, unless it is the owner's."""
        found = await self._ask(self._shared.find_payload(digest, owner))
        return self._read(found, digest)

    async def claim_file(
        self, digest: bytes, owner: bytes, page: OriginalPage
    ) -> PageVerdict | None:
        """Keep a file that is no page, or return the one that has its bytes already."""
        about = to_json(page)
        found = await self._ask(self._shared.claim_payload(digest, owner, about))
        self._failed = 0
        return self._read(found, digest)

    async def judge(
        self,
        owner: bytes,
        document: Document,
        page: OriginalPage,
        content: bytes,
        *,
        keeps: bool = False,
    ) -> PageVerdict:
        beside = partial(pack_beside, content, document.text)
        verdict: PageVerdict | None = None
        while verdict is None:
            found = await self._ask(
                self._shared.judge(owner, document, to_json(page), keeps=keeps, beside=beside)
            )
            verdict, keeps = self._read(found), True
        self._failed = 0
        return verdict

    def _read(
        self, found: verdicts.SharedVerdict | None, payload: bytes = b""
    ) -> PageVerdict | None:
        """Return a verdict; None also where it names a page that cannot be read."""
        if found is None:
            return None
        try:
            return PageVerdict(
                found.verdict,
                self._page(found.original, payload),
                self._page(found.resembled, payload),
            )
        except UnreadablePageError as error:
            if error.key not in self._told:
                self._told.add(error.key)
                logger.error("%s; it is left aside, what repeats it is kept", error)  # noqa: TRY400
            return None

    def _page(self, kept: verdicts.Original | None, payload: bytes) -> OriginalPage | None:
        if kept is None:
            return None
        of_file = f"f:{payload[:2].hex()}"
        name = of_file if kept.number < 0 else f"t:{kept.number}"
        return from_json(kept.about, f"{self._prefix}{name}")

    async def _ask(self, question: Coroutine[Any, Any, T]) -> T:
        """Await an answer, at most until ``give_up``."""
        if self._is_over:
            question.close()
            raise CrawlStorageError("the fleet is not asked any more")
        task = asyncio.ensure_future(question)
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)
        try:
            return await task
        except asyncio.CancelledError:
            if not self._is_over:
                raise
            raise CrawlStorageError("the fleet does not answer") from None
        except Exception as error:
            self._note_failure(error)
            raise

    def _note_failure(self, error: Exception) -> None:
        self._failed += 1
        if self._failed == MAX_FAILED_JUDGEMENTS:
            self._fail(
                f"the last {self._failed} judgements failed, so that every page would break: "
                f"{error or type(error).__name__}; its hosts and requests wait for other workers"
            )

    def give_up(self) -> None:
        """Cancel every open question; the pages concerned are fetched again.

        The callers get a ``CrawlStorageError``, as if a page could not be stored.
        """
        self._is_over = True
        for task in self._asking:
            task.cancel()


def to_json(page: OriginalPage) -> bytes:
    """Serialize the facts of a kept page for the other workers."""
    said = {name: getattr(page, name) for name in _FIELDS}
    for name in _DIGESTS:
        said[name] = said[name] and said[name].hex()
    return json.dumps(said, separators=(",", ":")).encode()


class UnreadablePageError(CrawlStorageError):
    """A key of Redis holds a page that another program wrote.

    Attributes:
        key: The key.
    """

    def __init__(self, key: str, error: Exception) -> None:
        super().__init__(f"Redis holds no page of ours in {key}: {error!r}")
        self.key = key


def from_json(about: bytes, key: str) -> OriginalPage:
    """Undo ``to_json``.

    Raises:
        UnreadablePageError: The key was written by another program.
    """
    try:
        said = json.loads(about)
        for name in _DIGESTS:
            said[name] = said[name] and bytes.fromhex(said[name])
        return OriginalPage(**said)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UnreadablePageError(key, error) from error


async def _content_of(shared: SharedDeduplicator, kept: verdicts.KeptText) -> bytes | None:
    return unpack_beside(await shared.beside(kept.original.number), kept.text)


async def kept_texts(url: str, name: str) -> AsyncIterator[FleetKeptText]:
    """Yield the texts that a fleet keeps, each with its page.

    Args:
        url: URL of the Redis.
        name: Name of the fleet.

    Raises:
        ServerError: The Redis cannot be used.
        CrawlStorageError: It holds pages of another program.
    """
    server = await connect(url, prefix_of(name))
    try:
        shared = SharedDeduplicator(server, Parameters())
        async for kept in shared.kept():
            packed = zstandard.compress(kept.text.encode("utf-8", "replace"))
            content = partial(_content_of, shared, kept)
            key = f"{server.prefix}t:{kept.original.number}"
            yield FleetKeptText(from_json(kept.original.about, key), packed, content)
    finally:
        await server.close()


def pack_beside(content: bytes, text: str) -> bytes:
    """Return a stored content as it is held beside a text; empty where it is too large.

    A merge needs it where the directory of the worker that had the page is lost. Most of its words
    stand in the text, which Redis holds already, so the text is the dictionary of its compression:
    on 530 pages of all kinds a content takes 1.8 kB of Redis on the mean, by itself 4.5, and the
    text 4.6.

    Complexity: O(content + text), .2 ms on the mean.
    """
    try:
        if zstandard.get_frame_parameters(content).content_size > _MAX_XML_BYTES:
            return b""
        xml = decompress(content)
    except zstandard.ZstdError:  # it is damaged, which crawl-once verify finds
        return b""
    # What was made for another wording of the same text is recognised by the checksum.
    packer = zstandard.ZstdCompressor(dict_data=_dictionary(text), write_checksum=True)
    packed = packer.compress(xml)
    return packed if len(packed) <= MAX_BESIDE_BYTES else b""


def unpack_beside(packed: bytes | None, text: str) -> bytes | None:
    """Return a stored content; None where there is none, or not for this wording of the text."""
    if not packed:
        return None
    unpacker = zstandard.ZstdDecompressor(dict_data=_dictionary(text))
    try:
        xml = unpacker.decompress(packed, max_output_size=_MAX_XML_BYTES)
    except zstandard.ZstdError:
        return None
    return compress(xml)


def _dictionary(text: str) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(
        text.encode("utf-8", "replace"), dict_type=zstandard.DICT_TYPE_RAWCONTENT
    )
