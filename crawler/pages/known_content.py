"""Find known content, so that an answer need not be judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.pages import verdicts

if TYPE_CHECKING:
    from crawler.pages.page_context import PageContext
    from crawler.pages.page_row import PageRow


def is_enough(page: PageContext, *, elsewhere: bool) -> bool:
    """Return whether the bytes alone decide the verdict on a page.

    Args:
        page: The page, which need not be read yet.
        elsewhere: Whether another crawl of the fleet has a page of these bytes.
    """
    if not page.fetched.body:
        return False
    previous = page.previous
    if previous is not None:
        # A row without digest is a file, a noindex page, or a page that must be read once more.
        same = previous.payload_digest == page.payload and previous.text_digest is not None
        return same and page.store.holds_text_of(previous)
    return elsewhere or page.store.find_payload(page.payload) is not None


def find_original(page: PageContext) -> PageRow | None:
    """Return the kept page with the same bytes as a new page, or None."""
    if page.previous is not None or not page.fetched.body:
        return None
    # The same bytes can be a page here and, by another Content-Type, a file there.
    if page.reading.not_html is not None:
        return page.store.find_file(page.payload)
    return page.store.find_payload(page.payload)


def is_unchanged(page: PageContext) -> bool:
    """Return whether a page's text is the same and still stored, with it or its original."""
    previous, reading = page.previous, page.reading
    if previous is None or page.asks_not_to_be_kept != (previous.verdict == verdicts.NOINDEX):
        return False
    if not previous.has_own_words:
        return False
    was_file = previous.text_digest is None and previous.verdict != verdicts.NOINDEX
    if was_file != (reading.not_html is not None) and reading.failure is None:
        return False
    same_payload = bool(page.fetched.body) and previous.payload_digest == page.payload
    extract = reading.extract
    same_text = extract is not None and previous.text_digest in extract.digests
    return (same_payload or same_text) and page.store.holds_text_of(previous)
