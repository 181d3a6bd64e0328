"""Merge crawl directories into one: those of a fleet's workers, or of any crawls."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.maintenance.merge import lost_originals, merged_captures, merged_crawls
from crawler.maintenance.merge.lost_originals import FleetPages, LostOriginals, fleet_of
from crawler.maintenance.merge.merged_captures import Copier, name_originals, number_captures
from crawler.maintenance.merge.merged_crawls import PartedKeys, blamed, made_whole, opened
from crawler.maintenance.merge.small_tables import (
    merge_known,
    merge_links,
    merge_meta,
    merge_name_slots,
    merge_parameters,
    merge_requests,
    merge_url_rules,
    merge_walls,
)
from crawler.maintenance.verify.capture_checks import queue_orphans
from crawler.maintenance.verify.file_checks import opened_indexes
from crawler.maintenance.verify.finding import Repairer
from crawler.pages.boilerplate import CountedBoilerplate
from crawler.pages.live_parameters import newest
from crawler.pages.page_row import to_unsigned
from crawler.pages.page_store import PageStore
from crawler.pages.promotion import Promotion
from crawler.pages.reasons import Reason, detail_of, without
from crawler.pages.stored_texts import PageDocuments
from crawler.pages.verdicts import (
    CHANGED,
    CONTAINED,
    KEPT,
    PART_OF_NOTHING,
    SAME_TEMPLATE,
    listed,
)
from crawler.pages.walls import Walls
from crawler.storage import meta_names
from crawler.storage.database import Database
from crawler.storage.errors import CrawlStorageError
from neardup import Deduplicator, Parameters, hamming

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawler.maintenance.merge.lost_originals import FleetRecord
    from crawler.maintenance.merge.merged_crawls import MergedCrawl
    from crawler.maintenance.verify.finding import CheckWatch

_SCRATCH = "".join(
    (
        merged_captures.SCRATCH,
        merged_crawls.SCRATCH,
        lost_originals.SCRATCH,
        "CREATE TABLE scratch.resembled (page INTEGER PRIMARY KEY, url TEXT NOT NULL);",
    )
)
_COUNTS = """
SELECT count(*), coalesce(sum(text IS NOT NULL), 0),
       coalesce(sum(duplicate_of IS NOT NULL), 0)
FROM pages WHERE latest = 1
"""


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of a merge.

    Attributes:
        directories: Number of merged directories.
        pages: Number of URLs.
        kept: Number of kept pages.
        duplicates: Number of pages that repeat a kept one.
        fetched_twice: Number of captures that repeat one of another crawl.
        orphans: Number of duplicates without an original that were judged again.
        lost: URLs of duplicates whose text is lost.
        queued: Whether the lost ones are queued to be fetched again.
        missing: Pages that workers of the fleet fetched whose directory is missing, by their name.
        restored: Number of pages of those workers that come from the texts of the fleet.
        unasked_fleet: Name of the fleet of the workers, where its Redis was not asked.
    """

    directories: int
    pages: int
    kept: int
    duplicates: int
    fetched_twice: int
    orphans: int
    lost: tuple[str, ...]
    queued: bool
    missing: dict[str, int]
    restored: int
    unasked_fleet: str | None

    @property
    def is_whole(self) -> bool:
        """Whether all is there that the crawls and their fleet had."""
        return not self.lost and not self.missing

    def to_dict(self) -> dict[str, Any]:
        """Return the output of ``crawl-once merge --json``."""
        return asdict(self)


def merge(
    folder: Path,
    folders: Sequence[Path],
    watch: CheckWatch,
    fleet: FleetRecord | None = None,
) -> Merged:
    """Make one crawl directory of many, which are not changed.

    Args:
        folder: New directory, which appears when it is whole.
        folders: Crawl directories, open in no other process.
        watch: Callbacks for progress.
        fleet: Record of the fleet, for originals and workers that are missing from the crawls.

    Raises:
        JobError: One of the directories cannot be used, or they do not go together.
        CrawlStorageError: The disk is full.

    Complexity: O(n log n) for n captures; memory of some thousand pages, whatever their number.
    """
    with opened(folders) as sources, made_whole(folder) as part:
        database = Database(part)
        try:
            merging = _Merging(database, part, sources, watch)
            merged = merging.merge(fleet)
            merging.close()
        except BaseException as error:
            database.fail("merging was interrupted")
            if isinstance(error, sqlite3.Error | CrawlStorageError):
                raise blamed(sources, error) from error
            raise
        finally:
            database.close()
        return merged


