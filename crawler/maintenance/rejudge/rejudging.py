"""All pages of a crawl judged again, with the parameters that hold now."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import zstandard

from crawler.maintenance.rejudge.applying import DIFFERS, Application
from crawler.maintenance.rejudge.new_verdicts import Judge
from crawler.maintenance.verify.rebuilding import make_bloom, make_index, remove_index
from crawler.pages.live_parameters import current
from crawler.storage.database import Database
from crawler.storage.errors import JobError

if TYPE_CHECKING:
    from crawler.maintenance.verify.directory_checks import CrawlDirectory
    from crawler.maintenance.verify.finding import Watch
    from crawler.pages.live_parameters import Tuned

MOST_EXAMPLES = 5

_COUNTS = """
SELECT count(*),
       coalesce(sum(pages.duplicate_of IS NULL), 0),
       coalesce(sum(judged.original IS NULL), 0),
       coalesce(sum(pages.duplicate_of IS NOT NULL AND judged.original IS NULL), 0),
       coalesce(sum(pages.duplicate_of IS NULL AND judged.original IS NOT NULL), 0),
       coalesce(sum(is_awaited), 0)
FROM temp.judged JOIN pages ON pages.id = judged.id
"""
_URLS = """
SELECT pages.url FROM temp.judged JOIN pages ON pages.id = judged.id
WHERE {} ORDER BY pages.id LIMIT ?
"""
_NOW_KEPT = "pages.duplicate_of IS NOT NULL AND judged.original IS NULL"
_NOW_DROPPED = "pages.duplicate_of IS NULL AND judged.original IS NOT NULL"
# An original, a distance or the name of a verdict is another one; the page is what it was.
_OTHERWISE = f"""
SELECT count(*) {DIFFERS.replace("WHERE", "WHERE (")})
   AND NOT is_awaited AND (pages.duplicate_of IS NULL) = (judged.original IS NULL)
"""


@dataclass(frozen=True, slots=True)
class Rejudgement:
    """What came of judging all pages again, or would.

    Attributes:
        parameters: ``parameters.id`` of those by which they were judged.
        judged: Pages that were.
        kept_before: Kept ones before.
        kept: Kept ones now.
        now_kept: Pages that were duplicates and are kept now.
        now_dropped: Pages that were kept and are duplicates now.
        otherwise: Pages of which something else changes: whom they repeat, and how nearly.
        to_fetch: Pages of which nobody holds the text, so that they must be fetched again.
        can_fetch: Whether they can be queued; not for a spider that is none of ours.
        kept_examples: URLs of some that are kept now.
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
    kept_examples: tuple[str, ...]
    dropped_examples: tuple[str, ...]

    @property
    def changes(self) -> int:
        """Pages of which something changes."""
        return self.now_kept + self.now_dropped + self.otherwise + self.to_fetch

    def to_dict(self) -> dict[str, Any]:
        """As ``scrapy rejudge --json`` prints it."""
        return asdict(self)


def rejudge(directory: CrawlDirectory, watch: Watch, *, dry_run: bool = False) -> Rejudgement:
    """Judge all newest captures again in the order of the crawl, and put it into effect.

    ``crawl.db`` changes in one transaction: whatever ends the process before its end, nothing
    has happened.

    Args:
        directory: The crawl, which nobody else has open.
        watch: Is told how far it is.
        dry_run: Change nothing.

    Raises:
        JobError: Nothing was crawled, or the directory cannot be written.
        NearDupError: There are foreign files in the folder of the index.
    """
    tuned = current(directory.connection)
    if tuned is None:
        raise JobError(f"{directory.folder}: no crawl has begun in it yet")
    if directory.count("SELECT count(*) FROM elsewhere"):
        raise JobError(
            f"{directory.folder}: one crawl of a fleet: others hold originals of its pages; make "
            f"one of all (scrapy merge OUT {directory.folder} DIR ...) and judge that again"
        )
    can_queue = directory.plan is not None
    try:
        Judge(directory.connection, tuned.parameters, can_queue=can_queue).judge(watch)
    except (zstandard.ZstdError, UnicodeDecodeError, sqlite3.DatabaseError) as error:
        hint = f"look with scrapy verify {directory.folder}"
        said = f"{directory.folder}: what is stored cannot be read: {error}"
        raise JobError(f"{said}; {hint}") from error
    found = _counted(directory, tuned)
    if not dry_run:
        _apply(directory, tuned, watch, queues=bool(found.to_fetch))
    return found


def _counted(directory: CrawlDirectory, tuned: Tuned) -> Rejudgement:
    connection = directory.connection
    judged, before, kept, now_kept, dropped, to_fetch = connection.execute(_COUNTS).fetchone()
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
        kept_examples=_examples(connection, _NOW_KEPT),
        dropped_examples=_examples(connection, _NOW_DROPPED),
    )


def _examples(connection: sqlite3.Connection, condition: str) -> tuple[str, ...]:
    rows = connection.execute(_URLS.format(condition), (MOST_EXAMPLES,))
    return tuple(str(url) for (url,) in rows)


def _apply(directory: CrawlDirectory, tuned: Tuned, watch: Watch, *, queues: bool) -> None:
    database = Database(directory.folder)
    try:
        can_queue = directory.plan is not None
        application = Application(directory.connection, database, can_queue=can_queue)
        if not application.apply(tuned.id, watch):
            return
        # Before the commit: what is missing is made again, and what errs might be believed.
        remove_index(directory)
        has_bloom = queues and directory.bloom.exists()
        if has_bloom:
            directory.bloom.unlink()
        database.commit()
        make_index(directory, database, anew=False)
        if has_bloom:
            make_bloom(directory.bloom, database)
    except BaseException:
        database.fail("judging again was broken off")
        raise
    finally:
        database.close()
