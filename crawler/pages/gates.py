"""Recognise that a site shows a gate in place of its known pages, before any of them is changed.

A visit that asks for known pages with a session that has ended, or from a network that is locked
out, gets one text or is led to one URL for each of them. An answer that would change a known page
waits until some further known pages were answered. Where half of them come to the same, the visit
is stopped and its requests stay in the queue; else what waits is taken as it came.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from crawler.reading.wall_signs import returned_to
from crawler.storage.errors import CrawlStorageError
from neardup import hamming
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.pages.page_context import PageContext
    from crawler.pages.page_row import PageRow

MIN_PAGES = 5
"""Fewer known pages that come to the same are no sign of a gate."""

MAX_WAITING = 20
"""Decide at the latest when this many answers have come since the first of the same."""

_SHARE_OF_RUN = 0.9
"""Share of the answers since the first of one text that have it, where a gate closed meanwhile."""

_MAX_WAITING_BYTES = 4_000_000
"""Scrapy asks for nothing while answers of five million bytes are under way, waiting ones too."""

_MAX_DISTANCE, _MIN_DISTANCE = 3, 6
"""Bits in which texts differ that may be one gate's, and those of pages that say something else."""

_MAX_ENDS, _MAX_TRIES = 1_000, 10  # tries of a redirect, a second apart
_LOOK_SECS = 0.5


class GateError(CrawlStorageError):
    """A gate stands in the way of known pages; nothing that was stored of them has changed."""


class UndecidedError(Exception):
    """The crawl is closed before it is known whether an answer is that of a gate."""


@dataclass(slots=True)
class _End:
    """One text or URL that known pages come to, which said something else before.

    Attributes:
        words: How people are told of it.
        before: Known pages that were answered before the first one that came to it.
        fingerprint: That of the text; None where only an equal text is the same.
        said: Fingerprints of what these pages said.
        texts: Digests of what these pages said: other URLs of one page count once.
        waiting: Answers that wait, each with its size in bytes.
    """

    words: str
    before: int
    fingerprint: int | None = None
    said: list[int] = field(default_factory=list)
    texts: set[bytes] = field(default_factory=set)
    waiting: dict[asyncio.Future[None], int] = field(default_factory=dict)


