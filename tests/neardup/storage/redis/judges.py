"""One way to speak to every deduplicator: pages by number, verdicts that name pages."""

from __future__ import annotations

import json
import uuid
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from neardup import Deduplicator, Parameters, Verdict, analyse
from neardup.names import NO_NAME, Name
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator
from neardup.verdict import NEW, SAME_TEMPLATE, TOO_SHORT
from tests.neardup.verdicts import without_parts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from neardup import Document
    from neardup.storage.redis.server import Server
    from neardup.storage.redis.shared_evidence import Original

PARAMETERS = Parameters()


class Page(NamedTuple):
    """What is judged."""

    number: int
    text: str
    payload: bytes | None = None
    name: Name = NO_NAME


class Judge(Protocol):
    """Says what a page is; ``duplicate_of`` and ``resembles`` are numbers of pages."""

    async def judge(self, page: Page) -> Verdict: ...

    async def find_payload(self, digest: bytes, number: int) -> Verdict | None: ...


def document_of(page: Page, parameters: Parameters) -> Document:
    """The document of a page."""
    return replace(analyse(page.text, parameters, page.name), payload=page.payload)


def owner_of(number: int) -> bytes:
    """The key of a page."""
    return number.to_bytes(16)


class LocalJudge:
    """A deduplicator of this process."""

    def __init__(self, deduplicator: Deduplicator) -> None:
        self._deduplicator = deduplicator

    async def judge(self, page: Page) -> Verdict:
        document = document_of(page, self._deduplicator.parameters)
        return without_parts(self._deduplicator.judge_document(page.number, document))

    async def find_payload(self, digest: bytes, number: int) -> Verdict | None:
        return self._deduplicator.find_payload(digest, exclude={number})


class SharedJudge:
    """One that is shared."""

    def __init__(self, deduplicator: SharedDeduplicator) -> None:
        self.deduplicator = deduplicator

    @classmethod
    async def opened(cls, server: Server, parameters: Parameters, blocks: int = 4) -> SharedJudge:
        deduplicator = SharedDeduplicator(server, parameters, blocks=blocks)
        await deduplicator.open()
        return cls(deduplicator)

    async def judge(self, page: Page, *, keeps: bool = False) -> Verdict:
        document = document_of(page, self.deduplicator.parameters)
        shared = await self.deduplicator.judge(
            owner_of(page.number), document, _about(page), keeps=keeps
        )
        if shared.original is None:
            assert shared.verdict.kind in {NEW, TOO_SHORT, SAME_TEMPLATE}
        return replace(
            shared.verdict,
            duplicate_of=_page_of(shared.original, shared.verdict.duplicate_of),
            resembles=_page_of(shared.resembled, shared.verdict.resembles),
        )

    async def find_payload(self, digest: bytes, number: int) -> Verdict | None:
        shared = await self.deduplicator.find_payload(digest, owner_of(number))
        if shared is None or shared.original is None:
            return None
        return replace(shared.verdict, duplicate_of=int.from_bytes(shared.original.owner))


def _page_of(kept: Original | None, number: int | None) -> int | None:
    """The page of a kept text that a verdict names by its number."""
    if kept is None:
        assert number is None
        return None
    assert number == kept.number
    page = int.from_bytes(kept.owner)
    assert json.loads(kept.about)["number"] == page
    return page


def _about(page: Page) -> bytes:
    return json.dumps({"number": page.number}).encode()


@asynccontextmanager
async def shared(
    url: str, parameters: Parameters = PARAMETERS, prefix: str | None = None, blocks: int = 4
) -> AsyncIterator[SharedJudge]:
    """Open a judge on a server, under a prefix of its own unless one is named."""
    server = await connect(url, f"{prefix or uuid.uuid4()}:")
    try:
        yield await SharedJudge.opened(server, parameters, blocks)
    finally:
        await server.close()
