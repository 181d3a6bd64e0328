"""Run every check in order, and repair the findings."""

from __future__ import annotations

import sqlite3
import sys
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError, iterparse

import numpy as np
import xxhash

from crawler.maintenance.rejudge.rejudging import judge_again
from crawler.maintenance.tally import ALL_PAGES, KEPT_PAGES
from crawler.maintenance.verify.capture_checks import find_misplaced, queue_orphans
from crawler.maintenance.verify.column_checks import VALUES, find_altered
from crawler.maintenance.verify.file_checks import (
    BLOOM,
    FINGERPRINTS,
    INDEX_RULES,
    WHOLE,
    find_damage,
    find_forgotten,
    find_lost_records,
    find_unindexed,
    find_unsigned,
    make_bloom,
    make_indexes,
    remove_indexes,
)
from crawler.maintenance.verify.finding import MAX_EXAMPLES, Repairer, Rule
from crawler.maintenance.verify.queue_checks import SEEN, find_misruled, find_unqueued
from crawler.maintenance.verify.table_checks import find_strange
from crawler.maintenance.verify.text_checks import find_misread, find_misshown
from crawler.maintenance.verify.verdict_checks import (
    find_near,
    find_parts,
    find_repeats,
    find_resemblances,
)
from crawler.pages.export import stored_urls
from crawler.storage.database import Database
from crawler.storage.errors import JobError
from neardup.batch.input_files import CSV, JSON_LINES, PARQUET, InputPart
from neardup.batch.rows import LeftOut, read_rows
from neardup.installing import install_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from io import BufferedReader
    from pathlib import Path

    import numpy.typing as npt

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding

    Check = Callable[[CrawlDirectory, CheckWatch], Iterator[Finding]]
    Hashes = npt.NDArray[np.uint64]
    Urls = Callable[[], Iterable[str]]

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


_NAMED = 10_000
_ADVICE = "write it again: crawl-once pages DIR --verdict kept -o FILE"

FEED_WHOLE = Rule("feed-whole", "the feed cannot be read", advice=_ADVICE)
LACKING = Rule("feed-lacks", "the feed: kept pages that it lacks", advice=_ADVICE)
TWICE = Rule("feed-twice", "the feed: kept pages that it has more than once", advice=_ADVICE)
BESIDES = Rule("feed-besides", "the feed: URLs of no kept page", advice=_ADVICE)


def find_misfed(feed: Path, directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Compare a feed with the store.

    URLs are compared by hashes of 64 bits: of ten million, two are mistaken for one with a
    probability of 3 in a million.

    Complexity: O(size of the feed); 8 bytes of memory a page, and 32 in the middle.
    """

    def kept_urls() -> Iterator[str]:
        return stored_urls(directory.connection, kept_only=True)

    watch.begin("feed", 2)
    try:
        fed, fed_counts = _counted(feed_urls(feed))
    except FeedError as error:
        yield FEED_WHOLE.finding(str(error))
        return
    watch.advance()
    kept, kept_counts = _counted(kept_urls())
    watch.advance()
    wanted = _counts_of(fed, kept, kept_counts)
    given = _counts_of(kept, fed, fed_counts)
    twice = (wanted > 0) & (fed_counts > wanted)
    from_feed = partial(feed_urls, feed)
    for rule, hashes, urls in (
        (LACKING, kept[given < kept_counts], kept_urls),
        (TWICE, fed[twice], from_feed),
        (BESIDES, fed[wanted == 0], from_feed),
    ):
        if len(hashes):
            yield from rule.counted(len(hashes), _named(hashes, urls))


def _counted(urls: Iterable[str]) -> tuple[Hashes, npt.NDArray[np.int64]]:
    """Return the hashes of URLs, sorted and distinct, with the number of times each came."""
    hashes = np.fromiter((_hash(url) for url in urls), np.uint64)
    return np.unique(hashes, return_counts=True)


def _hash(url: str) -> int:
    return xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))


def _counts_of(
    asked: Hashes, known: Hashes, counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return for each hash in ``asked`` its count among the known ones, 0 if it is not there."""
    if not len(known):
        return np.zeros(len(asked), np.int64)
    places = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return np.where(known[places] == asked, counts[places], 0)


def _named(hashes: Hashes, urls: Urls) -> tuple[str, ...]:
    meant, named = set(hashes[:_NAMED].tolist()), []
    for url in urls():
        if _hash(url) in meant:
            meant.discard(_hash(url))
            named.append(url)
            if len(named) == MAX_EXAMPLES:
                break
    return tuple(named)


CHECKS: tuple[tuple[str, Check], ...] = (
    ("crawl.db is whole", find_damage),
    ("rows are as they were written", find_altered),
    ("rows hold values that a crawl writes, and tables agree", find_strange),
    (
        "every URL has one newest capture, every duplicate a stored original",
        find_misplaced,
    ),
    ("texts can be read, and their digests and fingerprints are right", find_misread),
    ("every text has a content to show, which can be read", find_misshown),
    ("no kept page has nearly the text of another one", find_near),
    ("duplicates have the texts of their originals", find_repeats),
    ("pages that resemble one of another name are as near as stored", find_resemblances),
    ("pages called parts of others are parts of them", find_parts),
    ("the fingerprint index holds what crawl.db holds", find_unindexed),
    ("the indexes of signatures and passages hold what crawl.db holds", find_unsigned),
    ("what is queued will be fetched, once", find_unqueued),
    ("what learned rules skip is fetched under another URL", find_misruled),
    ("the Bloom filter knows every URL that was seen", find_forgotten),
)

_MAX_ROUNDS = 4
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
    directory: CrawlDirectory, watch: CheckWatch, further: Further = _NOTHING
) -> Verification:
    """Check every rule; change nothing.

    Args:
        directory: The crawl.
        watch: Callbacks for progress.
        further: What is checked beside the database.
    """
    checks = [*CHECKS, *further.checks()]
    checked = []
    for name, check in checks:
        findings = _findings(check, directory, watch)
        checked.append(Checked(name, findings))
        if any(finding.broken in {WHOLE, VALUES} for finding in findings):
            return Verification(str(directory.folder), 0, 0, tuple(checked))
    pages = directory.count(ALL_PAGES)
    kept = directory.count(KEPT_PAGES)
    return Verification(str(directory.folder), pages, kept, tuple(checked))


