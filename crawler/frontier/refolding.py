"""Bringing the queue into agreement with the learned rules, a slice at a time."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from crawler.frontier.folds import said_of
from crawler.frontier.order import host_number
from crawler.frontier.skipped import TRY, Skip
from crawler.frontier.states import DONE, FAILED, LEASED, SKIPPED, TODO
from crawler.pages.store import PageStore
from crawler.urls.errors import MalformedUrl
from crawler.urls.learning.address import Address
from crawler.urls.learning.evidence import agreement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawler.frontier.folds import Folds
    from crawler.frontier.skipped import SkippedRequests, StandingRequest
    from crawler.pages.database import Database
    from crawler.pages.page import PageRow
    from crawler.urls.canonical import Canonicalizer
    from crawler.urls.learning.evidence import Said
    from crawler.urls.rules import RuleSet

SLICE = 500
"""Requests that are looked at between two pages."""

PENDING = "refolding"
"""Name in the table ``meta``: the hosts that were begun."""


def note_pending(database: Database, hosts: Iterable[str]) -> None:
    """Let the next process look at some hosts, given with their ports."""
    pending = set(json.loads(database.meta(PENDING) or "[]"))
    database.set_meta(PENDING, json.dumps(sorted(pending.union(hosts))))


class Judge(Protocol):
    """Who knows what a rule is worth."""

    def decide(
        self, address: Address, key: bytes, host: int, *, is_fixed: bool
    ) -> Skip | Literal["try"] | None:
        """How a request is skipped, whether it tries a rule, or None where it is made."""

    def contradicts(self, address: Address, said: Said, row: PageRow) -> None:
        """A page was found at whose address, after the rules, another one stands."""


class _Work(NamedTuple):
    """Hosts that are looked at together."""

    hosts: Sequence[str]
    steps: Iterator[None]


class _Found(NamedTuple):
    """What became of some requests: those to skip, those to make."""

    skips: list[tuple[int, Skip]]
    wanted: list[int]


class Refolding:
    """Looks at a host's requests anew when a rule began to hold or ceased to.

    First those that were handed out, which stand for their addresses from then
    on; then those that wait, of which only one an address goes on waiting; then
    those that were skipped, which wait again where nothing else stands for their
    address, or where what stood for it gave no page. It can be stopped at any
    moment: a host that was begun is noted in ``crawl.db`` and begun again by the
    next process. What is queued meanwhile may be fetched once too often, and
    nothing is lost.
    """

    def __init__(
        self,
        database: Database,
        skipped: SkippedRequests,
        folds: Folds,
        rules: RuleSet,
        canonicalizer: Canonicalizer,
        judge: Judge,
    ) -> None:
        self._judge = judge
        self._database = database
        self._store = PageStore(database)
        self._skipped = skipped
        self._folds = folds
        self._rules = rules
        self._canonical = canonicalizer
        self._visit = 0
        self._work: dict[str, _Work] = {}
        self._is_noted = True
        for host in json.loads(database.meta(PENDING) or "[]"):
            self.begin([host])
        database.before_commit.append(self._note)

    @property
    def is_pending(self) -> bool:
        """Whether there is more to do."""
        return bool(self._work)

    def begin(self, hosts: Iterable[str]) -> None:
        """Begin with hosts, given with their ports, or begin anew.

        A rule for one of two hosts that are the same speaks of the other one's requests too.
        """
        together = self._rules.together(hosts)
        numbers = [host_number(Address.parse(f"http://{host}/").hostname) for host in together]
        for number in numbers:
            self._folds.forget(number)
        work = _Work(together, self._steps(numbers))
        for host in together:
            self._work.pop(host, None)
            self._work[host] = work
        self._is_noted = False

    def step(self) -> None:
        """Look at some requests."""
        work = next(iter(self._work.values()), None)
        if work is None or next(work.steps, _END) is not _END:
            return
        for host in work.hosts:
            if self._work.get(host) is work:  # what it found may have made it begin anew
                del self._work[host]
        self._is_noted = False

    def finish(self) -> None:
        """Look at all that is left."""
        while self._work:
            self.step()

    def _note(self) -> None:
        if not self._is_noted:
            self._database.set_meta(PENDING, json.dumps(list(self._work)))
            self._is_noted = True

    def _steps(self, hosts: Sequence[int]) -> Iterator[None]:
        self._visit = int(self._database.meta("visit") or 0)
        for host, state in product(hosts, (LEASED, DONE, FAILED)):
            for rows in self._slices(host, state):
                for row in rows:
                    self._claim(host, row, is_through=state != LEASED)
                yield
        for host in hosts:
            for rows in self._slices(host, TODO):
                found = self._look_again(host, rows)
                self._skipped.set_aside(host, found.skips)
                yield
        for host in hosts:
            for rows in self._slices(host, SKIPPED):
                found = self._look_again(host, rows)
                self._skipped.explain(found.skips)
                self._skipped.put_back(host, found.wanted)
                yield

    def _look_again(self, host: int, rows: list[StandingRequest]) -> _Found:
        found = _Found([], [])
        tries = []
        for row in rows:
            skip = self._skip(host, row)
            if isinstance(skip, Skip):
                found.skips.append((row.id, skip))
            else:
                found.wanted.append(row.id)
            if skip == TRY:
                tries.append(row.id)
        self._skipped.fix(tries)
        return found

    def _slices(self, host: int, state: int) -> Iterator[list[StandingRequest]]:
        ids = self._skipped.ids(host, state)
        for start in range(0, len(ids), SLICE):
            yield self._skipped.requests(ids[start : start + SLICE], state)

    def _claim(self, host: int, row: StandingRequest, *, is_through: bool) -> None:
        """Let what was handed out stand for its address, with what was found there."""
        address = self._address(row.url)
        if address is None:
            return
        fold = self._rules.fold(address).digest()
        key = row.key or self._canonical.key(row.url)
        if self._folds.get(fold) is not None:
            self._folds.mark_explored(fold)
        self._folds.claim(fold, host, key)
        page = self._store.previous(key)
        said = None if page is None else said_of(page)
        if page is not None and said is not None:
            visit = max(page.visit, page.seen_visit)
            self._compare(address, said, page, visit)
            fold = self._rules.fold(address).digest()  # another one where that revoked a rule
            self._folds.note(fold, host, key, said, visit)
        elif is_through:
            known = self._folds.get(fold)
            if known is not None and known.wants_another:  # and this was it
                self._folds.note_try(fold)
            self._folds.note_failure(fold, self._visit)

    def _compare(self, address: Address, said: Said, page: PageRow, visit: int) -> None:
        """Say so where another page stands at the same address, fetched before a rule held."""
        known = self._folds.get(self._rules.fold(address).digest())
        if known is None or known.said is None or known.visit != visit:
            return
        if agreement(known.said, said) is False:
            self._judge.contradicts(address, said, page)

    def _skip(self, host: int, row: StandingRequest) -> Skip | Literal["try"] | None:
        """How a request is skipped, or whether it tries a rule; None where it stands for itself."""
        address = self._address(row.url)
        if address is None or row.key is None:
            return None
        return self._judge.decide(address, row.key, host, is_fixed=bool(row.is_fixed))

    def _address(self, url: str) -> Address | None:
        try:
            address = Address.parse(self._canonical(url))
        except MalformedUrl:
            return None
        return address if address.is_learnable else None


_END = object()
