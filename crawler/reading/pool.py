"""Read pages in worker processes: in parallel, with limits, each visible text once."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from crawler.reading.content_types import why_not_html
from crawler.reading.documents.kinds import NAMES, DocumentKind, document_kind
from crawler.reading.metadata.metadata_record import NO_HEADERS, PageHeaders
from crawler.reading.process import (
    Allowance,
    WorkerDiedError,
    WorkerKilledError,
    WorkerTimeoutError,
)
from crawler.reading.protocol import ReadingOptions, extracted_from_wire, parsed_from_wire
from crawler.reading.reading import Extract, NoText, Reading, ReadingTask, to_reading
from crawler.reading.worker_pool import PoolClosedError, ReadingError, WorkerPool
from neardup.fingerprints.digest import text_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawler.reading.process import WorkerProcess
    from crawler.reading.protocol import Message

_EMPTY_DIGEST = text_digest("")

_SOON = 2
"""Let this many pages wait for each worker while others are downloaded."""

_TRIES: dict[type[Exception], int] = {WorkerKilledError: 3, WorkerTimeoutError: 2}
"""Read a page at most this many times if its worker ends with this error, else once.

The next worker may be killed or delayed by the same page, which it has by then. A page that is
itself to blame costs no more than these tries.
"""


class _PageFailedError(Exception):
    """The worker is alive and could not read the page."""


class ReadingPool(WorkerPool):
    """Worker processes that read pages, for one asyncio loop.

    Two pages with the same visible text are extracted once: the second gets the extract of the
    first, from the caller's store or, while the first is still being read, from here.
    """

    def __init__(self, options: ReadingOptions | None = None) -> None:
        super().__init__(ReadingOptions() if options is None else options)
        self._under_way: dict[bytes, asyncio.Future[Extract | None]] = {}

    @property
    def is_behind(self) -> bool:
        """Whether more pages wait for a worker than the workers will soon have read.

        Each waiting page is in memory alone: a kill loses it, and it is fetched again.
        """
        return len(self._waiting) >= _SOON * self.size

    async def read(  # noqa: PLR0913  # what is known of the answer
        self,
        url: str,
        body: bytes,
        content_type: str | None,
        *,
        links_only: bool = False,
        documents: bool = True,
        headers: PageHeaders = NO_HEADERS,
        apart: bool = False,
        made_at: float | None = None,
        fixed_slots: tuple[int, ...] = (),
        known: Callable[[bytes], Extract | None],
    ) -> Reading:
        """Read a page; a fault of the page is in the reading, never raised.

        Args:
            url: URL of the page, against which its links are resolved.
            body: Bytes as they came, without transfer and content encoding.
            content_type: Header of that name.
            links_only: Whether the text is known already, so that only links are read.
            documents: Whether documents are read too, and not taken for files.
            headers: Headers that describe the page.
            apart: Whether the text is told apart by the URL from the same text of any other page,
                as that of a page which is not known whole.
            made_at: Seconds since 1970 at which the answer was made; None: nothing is set aside.
            fixed_slots: Slots of ``neardup.volatile`` that are content on its host.
            known: Function that returns the extract of an earlier page with this digest of its
                visible text, or None. It is not called for a page without visible text.

        Raises:
            PoolClosedError: The pool is closed, or was not started.
            WorkerStartError: Workers do not start.
        """
        kind, reason = None, why_not_html(content_type, body)
        if reason is not None:
            kind = document_kind(content_type, body) if documents else None
            if kind is not None and kind not in self._options.documents:
                is_off = not self._options.documents
                why = NoText.OTHER_TYPE if is_off else NoText.LIBRARY_MISSING
                return Reading(url, not_html=reason, no_text=why)
            if kind is None:
                return Reading(url, not_html=reason)
        errand = _Errand(self._under_way, known)
        name = None if kind is None else kind.value
        job = ReadingTask(
            url, body, content_type, links_only, name, headers, apart, made_at, fixed_slots
        )
        try:
            reading = await self._read(job, errand.is_wanted)
            errand.finish(reading.extract)
        finally:
            errand.finish(None)
        found = await errand.found()
        if found is not None:
            return replace(reading, extract=found, reused=True)
        if errand.waited:
            # The page that had the same visible text failed; this one need not.
            return await self._read(job, lambda _: True)
        return reading

    async def _read(self, job: ReadingTask, is_wanted: Callable[[bytes], bool]) -> Reading:
        """Let one worker read a page, with its text if that is wanted.

        Another worker repeats it if the first one was killed, perhaps by a process that is short of
        memory, or used up its time.
        """
        tried: Counter[type[Exception]] = Counter()
        learned = Reading(job.url)
        while True:
            worker = await self.lease()
            talk = _Talk(worker, job, self._options)
            try:
                return await talk.hold(is_wanted)
            except (WorkerDiedError, _PageFailedError) as error:
                if self.is_closed:
                    raise PoolClosedError("the pool was closed while the page was read") from None
                learned = talk.reading if talk.is_parsed else learned
                tried[type(error)] += 1
                if tried[type(error)] >= _TRIES.get(type(error), 1):
                    return replace(learned, failure=str(error))
            finally:
                if talk.is_over:
                    self.give_back(worker)
                else:
                    self.replace(worker)


class _Errand:
    """The source of one page's text: extraction, the store, or another page under way."""

    def __init__(
        self,
        under_way: dict[bytes, asyncio.Future[Extract | None]],
        known: Callable[[bytes], Extract | None],
    ) -> None:
        self._under_way = under_way
        self._known = known
        self._digest = b""
        self._own: asyncio.Future[Extract | None] | None = None
        self._other: asyncio.Future[Extract | None] | None = None
        self._extract: Extract | None = None

    def is_wanted(self, digest: bytes) -> bool:
        """Return whether a page with this visible text must be extracted."""
        if digest == _EMPTY_DIGEST or self._own is not None:
            return True
        self._extract = self._known(digest)
        self._other = self._under_way.get(digest)
        if self._extract is not None or self._other is not None:
            return False
        self._digest = digest
        self._own = self._under_way[digest] = asyncio.get_running_loop().create_future()
        return True

    def finish(self, extract: Extract | None) -> None:
        """Give this page's text to the pages that wait for it."""
        if self._own is not None and not self._own.done():
            del self._under_way[self._digest]
            self._own.set_result(extract)

    @property
    def waited(self) -> bool:
        return self._other is not None

    async def found(self) -> Extract | None:
        """Return the text that need not be extracted."""
        if self._extract is None and self._other is not None:
            # Shielded: if this page is cancelled, others go on waiting.
            return await asyncio.shield(self._other)
        return self._extract


