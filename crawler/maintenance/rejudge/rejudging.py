"""Judge all pages of a crawl again, with its present parameters, and write the changes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from zstandard import ZstdError

from crawler.maintenance.rejudge.new_verdicts import JUDGED, JudgedRow, Rejudge
from crawler.maintenance.verify.file_checks import (
    FINGERPRINTS,
    make_bloom,
    make_indexes,
    remove_indexes,
)
from crawler.maintenance.verify.finding import MAX_EXAMPLES, QueueAgain
from crawler.pages.judge import is_better
from crawler.pages.live_parameters import newest
from crawler.pages.page_row import to_unsigned
from crawler.pages.page_store import PUT_NEAR_TEXT, PageStore
from crawler.pages.reasons import Reason, without
from crawler.pages.stored_texts import HeldTexts, TextSource
from crawler.pages.verdicts import INEXACT, KEPT, NEW, SAME_TEMPLATE, TOO_SHORT, WALLS, listed
from crawler.pages.wall_clusters import WallClusters
from crawler.storage import meta_names
from crawler.storage.database import Database
from crawler.storage.errors import JobError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.pages.live_parameters import Tuned
    from crawler.pages.page_row import PageRow

DIFFERS = """
FROM temp.judged JOIN pages ON pages.id = judged.id
WHERE pages.verdict IS NOT judged.verdict OR pages.duplicate_of IS NOT judged.original
   OR pages.resembles IS NOT judged.resembles OR pages.part_of IS NOT judged.part_of
   OR pages.containment IS NOT judged.containment
   OR pages.distance IS NOT judged.distance OR pages.similarity IS NOT judged.similarity
   OR source IS NOT NULL AND (pages.text_digest IS NOT judged.text_digest
      OR pages.fingerprint IS NOT judged.fingerprint)
   OR is_awaited
"""
_NAME = f"""
UPDATE pages SET parameters = ?1
WHERE {JUDGED} AND parameters IS NOT ?1 AND text_digest IS NOT NULL
"""

_WALL_AT = f"""
SELECT cluster FROM wall_pages JOIN pages ON pages.id = wall_pages.page
WHERE url = ? AND verdict IN ({listed(WALLS)}) ORDER BY latest DESC, id DESC
"""

_WAS_KEPT = f"(pages.verdict IN ({listed(KEPT)}))"
_WAS_WALL = f"(pages.verdict IN ({listed(WALLS)}))"
_NOW_KEPT = f"NOT {_WAS_KEPT} AND NOT {_WAS_WALL} AND judged.original IS NULL"
_FREED_KEPT = f"{_WAS_WALL} AND judged.original IS NULL"
_NOW_DROPPED = f"{_WAS_KEPT} AND judged.original IS NOT NULL"
_COUNTS = f"""
SELECT count(*),
       coalesce(sum({_WAS_KEPT}), 0),
       coalesce(sum(judged.original IS NULL), 0),
       coalesce(sum({_NOW_KEPT}), 0),
       coalesce(sum({_NOW_DROPPED}), 0),
       coalesce(sum(is_awaited), 0),
       coalesce(sum({_WAS_WALL}), 0),
       coalesce(sum({_FREED_KEPT}), 0)
FROM temp.judged JOIN pages ON pages.id = judged.id
"""
_URLS = """
SELECT pages.url FROM temp.judged JOIN pages ON pages.id = judged.id
WHERE {} ORDER BY pages.id LIMIT ?
"""
# An original, a distance or the name of a verdict is another one; the page is what it was.
_OTHERWISE = f"""
SELECT count(*) {DIFFERS.replace("WHERE", "WHERE (")})
   AND NOT is_awaited AND NOT {_WAS_WALL} AND {_WAS_KEPT} = (judged.original IS NULL)