def _findings(check: Check, directory: CrawlDirectory, watch: CheckWatch) -> tuple[Finding, ...]:
    try:
        return tuple(check(directory, watch))
    except sqlite3.DatabaseError as error:
        return (WHOLE.finding(WHOLE.what, examples=(str(error),)),)


def repair(
    directory: CrawlDirectory,
    watch: CheckWatch,
    found: Verification,
    further: Further = _NOTHING,
) -> Verification:
    """Repair findings and faults that repairs uncover; return the repairs and the rest.

    Changes of ``crawl.db`` are one transaction a round, and one of the pages that are judged again:
    a kill, or an error, leaves the state before it. The index and the Bloom filter are made after
    both.

    Raises:
        JobError: The directory cannot be written.
        NearDupError: There are foreign files in the folder of the index.
    """
    done: list[str] = []
    for _ in range(_MAX_ROUNDS):
        deeds = _repair_once(directory, found, watch)
        if not deeds:
            break
        done += deeds
        found = verify(directory, watch, further)
    return replace(found, done=tuple(done))


def _repair_once(directory: CrawlDirectory, found: Verification, watch: CheckWatch) -> list[str]:
    # What is written to a damaged file may damage more of it.
    is_whole = all(finding.broken is not WHOLE for finding in found.findings)
    if not is_whole or not any(finding.remedy for finding in found.findings):
        return []
    database = Database(directory.folder)
    try:
        repairer = Repairer(directory, database)
        done = _repair_rows(repairer, found.findings)
        deeds = _judge_again(repairer, watch) if repairer.doubted else []
        is_judged = bool(deeds)
        return done + deeds + _make_files(directory, database, found.findings, is_judged=is_judged)
    except BaseException:
        database.fail("the repair was interrupted")
        raise
    finally:
        database.close()


def _repair_rows(repairer: Repairer, findings: tuple[Finding, ...]) -> list[str]:
    """Repair findings, stage after stage, each rule once."""
    by_rule = {finding.broken: finding for finding in findings}
    done = []
    for rule in sorted(filter(None, by_rule), key=lambda rule: rule.stage):
        deed = None if rule.repair is None else rule.repair(repairer, by_rule[rule])
        done += [] if deed is None else [deed]
    repairer.database.commit()
    return done


def _judge_again(repairer: Repairer, watch: CheckWatch) -> list[str]:
    directory, database = repairer.directory, repairer.database
    written = judge_again(directory, database, watch, repairer.doubted)
    queued = queue_orphans(repairer)
    if written or queued:  # before the commit: a wrong index might be used
        remove_indexes(directory.folder, [FINGERPRINTS])
    database.commit()
    deed = f"verdicts of pages judged again: {written:,}, URLs queued again: {queued:,}"
    return [deed] if written or queued else []


def _make_files(
    directory: CrawlDirectory,
    database: Database,
    findings: tuple[Finding, ...],
    *,
    is_judged: bool,
) -> list[str]:
    done = []
    found = {finding.rule for finding in findings}
    texts_changed = is_judged or any(finding.changes_texts for finding in findings)
    if texts_changed or not found.isdisjoint(INDEX_RULES):
        broken = {finding.rule for finding in findings if not finding.is_leftover}
        again = [name for rule, name in INDEX_RULES.items() if texts_changed or rule in broken]
        done.append(make_indexes(directory, database, again))
    is_bloom_old = texts_changed or SEEN.name in found
    if BLOOM.name in found or (directory.bloom.exists() and is_bloom_old):
        done.append(make_bloom(directory.bloom, database))
    return done