class _Talk:
    """The conversation about one page with one worker."""

    def __init__(self, worker: WorkerProcess, job: ReadingTask, options: ReadingOptions) -> None:
        self._worker = worker
        self._job = job
        secs = options.timeout_secs
        self._allowance = Allowance(worker.process, secs, f"took longer than {secs:g} s")
        #: The reading so far.
        self.reading = Reading(job.url)
        #: Whether the first step is in it.
        self.is_parsed = False
        #: Whether the worker is ready for another page.
        self.is_over = False

    async def hold(self, is_wanted: Callable[[bytes], bool]) -> Reading:
        """Hold the conversation to its end.

        Raises:
            WorkerDiedError: The worker died.
            _PageFailedError: It could not read the page.
        """
        job = self._job
        told = tuple(job._replace(body=b""))
        at = job._fields.index("headers")  # marshal knows plain tuples
        self._worker.tell(("read", *told[:at], tuple(job.headers), *told[at + 1 :]), job.body)
        answer = self._told(await self._worker.hear(self._allowance))
        if answer[0] == "textless":
            self.is_over = True
            _, why, words = answer
            name = NAMES[DocumentKind(job.kind or "")]
            return Reading(job.url, not_html=f"{name}: {words}", no_text=NoText(why))
        parsed = parsed_from_wire(answer)
        self.reading, self.is_parsed = to_reading(job.url, parsed), True
        if job.links_only:
            self.is_over = True
        elif parsed.visible_digest is None:
            self._told(await self._worker.hear(self._allowance))  # why there is no more than links
        elif is_wanted(parsed.visible_digest):
            self._worker.tell(("go",))
            answer = self._told(await self._worker.hear(self._allowance))
            extracted, tired = extracted_from_wire(answer)
            self.is_over = not tired
            self.reading = to_reading(job.url, parsed, extracted)
        else:
            self._worker.tell(("skip",))
            self.is_over = True
        return self.reading

    def _told(self, answer: Message) -> Message:
        if answer[0] == "failed":
            self.is_over = True
            raise _PageFailedError(f"could not be read: {answer[1]}")
        return answer


class Html(NamedTuple):
    """A page to read: where it was found, its body, and its Content-Type where that is known."""

    url: str
    body: bytes
    content_type: str | None


def read_html(pages: Sequence[Html], options: ReadingOptions | None = None) -> list[Reading]:
    """Read pages as a crawl does, with its limits of time and memory, all workers at once.

    What is wrong with a page is in its reading.

    Raises:
        ReadingError: No worker could be started.
    """
    try:
        # Not ``asyncio.run``: the loop is ours alone. Ctrl-C cancels the pages before it is raised.
        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
            return runner.run(_read_html(pages, ReadingPool(options)))
    except (ReadingError, OSError) as error:
        raise ReadingError(f"pages cannot be read: {error}") from None


async def _read_html(pages: Sequence[Html], pool: ReadingPool) -> list[Reading]:
    await pool.start()
    try:
        # Each page is read by itself, as there are few.
        return await asyncio.gather(
            *(pool.read(*page, known=lambda _: None) for page in pages),
        )
    finally:
        await pool.close()
