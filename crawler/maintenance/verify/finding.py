"""Define the rules that a crawl directory keeps, and what checks find where one is broken."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from w3lib.url import safe_url_string

from crawler.frontier.order import NewRequest, host_number
from crawler.frontier.queue import RequestQueue
from crawler.frontier.request_records import encode_parts
from crawler.pages.page_store import PageStore
from crawler.storage.states import WAITING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.storage.database import Database

    Read = Callable[..., sqlite3.Cursor]

MAX_EXAMPLES = 5


class Stage(IntEnum):
    """The order of repairs: each stage relies on those before it."""

    DATABASE = 0
    VALUES = 1
    TEXTS = 2
    DUPLICATES = 3
    QUEUE = 4
    FILES = 5


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a crawl directory, with its repair.

    Attributes:
        name: Short name, the same in every version.
        what: Words for the violations, printed before their number.
        remedy: Description of the repair by ``--repair``, empty without one.
        repair: Function that repairs a finding and returns a report, or None if it did nothing.
        stage: Stage of the repair.
        changes_texts: Whether the repair may change the stored texts and the queue.
        is_leftover: Whether a stopped process breaks it, and the next crawl mends it by itself.
        advice: Advice to the user if there is no repair.
    """

    name: str
    what: str
    remedy: str = ""
    repair: Callable[[Repairer, Finding], str | None] | None = None
    stage: Stage = Stage.TEXTS
    changes_texts: bool = False
    is_leftover: bool = False
    advice: str = ""

    def found(self, rows: Iterable[tuple[Any, str]]) -> Iterator[Finding]:
        """Yield a finding of the ids of all rows, each with an example; nothing without rows."""
        culprits = Culprits(self)
        for row_id, example in rows:
            culprits.add(row_id, example)
        return culprits.found()

    def counted(self, count: int, examples: Collection[str] = ()) -> Iterator[Finding]:
        """Yield a finding of this many violations, or nothing without any."""
        if count:
            yield self.finding(f"{self.what}: {count:,}", count, tuple(examples))

    def finding(self, what: str, count: int = 1, examples: tuple[str, ...] = ()) -> Finding:
        """Return a finding in words of its own."""
        return Finding(
            self.name,
            what,
            count,
            examples[:MAX_EXAMPLES],
            self.remedy,
            self.advice,
            self.is_leftover,
            broken=self,
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that does not hold.

    Attributes:
        rule: Name of the rule.
        what: Description with the number of violations.
        count: Number of violations.
        examples: Some of them.
        remedy: Description of the repair by ``--repair``, empty without one.
        advice: Advice to the user if there is no repair.
        is_leftover: Whether a stopped process left it, and the next crawl mends it by itself.
        ids: Keys of all rows that break the rule, if its check names them.
        broken: The rule.
    """

    rule: str
    what: str
    count: int
    examples: tuple[str, ...]
    remedy: str = ""
    advice: str = ""
    is_leftover: bool = False
    ids: tuple[Any, ...] = field(default=(), repr=False)
    broken: Rule | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding for ``crawl-once verify --json``."""
        return {name: value for name, value in asdict(self).items() if name not in _NOT_TOLD}

    @property
    def changes_texts(self) -> bool:
        return self.broken is not None and self.broken.changes_texts


_NOT_TOLD = {"ids", "broken"}


class Culprits:
    """Rows that break a rule, collected one by one."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._ids: list[Any] = []
        self._examples: list[str] = []

    def add(self, row_id: object, example: str) -> None:
        """Add a row by its key; an empty example is none."""
        self._ids.append(row_id)
        if example and len(self._examples) < MAX_EXAMPLES:
            self._examples.append(example)

    def found(self) -> Iterator[Finding]:
        """Yield a finding with these rows, or nothing without any."""
        for finding in self._rule.counted(len(self._ids), self._examples):
            yield replace(finding, ids=tuple(self._ids))


class CheckWatch(Protocol):
    """Receives the progress of a check."""

    def begin(self, what: str, total: int) -> None:
        """Begin a phase with this number of steps."""

    def advance(self, steps: int = 1) -> None:
        """Count finished steps."""


class NoWatch:
    def begin(self, what: str, total: int) -> None:
        """Do nothing."""

    def advance(self, steps: int = 1) -> None:
        """Do nothing."""


class QueueAgain:
    """Puts URLs of captures into the queue of a crawl that is not running.

    Args:
        database: Database of a crawl by one of our spiders. Leases of its queue are ended.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.requests = RequestQueue(database)  # its constructor ends leases

    def push_url(self, url: str, key: bytes, depth: int) -> bool:
        """Queue a URL by its key; return False if it was waiting already."""
        sql = f"SELECT 1 FROM requests WHERE key = ? AND state = {WAITING}"
        if self._database.read(sql, (key,)).fetchone() is not None:
            return False
        self._database.write("DELETE FROM requests WHERE key = ?", (key,))
        sql = "SELECT referer FROM known WHERE key = ? AND referer IS NOT NULL"
        referer = self._database.read(sql, (key,)).fetchone()
        encoded = encoded_request(depth, *(referer or ()))
        self.push_encoded(url, encoded, key, depth)
        return True

    def push_encoded(self, url: str, encoded: bytes, key: bytes | None, depth: int) -> None:
        # Pages of an archive have URLs as it wrote them; the URL of a request is escaped.
        url = safe_url_string(url)
        host = host_number(urlsplit(url).hostname or "")
        self.requests.push(NewRequest(host, url, 0, encoded, key, depth=depth))


def encoded_request(depth: int, referer: str = "") -> bytes:
    """Return the stored form of a request for a page at this depth."""
    # Our spiders have an errback of this name, for a request without a page.
    parts: dict[str, Any] = {"errback": "failed", "meta": {"depth": depth}}
    if referer:
        parts["headers"] = [["Referer", [referer]]]
    return encode_parts(parts)


class Repairer:
    """A crawl's database, whose repairs are two transactions: rows, then verdicts.

    Args:
        directory: Crawl directory; its own connection sees no repair before the commit.
        database: Its database, for writing.

    Attributes:
        doubted: Pages with a wrong verdict or original, which are judged again.
    """

    def __init__(self, directory: CrawlDirectory, database: Database) -> None:
        self.directory = directory
        self.database = database
        self.store = PageStore(database)
        self.doubted: list[int] = []

    @cached_property
    def queue(self) -> QueueAgain:
        """The queue; made when it is needed, since it relies on repaired values."""
        return QueueAgain(self.database)

    def write_each(self, sql: str, row_ids: Iterable[Any]) -> None:
        self.database.write_many(sql, ((row_id,) for row_id in row_ids))


def writing(sql: str, report: str) -> Callable[[Repairer, Finding], str]:
    """Return the repair that runs a statement for each id of a finding, and counts them."""

    def repair(repairer: Repairer, finding: Finding) -> str:
        repairer.write_each(sql, finding.ids)
        return f"{report}: {finding.count:,}"

    return repair