"""

# The facts of a page for learned URL rules: its original, and the similarity to it.
_GROUPS = f"""
UPDATE url_groups SET kept = coalesce(pages.duplicate_of, pages.id),
    words = coalesce(iif(pages.words AND verdict <> '{SAME_TEMPLATE}', words_digest, text_digest),
                     url_groups.words),
    similarity = CASE WHEN pages.duplicate_of IS NULL THEN 1.0
                 ELSE coalesce(pages.similarity, 0.0) END
FROM pages WHERE pages.id = url_groups.page AND url_groups.kept IS NOT NULL
    AND pages.is_main IS NOT NULL
"""


class Application:
    """Writes new verdicts, and moves texts to their new places.

    Args:
        connection: Connection with the verdicts, and a view of the database from that time.
        database: The same database, for writing.
        can_queue: Whether a page whose text is lost can be fetched again.
    """

    def __init__(
        self, connection: sqlite3.Connection, database: Database, *, can_queue: bool
    ) -> None:
        self._connection = connection
        self._database = database
        self._texts = HeldTexts(connection.execute)
        self._store = PageStore(database)
        self._can_queue = can_queue
        self._queue: QueueAgain | None = None

    def apply(self, parameters: int, watch: CheckWatch) -> int:
        """Write all changes, and return the number of rows to write.

        Args:
            parameters: ``parameters.id`` of the new verdicts.
            watch: Callbacks for progress.
        """
        self._apply_counts()
        total = self.write(watch)
        return total + self._database.write(_NAME, (parameters,)).rowcount

    def write(self, watch: CheckWatch) -> int:
        """Write the verdicts that differ, and return their number."""
        total = self._connection.execute(f"SELECT count(*) {DIFFERS}").fetchone()[0]
        watch.begin("verdicts written", int(total))
        for values in self._connection.execute(f"SELECT judged.* {DIFFERS} ORDER BY judged.id"):
            self._write(JudgedRow._make(values))
            watch.advance()
        if total:
            self._database.write(_GROUPS)
        return int(total)

    def _apply_counts(self) -> None:
        """Write the counts of boilerplate by which the verdicts were made."""
        self._database.write("DELETE FROM host_blocks")
        for row in self._connection.execute("SELECT * FROM temp.host_blocks"):
            self._database.write("INSERT INTO host_blocks VALUES (?, ?, ?, ?, ?)", tuple(row))
        last = self._connection.execute("SELECT coalesce(max(id), 0) FROM pages").fetchone()[0]
        self._database.set_meta(meta_names.COUNTED_PAGE, str(last))
        self._database.set_meta(meta_names.BOILERPLATE_GROWN, "0")

    def _write(self, judged: JudgedRow) -> None:
        row = self._store.get(judged.id)
        assert row is not None
        if row.verdict in WALLS:
            row.reason = None
        row.verdict, row.duplicate_of = judged.verdict, judged.original
        row.resembles, row.reason = judged.resembles, without(row.reason, Reason.RESEMBLES)
        row.part_of, row.containment = judged.part_of, judged.containment
        row.distance, row.similarity = judged.distance, judged.similarity
        kept = None if judged.original is None else self._store.get(judged.original)
        row.better_copy = int(kept is not None and is_better(row, kept))
        if judged.is_awaited:
            # A near-duplicate whose original is gone has no digests: it is read at its next visit.
            row.text_digest = row.payload_digest = None
        elif judged.source is not None:
            row.text_digest = judged.text_digest
            row.fingerprint = to_unsigned(judged.fingerprint)
            self._move_text(row, TextSource(judged.source, judged.is_near))
        self._store.store_verdict(row)
        if judged.is_awaited and self._can_queue:
            self._queue = self._queue or QueueAgain(self._database)
            self._queue.push_url(row.url, row.key, row.depth)

    def _move_text(self, row: PageRow, source: TextSource) -> None:
        """Move the text of a kept page to its row, that of a duplicate to ``near_texts``."""
        if row.duplicate_of is None:
            self._texts.give(row, source)
        elif source.page == row.id or row.verdict in INEXACT:
            # For one with words of its own also if another page has the same text: that may change.
            if source != TextSource(row.id, 1):
                self._texts.give(row, source)
                self._database.write(PUT_NEAR_TEXT, (row.id, row.text, row.content))
            row.hold(None)


@dataclass(frozen=True, slots=True)
class Rejudgement:
    """The result of judging all pages again, also of a dry run.

    Attributes:
        parameters: ``parameters.id`` of the new verdicts.
        judged: Number of pages that were judged.
        kept_before: Number of kept pages before.
        kept: Number of kept pages now.
        now_kept: Number of pages that were duplicates and are kept now.
        now_dropped: Number of pages that were kept and are duplicates now.
        otherwise: Number of pages with another change: of original, verdict or distance.
        to_fetch: Number of pages whose text is lost, so that they must be fetched again.
        can_fetch: Whether they can be queued; not if the spider is none of ours.
        freed: Number of pages that were walls or soft 404s, and are judged by their texts now.
        freed_kept: Number of those that are kept now; the others are duplicates.
        freed_examples: URLs of some walls or soft 404s that are kept now.
        kept_examples: URLs of some duplicates that are kept now.
        dropped_examples: URLs of some that are dropped now.
    """

    parameters: int
    judged: int
    kept_before: int
    kept: int
    now_kept: int
    now_dropped: int
    to_fetch: int
    otherwise: int
    can_fetch: bool
    freed: int
    freed_kept: int
    freed_examples: tuple[str, ...]
    kept_examples: tuple[str, ...]
    dropped_examples: tuple[str, ...]

    @property
    def changes(self) -> int:
        return self.now_kept + self.now_dropped + self.otherwise + self.to_fetch + self.freed

    def to_dict(self) -> dict[str, Any]:
        """Return the output of ``crawl-once rejudge --json``."""
        return asdict(self)


def rejudge(
    directory: CrawlDirectory,
    watch: CheckWatch,
    *,
    dry_run: bool = False,
    no_walls: Sequence[str] = (),
) -> Rejudgement:
    """Judge all newest captures again in the order of the crawl, and write the changes.

    ``crawl.db`` changes in one transaction: a process that ends before its end has changed nothing.

    Args:
        directory: Crawl directory, open in no other process.
        watch: Callbacks for progress.
        dry_run: Whether to change nothing.
        no_walls: URLs at which something was taken for a wall or a soft 404 and is none. All pages
            with that text are judged, and it is never taken for one again.

    Raises:
        JobError: No page was crawled, no wall answered at a URL, or the directory cannot be
            written.
        NearDupError: There are foreign files in the folder of the index.
    """
    tuned = newest(directory.connection.execute)
    if tuned is None:
        raise JobError(f"{directory.folder}: no crawl has begun in it yet")
    if directory.count("SELECT count(*) FROM elsewhere"):
        raise JobError(
            f"{directory.folder}: one crawl of a fleet: others hold originals of its pages; make "
            f"one of all (crawl-once merge {directory.folder} DIR ... OUT) and judge that again"
        )
    can_queue = directory.plan is not None
    freed = [_wall_at(directory, url) for url in no_walls]
    Rejudge(directory.connection, tuned.parameters, can_queue=can_queue, freed=freed).judge(watch)
    found = _counted(directory, tuned)
    if not dry_run:
        _apply(directory, tuned, watch, queues=bool(found.to_fetch), freed=freed)
    return found


def judge_again(
    directory: CrawlDirectory, database: Database, watch: CheckWatch, doubted: Collection[int]
) -> int:
    """Judge pages again in a repair, which commits and makes the indexes; count written rows.

    All are judged, and of the verdicts only those of the doubted pages and their duplicates count:
    others stay, by whichever parameters they were made. No page that was kept by others becomes a
    near-duplicate, and one whose original the repair does not keep is kept itself.

    Args:
        directory: Crawl directory, open in no other process.
        database: Its database, for writing; what it has not committed is not seen.
        watch: Callbacks for progress.
        doubted: Pages with a wrong verdict or original.
    """
    connection, can_queue = directory.connection, directory.plan is not None
    if (tuned := newest(connection.execute)) is None:
        return 0
    try:
        Rejudge(connection, tuned.parameters, can_queue=can_queue).judge(watch)
        connection.execute(_OTHERS, (json.dumps(list(doubted)),))
        connection.execute(_KEPT_BY_OTHERS, (tuned.id,))
        connection.execute(_KEPT_ITSELF)
        return Application(connection, database, can_queue=can_queue).write(watch)
    except ZstdError:  # of a text that could not be queued: it is told, and nothing judged by it
        return 0
    finally:
        connection.execute("ROLLBACK")


_OTHERS = """
DELETE FROM temp.judged WHERE id NOT IN (SELECT value FROM json_each(?1)) AND id NOT IN
    (SELECT id FROM pages WHERE duplicate_of IN (SELECT value FROM json_each(?1)))