@dataclass(slots=True)
class GateWatch:
    """Lets answers of known pages wait while they may be those of a gate.

    Attributes:
        is_on: Whether there are known pages, and a queue to which they can return.
        is_closing: Tells whether the crawl is being closed, so that no further answer comes.
        after_wait: Called whenever an answer begins to wait.
    """

    is_on: bool = False
    is_closing: Callable[[], bool] = lambda: False
    after_wait: Callable[[], None] = lambda: None
    _answered: int = 0
    _led: dict[bytes, tuple[int, set[bytes], bytes]] = field(default_factory=dict)
    _ends: dict[bytes | str, _End] = field(default_factory=dict)
    _gate: GateError | None = None

    @property
    def waiting(self) -> int:
        """Number of answers that wait."""
        return sum(len(end.waiting) for end in self._ends.values())

    def note_answered(self, key: bytes) -> None:
        """Note that the known page with a key was answered as before, or failed."""
        if self.is_on:
            self._count(key)
            self._let_go()

    async def pass_known(self, page: PageContext, said: int | None, *, is_same: bool) -> None:
        """Let the answer of a known page pass; one that has changed waits until it is no gate's.

        A page without words of its own, whose original has them, is judged by those anyway.

        Args:
            page: The page.
            said: The fingerprint of what it said before; None where that is not known.
            is_same: Whether it says the same now.

        Raises:
            GateError: It is a gate's.
            UndecidedError: The crawl is being closed.
        """
        previous, extract = page.previous, page.reading.extract
        assert previous is not None
        if is_same or not previous.has_own_words:
            self.note_answered(previous.key)
            return
        self._count(previous.key)
        now = None if extract is None else extract.fingerprint
        if said is None or now is None or hamming(said, now) < _MIN_DISTANCE:
            said = now = None  # nearly the same as before, as pages of one template are too
        end = self._noted(self._sign_of(page, said, now), "have one text", previous)
        if said is not None and len(end.said) < MAX_WAITING:
            end.fingerprint = now if end.fingerprint is None else end.fingerprint
            end.said.append(said)
        waits: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        end.waiting[waits] = page.fetched.size
        self._let_go()
        self.after_wait()
        while not waits.done():
            if self.is_closing():
                end.waiting.pop(waits, None)
                raise UndecidedError
            await asyncio.wait([waits], timeout=_LOOK_SECS)
        waits.result()

    def _sign_of(self, page: PageContext, said: int | None, now: int | None) -> bytes | str:
        """Return what the text of a page has in common with others that it is counted with.

        A gate may name the page, a time or a number. Texts that are nearly equal now are counted
        together where the pages were unlike each other.
        """
        reading = page.reading
        sign = page.payload if reading.extract is None else reading.extract.digest
        if reading.signs is not None and not reading.volatile:  # without what repeats the URL
            sign = reading.signs.skeleton
        if sign in self._ends or said is None or now is None:
            return sign
        for other, end in self._ends.items():
            is_near = end.fingerprint is not None and hamming(end.fingerprint, now) <= _MAX_DISTANCE
            if is_near and all(hamming(said, one) >= _MIN_DISTANCE for one in end.said):
                return other
        return sign

    def must_wait(self, previous: PageRow, target: str, pending: int) -> bool:
        """Return whether the redirect of a known page is to be asked for again, behind all others.

        It is so once, and again while others are still to be answered and it may be a gate's.

        Args:
            previous: What the page said before.
            target: Where it leads now.
            pending: Number of requests that wait or are under way, this one too.

        Raises:
            GateError: Too many pages lead there.
        """
        if not self.is_on:
            return False
        url = target.partition("?")[0] if returned_to(target, previous.url) else target
        tries = self._led.get(previous.key, (0,))[0] + 1
        self._count(previous.key)
        end = self._noted(url, f"lead to {url}", previous)
        self._led[previous.key] = tries, end.texts, _content_of(previous)
        if tries > 1:
            self._decide(end)
        self._let_go()
        if self._gate is not None:
            raise self._gate
        may_be = self._answered < MIN_PAGES or 2 * len(end.texts) >= self._answered
        if tries == 1 or (may_be and len(self._led) < pending and tries <= _MAX_TRIES):
            return True
        del self._led[previous.key]
        return False

    def decide_all(self) -> None:
        """Decide on all that waits, since nothing else is asked for."""
        for end in list(self._ends.values()):
            self._decide(end)

    def _count(self, key: bytes) -> None:
        """Count a known page once, by its last answer: it may have been led elsewhere before."""
        tries, texts, said = self._led.pop(key, (0, set(), b""))
        texts.discard(said)
        self._answered += not tries

    def _noted(self, sign: bytes | str, words: str, previous: PageRow) -> _End:
        if self._gate is not None:
            raise self._gate
        end = self._ends.setdefault(sign, _End(words, self._answered - 1))
        end.texts.add(_content_of(previous))
        if len(self._ends) > _MAX_ENDS:
            oldest = next(iter(self._ends))
            self._release(self._ends.pop(oldest))
        return end

    def _let_go(self) -> None:
        """Decide on what waited for long enough, and let pass what is too rare for a gate."""
        ends = [one for one in self._ends.values() if one.waiting]
        is_much = sum(chain(*(end.waiting.values() for end in ends))) > _MAX_WAITING_BYTES
        for end in ends:
            count, since = len(end.texts), self._answered - end.before
            if since >= MIN_PAGES and 2 * count < since:
                self._release(end)
            elif since >= MAX_WAITING or is_much:
                # A gate may close in the middle of a visit.
                self._decide(end, is_run=count >= max(MAX_WAITING, _SHARE_OF_RUN * since))

    def _decide(self, end: _End, *, is_run: bool = False) -> None:
        count = len(end.texts)
        is_half = count >= MIN_PAGES and 2 * count >= self._answered
        if self._gate is None and (is_half or is_run):
            self._gate = GateError(
                f"{count:,} of {many(self._answered, 'known page')} {end.words} now, as behind a "
                "gate, and were left as they are (where the site became that, crawl it into a new "
                "directory)"
            )
            for other in self._ends.values():
                self._release(other)
        self._release(end)

    def _release(self, end: _End) -> None:
        for waits in end.waiting:
            if self._gate is None:
                waits.set_result(None)
            else:
                waits.set_exception(self._gate)
        end.waiting.clear()


def _content_of(previous: PageRow) -> bytes:
    return previous.text_digest or previous.last_payload_digest or previous.key
