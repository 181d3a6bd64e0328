"""A small crawl directory in which every rule has something to hold for."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.frontier.order import NewRequest, Skip, host_number
from crawler.frontier.queue import RequestQueue
from crawler.frontier.request_records import encode_parts
from crawler.job import Job
from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.maintenance.verify.verification import Further, Verification, repair, verify
from crawler.storage.checksums import keep_checksums
from crawler.url_rules.engine import UrlRules
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.hypothesis import LearningPolicy
from crawler.url_rules.learning.transforms import DropArguments
from tests.crawler.pages.test_capture import LONG, OPTIONS, OTHER, capture_all, fetched, html
from tests.no_watch import NoWatch
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLAN = "site -a url=http://example.com/"
QUEUED = ("http://example.com/queued/1", "http://example.com/queued/2", "http://example.org/queued")
LEARNING = replace(OPTIONS, learning=LearningPolicy())
SKIPPED = [f"http://example.com/queued/1?sid=s{number}" for number in range(50)]
FIRST = (
    ("/a", html(LONG)),
    ("/same-bytes", html(LONG)),
    ("/same-text", html(LONG, head="<!-- other bytes -->")),
    ("/edited", html(LONG + " One word.")),
    ("/like", html(LONG + " Other words.", "Another name")),
    ("/other", html(OTHER, "Another")),
    ("/part", html(" ".join(OTHER.split()[:150]), "Another")),
    ("/short", html("Only a few words.", "Short")),
    ("/b", html(prose("b", 200), "B")),
    ("/same-as-b", html(prose("b", 200), "B")),
    ("/image", b"\x89PNG\r\n\x1a\n" * 9),
    ("/same-image", b"\x89PNG\r\n\x1a\n" * 9),
    ("/empty", b""),
)
SECOND = (("/b", html(prose("b changed", 200), "B")), ("/a", html(LONG)))


def make(folder: Path) -> None:
    """Two visits, the second one stopped with requests queued."""
    asyncio.run(_visit(folder, FIRST, ()))
    asyncio.run(_visit(folder, SECOND, QUEUED))
    write(folder, "UPDATE pages SET page_type = 'article' WHERE content IS NOT NULL")


async def _visit(
    folder: Path, answers: tuple[tuple[str, bytes], ...], queued: tuple[str, ...]
) -> None:
    job = Job(folder, LEARNING)
    try:
        job.claim(PLAN)
        job.begin_visit()
        await job.start_pool()
        await capture_all(job, [fetched(job, *answer) for answer in answers])
        for url in queued:
            key = job.canonicalizer.key(url)
            job.frontier.seen.add(key)
            packed = encode_parts({"errback": "failed"})
            host = host_number(url.split("/")[2])
            job.frontier.queue.push(NewRequest(host, url, 0, packed, job.frontier.seen.take(key)))
        if queued:
            _skip(job)
    finally:
        await job.close_pool()
        job.close()


def _skip(job: Job) -> None:
    """A rule holds, and skips what only differs by a session from what is queued."""
    assert isinstance(job.url_rules, UrlRules)
    assert isinstance(job.frontier.queue, RequestQueue)
    context = Context("example.com")
    job.url_rules.take([(context, DropArguments(("sid",)))], "a file")
    job.url_rules.regroup_all()
    for url in SKIPPED:
        key, host = job.canonicalizer.key(url), host_number("example.com")
        # What is made to try the rule is no matter here.
        skip = job.url_rules._admission.admit(url, key, host, is_fixed=False)
        if isinstance(skip, Skip):
            packed = encode_parts({"errback": "failed"})
            job.frontier.seen.add(key)
            job.frontier.queue.push_skipped(
                NewRequest(host, url, 0, packed, job.frontier.seen.take(key)), skip
            )
    assert len(job.frontier.queue) == len(QUEUED)


def check(folder: Path, feed: Path | None = None) -> Verification:
    with closing(CrawlDirectory(folder)) as directory:
        return verify(directory, NoWatch(), Further(feed))


def check_and_repair(folder: Path) -> Verification:
    with closing(CrawlDirectory(folder)) as directory:
        return repair(directory, NoWatch())[1]


def rules(found: Verification) -> set[str]:
    return {finding.rule for finding in found.findings}


def write(folder: Path, *statements: str) -> None:
    """Write to a crawl's database as a crawl does."""
    with closing(sqlite3.connect(folder / "crawl.db")) as connection, connection:
        keep_checksums(connection)
        for statement in statements:
            connection.execute(statement)


def execute(folder: Path, *statements: str) -> None:
    """Change a crawl's database behind its back."""
    with damaging(folder) as connection:
        for statement in statements:
            connection.execute(statement)


@contextmanager
def damaging(folder: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection by which SQLite writes every value, as a fault of the disk does."""
    with closing(sqlite3.connect(folder / "crawl.db")) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        _rewrite_schema(connection, ") STRICT", ") /*STRICT*/")
        _rewrite_schema(connection, ") /*STRICT*/,", ") /*STRICT,*/")
        yield connection
        _rewrite_schema(connection, ") /*STRICT,*/", ") STRICT,")
        _rewrite_schema(connection, ") /*STRICT*/", ") STRICT")


def _rewrite_schema(connection: sqlite3.Connection, old: str, new: str) -> None:
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?)", (old, new))
    connection.execute("PRAGMA writable_schema = RESET")


def rows(folder: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / "crawl.db")) as connection:
        return connection.execute(sql).fetchall()
