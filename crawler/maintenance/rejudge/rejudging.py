"""Judge all pages of a crawl again, with its present parameters, and write the changes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from crawler.maintenance.rejudge.new_verdicts import Rejudge
from crawler.maintenance.verify.file_checks import make_indexes, remove_fingerprints
from crawler.maintenance.verify.finding import MAX_EXAMPLES
from crawler.pages.live_parameters import newest
from crawler.pages.page_row import highest_id
from crawler.pages.verdicts import KEPT, WALLS
from crawler.pages.wall_clusters import WallClusters, wall_at
from crawler.storage import meta_names
from crawler.storage.database import FILE_NAME, Database
from crawler.storage.errors import DamagedTextError, JobError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.pages.live_parameters import Tuned


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
        JobError: No page was crawled, no wall answered at a URL, a text cannot be read, or the
            directory cannot be written.
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
    freed = [_wall_at(directory, url) for url in no_walls]
    try:
        if dry_run:
            return _tried(directory, watch, tuned, freed)
        return _rejudged(directory, watch, tuned, freed)
    except DamagedTextError as error:
        raise error.of(directory.folder) from None


def judge_merged(
    directory: CrawlDirectory, database: Database, watch: CheckWatch
) -> tuple[Rejudgement | None, list[str]]:
    """Judge all captures of a new directory.

    Args:
        directory: New directory, whose indexes are not made yet.
        database: Its database, for writing, with all captures committed.
        watch: Callbacks for progress.

    Returns:
        What came of it, None where no parameters are known, and the URLs whose text is lost.

    Raises:
        DamagedTextError: A text cannot be read.
    """
    if (tuned := newest(directory.connection.execute)) is None:
        return None, []
    try:
        judging = Rejudge(directory, database, tuned)
        found, _ = _judge(judging, directory, database, watch)
        return found, [judging.judged(page_id).url for page_id in sorted(judging.awaited)]
    finally:
        directory.connection.execute("ROLLBACK")


def judge_again(
    directory: CrawlDirectory, database: Database, watch: CheckWatch, doubted: Collection[int]
) -> int:
    """Judge pages again in a repair, which commits and makes the indexes; count changed rows.

    All others stay, by whichever parameters they were made.

    Args:
        directory: Crawl directory, open in no other process.
        database: Its database, for writing; what it has not committed is not seen.
        watch: Callbacks for progress.
        doubted: Pages with a wrong verdict or original.
    """
    if (tuned := newest(directory.connection.execute)) is None:
        return 0
    database.write("SAVEPOINT repaired")
    judging = Rejudge(directory, database, tuned)
    try:
        judging.judge_doubted(watch, doubted)
    except DamagedTextError:  # it could not be queued: it is told, and nothing judged by it
        database.write("ROLLBACK TO repaired")
        return 0
    finally:
        directory.connection.execute("ROLLBACK")
    return len(judging.written)


def _wall_at(directory: CrawlDirectory, url: str) -> int:
    """Return the number of the wall that answered at a URL."""
    cluster = wall_at(directory.connection.execute, url)
    if cluster is None:
        hint = f"crawl-once report {directory.folder} names one of each wall"
        raise JobError(f"{url}: neither a wall nor a soft 404 answered there; {hint}")
    return cluster


def _judge(
    judging: Rejudge, directory: CrawlDirectory, database: Database, watch: CheckWatch
) -> tuple[Rejudgement, bool]:
    """Judge all pages in the open transaction; return also whether any row was changed."""
    judging.judge(watch)
    database.write("DELETE FROM host_blocks")  # by those that were counted the verdicts were made
    for row in directory.connection.execute("SELECT * FROM temp.host_blocks"):
        database.write("INSERT INTO host_blocks VALUES (?, ?, ?, ?, ?)", tuple(row))
    database.set_meta(meta_names.COUNTED_PAGE, str(highest_id(database.read)))
    database.set_meta(meta_names.BOILERPLATE_GROWN, "0")
    found = _compared(judging, directory)
    return found, bool(judging.written) | bool(judging.name_parameters())


def _compared(judging: Rejudge, directory: CrawlDirectory) -> Rejudgement:
    """Compare the verdicts before and after."""
    before = kept = freed = otherwise = 0
    now_kept, now_dropped, freed_kept = list[str](), list[str](), list[str]()
    for page in judging.pages():
        judged = judging.judged(page.id) if page.id in judging.written else page
        was_kept, is_kept = page.verdict in KEPT, judged.verdict in KEPT
        before, kept = before + was_kept, kept + is_kept
        if page.verdict in WALLS:
            freed += 1
            freed_kept += [page.url] * is_kept
        elif was_kept != is_kept:
            (now_kept if is_kept else now_dropped).append(page.url)
        else:
            otherwise += judged != page and page.id not in judging.awaited
    return Rejudgement(
        judging.tuned.id,
        judged=judging.count,
        kept_before=before,
        kept=kept,
        now_kept=len(now_kept),
        now_dropped=len(now_dropped),
        to_fetch=len(judging.awaited),
        otherwise=otherwise,
        can_fetch=directory.plan is not None,
        freed=freed,
        freed_kept=len(freed_kept),
        freed_examples=tuple(freed_kept[:MAX_EXAMPLES]),
        kept_examples=tuple(now_kept[:MAX_EXAMPLES]),
        dropped_examples=tuple(now_dropped[:MAX_EXAMPLES]),
    )


def _tried(
    directory: CrawlDirectory, watch: CheckWatch, tuned: Tuned, freed: Sequence[int]
) -> Rejudgement:
    """Judge all pages of a copy of the database, which may be that of a backup."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        try:
            directory.connection.execute("VACUUM INTO ?", (str(folder / FILE_NAME),))
        except sqlite3.Error as error:
            place = f"cannot be copied into {folder.parent} (TMPDIR)"
            raise JobError(f"{directory.folder}: {place}: {error}") from None
        with closing(Database(folder)) as database:
            judging = Rejudge(directory, database, tuned, freed=freed)
            found, _ = _judge(judging, directory, database, watch)
            database.fail("a dry run")
    return found


def _rejudged(
    directory: CrawlDirectory, watch: CheckWatch, tuned: Tuned, freed: Sequence[int]
) -> Rejudgement:
    database = Database(directory.folder)
    try:
        judging = Rejudge(directory, database, tuned, freed=freed)
        found, is_changed = _judge(judging, directory, database, watch)
        for cluster in freed:
            WallClusters(database).set_page(cluster)
        if not is_changed:
            database.commit()
            return found
        # Before the commit: what is missing is made again, what is wrong might be used.
        remove_fingerprints(directory.index)
        if found.to_fetch:
            directory.bloom.unlink(missing_ok=True)
        database.commit()
        make_indexes(directory.folder, database)
    except BaseException:
        database.fail("judging again was interrupted")
        raise
    finally:
        database.close()
    return found
