"""A crawl without a network: real queue, seen set, store and rules over a site that is a table."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import xxhash

from crawler.frontier.order import NewRequest, host_number
from crawler.frontier.queue import RequestQueue
from crawler.pages.page_row import PageRow
from crawler.pages.page_store import PageStore
from crawler.storage.database import Database
from crawler.url_rules.engine import UrlRules
from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.hypothesis import LearningPolicy
from crawler.urls.canonical import Canonicalizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from crawler.frontier.order import QueuedRequest
    from crawler.url_rules.learning.proposals import Proposal

    Site = Callable[[str], str | None]
    """What the page at a URL says, None where there is no page; after FILE, the bytes of a file."""

    Declarations = Callable[[str], Mapping[str, str]]
    """The URLs that the page at a URL declares, by their hreflang."""

FILE = "file: "
NAME = "site.test"
HOST = host_number(NAME)
SOMEWHERE = f"http://{NAME}"


@dataclass
class RuledCrawl:
    """A crawl in a directory; URLs are admitted and fetched when a test says so.

    Attributes:
        fetched: Every URL that was fetched, in the order of fetching, in all processes.
    """

    folder: Path
    site: Site
    fetched: list[str] = field(default_factory=list)
    policy: LearningPolicy | None = field(default_factory=LearningPolicy)
    declares: Declarations = lambda _: {}

    def __post_init__(self) -> None:
        self.canonical = Canonicalizer()
        self.open()

    def open(self) -> None:
        """Another process begins."""
        self.database = Database(self.folder)
        if self.database.meta("visit") is None:
            self.database.set_meta("visit", "1")
        self.queue = RequestQueue(self.database)
        self.store = PageStore(self.database)
        self.rules = UrlRules(self.database, self.canonical, self.queue, self.policy)

    def kill(self) -> None:
        """The process ends, and another one begins; what was not committed never was."""
        self.database.fail("killed")
        self.database.close()
        self.open()

    def close(self) -> None:
        self.database.close()

    def take(self, *rules: Proposal) -> None:
        """Let rules hold, as if they had been tried everywhere."""
        self.rules.take(rules, "a file")
        for rule in self.rules.rules:
            rule.patterns = {str(number): 9 for number in range(99)}
            rule.values = [{f"id{number}" for number in range(99)}]

    def admit(self, url: str, *, is_fixed: bool = False, host: int = HOST, depth: int = 0) -> None:
        """A link is met; ``host`` is the number of the line in which it is to stand."""
        key = self.canonical.key(url)
        sql = "SELECT 1 FROM requests WHERE key = ?"
        if self.database.read(sql, (key,)).fetchone() is not None:
            return
        self.rules.push(NewRequest(host, url, 0, b"", key, depth=depth, is_fixed=is_fixed))

    def admit_all(self, urls: Iterable[str]) -> None:
        for url in urls:
            self.admit(url)

    def lease(self) -> QueuedRequest | None:
        """The next request; the queue is regrouped to the end where none waits, as in a crawl."""
        self.rules.regrouping.step()
        leased = self.queue.lease(lambda _: 0)
        if leased is None and self.rules.regrouping.is_pending:
            self.rules.regroup_all()
            leased = self.queue.lease(lambda _: 0)
        return leased

    def examine(self) -> None:
        """The end of a crawl: rules are tried for which too little speaks."""
        self.drain()
        while self.rules.validation.try_more():
            self.drain()

    def answer(self, leased: QueuedRequest) -> None:
        """What was asked for comes."""
        self.fetched.append(leased.url)
        said = self.site(leased.url)
        if said is None:
            self.store.insert(self.row(leased.url, "failed"))
            self.rules.substitutes.note_failure([leased.url])
        else:
            self._observe(leased.url, said)
        self.queue.finish([leased.id])

    def _observe_file(self, url: str, said: str) -> None:
        digest = xxhash.xxh3_128_digest(said.encode())
        kept = self.store.find_file(digest)
        row = self.row(url, "not_html" if kept is None else "exact_duplicate")
        row.payload_digest, row.body_bytes = digest, len(said)
        if kept is not None:
            row.duplicate_of, row.similarity = kept.id, 1.0
        self.store.insert(row)
        self.rules.observe(row, None if kept is None else kept.url)

    def _observe(self, url: str, said: str) -> None:
        if said.startswith(FILE):
            self._observe_file(url, said)
            return
        digest = xxhash.xxh3_128_digest(said.encode())
        kept = self.store.find_by_digest(digest)
        row = self.row(url, "new" if kept is None else "text_duplicate")
        row.words, row.words_digest, row.text_digest = 100, digest, digest
        if kept is None:
            row.text = said.encode()
        else:
            row.duplicate_of, row.similarity = kept.id, 1.0
        self._declare(row)
        self.store.insert(row)
        self.rules.observe(row, None if kept is None else kept.url)

    def _declare(self, row: PageRow) -> None:
        declared = dict(self.declares(row.url))
        if declared:
            alternates = [{"hreflang": name, "url": url} for name, url in declared.items()]
            row.metadata = json.dumps({"alternates": alternates}, separators=(",", ":"))

    def row(self, url: str, verdict: str) -> PageRow:
        now = time.time()
        return PageRow(
            id=self.store.new_id(), key=self.canonical.key(url), url=url,
            canonical_url=self.canonical(url), latest=1, visit=1, fetched_at=now, seen_visit=1,
            seen_at=now, depth=0, status=200, verdict=verdict,
        )  # fmt: skip

    def step(self) -> bool:
        """Fetch a page; say whether there was one."""
        leased = self.lease()
        if leased is not None:
            self.answer(leased)
        return leased is not None

    def drain(self) -> None:
        """Fetch all that is left."""
        while self.step():
            pass

    def states(self) -> dict[str, int]:
        """The state of each URL."""
        self.queue.write()
        return dict(self.database.read("SELECT url, state FROM requests").fetchall())

    def group(self, url: str) -> bytes:
        """The digest of an address after today's rules."""
        return self.rules.rules.apply(Address.parse(self.canonical(url))).digest

    def said(self) -> set[str]:
        """What the pages said that were fetched."""
        found = set()
        for url in self.fetched:
            with suppress(KeyError):
                found.add(self.site(url))
        return {said for said in found if said is not None}
