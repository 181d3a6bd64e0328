"""Find known content, so that an answer need not be judged."""

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
    """Looks up answers in the page store.

    Args:
        store: Page store with the captures.
        obey_robots_meta: Whether a page may ask not to be kept.
    """

    store: PageStore
    obey_robots_meta: bool

    def is_enough(self, fetched: Fetched, payload: bytes, *, elsewhere: bool) -> bool:
        """Return whether the bytes alone decide the verdict.

        Args:
            fetched: The answer.
            payload: Payload digest of the answer.
            elsewhere: Whether another crawl of the fleet has a page of these bytes.
        """
        if not fetched.body:
            return False
        previous = self.store.previous(fetched.key)
        if previous is not None:
            # A row without digest is a file, a noindex page, or a page that must be read once more.
            same = previous.payload_digest == payload and previous.text_digest is not None
            return same and self.store.holds_text_of(previous)
        return elsewhere or self.store.find_payload(payload) is not None

    def original(self, previous: PageRow | None, answer: Answer) -> PageRow | None:
        """Return the kept page with the same bytes, or None."""
        if previous is not None or not answer.fetched.body:
            return None
        # The same bytes can be a page here and, by another Content-Type, a file there.
        if answer.reading.not_html is not None:
            return self.store.find_file(answer.payload)
        return self.store.find_payload(answer.payload)

    def asks(self, answer: Answer) -> bool:
        """Return whether a page asks not to be kept, and that is obeyed."""
        return self.obey_robots_meta and answer.says("noindex")

    def is_unchanged(self, previous: PageRow | None, answer: Answer) -> bool:
        """Return whether a page's text is the same and still stored, with it or its original."""
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
