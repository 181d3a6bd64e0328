"""What is held already of an answer, so that it need not be judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.pages import verdicts

if TYPE_CHECKING:
    from crawler.pages.answer import Answer
    from crawler.pages.fetched import Fetched
    from crawler.pages.page_row import PageRow
    from crawler.pages.page_store import PageStore


@dataclass(frozen=True, slots=True)
class KnownContent:
    """Looks into the page store.

    Args:
        store: Where the captures stand.
        obey_robots_meta: Whether a page may ask not to be kept.
    """

    store: PageStore
    obey_robots_meta: bool

    def is_enough(self, fetched: Fetched, payload: bytes, *, elsewhere: bool) -> bool:
        """Whether the bytes alone decide.

        Args:
            fetched: What came.
            payload: The digest of its bytes.
            elsewhere: Whether another crawl of the fleet has a page of these bytes.
        """
        if not fetched.body:
            return False
        previous = self.store.previous(fetched.key)
        if previous is not None:
            # What has no digest was a file, asked not to be kept, or is to be read anew.
            same = previous.payload_digest == payload and previous.text_digest is not None
            return same and self.store.holds_text_of(previous)
        return elsewhere or self.store.find_payload(payload) is not None

    def original(self, previous: PageRow | None, answer: Answer) -> PageRow | None:
        """The kept page of which an answer has the very bytes."""
        if previous is not None or not answer.fetched.body:
            return None
        # The same bytes can be a page here and, by another Content-Type, a file there.
        if answer.reading.not_html is not None:
            return self.store.find_file(answer.payload)
        return self.store.find_payload(answer.payload)

    def asks(self, answer: Answer) -> bool:
        """Whether a page asks not to be kept, and that counts."""
        return self.obey_robots_meta and answer.says("noindex")

    def is_unchanged(self, previous: PageRow | None, answer: Answer) -> bool:
        """Whether a page says what it said, and that is still held, by itself or its original."""
        if previous is None or self.asks(answer) != (previous.verdict == verdicts.NOINDEX):
            return False
        if not previous.has_own_words:
            return False
        reading = answer.reading
        was_file = previous.text_digest is None and previous.verdict != verdicts.NOINDEX
        if was_file != (reading.not_html is not None) and reading.failure is None:
            return False
        same_payload = bool(answer.fetched.body) and previous.payload_digest == answer.payload
        extract = reading.extract
        same_text = extract is not None and previous.text_digest in extract.digests
        return (same_payload or same_text) and self.store.holds_text_of(previous)
