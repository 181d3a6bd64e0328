"""Ask the fleet's deduplicator about the pages of a worker."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import zstandard

from crawler.fleet.beside_texts import pack_beside, unpack_beside
from crawler.fleet.membership import prefix_of
from crawler.pages.page_row import OriginalPage
from crawler.pages.shared_verdicts import FleetKeptText, PageVerdict
from crawler.storage.errors import CrawlStorageError
from neardup import Parameters
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

    from neardup import Document
    from neardup.storage.redis import shared_evidence as verdicts

T = TypeVar("T")

_DIGESTS = ("key", "text_digest", "visible_digest", "words_digest")
_FIELDS = OriginalPage.__dataclass_fields__.keys()


class FleetVerdicts:
    """Implements ``crawler.pages.shared_verdicts.SharedVerdicts`` with the fleet's deduplicator."""

    def __init__(self, shared: SharedDeduplicator) -> None:
        self._shared = shared
        self._asking: set[asyncio.Task[Any]] = set()
        self._is_over = False

    def tune(self, parameters: Parameters) -> None:
        self._shared.tune(parameters)

    async def find_payload(self, digest: bytes, owner: bytes) -> PageVerdict | None:
        """Return the kept page that was read from these bytes, unless it is the owner's."""
        return _verdict(await self._ask(self._shared.find_payload(digest, owner)))

    async def claim_file(
        self, digest: bytes, owner: bytes, page: OriginalPage
    ) -> PageVerdict | None:
        """Keep a file that is no page, or return the one that has its bytes already."""
        about = to_json(page)
        return _verdict(await self._ask(self._shared.claim_payload(digest, owner, about)))

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
        question = self._shared.judge(owner, document, to_json(page), keeps=keeps, beside=beside)
        found = await self._ask(question)
        verdict = _verdict(found)
        assert verdict is not None
        return verdict

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


def from_json(about: bytes) -> OriginalPage:
    """Undo ``to_json``.

    Raises:
        CrawlStorageError: It was written by another program.
    """
    try:
        said = json.loads(about)
        for name in _DIGESTS:
            said[name] = said[name] and bytes.fromhex(said[name])
        return OriginalPage(**said)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CrawlStorageError(f"Redis holds no page of ours: {error!r}") from error


def _verdict(found: verdicts.SharedVerdict | None) -> PageVerdict | None:
    if found is None:
        return None
    original = None if found.original is None else from_json(found.original.about)
    resembled = None if found.resembled is None else from_json(found.resembled.about)
    return PageVerdict(found.verdict, original, resembled)


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
            yield FleetKeptText(from_json(kept.original.about), packed, content)
    finally:
        await server.close()
