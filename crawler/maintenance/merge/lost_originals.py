"""Restore what is lost, with the texts in the Redis of a fleet.

Duplicates whose original is lost are promoted or judged again, and pages of a fleet's worker are
restored if its directory is missing.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from crawler.maintenance.verify.capture_checks import ORPHANS
from crawler.pages.page_row import PageRow
from crawler.pages.page_store import PageStore
from crawler.pages.reasons import Reason
from crawler.pages.stored_texts import HeldTexts, document_of, unpack
from crawler.pages.url_history import IntervalPolicy, KnownUrls, Outcome
from crawler.pages.verdicts import INEXACT, NEAR_DUPLICATE, NEW, TOO_SHORT, listed
from crawler.reading.content.content_xml import FROM_LINES, pack_lines
from crawler.storage import meta_names

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from crawler.maintenance.merge.merged_crawls import MergedCrawl
    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.pages.page_row import OriginalPage
    from crawler.pages.shared_verdicts import FleetKeptText
    from crawler.storage.database import Database
    from neardup import Deduplicator


SCRATCH = """
CREATE TABLE scratch.wanted (text_digest BLOB PRIMARY KEY) WITHOUT ROWID;
"""
# Texts of duplicates and of their originals that no page has.
_WANT = """
INSERT OR IGNORE INTO scratch.wanted
SELECT text_digest FROM scratch.named WHERE text_digest IS NOT NULL
UNION SELECT pages.text_digest FROM scratch.named JOIN pages ON pages.id = page
WHERE pages.text_digest IS NOT NULL
EXCEPT SELECT text_digest FROM pages WHERE text IS NOT NULL
"""
_IS_WANTED = "SELECT 1 FROM scratch.wanted WHERE text_digest = ?"

# Those with the same text as their original come first: others may be near to them.
_ORPHANS = f"""
SELECT pages.id FROM ({ORPHANS}) AS orphan JOIN pages ON pages.id = orphan.id
ORDER BY pages.verdict IN ({listed(INEXACT)}), pages.id
"""


@dataclass(frozen=True, slots=True)
class LostOriginals:
    """Judges orphans against all kept pages, as a crawl does whose original changes.

    Args:
        database: Database with all pages, and ``scratch.named``.
        store: Page store of the database.
        deduplicator: Deduplicator of the page store.
        fleet: Pages that a fleet kept, if it can be asked.
    """

    database: Database
    store: PageStore
    deduplicator: Deduplicator
    fleet: FleetPages | None

    def settle(self, watch: CheckWatch) -> list[str]:
        """Find an original for each orphan, or keep it; return the URLs whose text is lost.

        Complexity: O(orphans * log n).
        """
        orphans = self.orphans()
        lent = self.fleet.lend(watch) if self.fleet is not None and orphans else None
        watch.begin("duplicates of originals whose text is stored nowhere", len(orphans))
        lost = []
        for (page_id,) in orphans:
            row = self.store.get(page_id)
            if row is not None and not self._settle(row):
                lost.append(row.url)
            watch.advance()
        if lent is not None:
            self.database.write("DELETE FROM pages WHERE id >= ?", (lent,))
        return lost

    def orphans(self) -> list[tuple[int]]:
        return self.database.read(_ORPHANS).fetchall()

    def _settle(self, row: PageRow) -> bool:
        digest = self._digest_of_original(row)
        repeated = None if digest is None else self.store.find_text(digest, {row.id})
        if repeated is not None:  # it has the text of the named original: nothing else changes
            row.duplicate_of = repeated
            self.store.store_verdict(row)
            return True
        own = self._own(row)
        # Without its own words it has those of its original until it is read again.
        source = own or (None if digest is None else self.store.find_said(digest))
        if source is not None:
            self._judge(row, source, is_own=own is not None)
        return source is not None

    def _digest_of_original(self, row: PageRow) -> bytes | None:
        sql = "SELECT text_digest FROM scratch.named WHERE page = ?"
        return self.database.value(sql, (row.id,))

    def _own(self, row: PageRow) -> PageRow | None:
        """Return the page with its own text, from any place that has it, or None."""
        texts = HeldTexts(self.database.read)
        source = texts.find(row.id, row.text_digest, row.words)
        if source is None:
            return None
        texts.give(found := replace(row), source)
        return found

    def _judge(self, row: PageRow, source: PageRow, *, is_own: bool) -> None:
        document = document_of(source, self.store.volatile.stable(row.url, row.name))
        verdict = self.deduplicator.judge_document(row.id, document, exclude={row.id})
        if not is_own:
            row.verdict = NEAR_DUPLICATE
        if verdict.is_duplicate:
            row.take_verdict(verdict)
        else:
            row.keep(verdict, source, self.deduplicator.parameters.min_words)
            self.store.name_container(row, verdict.parts)
            if not is_own:
                row.payload_digest = None
        self.store.store_verdict(row)


_HAS_PAGE = "SELECT 1 FROM pages WHERE key = ?"


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
class FleetPages:
    """Stores pages that a fleet kept and no merged crawl has.

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
        history = KnownUrls(self.database, IntervalPolicy())
        restored = 0
        async for kept in self.fleet.kept():
            watch.advance()
            page = kept.original
            if self.database.read(_HAS_PAGE, (page.key,)).fetchone() is not None:
                continue
            row = await self._row(store, kept)
            store.insert(row)
            history.note(page.key, row.visit, Outcome(NEW), page.fetched_at)
            restored += 1
        self.database.commit()
        return restored

    def lend(self, watch: CheckWatch) -> int:
        """Store the texts that orphans may need as older versions, behind all other captures.

        Returns:
            The lowest of their ids.

        Complexity: O(texts of the fleet); memory of one.
        """
        self.database.write(_WANT)
        watch.begin("texts of the fleet", 0)
        return asyncio.run(self._lend(watch))

    async def _lend(self, watch: CheckWatch) -> int:
        store = PageStore(self.database)
        first = store.new_id()
        async for kept in self.fleet.kept():
            watch.advance()
            digest = kept.original.text_digest
            if self.database.read(_IS_WANTED, (digest,)).fetchone() is not None:
                row = await self._row(store, kept)
                row.latest = 0
                self.database.write(store.insert_sql, row.values())
        return first

    async def _row(self, store: PageStore, kept: FleetKeptText) -> PageRow:
        page, content = kept.original, await kept.content()
        visit = int(self.database.meta(meta_names.VISIT) or 1)
        row = PageRow(
            id=store.new_id(),
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
