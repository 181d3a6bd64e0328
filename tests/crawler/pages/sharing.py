"""Several crawls of this process that decide together, as a fleet does over a server."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import zstandard

from crawler.job import Job
from crawler.pages.shared_verdicts import FleetKeptText, PageVerdict
from crawler.pages.stored_texts import unpack
from crawler.reading.content.content_xml import StoredText
from neardup import Deduplicator, Document, Parameters, Verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from crawler.pages.page_row import OriginalPage
    from crawler.run import JobOptions


class OneMemory:
    """Verdicts of all crawls from one ``Deduplicator``; an answer comes after others had a turn."""

    def __init__(self, parameters: Parameters) -> None:
        self._deduplicator = Deduplicator(parameters)
        self._pages: dict[int, OriginalPage] = {}
        self._judged = 0
        self._owners: dict[tuple[bytes, bytes], int] = {}
        self._texts: list[StoredText] = []
        self._files: dict[bytes, tuple[bytes, OriginalPage]] = {}
        self.asked: list[str] = []

    def tune(self, parameters: Parameters) -> None:
        self._deduplicator.tune(parameters)

    async def find_payload(self, digest: bytes, owner: bytes) -> PageVerdict | None:
        self.asked.append("payload")
        await asyncio.sleep(0)
        verdict = self._deduplicator.find_payload(digest, exclude=self._own(owner))
        return None if verdict is None else self._named(verdict)

    async def claim_file(
        self, digest: bytes, owner: bytes, page: OriginalPage
    ) -> PageVerdict | None:
        self.asked.append("file")
        await asyncio.sleep(0)
        first, kept = self._files.setdefault(digest, (owner, page))
        verdict = Verdict("exact_duplicate", -1, distance=0, similarity=1.0)
        return None if first == owner else PageVerdict(verdict, kept)

    async def judge(
        self,
        owner: bytes,
        document: Document,
        page: OriginalPage,
        content: bytes,
        *,
        keeps: bool = False,
    ) -> PageVerdict:
        self.asked.append("kept" if keeps else "text")
        await asyncio.sleep(0)
        said = self._judge(owner, document, page, content, keeps=keeps)
        await asyncio.sleep(0)
        return said

    def _judge(
        self,
        owner: bytes,
        document: Document,
        page: OriginalPage,
        content: bytes,
        *,
        keeps: bool,
    ) -> PageVerdict:
        new = PageVerdict(Verdict("new" if document.fingerprint is not None else "too_short"))
        if (owner, document.digest) in self._owners:
            return new
        number, self._judged = self._judged, self._judged + 1
        if not keeps:
            found = self._deduplicator.judge_document(number, document, exclude=self._own(owner))
            if found.is_duplicate:
                return self._named(found)
            if found.resembles is not None:
                new = PageVerdict(found, resembled=self._pages[found.resembles])
        else:
            self._deduplicator.add_document(number, document)
        self._pages[number] = replace(page, key=owner)
        self._texts.append(StoredText(zstandard.compress(document.text.encode()), content))
        self._owners[owner, document.digest] = number
        return new

    async def kept(self) -> AsyncIterator[FleetKeptText]:
        """All texts, as a merge asks for them."""
        for page, stored in zip(self._pages.values(), self._texts, strict=True):

            async def content(stored: StoredText = stored) -> bytes | None:
                return stored.content

            yield FleetKeptText(page, stored.text, content)

    def said(self) -> Iterator[tuple[OriginalPage, str]]:
        """The page and the text of each kept one."""
        for page, stored in zip(self._pages.values(), self._texts, strict=True):
            yield page, unpack(stored.text)

    def _own(self, owner: bytes) -> set[int]:
        return {number for (each, _), number in self._owners.items() if each == owner}

    def _named(self, verdict: Verdict) -> PageVerdict:
        assert verdict.duplicate_of is not None
        return PageVerdict(verdict, self._pages[verdict.duplicate_of])


@contextmanager
def fleet(folders: list[Path], options: JobOptions, memory: OneMemory) -> Iterator[list[Job]]:
    """A crawl in each folder, in its first visit or going on with it."""
    jobs: list[Job] = []
    try:
        for folder in folders:
            jobs.append(Job(folder, options))
            jobs[-1].claim("one plan")
            jobs[-1].begin_visit()
            jobs[-1].processor.share(memory)
        yield jobs
    finally:
        for job in jobs:
            job.close()


@asynccontextmanager
async def workers_of(jobs: list[Job]) -> AsyncIterator[None]:
    """Workers for each crawl of a fleet."""
    for job in jobs:
        await job.start_pool()
    try:
        yield
    finally:
        for job in jobs:
            await job.close_pool()
