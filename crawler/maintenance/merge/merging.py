"""Merge crawl directories into one: those of a fleet's workers, or of any crawls."""

from __future__ import annotations

import math
import shutil
import sqlite3
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from crawler.maintenance.crawl_directory import CrawlDirectory, made_whole
from crawler.maintenance.merge import fleet_texts, merged_captures, merged_crawls
from crawler.maintenance.merge.fleet_texts import FleetCrawl, fleet_of
from crawler.maintenance.merge.merged_captures import (
    copy_captures,
    end_loan,
    name_originals,
    number_captures,
)
from crawler.maintenance.merge.merged_crawls import MergedCrawl, PartedKeys, blamed, opened
from crawler.maintenance.merge.small_tables import (
    merge_known,
    merge_links,
    merge_meta,
    merge_parameters,
    merge_plain,
    merge_requests,
    merge_url_rules,
)
from crawler.maintenance.rejudge.rejudging import judge_merged
from crawler.maintenance.tally import ALL_PAGES, DUPLICATE_PAGES, KEPT_PAGES
from crawler.maintenance.verify.capture_checks import ORPHANS, queue_orphans
from crawler.maintenance.verify.file_checks import opened_indexes
from crawler.pages.live_parameters import newest
from crawler.pages.page_store import PageStore
from crawler.pages.promotion import Promotion
from crawler.pages.stored_texts import PageDocuments
from crawler.pages.walls import Walls
from crawler.storage import meta_names
from crawler.storage.database import Database
from crawler.storage.errors import CrawlStorageError, DamagedTextError, JobError
from neardup import Deduplicator, Parameters

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawler.maintenance.merge.fleet_texts import FleetRecord
    from crawler.maintenance.rejudge.rejudging import Rejudgement
    from crawler.maintenance.verify.finding import CheckWatch

_SOURCE_OF = "SELECT source FROM scratch.captures WHERE id = ?"
_SCRATCH = merged_captures.SCRATCH + merged_crawls.SCRATCH + fleet_texts.SCRATCH


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of a merge.

    Attributes:
        directories: Number of merged directories.
        pages: Number of URLs.
        kept: Number of kept pages.
        duplicates: Number of pages that repeat a kept one.
        fetched_twice: Number of captures that repeat one of another crawl.
        now_kept: Number of duplicates that are kept now, since no crawl keeps what they repeat.
        now_dropped: Number of pages that are duplicates now, of those that another crawl kept.
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
    now_kept: int
    now_dropped: int
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

    Complexity: O(n log n) for n captures, and one judgement for each page; memory of the indexes.
    """
    with opened(folders) as sources, made_whole(folder) as part, ExitStack() as stack:
        database = Database(part)
        try:
            merging = _Merging(database, part, sources, watch)
            merged = merging.merge(fleet, stack)
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
        fleet: Crawl directory of what only the fleet has; likewise.
    """

    def __init__(
        self, database: Database, part: Path, sources: Sequence[MergedCrawl], watch: CheckWatch
    ) -> None:
        self._database = database
        self._part = part
        self._sources = [*sources]
        self._watch = watch
        self._scratch, self._fleet = part / "scratch.db", part / "fleet"
        database.sort_in("FILE")
        database.read("ATTACH DATABASE ? AS scratch", (str(self._scratch),))
        database.read("PRAGMA scratch.journal_mode = OFF")
        database.read("PRAGMA scratch.synchronous = OFF")
        for statement in filter(str.strip, _SCRATCH.split(";")):
            database.write(statement)

    def merge(self, fleet: FleetRecord | None, stack: ExitStack) -> Merged:
        database, sources, watch = self._database, self._sources, self._watch
        visit = merge_meta(database, sources)
        missing = {} if fleet is None else fleet.missing(sources)
        directories, restored = len(sources), 0
        if fleet is not None:
            kept = FleetCrawl(self._fleet, fleet, tuple(sources), database)
            restored = kept.make(watch, restores=bool(missing))
            directory = stack.enter_context(closing(CrawlDirectory(self._fleet)))
            sources.append(MergedCrawl(directories, self._fleet, directory.connection, {}, 0))
        parted = PartedKeys(database, sources)
        merge_parameters(database, sources)
        number_captures(database, sources, parted, watch)
        merge_url_rules(database, sources, parted)
        merge_plain(database, sources)
        copy_captures(database, sources, watch)
        merge_links(database, sources, watch)
        merge_known(database, sources, watch)
        merge_requests(database, sources, visit, parted, watch)
        name_originals(database)
        judged, lost = self._judge()
        twice = "SELECT count(*) FROM scratch.captures WHERE same_as IS NOT NULL"
        return Merged(
            directories=directories,
            pages=database.value(ALL_PAGES) or 0,
            kept=database.value(KEPT_PAGES) or 0,
            duplicates=database.value(DUPLICATE_PAGES) or 0,
            fetched_twice=database.value(twice) or 0,
            now_kept=0 if judged is None else judged.now_kept,
            now_dropped=0 if judged is None else judged.now_dropped,
            lost=tuple(lost),
            queued=bool(lost) and database.meta(meta_names.PLAN) is not None,
            missing=missing,
            restored=restored,
            unasked_fleet=fleet_of(sources) if fleet is None else None,
        )

    def _judge(self) -> tuple[Rejudgement | None, list[str]]:
        """Judge all pages together; return also the URLs of duplicates whose text is lost."""
        database = self._database
        database.commit()
        with closing(CrawlDirectory(self._part)) as directory:
            try:
                judged, lost = judge_merged(directory, database, self._watch)
            except DamagedTextError as error:
                number = database.value(_SOURCE_OF, (error.page,)) or 0
                folder = self._sources[number].folder
                if folder == self._fleet:
                    raise JobError(f"--redis: {error}; merge without it lacks the text") from None
                raise error.of(folder) from None
            if self._sources[-1].folder == self._fleet:
                end_loan(database, len(self._sources) - 1)
            database.commit()
            self._give_wall_verdicts()
            orphans = [str(url) for _, url in database.read(ORPHANS)]
            queue_orphans(database)
            database.commit()
        return judged, list(dict.fromkeys([*lost, *orphans]))

    def _give_wall_verdicts(self) -> None:
        """Make the indexes; one of the crawls may not have recognised the text of a wall yet."""
        database, tuned = self._database, newest(self._database.read)
        parameters = Parameters() if tuned is None else tuned.parameters
        store = PageStore(database)
        self._watch.begin("fingerprint index", 0)
        with opened_indexes(self._part, store, parameters) as opened:
            deduplicator = Deduplicator(
                parameters,
                documents=PageDocuments(store),
                index=opened.fingerprints,
                signatures=opened.signatures,
                passages=opened.passages,
            )
            promotion = Promotion(store, deduplicator, 0 if tuned is None else tuned.id)
            Walls(store, deduplicator, promotion).verdicts.go_on(math.inf)
            database.commit()
            deduplicator.flush()

    def close(self) -> None:
        self._database.commit()
        self._database.read("DETACH DATABASE scratch")
        self._scratch.unlink()
        shutil.rmtree(self._fleet, ignore_errors=True)