class _Merging:
    """Fills the database of a directory, each table after those that it depends on.

    Files:
        scratch.db: Facts of all captures; deleted at the end.
    """

    def __init__(
        self, database: Database, part: Path, sources: Sequence[MergedCrawl], watch: CheckWatch
    ) -> None:
        self._database = database
        self._part = part
        self._sources = sources
        self._watch = watch
        self._scratch = part / "scratch.db"
        database.sort_in("FILE")
        database.read("ATTACH DATABASE ? AS scratch", (str(self._scratch),))
        database.read("PRAGMA scratch.journal_mode = OFF")
        database.read("PRAGMA scratch.synchronous = OFF")
        for statement in filter(str.strip, _SCRATCH.split(";")):
            database.write(statement)

    def merge(self, fleet: FleetRecord | None) -> Merged:
        database, sources, watch = self._database, self._sources, self._watch
        visit = merge_meta(database, sources)
        parted = PartedKeys(database, sources)
        parameters = merge_parameters(database, sources)
        count = number_captures(database, sources, parted, watch)
        merge_url_rules(database, sources, parted)
        merge_walls(database, sources)
        merge_name_slots(database, sources)
        Copier(database, sources, parameters, parted).copy(count, watch)
        merge_links(database, sources, parted, watch)
        merge_known(database, sources, parted, watch)
        merge_requests(database, sources, visit, parted, watch)
        missing = {} if fleet is None else fleet.missing(sources)
        restored, fleet_pages = 0, None
        if fleet is not None:
            fleet_pages = FleetPages(database, fleet, self._tuned.min_words)
            restored = fleet_pages.restore(watch) if missing else 0
        name_originals(database)
        orphans, lost = self._settle_orphans(fleet_pages)
        name_resembled(database)
        twice = "SELECT count(*) FROM scratch.captures WHERE same_as IS NOT NULL"
        pages, held, duplicates = database.read(_COUNTS).fetchone()
        return Merged(
            directories=len(sources),
            pages=pages,
            kept=held,
            duplicates=duplicates,
            fetched_twice=int(database.read(twice).fetchone()[0]),
            orphans=orphans,
            lost=tuple(lost),
            queued=bool(lost) and database.meta(meta_names.PLAN) is not None,
            missing=missing,
            restored=restored,
            unasked_fleet=fleet_of(sources) if fleet is None else None,
        )

    @property
    def _tuned(self) -> Parameters:
        tuned = newest(self._database.read)
        return Parameters() if tuned is None else tuned.parameters

    def _settle_orphans(self, fleet: FleetPages | None) -> tuple[int, list[str]]:
        """Make the indexes, and judge the duplicates without an original by them."""
        database = self._database
        tuned = newest(database.read)
        parameters = self._tuned
        store = PageStore(database)
        database.commit()
        self._watch.begin("fingerprint index", 0)
        with opened_indexes(self._part, store, parameters) as opened:
            deduplicator = Deduplicator(
                parameters,
                documents=PageDocuments(store),
                index=opened.fingerprints,
                signatures=opened.signatures,
                passages=opened.passages,
            )
            originals = LostOriginals(database, store, deduplicator, fleet)
            found = len(originals.orphans())
            lost = originals.settle(self._watch)
            promotion = Promotion(store, deduplicator, 0 if tuned is None else tuned.id)
            # One of the crawls may not have recognised the text of a wall yet.
            Walls(store, deduplicator, promotion).verdicts.go_on(math.inf)
            CountedBoilerplate.opened(database).save(database)
            database.commit()
            deduplicator.flush()
        if lost:
            with closing(CrawlDirectory(self._part)) as directory:
                queue_orphans(Repairer(directory, database))
            database.commit()
        return found - len(lost), lost

    def close(self) -> None:
        self._database.commit()
        self._database.read("DETACH DATABASE scratch")
        self._scratch.unlink()


# Two crawls kept the same text: the later page is a duplicate now, and resembles nothing.
_DUPLICATES_RESEMBLE_NOTHING = f"""
UPDATE pages SET resembles = NULL
WHERE resembles IS NOT NULL AND verdict NOT IN ('{SAME_TEMPLATE}', '{CHANGED}')
"""
_RESEMBLE_ORIGINALS = """
UPDATE pages SET resembles = kept.duplicate_of FROM pages AS kept
WHERE kept.id = pages.resembles AND kept.duplicate_of IS NOT NULL
"""
# Of equal texts one stays, and each part of it is a part of that one.
_PARTS_OF_ORIGINALS = """
UPDATE pages SET part_of = kept.duplicate_of FROM pages AS kept
WHERE kept.id = pages.part_of AND kept.duplicate_of IS NOT NULL
"""
_PARTS_OF_NOTHING = f"""
{PART_OF_NOTHING}
WHERE (part_of IS NOT NULL OR containment IS NOT NULL) AND verdict <> '{CONTAINED}'
  AND (verdict NOT IN ({listed(KEPT)}) OR part_of IS NULL OR part_of = id
       OR key = (SELECT key FROM pages AS whole WHERE whole.id = pages.part_of))
"""
_ELSEWHERE = f"""
SELECT id, reason FROM pages
WHERE verdict = '{SAME_TEMPLATE}' AND resembles IS NULL AND latest = 1 AND reason IS NOT NULL
"""
_HERE = """
SELECT pages.id, pages.reason, pages.distance, pages.fingerprint, kept.id, kept.fingerprint
FROM scratch.resembled JOIN pages ON pages.id = resembled.page
JOIN pages AS kept ON kept.url = resembled.url AND kept.latest = 1 AND kept.text IS NOT NULL
"""


def name_resembled(database: Database) -> None:
    """Set the resembled page of each page that crawls of a fleet knew by its URL alone.

    A page that has another text by now, as its fingerprint tells, is not named. A part of a page
    that is a duplicate now is one of its original.

    Complexity: O(pages * log n).
    """
    for sql in (
        _DUPLICATES_RESEMBLE_NOTHING,
        _RESEMBLE_ORIGINALS,
        _PARTS_OF_ORIGINALS,
        _PARTS_OF_NOTHING,
    ):
        database.write(sql)
    for page, reason in database.read(_ELSEWHERE).fetchall():
        url = detail_of(reason, Reason.RESEMBLES)
        if url is not None:
            database.write("INSERT INTO scratch.resembled VALUES (?, ?)", (page, url))
    for page, reason, distance, fingerprint, kept, other in database.read(_HERE).fetchall():
        one, two = to_unsigned(fingerprint), to_unsigned(other)
        if one is not None and two is not None and hamming(one, two) == distance:
            database.write(
                "UPDATE pages SET resembles = ?, reason = ? WHERE id = ?",
                (kept, without(reason, Reason.RESEMBLES), page),
            )
    database.commit()
