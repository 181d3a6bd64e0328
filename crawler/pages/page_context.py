"""Hold what is known of a page while its answer is captured."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.pages.page_row import PageRow
from crawler.pages.reasons import Reason, Stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pages.fetched import Fetched
    from crawler.pages.last_captures import LastCapture
    from crawler.pages.page_store import PageStore
    from crawler.reading.reading import Reading
    from neardup import Document


def blank_row(number: int, fetched: Fetched, visit: int) -> PageRow:
    """Return a row with the facts of an answer, or of a failed request."""
    now = time.time()
    return PageRow(
        id=number,
        key=fetched.key,
        url=fetched.url,
        canonical_url=fetched.canonical_url,
        latest=1,
        visit=visit,
        fetched_at=now,
        seen_visit=visit,
        seen_at=now,
        depth=fetched.depth,
        status=fetched.status or None,
        content_type=fetched.content_type,
        body_bytes=len(fetched.body),
    )


@dataclass(slots=True)
class PageContext:
    """An answer with its payload digest, its reading, and the last capture of its page.

    It is made once for each answer and passed on. The last capture is read once, and again only
    after it was changed: another request may capture the same page meanwhile.

    Args:
        store: Page store with the captures.
        fetched: The answer.
        payload: Payload digest of the answer.
        reading: Reading of the answer; empty until it was read.
        obey_robots_meta: Whether a page may ask not to be kept.
    """

    store: PageStore
    fetched: Fetched
    payload: bytes
    reading: Reading
    obey_robots_meta: bool
    _last: LastCapture = field(init=False)
    _unpacked: tuple[Reading, int, Document | None] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._last = self.store.last(self.fetched.key)

    @property
    def previous(self) -> PageRow | None:
        """The latest capture of the page that was read, or None."""
        if not self._last.is_current:
            self._last = self.store.last(self.fetched.key)
        return self._last.row

    @property
    def own_ids(self) -> frozenset[int]:
        """Ids of captures that are never originals of the page."""
        previous, apart_from = self.previous, self.fetched.apart_from
        return apart_from if previous is None else apart_from | {previous.id}

    def says(self, word: str) -> bool:
        """Return whether the page or its HTTP header has a directive for robots."""
        return bool({word, "none"} & (self.fetched.robots | set(self.reading.robots)))

    @property
    def asks_not_to_be_kept(self) -> bool:
        """Whether a page asks not to be kept, and that is obeyed."""
        return self.obey_robots_meta and self.says("noindex")

    def left_out(self) -> Iterator[Stored]:
        """Yield a reason for each limit that cut the links of the page."""
        if self.reading.links_cut:
            yield Reason.LINKS_LEFT_OUT.stored(f"{self.reading.links_cut:,}")
        if self.reading.links_too_long:
            yield Reason.LINKS_TOO_LONG.stored(f"{self.reading.links_too_long:,}")

    def document(self, min_words: int) -> Document | None:
        """Return the text as ``Reading.document`` does, unpacked once."""
        unpacked = self._unpacked
        if unpacked is None or unpacked[0] is not self.reading or unpacked[1] != min_words:
            unpacked = (self.reading, min_words, self.reading.document(min_words))
            self._unpacked = unpacked
        return unpacked[2]

    def row(self, number: int, visit: int) -> PageRow:
        """Return the row of the answer without a verdict."""
        fetched, reading = self.fetched, self.reading
        row = blank_row(number, fetched, visit)
        if not fetched.is_cut:  # they belong to the whole page
            row.etag, row.last_modified = fetched.etag, fetched.last_modified
        row.title, row.author, row.date = reading.title, reading.author, reading.date
        row.language, row.declared_url = reading.language, reading.canonical_url
        row.payload_digest = row.last_payload_digest = self.payload
        row.visible_digest = reading.visible_digest
        return row
