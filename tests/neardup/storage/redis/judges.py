"""One way to speak to every deduplicator: pages by number, verdicts that name pages."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from neardup import Deduplicator, Verdict, analyse
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator
from neardup.verdict import NEW, TOO_SHORT

if TYPE_CHECKING:
    from neardup import Document, Parameters
    from neardup.storage.redis.server import Server


class Page(NamedTuple):
    """What is judged."""

    number: int
    text: str
    payload: bytes | None = None


class Judge(Protocol):
    """Says what a page is; ``duplicate_of`` is the number of a page."""

    async def judge(self, page: Page) -> Verdict: ...

    async def find_payload(self, digest: bytes, number: int) -> Verdict | None: ...


def document_of(page: Page, parameters: Parameters) -> Document:
    """The document of a page."""
    return replace(analyse(page.text, parameters), payload=page.payload)


def owner_of(number: int) -> bytes:
    """The key of a page."""
    return number.to_bytes(16)


class LocalJudge:
    """A deduplicator of this process; one that is asked again says what it said."""

    def __init__(self, deduplicator: Deduplicator) -> None:
        self._deduplicator = deduplicator

    async def judge(self, page: Page) -> Verdict:
        document = document_of(page, self._deduplicator.parameters)
        return self._deduplicator.judge_document(page.number, document)

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
            assert shared.verdict.kind in {NEW, TOO_SHORT}
            return shared.verdict
        assert shared.verdict.duplicate_of == shared.original.number
        number = int.from_bytes(shared.original.owner)
        assert json.loads(shared.original.about)["number"] == number
        return replace(shared.verdict, duplicate_of=number)

    async def find_payload(self, digest: bytes, number: int) -> Verdict | None:
        shared = await self.deduplicator.find_payload(digest, owner_of(number))
        if shared is None or shared.original is None:
            return None
        return replace(shared.verdict, duplicate_of=int.from_bytes(shared.original.owner))


def _about(page: Page) -> bytes:
    return json.dumps({"number": page.number}).encode()
