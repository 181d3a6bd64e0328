"""Run every check in order, and repair the findings."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError, iterparse

from crawler.maintenance.rejudge.rejudging import judge_again
from crawler.maintenance.tally import ALL_PAGES, KEPT_PAGES
from crawler.maintenance.verify.capture_checks import find_misplaced, find_strange, queue_orphans
from crawler.maintenance.verify.column_checks import (
    ALTERED,
    VALUES,
    find_altered,
    find_strange_values,
    have_read_again,
)
from crawler.maintenance.verify.file_checks import (
    WHOLE,
    find_damage,
    find_forgotten,
    find_lost_records,
    find_unindexed,
    find_unsigned,
    remove_fingerprints,
)
from crawler.maintenance.verify.finding import Repairer, Rule
from crawler.maintenance.verify.queue_checks import find_misruled, find_unqueued
from crawler.maintenance.verify.text_checks import find_misread, find_misshown
from crawler.maintenance.verify.verdict_checks import find_misjudged, find_near
from crawler.pages.export import stored_urls
from crawler.storage.errors import JobError
from neardup.batch.input_files import CSV, JSON_LINES, PARQUET, InputPart
from neardup.batch.rows import LeftOut, read_rows
from neardup.installing import install_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from io import BufferedReader
    from pathlib import Path

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding

    Check = Callable[[CrawlDirectory, CheckWatch], Iterator[Finding]]

_FIELD = "url"
_FORMATS = dict.fromkeys(("jsonl", "jl", "jsonlines", "json"), JSON_LINES)
_FORMATS |= {"csv": CSV, "xml": "xml", "parquet": PARQUET}
"""Formats of feeds by their endings."""


class FeedError(JobError):
    """A feed cannot be read; the message says where."""


def feed_urls(path: Path) -> Iterator[str]:
    """Yield the field ``url`` of every item, in the order of the feed.

    Args:
        path: Feed, whose ending names the format: jsonl, jl, jsonlines, json, csv, xml, parquet.

    Raises:
        FeedError: It is missing, cut short, damaged, or has items without a URL.
    """
    kind = path.suffix.lstrip(".").lower()
    if kind not in _FORMATS:
        raise FeedError(f"{path}: its ending names no format; there are {', '.join(_FORMATS)}")
    try:
        with path.open("rb") as file:
            for number, item in enumerate(_items(file, kind), 1):
                url = item.get(_FIELD) if isinstance(item, dict) else None
                if not isinstance(url, str):
                    raise FeedError(f"{path}: item {number:,} has no field {_FIELD!r}")
                yield url
    except OSError as error:
        raise FeedError(f"{path}: {error.strerror or error}") from None
    except ImportError:
        raise FeedError(f"parquet needs pyarrow: {install_command('parquet')}") from None
    except (ValueError, ParseError) as error:
        raise FeedError(f"{path}: cut short or damaged: {error}") from None


def _items(file: BufferedReader, kind: str) -> Iterator[Any]:
    if kind == "xml":
        yield from _elements(file)
        return
    if kind == "json" and not file.peek(1).lstrip().startswith(b"["):
        raise ValueError("no JSON array")
    part = InputPart(0, "", _FORMATS[kind], 0, sys.maxsize)
    for row in read_rows(file, part, [(_FIELD,)]):
        if isinstance(row, LeftOut):
            raise ValueError(row.reason)  # noqa: TRY004 - ``feed_urls`` catches it
        yield row.values


def _elements(file: IO[bytes]) -> Iterator[Any]:
    root = None
    for event, element in iterparse(file, ("start", "end")):  # noqa: S314  # a feed of our own
        root = element if root is None else root
        if event == "end" and element.tag == "item":
            yield {child.tag: child.text for child in element}
            root.clear()


_ADVICE = "write it again: crawl-once pages DIR --verdict kept -o FILE"

FEED_WHOLE = Rule("feed-whole", "the feed cannot be read", advice=_ADVICE)
LACKING = Rule("feed-lacks", "the feed: kept pages that it lacks", advice=_ADVICE)
TWICE = Rule("feed-twice", "the feed: kept pages that it has more than once", advice=_ADVICE)
BESIDES = Rule("feed-besides", "the feed: URLs of no kept page", advice=_ADVICE)

_URLS = "CREATE TABLE {} (url BLOB PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID"
_COUNT = "INSERT INTO {} VALUES (?, 1) ON CONFLICT (url) DO UPDATE SET count = count + 1"
_MISFED = {
    LACKING: "kept LEFT JOIN fed USING (url) WHERE kept.count > coalesce(fed.count, 0)",
    TWICE: "fed JOIN kept USING (url) WHERE fed.count > kept.count",
    BESIDES: "fed LEFT JOIN kept USING (url) WHERE kept.url IS NULL",
}


def find_misfed(feed: Path, directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Compare a feed with the store, by a temporary database of the URLs of both.

    Complexity: O(n log n) for n URLs.
    """
    watch.begin("feed", 2)
    with closing(sqlite3.connect("")) as connection:
        try:
            _count(connection, "fed", feed_urls(feed))
        except FeedError as error:
            yield FEED_WHOLE.finding(str(error))
            return
        watch.advance()
        _count(connection, "kept", stored_urls(directory.connection, kept_only=True))
        watch.advance()
        for rule, tables in _MISFED.items():
            urls = connection.execute(f"SELECT url FROM {tables}")
            yield from rule.found((None, url.decode("utf-8", "surrogatepass")) for (url,) in urls)


