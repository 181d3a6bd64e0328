"""Compare the page of a variant with the one that it was taken for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crawler.pages.page_store import PageStore
from crawler.pages.shared_verdicts import Elsewhere
from crawler.pages.stored_texts import unpack_judged
from crawler.storage import meta_names
from crawler.url_rules.learning.evidence import UNREAD, agreement
from crawler.url_rules.url_groups import content_of, is_file, is_unread
from neardup.verification import jaccard

if TYPE_CHECKING:
    from crawler.pages.page_row import PageRow
    from crawler.storage.database import Database
    from crawler.urls.canonical import Canonicalizer

STEADY: Final = 0.5
"""The least similarity of a steady page's texts at two requests (Jaccard, 0 to 1)."""

_TARGET = "SELECT target FROM redirects WHERE key = ?"


class VariantComparison:
    """Finds the captures of two keys in this visit, and compares them."""

    def __init__(self, database: Database, canonicalizer: Canonicalizer) -> None:
        self._database = database
        self._canonical = canonicalizer
        self._store = PageStore(database)
        self._elsewhere = Elsewhere(database, self._store)

    def url_of(self, key: bytes) -> str | None:
        """Return the URL of the last page of a key, in any visit."""
        row = self._store.previous(key)
        return None if row is None else row.url

    def end_of(self, key: bytes) -> bytes:
        """Return the key to which a URL was redirected in this visit, at last; else its own."""
        passed = {key}
        while row := self._database.read(_TARGET, (key,)).fetchone():
            if row[0] in passed:
                break
            key = bytes(row[0])
            passed.add(key)
        return key

    def captures(self, key: bytes, standing: bytes) -> tuple[PageRow, PageRow] | None:
        """Return the pages of two keys; None until this visit has both."""
        visit = int(self._database.meta(meta_names.VISIT) or 0)
        rows = [self._store.previous(one) for one in (key, standing)]
        found = [row for row in rows if row and max(row.visit, row.seen_visit) == visit]
        return (found[0], found[1]) if len(found) == len(rows) else None

    def agree(self, one: PageRow, other: PageRow) -> bool | None:
        """Return whether two pages are the same; None where that cannot be told.

        Two pages whose texts were not read are the same if their bytes are. Of files that were
        not taken whole nothing is known.

        Args:
            one: The page of the variant.
            other: The page that it was taken for.
        """
        if self._canonical.exact(one.url) == self._canonical.exact(other.url):
            return None
        if one.payload_digest is not None and one.payload_digest == other.payload_digest:
            return True
        if all(is_file(row) and row.payload_digest is None for row in (one, other)):
            return None
        first, second = (content_of(row, self._elsewhere.kept_url(row)) for row in (one, other))
        unread = [content is None or content.similarity == UNREAD for content in (first, second)]
        if first is not None and second is not None:
            agrees = agreement(first, second)
            return False if agrees is None and all(unread) else agrees
        return False if all(unread) else None

    def is_steady(self, key: bytes, digest: bytes, text: str | None) -> bool | None:
        """Return whether a page is the same at another request; None where its text is wanted.

        Args:
            key: The key of the page.
            digest: Digest of the bytes of the other answer.
            text: Its text, if it was read.
        """
        row = self._store.previous(key)
        if row is None or is_file(row) or is_unread(row) or row.payload_digest == digest:
            return row is not None and row.payload_digest == digest
        if text is None:
            return None
        packed = self._store.text(row.duplicate_of or row.id)
        return packed is not None and jaccard(unpack_judged(packed), text) >= STEADY
