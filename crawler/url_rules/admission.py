"""Decide which requests the learned rules skip, and which of those are made all the same.

So is one that is skipped for another which gives no page. The queue is brought into agreement with
the rules, a slice at a time.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import product
from typing import TYPE_CHECKING, Literal, NamedTuple

from crawler.frontier.order import Skip, host_number
from crawler.pages.page_store import PageStore
from crawler.pages.shared_verdicts import FleetOriginals
from crawler.storage import meta_names
from crawler.storage.states import DONE, FAILED, LEASED, SKIPPED, WAITING, RequestState
from crawler.url_rules.learned_rule import FetchedForms, weakest
from crawler.url_rules.learning.address import Address
from crawler.url_rules.skipped import TRY
from crawler.url_rules.url_groups import content_of, forms_of
from crawler.url_rules.validation import ENOUGH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawler.url_rules.learned_rule import LearnedRule
    from crawler.url_rules.low_priority import LateRequests
    from crawler.url_rules.rule_state import RuleState
    from crawler.url_rules.rule_trial import RuleTrial
    from crawler.url_rules.skipped import StandingRequest
    from crawler.url_rules.url_groups import UrlGroup

    _Skips = list[tuple[int, Skip]]


EXPLORED_OF = 20
"""One in this many pages with further URLs is fetched under a second URL all the same."""

EXPLORED_OF_IDS = 40
"""The same ratio for URLs that differ in nothing but ids, which no two pages share."""

_DIGESTS = 2**32  # values of the four bytes that draw a URL to explore
_MAX_PATTERNS = 4_096

Admitted = Skip | Literal["try"] | None
"""A way to skip a request; TRY: no rule may skip it from now on; None: it is made."""


class _Doubt(NamedTuple):
    """A page that another URL stands for.

    Attributes:
        host: The number of its line in the queue.
        standing: That URL.
    """

    group: bytes
    host: int
    known: UrlGroup
    standing: Address


class Admission:
    """Decides for each request whether another one stands for its page."""

    def __init__(self, state: RuleState, late: LateRequests) -> None:
        self._state = state
        self._rules = state.rules
        self._groups = state.groups
        self._late = late
        self._unclaimed: set[int] = set()
        self._patterns: dict[bytes, str] = {}
        self._pages: Counter[int] = Counter()
        self._owed: defaultdict[int, float] = defaultdict(float)

    def admit(self, url: str, key: bytes, host: int, *, is_fixed: bool) -> Admitted:
        """Decide on a request.

        Args:
            url: The URL as it would be requested.
            key: Its request fingerprint.
            host: The number of its line in the queue.
            is_fixed: Whether it is made whatever was learned.

        Complexity: O(rules of its host); nothing where there are none.
        """
        address = self._state.addresses.parsed(url)
        if address is None:
            return None
        if address.host not in self._rules or not address.is_learnable:
            return None if is_fixed else self._late.trapped(address)
        if host != host_number(address.hostname):
            # It is in the line of another name: it would not be found where rules change.
            return None if is_fixed else self._late.trapped(self._rules.apply(address))
        return self.decide(address, key, host, is_fixed=is_fixed)

    def decide(
        self,
        address: Address,
        key: bytes,
        host: int,
        *,
        is_fixed: bool,
        is_regrouped: bool = False,
    ) -> Admitted:
        """Decide on a request, given its address; else as ``admit``.

        A request that is met while the pages of its host are still to be claimed waits: it is
        decided on when the regrouping comes to it.
        """
        after_rules = self._rules.apply(address)
        group = after_rules.digest
        known = self._groups.get(group)
        if known is None:
            if host in self._unclaimed and not is_regrouped:
                return self._late.trapped(after_rules)
            self._groups.claim(group, host, key)
        elif known.key != key and known.wants_another:
            self._groups.note_try(group)
            return TRY
        if is_fixed:
            if known is not None and known.key != key:
                self._groups.mark_explored(group)
            return None
        standing = None if known is None else self._standing(address, group, key, known)
        if known is None or standing is None:
            return self._late.trapped(after_rules)
        rules = self._rules.changing(address) or self._rules.changing(standing)
        if not rules:
            return self._late.trapped(after_rules)
        doubt = _Doubt(group, host, known, standing)
        return TRY if self._explores(rules, address, doubt) else Skip(weakest(rules).id, group)

    def begin_visit(self) -> None:
        """Forget how often hosts were explored in the last visit."""
        self._pages.clear()
        self._owed.clear()
        self._patterns.clear()

    def note_page(self, host: int) -> None:
        """Count a page of a host that was fetched."""
        self._pages[host] += 1
        self._owed[host] += 1 / self._one_in(EXPLORED_OF_IDS, host)

    def note_change(self, hosts: Iterable[int]) -> None:
        """Explore some hosts as often as at their beginning: their rules changed."""
        for host in hosts:
            self._pages.pop(host, None)
            self._owed.pop(host, None)
            self._unclaimed.add(host)

    def note_claimed(self, hosts: Iterable[int]) -> None:
        """Decide on requests of some hosts again: each page that was fetched has its address."""
        self._unclaimed.difference_update(hosts)

    def _standing(
        self, address: Address, group: bytes, key: bytes, known: UrlGroup
    ) -> Address | None:
        """Return the URL that stands for a request; None where it is to be made itself."""
        if known.key == key:
            return None
        standing = self._state.addresses.standing(known)
        if standing is None or not self._rules.may_stand_for(standing, address):
            self._groups.stand(group, key)
            return None
        return standing

    def _proves(self, address: Address, doubt: _Doubt) -> bool:
        """Return whether a URL differs in more than ids from those of its page that were tried."""
        tried = FetchedForms([self._rules.form(doubt.standing), *forms_of(doubt.known.tested)])
        return bool(tried.gained(self._rules.form(address)))

    def _explores(self, rules: Sequence[LearnedRule], address: Address, doubt: _Doubt) -> bool:
        """Decide whether to make a request that rules would skip, in order to try them."""
        pattern = self._pattern(address, doubt.group)
        is_new_ground = any(rule.is_new_ground(address, pattern) for rule in rules)
        is_chosen = self._is_chosen(address, doubt)
        if not is_new_ground and not is_chosen:
            return False
        self._groups.mark_explored(doubt.group)
        # Whatever else it tries, it has other ids too.
        self._owed[doubt.host] -= 1
        for rule in rules:
            rule.note_try(address, pattern)
            self._state.store.note_change(rule)
        weakest(rules).explored += 1
        return True

    def _pattern(self, address: Address, group: bytes) -> str:
        """Return the kind of a page, as of when it was asked for first: it may become wider."""
        pattern = self._patterns.get(group)
        if pattern is None:
            after_rules = self._rules.apply(address)
            kind = self._state.learner.pattern_of(after_rules)
            pattern = f"{kind}?{'&'.join(sorted(after_rules.names))}"
            if len(self._patterns) >= _MAX_PATTERNS:
                self._patterns.clear()
            self._patterns[group] = pattern
        return pattern

    def _is_chosen(self, address: Address, doubt: _Doubt) -> bool:
        """Return whether a page is one of those fetched under a second URL, wherever it is.

        Of a large host ever fewer are, so that each tenfold number of pages has as many.
        Those are the pages with the least digests. Validation begins with them too: what was
        explored is a random part of what it would try.
        """
        if doubt.known.is_explored:
            return False
        one_in = self._one_in(EXPLORED_OF, doubt.host)
        is_drawn = int.from_bytes(doubt.group[:4]) * one_in < _DIGESTS
        return self._owed[doubt.host] >= 1 or (is_drawn and self._proves(address, doubt))

    def _one_in(self, most: int, host: int) -> float:
        return max(most, self._pages[host] / ENOUGH)


SLICE = 2_000
"""Requests that are checked between two pages."""


class _Work(NamedTuple):
    """Hosts that are regrouped together."""

    hosts: Sequence[str]
    steps: Iterator[None]


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
        self._fleet_originals = FleetOriginals(state.database, self._store)
        self._skipped = state.skipped
        self._groups = state.groups
        self._rules = state.rules
        self._canonical = state.canonical
        self._addresses = state.addresses
        self._visit = 0
        self._work: dict[str, _Work] = {}
        self._is_noted = True
        self._left = json.loads(self._database.meta(meta_names.REGROUPING) or "[]")
        self._database.before_commit.append(self._note)

    @property
    def is_left(self) -> bool:
        """Whether an earlier process ended before it was through."""
        return bool(self._left)

    def resume(self) -> None:
        """Begin again with the hosts that an earlier process was not through with."""
        for host in self._left:
            self.begin([host])

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
        """Continue bringing the queue into agreement with the rules, if needed."""
        work = next(iter(self._work.values()), None)
        if work is None or next(work.steps, _END) is not _END:
            return
        for host in work.hosts:
            if self._work.get(host) is work:  # what it found may have started it again
                del self._work[host]
        self._is_noted = False

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
                skips, _ = self._look_again(host, rows)
                self._skipped.set_aside(host, skips)
                yield
        for host in hosts:
            for rows in self._slices(host, SKIPPED):
                skips, wanted = self._look_again(host, rows)
                self._skipped.set_aside(host, skips, SKIPPED)
                self._skipped.put_back(wanted)
                yield

    def _look_again(self, host: int, rows: list[StandingRequest]) -> tuple[_Skips, list[int]]:
        """Return the requests to skip, each with its reason, and those to make."""
        skips, wanted, tries = [], [], []
        for row in rows:
            skip = self._skip(host, row)
            if isinstance(skip, Skip):
                skips.append((row.id, skip))
            else:
                wanted.append(row.id)
            if skip == TRY:
                tries.append(row.id)
        self._skipped.fix(host, tries)
        return skips, wanted

    def _slices(self, host: int, state: RequestState) -> Iterator[list[StandingRequest]]:
        ids = self._skipped.ids(host, state)
        for start in range(0, len(ids), SLICE):
            yield self._skipped.requests(ids[start : start + SLICE], state)

    def _claim(self, host: int, row: StandingRequest, *, is_through: bool) -> None:
        """Let a request that was handed out stand for its address, with the page found there."""
        address = self._addresses.learnable(row.url)
        if address is None:
            return
        group = self._rules.apply(address).digest
        key = row.key or self._canonical.key(row.url)
        known = self._groups.get(group)
        if known is not None:
            self._groups.mark_explored(group)
        page = self._store.previous(key)
        content = None if page is None else content_of(page, self._fleet_originals.kept_url(page))
        if page is not None and content is not None:
            visit = max(page.visit, page.seen_visit)
            if known is not None:
                self._trial.meet_again(address, content, page, visit)
                group = self._rules.apply(address).digest  # another one if that revoked a rule
            self._groups.note(group, host, key, content, visit)
            return
        self._groups.claim(group, host, key)
        if is_through:
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


class Substitutes:
    """Puts skipped requests back into the queue where those that stood for them gave no page."""

    def __init__(self, state: RuleState) -> None:
        self._state = state
        self._rules = state.rules
        self._skipped = state.skipped
        self._groups = state.groups
        self._addresses = state.addresses

    def note_failure(self, urls: Iterable[str]) -> None:
        """Replace requests that gave no page; by one several that are the same after the rules."""
        groups: dict[Address, tuple[Address, str]] = {}
        for url in urls:
            address = self._addresses.learnable(url)
            if address is not None and address.host in self._rules:
                groups.setdefault(self._rules.apply(address), (address, url))
        for address, url in groups.values():
            self._replace(address, self._state.canonical.key(url))

    def _replace(self, address: Address, key: bytes) -> None:
        """Put one request back that was skipped because of one that gave no page.

        Where none was skipped yet, the next one that is met is queued.
        """
        group = self._rules.apply(address).digest
        self._groups.claim(group, host_number(address.hostname), key)
        self._groups.note_failure(group, self._state.visit)
        known = self._groups.get(group)
        if known is not None and known.wants_another and self._skipped.put_one_back(group):
            self._groups.note_try(group)

    def note_redirected(self, urls: Sequence[str], after_rules: Address | None) -> None:
        """Replace requests that were redirected elsewhere: to a login perhaps, or the home page.

        Args:
            urls: URLs from which a page was reached.
            after_rules: Its address after the rules; None where there is no page.
        """
        addresses = [(url, self._addresses.learnable(url)) for url in urls]
        self.note_failure(
            url
            for url, one in addresses
            if one is not None and self._rules.apply(one) != after_rules
        )

    def note_filtered_redirect(self, sources: Sequence[str], target: str) -> None:
        """Replace requests that were redirected to a URL which was requested already.

        If that request was only skipped because of one of these, it is itself the replacement.
        """
        one, others = self._addresses.learnable(target), []
        after_rules = None if one is None else self._rules.apply(one)
        for url in sources:
            address = self._addresses.learnable(url)
            if after_rules is None or address is None or self._rules.apply(address) != after_rules:
                others.append(url)
            else:
                self._skipped.put_key_back(self._state.canonical.key(target))
        self.note_failure(others)
