"""Hold the trials of fixed rules, and compare pages of variants with those they are taken for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crawler.frontier.frontier import Redirects
from crawler.pages.page_store import PageStore
from crawler.pages.shared_verdicts import FleetOriginals
from crawler.pages.stored_texts import unpack_judged
from crawler.storage import meta_names
from crawler.url_rules.learning.evidence import UNREAD, agreement
from crawler.url_rules.url_groups import content_of, is_file, is_unread
from neardup.verification import jaccard

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.pages.page_row import PageRow
    from crawler.storage.database import Database
    from crawler.url_rules.variants import Variant
    from crawler.urls.canonical import Canonicalizer


class VariantTrials(dict[bytes, "Variant"]):
    """Finds the trials that wait for the page of a key, and those that need a control.

    A control is a second request for the page that a variant was taken for: a page that is
    another one at each request says nothing about a rule.
    """

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[bytes, set[bytes]] = {}
        self._waits_for: dict[bytes, set[bytes]] = {}
        self._controls: dict[bytes, str] = {}

    def begin(self, variant: Variant, pages: Iterable[bytes]) -> None:
        """Begin the trial of a variant, which waits for some pages besides its own."""
        self[variant.key] = variant
        for page in pages:
            self.wait_for(variant.key, page)

    def wait_for(self, key: bytes, page: bytes) -> None:
        """Let a trial wait for the page of a further key, to which a redirect leads."""
        self._waiting.setdefault(page, set()).add(key)
        self._waits_for.setdefault(key, set()).add(page)

    def concerned(self, page: bytes) -> list[bytes]:
        """Return the variants whose trials depend on what a key gives."""
        return [key for key in {page, *self._waiting.get(page, ())} if key in self]

    def end(self, key: bytes) -> Variant:
        """Forget the trial of a variant, and return that."""
        self._controls.pop(key, None)
        for page in self._waits_for.pop(key, ()):
            self._waiting[page].discard(key)
            if not self._waiting[page]:
                del self._waiting[page]
        return self.pop(key)

    def want_control(self, key: bytes, url: str) -> None:
        """Let the page of a URL be requested once more for the trial of a variant."""
        self._controls.setdefault(key, url)

    @property
    def are_controls_wanted(self) -> bool:
        return any(self._controls.values())

    def take_controls(self) -> list[tuple[bytes, str]]:
        """Return the keys of variants that need a control, once each, with the URLs to request."""
        taken = [(key, url) for key, url in self._controls.items() if url]
        self._controls.update((key, "") for key, _ in taken)
        return taken

    def clear(self) -> None:
        """Forget all trials."""
        super().clear()
        self._waiting.clear()
        self._waits_for.clear()
        self._controls.clear()


STEADY: Final = 0.5
"""The least similarity of a steady page's texts at two requests (Jaccard, 0 to 1)."""


class VariantComparison:
    """Finds the captures of two keys in this visit, and compares them."""

    def __init__(self, database: Database, canonicalizer: Canonicalizer) -> None:
        self._database = database
        self._canonical = canonicalizer
        self._store = PageStore(database)
        self._fleet_originals = FleetOriginals(database, self._store)
        self.redirects = Redirects(database)

    def url_of(self, key: bytes) -> str | None:
        """Return the URL of the last page of a key, in any visit."""
        row = self._store.previous(key)
        return None if row is None else row.url

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
        first, second = (
            content_of(row, self._fleet_originals.kept_url(row)) for row in (one, other)
        )
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