"""
_KEPT_BY_OTHERS = f"""
DELETE FROM temp.judged WHERE verdict IN ({listed(INEXACT)}) AND id IN
    (SELECT id FROM pages WHERE verdict IN ({listed(KEPT)}) AND parameters IS NOT ?)
"""
_KEPT_ITSELF = f"""
UPDATE temp.judged SET verdict = iif(fingerprint IS NULL, '{TOO_SHORT}', '{NEW}'),
    original = NULL, distance = NULL, similarity = NULL
WHERE original IS NOT NULL AND source IS NOT NULL
  AND original NOT IN (SELECT id FROM temp.judged WHERE original IS NULL)
  AND original NOT IN (SELECT id FROM pages WHERE latest = 1 AND text IS NOT NULL
                       EXCEPT SELECT id FROM temp.judged)
"""


def _wall_at(directory: CrawlDirectory, url: str) -> int:
    """Return the number of the wall that answered at a URL."""
    row = directory.connection.execute(_WALL_AT, (url,)).fetchone()
    if row is None:
        hint = f"crawl-once report {directory.folder} names one of each wall"
        raise JobError(f"{url}: neither a wall nor a soft 404 answered there; {hint}")
    return int(row[0])


def _counted(directory: CrawlDirectory, tuned: Tuned) -> Rejudgement:
    connection = directory.connection
    counts = connection.execute(_COUNTS).fetchone()
    judged, before, kept, now_kept, dropped, to_fetch, freed, freed_kept = counts
    return Rejudgement(
        tuned.id,
        judged=judged,
        kept_before=before,
        kept=kept,
        now_kept=now_kept,
        now_dropped=dropped,
        to_fetch=to_fetch,
        otherwise=connection.execute(_OTHERWISE).fetchone()[0],
        can_fetch=directory.plan is not None,
        freed=freed,
        freed_kept=freed_kept,
        freed_examples=_examples(connection, _FREED_KEPT),
        kept_examples=_examples(connection, _NOW_KEPT),
        dropped_examples=_examples(connection, _NOW_DROPPED),
    )


def _examples(connection: sqlite3.Connection, condition: str) -> tuple[str, ...]:
    rows = connection.execute(_URLS.format(condition), (MAX_EXAMPLES,))
    return tuple(str(url) for (url,) in rows)


def _apply(
    directory: CrawlDirectory,
    tuned: Tuned,
    watch: CheckWatch,
    *,
    queues: bool,
    freed: Sequence[int],
) -> None:
    database = Database(directory.folder)
    try:
        can_queue = directory.plan is not None
        application = Application(directory.connection, database, can_queue=can_queue)
        for cluster in freed:
            WallClusters(database).set_page(cluster)
        if not application.apply(tuned.id, watch):
            database.commit()
            return
        # Before the commit: a missing index is made again, a wrong one might be used.
        remove_indexes(directory.folder, [FINGERPRINTS])
        has_bloom = queues and directory.bloom.exists()
        if has_bloom:
            directory.bloom.unlink()
        database.commit()
        make_indexes(directory, database)
        if has_bloom:
            make_bloom(directory.bloom, database)
    except BaseException:
        database.fail("judging again was interrupted")
        raise
    finally:
        database.close()
