"""Which pages does a visit ask for? Those that it finds, all that are known, or what is due."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.pages.url_history import LATER, SETTLED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.frontier.seen import SeenSet
    from crawler.pages.page_store import PageStore, StoredUrl
    from crawler.pages.url_history import KnownUrls
    from crawler.storage.database import Database

NO = "no"
YES = "yes"
DUE = "due"
FAILED = "failed"
REVISITS = (NO, YES, DUE, FAILED)


_BATCH = 500


@dataclass(frozen=True, slots=True)
class Visits:
    """What ``meta`` remembers of the visit: its plan, and whether known pages are still to queue.

    Args:
        database: The crawl's database.
        store: The pages that are known.
        known: When they are due.
        seen: What was queued in this visit.
    """

    database: Database
    store: PageStore
    known: KnownUrls
    seen: SeenSet

    @property
    def is_queueing(self) -> bool:
        """Whether this visit has not queued every known page yet that it is to ask for."""
        return self.database.meta("queueing") == "1"

    @property
    def has_queued(self) -> bool:
        """Whether this visit queued every known page that it asks for, none perhaps."""
        return self.database.meta("queueing") == "0"

    def is_of(self, plan: str | None) -> bool:
        """Whether this visit was begun with a plan."""
        return self.database.meta("visit_plan") == (plan or "")

    def begin(self, visit: int, revisit: str, plan: str | None) -> None:
        """Prepare another visit, after everything queued and seen was cleared.

        With ``due``, what is not due counts as queued before: no link leads to it. With
        ``failed``, so does what has not failed.
        """
        now = time.time()
        self.known.note_redirects(visit - 1, now)
        if revisit == DUE:
            self.seen.add_selected(LATER, (now,))
        elif revisit == FAILED:
            self.seen.add_selected(SETTLED, ())
        self.database.set_meta("queueing", "1" if revisit != NO else "")
        self.database.set_meta("visit_plan", plan or "")

    def unasked(self) -> Iterator[StoredUrl]:
        """The known URLs that this visit has not queued, in the order in which they were found.

        Safe beside writes: a page that is captured meanwhile was queued.
        """
        last = 0
        while urls := self.store.urls_after(last, _BATCH):
            yield from (url for url in urls if url.key not in self.seen)
            last = urls[-1].id

    def end_queueing(self) -> None:
        """Note that every known page was queued, or is not to be."""
        self.database.set_meta("queueing", "0")
