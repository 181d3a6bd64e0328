"""Bring the queue into agreement with the learned rules, a slice at a time."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from crawler.frontier.order import Skip, host_number
from crawler.pages.page_store import PageStore
from crawler.pages.shared_verdicts import Elsewhere
from crawler.storage import meta_names
from crawler.storage.states import DONE, FAILED, LEASED, SKIPPED, WAITING, RequestState
from crawler.url_rules.learning.address import Address
from crawler.url_rules.skipped import TRY
from crawler.url_rules.url_groups import content_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawler.storage.database import Database
    from crawler.url_rules.admission import Admission, Admitted
    from crawler.url_rules.rule_state import RuleState
    from crawler.url_rules.rule_trial import RuleTrial
    from crawler.url_rules.skipped import StandingRequest

SLICE = 2_000
"""Requests that are checked between two pages."""


def note_pending(database: Database, hosts: Iterable[str]) -> None:
    """Let the next process regroup some hosts, given with their ports."""
    pending = set(json.loads(database.meta(meta_names.REGROUPING) or "[]"))
    database.set_meta(meta_names.REGROUPING, json.dumps(sorted(pending.union(hosts))))


class _Work(NamedTuple):
    """Hosts that are regrouped together."""

    hosts: Sequence[str]
    steps: Iterator[None]


class _Found(NamedTuple):
    """The decisions on some requests: those to skip, and those to make."""

    skips: list[tuple[int, Skip]]
    wanted: list[int]


class Regrouping:
    """Regroups the requests of a host when a rule begins to hold or ceases to.

    First come the requests that were handed out: each stands for its address from then
    on. Then those that wait: only one for each address continues to wait. Then
    those that were skipped: they wait again where no other request stands for their
    address, or where the one that stood for it gave no page. The work can be stopped at any
    moment: a host that was begun is noted in ``crawl.db`` and begun again by the
    next process. A request that is queued meanwhile may be fetched once too often, and
    nothing is lost.
    """

    def __init__(self, state: RuleState, admission: Admission, trial: RuleTrial) -> None:
        self._admission = admission
        self._trial = trial
        self._database = state.database
        self._store = PageStore(state.database)
        self._elsewhere = Elsewhere(state.database, self._store)
        self._skipped = state.skipped
        self._groups = state.groups
        self._rules = state.rules
        self._canonical = state.canonical
        self._addresses = state.addresses
        self._visit = 0
        self._work: dict[str, _Work] = {}
        self._is_noted = True
        for host in json.loads(self._database.meta(meta_names.REGROUPING) or "[]"):
            self.begin([host])
        self._database.before_commit.append(self._note)

    @property
    def is_pending(self) -> bool:
        return bool(self._work)

    def begin(self, hosts: Iterable[str]) -> None:
        """Begin with hosts, given with their ports; start over with those in progress.

        A rule that equates two hosts applies to the requests of both.
        """
        together = self._rules.together(hosts)
        numbers = [host_number(Address.parse(f"http://{host}/").hostname) for host in together]
        for number in numbers:
            self._groups.forget(number)
        self._trial.recount(numbers)
        self._admission.note_change(numbers)
        work = _Work(together, self._steps(numbers))
        for host in together:
            self._work.pop(host, None)
            self._work[host] = work
        self._is_noted = False

    def step(self) -> None:
        work = next(iter(self._work.values()), None)
        if work is None or next(work.steps, _END) is not _END:
            return
        for host in work.hosts:
            if self._work.get(host) is work:  # what it found may have started it again
                del self._work[host]
        self._is_noted = False

    def finish(self) -> None:
        while self._work:
            self.step()

    def _note(self) -> None:
        if not self._is_noted:
            self._database.set_meta(meta_names.REGROUPING, json.dumps(list(self._work)))
            self._is_noted = True

    def _steps(self, hosts: Sequence[int]) -> Iterator[None]:
        self._visit = int(self._database.meta(meta_names.VISIT) or 0)
        for host, state in product(hosts, (LEASED, DONE, FAILED)):
            for rows in self._slices(host, state):
                for row in rows:
                    self._claim(host, row, is_through=state != LEASED)
                yield
        self._admission.note_claimed(hosts)
        for host in hosts:
            for rows in self._slices(host, WAITING):
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

    def _slices(self, host: int, state: RequestState) -> Iterator[list[StandingRequest]]:
        ids = self._skipped.ids(host, state)
        for start in range(0, len(ids), SLICE):
            yield self._skipped.requests(ids[start : start + SLICE], state)

    def _claim(self, host: int, row: StandingRequest, *, is_through: bool) -> None:
        """Let a request that was handed out stand for its address, with the page found there."""
        address = self._addresses.learnable(row.url)
        if address is None:
            return
        group = self._rules.apply(address).digest()
        key = row.key or self._canonical.key(row.url)
        if self._groups.get(group) is not None:
            self._groups.mark_explored(group)
        self._groups.claim(group, host, key)
        page = self._store.previous(key)
        content = None if page is None else content_of(page, self._elsewhere.kept_url(page))
        if page is not None and content is not None:
            visit = max(page.visit, page.seen_visit)
            self._trial.meet_again(address, content, page, visit)
            group = self._rules.apply(address).digest()  # another one where that revoked a rule
            self._groups.note(group, host, key, content, visit)
        elif is_through:
            known = self._groups.get(group)
            if known is not None and known.wants_another:  # and this was it
                self._groups.note_try(group)
            self._groups.note_failure(group, self._visit)

    def _skip(self, host: int, row: StandingRequest) -> Admitted:
        """Decide how a request is skipped, or whether it tries a rule; None where it is made."""
        address = self._addresses.learnable(row.url)
        if address is None or row.key is None:
            return None
        return self._admission.decide(
            address, row.key, host, is_fixed=bool(row.is_fixed), is_regrouped=True
        )


_END = object()