def _count(connection: sqlite3.Connection, table: str, urls: Iterable[str]) -> None:
    """Store how many times each URL comes; a feed may have URLs that are no UTF-8."""
    connection.execute(_URLS.format(table))
    rows = ((url.encode("utf-8", "surrogatepass"),) for url in urls)
    connection.executemany(_COUNT.format(table), rows)


_UNALTERED = "rows hold what a crawl wrote"
CHECKS: tuple[tuple[str, Check], ...] = (
    ("crawl.db is whole", find_damage),
    ("rows hold values that a crawl writes", find_strange_values),
    ("tables agree on each page, its key and the crawl itself", find_strange),
    (
        "every URL has one newest capture, every duplicate a stored original",
        find_misplaced,
    ),
    ("texts can be read, and their digests and fingerprints are right", find_misread),
    ("every text has a content to show, which can be read", find_misshown),
    ("no kept page has nearly the text of another one", find_near),
    ("pages have the texts of those that they repeat, resemble or are parts of", find_misjudged),
    (_UNALTERED, find_altered),
    ("the fingerprint index holds what crawl.db holds", find_unindexed),
    ("the indexes of signatures and passages hold what crawl.db holds", find_unsigned),
    ("what is queued will be fetched, once", find_unqueued),
    ("what learned rules skip is fetched under another URL", find_misruled),
    ("the Bloom filter knows every URL that was seen", find_forgotten),
)
"""The checks, and so the repairs: each relies on those before it.

The pages of altered rows are marked when their keys are right again, and pages are judged again
before the indexes are checked.
"""

_MAX_ROUNDS = 6
"""Repair at most this many times, since one repair may uncover another fault."""


