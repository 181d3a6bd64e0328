"""Restore pages of a fleet's worker whose directory is missing, from the texts in its Redis."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crawler.pages.page_row import PageRow
from crawler.pages.page_store import PageStore
from crawler.pages.reasons import Reason
from crawler.pages.stored_texts import unpack
from crawler.pages.url_history import IntervalPolicy, KnownUrls, Outcome
from crawler.pages.verdicts import NEW, TOO_SHORT
from crawler.reading.content.content_xml import FROM_LINES, pack_lines
from crawler.storage import meta_names

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from crawler.maintenance.merge.merged_crawls import MergedCrawl
    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.pages.page_row import OriginalPage
    from crawler.pages.shared_verdicts import FleetKeptText
    from crawler.storage.database import Database

_HAS_PAGE = "SELECT 1 FROM pages WHERE key = ?"


@dataclass(frozen=True, slots=True)
class FleetRecord:
    """What the Redis of a fleet knows of the crawls that are merged.

    Attributes:
        kept: Function that yields all texts that the fleet keeps.
        pages: Pages that each worker fetched, by its name.
    """

    kept: Callable[[], AsyncIterator[FleetKeptText]]
    pages: Mapping[str, int] = field(default_factory=dict)

    def missing(self, sources: Sequence[MergedCrawl]) -> dict[str, int]:
        """Return the pages of workers whose directory is not among the merged ones, by name."""
        here: set[str] = set()
        for source in sources:
            here.update(_membership(source).get("workers", ()))
        return {name: pages for name, pages in self.pages.items() if pages and name not in here}


def fleet_of(sources: Sequence[MergedCrawl]) -> str | None:
    """Return the name of the fleet whose workers made the crawls, or None."""
    for source in sources:
        if name := _membership(source).get("name"):
            return str(name)
    return None


def _membership(source: MergedCrawl) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(source.meta.get(meta_names.FLEET, "{}"))
    return found


@dataclass(frozen=True, slots=True)
class LostPages:
    """Stores pages whose worker's directory is missing.

    Args:
        database: Database with the captures of all merged crawls.
        fleet: Record of the fleet.
        min_words: Words below which a text has no fingerprint.
    """

    database: Database
    fleet: FleetRecord
    min_words: int

    def restore(self, watch: CheckWatch) -> int:
        """Store each page that the fleet keeps and no crawl has; return their number.

        Of such a page the text, its content and the digests are known, its links are not. Pages
        that the fleet dropped are named nowhere. Another visit finds both: it requests each page,
        and follows its links.

        Complexity: O(texts of the fleet); memory of one.
        """
        watch.begin("pages of missing workers", 0)
        return asyncio.run(self._restore(watch))

    async def _restore(self, watch: CheckWatch) -> int:
        store = PageStore(self.database)
        visit = int(self.database.meta(meta_names.VISIT) or 1)
        history = KnownUrls(self.database, IntervalPolicy())
        restored = 0
        async for kept in self.fleet.kept():
            watch.advance()
            page = kept.original
            if self.database.read(_HAS_PAGE, (page.key,)).fetchone() is not None:
                continue
            store.insert(await self._row(store.new_id(), visit, kept))
            history.note(page.key, visit, Outcome(NEW), page.fetched_at)
            restored += 1
        self.database.commit()
        return restored

    async def _row(self, page_id: int, visit: int, kept: FleetKeptText) -> PageRow:
        page, content = kept.original, await kept.content()
        row = PageRow(
            id=page_id,
            key=page.key,
            url=page.url,
            canonical_url=page.canonical_url,
            latest=1,
            visit=visit,
            fetched_at=page.fetched_at,
            seen_visit=visit,
            seen_at=page.fetched_at,
            depth=page.depth,
            status=None,
            last_text_digest=page.text_digest,
            words_digest=page.words_digest,
            verdict=self._verdict(page),
            reason=Reason.RESTORED.stored(),
        )
        row.take_facts(page)
        row.text, row.content = kept.text, content
        if content is None:
            row.content, row.content_source = pack_lines(unpack(kept.text)), FROM_LINES
        if row.verdict == TOO_SHORT:
            row.fingerprint = None
        return row

    def _verdict(self, page: OriginalPage) -> str:
        return TOO_SHORT if (page.words or 0) < self.min_words else NEW
