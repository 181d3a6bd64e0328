"""Define the rules that a crawl directory keeps, and what checks find where one is broken."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from w3lib.url import safe_url_string

from crawler.frontier.order import NewRequest, host_number
from crawler.frontier.queue import RequestQueue
from crawler.frontier.request_records import encode_parts
from crawler.storage.database import Database
from crawler.storage.states import WAITING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory

    Read = Callable[..., sqlite3.Cursor]

MAX_EXAMPLES = 5
WAITS = f"SELECT 1 FROM requests WHERE key = ? AND state = {WAITING}"


@dataclass(frozen=True, slots=True)
class Mend:
    """A way to mend what breaks a rule.

    Attributes:
        remedy: Description of what ``--repair`` does.
        act: Function that does it, inside the open transaction.
        advice: Advice to the user where only our own spiders could do it, empty where any may.
    """

    remedy: str
    act: Callable[[Repairer, Finding], object]
    advice: str = ""


def writing(remedy: str, *statements: str) -> Mend:
    """Return the mend that runs statements for each id of a finding, or its tuple of values."""

    def act(repairer: Repairer, finding: Finding) -> None:
        for sql in statements:
            repairer.write_each(sql, finding.ids)

    return Mend(remedy, act)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a crawl directory, and how it is mended.

    Attributes:
        name: Short name, the same in every version.
        what: Words for the violations, printed before their number.
        mend: The mend by ``--repair``; None without one.
        is_leftover: Whether a stopped process breaks it, and the next crawl mends it by itself.
        advice: Advice to the user if there is no mend.
    """

    name: str
    what: str
    mend: Mend | None = None
    is_leftover: bool = False
    advice: str = ""

    def found(self, rows: Iterable[tuple[Any, str]]) -> Iterator[Finding]:
        """Yield a finding of the ids of all rows; an example that is empty is none."""
        found = list(rows)
        examples = [example for _, example in found if example]
        for finding in self.counted(len(found), examples):
            yield replace(finding, ids=tuple(row_id for row_id, _ in found))

    def counted(self, count: int, examples: Collection[str] = ()) -> Iterator[Finding]:
        """Yield a finding of this many violations, or nothing without any."""
        if count:
            yield self.finding(f"{self.what}: {count:,}", count, tuple(examples))

    def finding(self, what: str, count: int = 1, examples: tuple[str, ...] = ()) -> Finding:
        """Return a finding in words of its own."""
        remedy = "" if self.mend is None else self.mend.remedy
        return Finding(self, what, count, examples[:MAX_EXAMPLES], remedy, self.advice)


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that does not hold.

    Attributes:
        broken: The rule.
        what: Description with the number of violations.
        count: Number of violations.
        examples: Some of them.
        remedy: Description of the repair by ``--repair``, empty without one.
        advice: Advice to the user if there is no repair.
        ids: Keys of all rows that break the rule, or what these should hold, if its check says so.
    """

    broken: Rule
    what: str
    count: int
    examples: tuple[str, ...]
    remedy: str
    advice: str
    ids: tuple[Any, ...] = ()

    @property
    def rule(self) -> str:
        return self.broken.name

    @property
    def is_leftover(self) -> bool:
        return self.broken.is_leftover

    def to_dict(self) -> dict[str, Any]:
        """Return the finding for ``crawl-once verify --json``."""
        return {name: getattr(self, name) for name in _TOLD}


_TOLD = ("rule", "what", "count", "examples", "remedy", "advice", "is_leftover")


class CheckWatch(Protocol):
    """Receives the progress of a check."""

    def begin(self, what: str, total: int) -> None:
        """Begin a phase with this number of steps."""

    def advance(self, steps: int = 1) -> None:
        """Count finished steps."""


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
        if self._database.read(WAITS, (key,)).fetchone() is not None:
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
    """Mends findings one at a time, each in a transaction, so that later checks see it mended.

    Args:
        directory: Crawl directory; its own connection sees what is committed.

    Attributes:
        doubted: Pages with a wrong verdict or original, which are judged again.
        done: Descriptions of what was mended.
    """

    def __init__(self, directory: CrawlDirectory) -> None:
        self.directory = directory
        self.doubted: list[int] = []
        self.done: list[str] = []

    @cached_property
    def database(self) -> Database:
        """The database for writing, which is opened when there is something to write."""
        return Database(self.directory.folder)

    def __enter__(self) -> Repairer:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if "database" in self.__dict__:
            if kind is not None:
                self.database.fail("the repair was interrupted")
            self.database.close()

    def mend(self, finding: Finding) -> None:
        mend = finding.broken.mend
        if mend is None or not finding.remedy:
            return
        doubted = len(self.doubted)
        mend.act(self, finding)
        self.database.commit()
        if len(self.doubted) == doubted:
            self.done.append(finding.what)

    @property
    def queue(self) -> QueueAgain:
        """The queue as the tables have it now."""
        return QueueAgain(self.database)

    def write_each(self, sql: str, row_ids: Iterable[Any]) -> int:
        """Run a statement for each id, or tuple of values; return the number of changed rows."""
        rows = (each if isinstance(each, tuple) else (each,) for each in row_ids)
        return self.database.write_many(sql, rows)