@dataclass(frozen=True, slots=True)
class Checked:
    name: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Verification:
    folder: str
    pages: int
    kept: int
    checked: tuple[Checked, ...]
    done: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for checked in self.checked for finding in checked.findings)

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The findings that the next crawl does not mend by itself."""
        return tuple(finding for finding in self.findings if not finding.is_leftover)

    def to_dict(self) -> dict[str, Any]:
        """Return the output of ``crawl-once verify --json``."""
        checked = [
            {"name": one.name, "findings": [found.to_dict() for found in one.findings]}
            for one in self.checked
        ]
        whole = {"folder": self.folder, "pages": self.pages, "kept": self.kept}
        return {**whole, "checked": checked, "done": self.done, "problems": len(self.problems)}


@dataclass(frozen=True, slots=True)
class Further:
    """The parts that are checked beside the database and its indexes.

    Attributes:
        feed: Exported feed that should hold every kept page once.
        deep: Whether the WARC files are read through, and not only looked for.
    """

    feed: Path | None = None
    deep: bool = False

    def checks(self) -> Iterator[tuple[str, Check]]:
        done = "can be read, and hold what revisits name" if self.deep else "are there"
        yield f"the WARC files that the archive names {done}", self._of_archive
        if self.feed is not None:
            yield "the feed holds every kept page once", partial(find_misfed, self.feed)

    def _of_archive(self, directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
        watch.begin("WARC files", 1)
        return find_lost_records(directory, deep=self.deep)


_NOTHING = Further()


def verify(
    directory: CrawlDirectory,
    watch: CheckWatch,
    further: Further = _NOTHING,
    repairer: Repairer | None = None,
) -> Verification:
    """Check every rule.

    Args:
        directory: The crawl.
        watch: Callbacks for progress.
        further: What is checked beside the database.
        repairer: Mends each finding before the next rule is checked; None changes nothing.
    """
    checked = []
    for name, check in (*CHECKS, *further.checks()):
        if repairer is not None and check is find_unindexed:
            _judge_again(repairer, watch)
        findings = _findings(check, directory, watch, repairer)
        checked.append(Checked(name, findings))
        broken = {finding.broken for finding in findings}
        if WHOLE in broken or (VALUES in broken and repairer is None):
            if VALUES in broken:
                altered = _findings(find_altered, directory, watch, None)
                checked.append(Checked(_UNALTERED, altered))
            return Verification(str(directory.folder), 0, 0, tuple(checked))
    pages = directory.count(ALL_PAGES)
    kept = directory.count(KEPT_PAGES)
    return Verification(str(directory.folder), pages, kept, tuple(checked))


def _findings(
    check: Check, directory: CrawlDirectory, watch: CheckWatch, repairer: Repairer | None
) -> tuple[Finding, ...]:
    findings = []
    try:
        for found in check(directory, watch):
            finding, mend = found, found.broken.mend
            if mend is not None and mend.advice and directory.plan is None:
                finding = replace(found, remedy="", advice=mend.advice)
            findings.append(finding)
            if repairer is not None:
                repairer.mend(finding)
    except sqlite3.DatabaseError as error:
        return (WHOLE.finding(WHOLE.what, examples=(str(error),)),)
    return tuple(findings)


def repair(
    directory: CrawlDirectory, watch: CheckWatch, further: Further = _NOTHING
) -> tuple[Verification, Verification]:
    """Check every rule, and mend the findings and the faults that this uncovers.

    Each finding is mended in one transaction, and so are the pages that are judged again: a kill,
    or an error, leaves the state before it. Nothing is written to a damaged file: that may damage
    more of it.

    Returns:
        What was found first, and what is left, with what was done.

    Raises:
        JobError: The directory cannot be written.
        NearDupError: There are foreign files in the folder of the index.
    """
    # Some of the rows may be deleted, or right again, before their check comes.
    altered = _findings(find_altered, directory, watch, None)
    with Repairer(directory) as repairer:
        first = found = verify(directory, watch, further, repairer)
        done = 0
        for _ in range(_MAX_ROUNDS):
            if len(repairer.done) == done:
                break
            done = len(repairer.done)
            found = verify(directory, watch, further, repairer)
        for finding in altered:
            if finding.broken is ALTERED:
                have_read_again(repairer, finding)
                if not any(deed.startswith(ALTERED.what) for deed in repairer.done):
                    repairer.done.append(finding.what)
    return first, replace(found, done=tuple(repairer.done))


def _judge_again(repairer: Repairer, watch: CheckWatch) -> None:
    """Judge the pages that are doubted, before the indexes are checked."""
    if not repairer.doubted:
        return
    directory, database = repairer.directory, repairer.database
    written = judge_again(directory, database, watch, repairer.doubted)
    queued = queue_orphans(database)
    repairer.doubted.clear()
    if written or queued:  # before the commit: a wrong index might be used
        remove_fingerprints(directory.index)
        deed = f"verdicts of pages judged again: {written:,}, URLs queued again: {queued:,}"
        repairer.done.append(deed)
    database.commit()
