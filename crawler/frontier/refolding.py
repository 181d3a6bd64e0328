"""Bringing the queue into agreement with the learned rules, a slice at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from crawler.frontier.folds import said_of
from crawler.frontier.order import host_number
from crawler.frontier.skipped import Skip
from crawler.frontier.states import DONE, FAILED, LEASED, SKIPPED, TODO
from crawler.pages.store import PageStore
from crawler.urls.errors import MalformedUrl
from crawler.urls.learning.address import Address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.frontier.folds import Folds
    from crawler.frontier.skipped import SkippedRequests, StandingRequest
    from crawler.frontier.url_traps import UrlTraps
    from crawler.pages.database import Database
    from crawler.urls.canonical import Canonicalizer
    from crawler.urls.rules import RuleSet

SLICE = 500
"""Requests that are looked at between two pages."""

PENDING = "refolding"
"""Name in the table ``meta``: the hosts that were begun."""


class Refolding:
    """Looks at a host's requests anew when a rule began to hold or ceased to.

    First those that were handed out, which stand for their addresses from then
    on; then those that wait, of which only one an address goes on waiting; then,
    where a rule ceased to hold, those that were skipped, which wait again where
    nothing else stands for their address. It can be stopped at any moment: a
    host that was begun is noted in ``crawl.db`` and begun again by the next process.
    What is queued meanwhile may be fetched once too often, and nothing is lost.
    """

    def __init__(
        self,
        database: Database,
        skipped: SkippedRequests,
        folds: Folds,
        rules: RuleSet,
        traps: UrlTraps,
        canonicalizer: Canonicalizer,
    ) -> None:
        self._database = database
        self._store = PageStore(database)
        self._skipped = skipped
        self._folds = folds
        self._rules = rules
        self._traps = traps
        self._canonical = canonicalizer
        self._work: dict[str, Iterator[None]] = {}
        for host in json.loads(database.meta(PENDING) or "[]"):
            self.begin(host, puts_back=True)

    @property
    def is_pending(self) -> bool:
        """Whether there is more to do."""
        return bool(self._work)

    def begin(self, host: str, *, puts_back: bool) -> None:
        """Begin with a host, or begin anew.

        Args:
            host: With its port.
            puts_back: Whether what was skipped may have to wait again.
        """
        puts_back = puts_back or self._work.pop(host, None) is not None
        self._work[host] = self._steps(host, puts_back=puts_back)
        self._note()

    def step(self) -> None:
        """Look at some requests."""
        for host, steps in list(self._work.items())[:1]:
            if next(steps, _END) is _END:
                del self._work[host]
                self._note()

    def finish(self) -> None:
        """Look at all that is left."""
        while self._work:
            self.step()

    def _note(self) -> None:
        self._database.set_meta(PENDING, json.dumps(list(self._work)))

    def _steps(self, host: str, *, puts_back: bool) -> Iterator[None]:
        number = host_number(Address.parse(f"http://{host}/").hostname)
        self._folds.forget(number)
        for state in (LEASED, DONE, FAILED):
            for rows in self._slices(number, state):
                for row in rows:
                    self._claim(number, row)
                yield
        for rows in self._slices(number, TODO):
            aside = [(row.id, skip) for row in rows if (skip := self._skip(number, row))]
            self._skipped.set_aside(number, aside)
            yield
        if puts_back:
            for rows in self._slices(number, SKIPPED):
                wanted = [row.id for row in rows if not self._skip(number, row)]
                self._skipped.put_back(number, wanted)
                yield

    def _slices(self, host: int, state: int) -> Iterator[list[StandingRequest]]:
        ids = self._skipped.ids(host, state)
        for start in range(0, len(ids), SLICE):
            yield self._skipped.requests(ids[start : start + SLICE], state)

    def _claim(self, host: int, row: StandingRequest) -> None:
        """Let what was handed out stand for its address, with what was found there."""
        address = self._address(row.url)
        if address is None:
            return
        fold = self._rules.fold(address).digest()
        key = row.key or self._canonical.key(row.url)
        self._folds.claim(fold, host, key)
        page = self._store.previous(key)
        said = None if page is None else said_of(page)
        if page is not None and said is not None:
            self._folds.note(fold, host, key, said, max(page.visit, page.seen_visit))

    def _skip(self, host: int, row: StandingRequest) -> Skip | None:
        """How a request is skipped; None where it stands for its address."""
        address = self._address(row.url)
        if address is None or row.key is None or row.is_fixed:
            return None
        folded = self._rules.fold(address)
        fold = folded.digest()
        known = self._folds.get(fold)
        if known is None:
            self._folds.claim(fold, host, row.key)
        if known is None or known.key == row.key:
            cluster = self._traps.closed(folded, fold)
            return None if cluster is None else Skip(-cluster, fold)
        url = self._skipped.url(known.key)
        standing = None if url is None else self._address(url)
        if standing is None or not self._rules.may_stand_for(standing, address):
            self._folds.stand(fold, row.key)
            return None
        rules = self._rules.changing(address) or self._rules.of(address.host)
        return Skip(rules[-1].id, fold) if rules else None

    def _address(self, url: str) -> Address | None:
        try:
            address = Address.parse(self._canonical(url))
        except MalformedUrl:
            return None
        return address if address.is_learnable else None


_END = object()
