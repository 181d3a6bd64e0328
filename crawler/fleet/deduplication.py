"""What a worker's archivist asks of the texts that the whole fleet keeps."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, TypeVar

import zstandard

from crawler.fleet.names import prefix_of
from crawler.maintenance.merge.fleet_texts import FleetKeptText
from crawler.pages.shared_verdicts import OriginalPage, PageVerdict
from crawler.storage.errors import CrawlStorageError
from neardup import Parameters
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

    from neardup import Document
    from neardup.storage.redis import verdict_records as verdicts

T = TypeVar("T")

_DIGESTS = ("key", "text_digest", "visible_digest", "words_digest")
_FIELDS = OriginalPage.__dataclass_fields__.keys()


class FleetVerdicts:
    """Asks the fleet's deduplicator; ``crawler.pages.shared_verdicts.SharedVerdicts`` says what.

    Args:
        shared: Keeps the texts of all workers.
    """

    def __init__(self, shared: SharedDeduplicator) -> None:
        self._shared = shared
        self._asking: set[asyncio.Task[Any]] = set()
        self._is_over = False

    def tune(self, parameters: Parameters) -> None:
        """Judge by other parameters from now on."""
        self._shared.tune(parameters)

    async def find_payload(self, digest: bytes, owner: bytes) -> PageVerdict | None:
        """The kept page that was read from these bytes, another one than the owner."""
        return _verdict(await self._ask(self._shared.find_payload(digest, owner)))

    async def claim_file(
        self, digest: bytes, owner: bytes, page: OriginalPage
    ) -> PageVerdict | None:
        """Keep a file that is no page; where another has its bytes already, say which one."""
        about = to_json(page)
        return _verdict(await self._ask(self._shared.claim_payload(digest, owner, about)))

    async def judge(
        self, owner: bytes, document: Document, page: OriginalPage, *, keeps: bool = False
    ) -> PageVerdict:
        """Decide on a text, and keep it where it repeats none."""
        about = to_json(page)
        found = await self._ask(self._shared.judge(owner, document, about, keeps=keeps))
        verdict = _verdict(found)
        assert verdict is not None
        return verdict

    async def _ask(self, question: Coroutine[Any, Any, T]) -> T:
        """Wait for an answer, but not longer than until ``give_up``."""
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
        """Let whoever waits for an answer wait no more; what they asked about is fetched again.

        They get a ``CrawlStorageError``, as where a page cannot be stored.
        """
        self._is_over = True
        for task in self._asking:
            task.cancel()


def to_json(page: OriginalPage) -> bytes:
    """What others learn of a kept page."""
    said = {name: getattr(page, name) for name in _FIELDS}
    for name in _DIGESTS:
        said[name] = said[name] and said[name].hex()
    return json.dumps(said, separators=(",", ":")).encode()


def from_json(about: bytes) -> OriginalPage:
    """Undo ``to_json``.

    Raises:
        StorageError: It was written by something else.
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
    return PageVerdict(found.verdict, original)


async def kept_texts(url: str, name: str) -> AsyncIterator[FleetKeptText]:
    """Read them one after the other, each with the page that it is of.

    Args:
        url: Of the Redis.
        name: Of the fleet.

    Raises:
        ServerError: The Redis cannot be used.
        StorageError: It holds pages of something else.
    """
    server = await connect(url, prefix_of(name))
    try:
        async for kept in SharedDeduplicator(server, Parameters()).kept():
            packed = zstandard.compress(kept.text.encode("utf-8", "replace"))
            yield FleetKeptText(from_json(kept.original.about), packed)
    finally:
        await server.close()
