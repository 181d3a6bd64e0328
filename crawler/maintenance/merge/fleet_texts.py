"""Restore what no crawl has, with the texts in the Redis of a fleet."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crawler.maintenance.merge.merged_captures import HAS_PAGE, HAS_TEXT, LENT_AT, WANTED
from crawler.maintenance.tally import ALL_PAGES
from crawler.pages.page_row import PageRow
from crawler.pages.page_store import PageStore
from crawler.pages.reasons import Reason
from crawler.pages.url_history import IntervalPolicy, KnownUrls, Outcome
from crawler.pages.verdicts import NEW
from crawler.reading.content.content_xml import StoredText
from crawler.storage import meta_names
from crawler.storage.database import Database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from pathlib import Path

    from crawler.maintenance.merge.merged_crawls import MergedCrawl
    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.pages.shared_verdicts import FleetKeptText


SCRATCH = "CREATE TABLE scratch.wanted (text_digest BLOB PRIMARY KEY) WITHOUT ROWID;"
_WANT = "INSERT OR IGNORE INTO scratch.wanted VALUES (?)"
_IS_WANTED = "SELECT 1 FROM scratch.wanted WHERE text_digest = ?"


@dataclass(frozen=True, slots=True)
class FleetRecord:
    """The records that the Redis of a fleet has of the crawls that are merged.

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
class FleetCrawl:
    """Makes a crawl directory of what a fleet keeps and none of the merged crawls has.

    Args:
        folder: New directory, which is merged with the others.
        fleet: Record of the fleet.
        sources: The merged crawls.
        database: Database of the merged crawl.
    """

    folder: Path
    fleet: FleetRecord
    sources: Sequence[MergedCrawl]
    database: Database

    def make(self, watch: CheckWatch, *, restores: bool) -> int:
        """Store texts that the fleet keeps and no crawl has; return the number of restored pages.

        A text that duplicates need is stored as an older version. Of a restored page the text, its
        content and the digests are known, its links are not. Pages that the fleet dropped are named
        nowhere. Another visit finds both: it requests each page, and follows its links.

        Args:
            watch: Callbacks for progress.
            restores: Whether each page that no crawl has becomes one.

        Complexity: O(texts of the fleet); memory of one.
        """
        for source in self.sources:
            self.database.write_many(_WANT, source.connection.execute(WANTED))
        watch.begin("texts of the fleet", 0)
        self.folder.mkdir()
        with closing(Database(self.folder)) as database:
            asyncio.run(self._store(database, watch, restores=restores))
            database.commit()
            restored = int(database.value(ALL_PAGES) or 0)
        if restored:
            self.database.set_meta(meta_names.LAST_VISIT, str(self._visit))
        return restored

    @property
    def _visit(self) -> int:
        return int(self.database.meta(meta_names.VISIT) or 1)

    async def _store(self, database: Database, watch: CheckWatch, *, restores: bool) -> None:
        store = PageStore(database)
        history = KnownUrls(database, IntervalPolicy())
        async for kept in self.fleet.kept():
            watch.advance()
            page = kept.original
            if restores and not self._is_there(HAS_PAGE, page.key):
                row = await self._row(store, kept)
                store.insert(row, by_time=True)
                history.note(page.key, row.visit, Outcome(NEW), page.fetched_at)
            elif self._is_wanted(page.text_digest):
                row = await self._row(store, kept)
                # Its number is no later page's, once it is gone.
                row.latest, row.fetched_at = 0, LENT_AT
                database.write(store.insert_sql, row.values())

    def _is_wanted(self, digest: bytes | None) -> bool:
        is_named = self.database.read(_IS_WANTED, (digest,)).fetchone() is not None
        return is_named and not self._is_there(HAS_TEXT, digest)

    def _is_there(self, sql: str, value: bytes | None) -> bool:
        """Return whether any of the crawls has what a query finds."""
        return any(source.one(sql, value) is not None for source in self.sources)

    async def _row(self, store: PageStore, kept: FleetKeptText) -> PageRow:
        page, content = kept.original, await kept.content()
        row = PageRow(
            id=store.new_id(),
            key=page.key,
            url=page.url,
            canonical_url=page.canonical_url,
            latest=1,
            visit=self._visit,
            fetched_at=page.fetched_at,
            seen_visit=self._visit,
            seen_at=page.fetched_at,
            depth=page.depth,
            status=None,
            last_text_digest=page.text_digest,
            words_digest=page.words_digest,
            verdict=NEW,
            reason=Reason.RESTORED.stored(),
        )
        row.take_facts(page)
        return row.hold(StoredText.of(kept.text, content, page.page_type, page.content_source))
