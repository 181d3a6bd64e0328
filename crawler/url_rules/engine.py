"""Apply the learned rules to the requests that are queued, fetched and failed."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from crawler.frontier.order import Skip, host_number
from crawler.frontier.queue import MemoryQueue
from crawler.pages.page_row import alternates_of, columns_of
from crawler.pages.verdicts import TOO_SHORT, WALLS
from crawler.url_rules.admission import Admission, Regrouping, Substitutes
from crawler.url_rules.fixed_rules import FixedRules
from crawler.url_rules.kinds import CLOSED
from crawler.url_rules.learned_rule import NOT_EXAMINED
from crawler.url_rules.learning.hypothesis import LearningPolicy
from crawler.url_rules.learning.learner import Declared
from crawler.url_rules.learning.versions import one_of_each
from crawler.url_rules.low_priority import LateRequests
from crawler.url_rules.rule_state import RuleState
from crawler.url_rules.rule_trial import RuleTrial
from crawler.url_rules.skipped import TRY
from crawler.url_rules.traps import UrlTraps
from crawler.url_rules.url_groups import content_of
from crawler.url_rules.validation import Validation
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawler.frontier.order import Load, NewRequest, QueuedRequest
    from crawler.frontier.queue import RequestQueue
    from crawler.pages.page_row import PageRow
    from crawler.storage.database import Database
    from crawler.url_rules.learning.address import Address
    from crawler.url_rules.learning.evidence import PageContent
    from crawler.url_rules.learning.proposals import Proposal
    from crawler.urls.canonical import Canonicalizer

logger = logging.getLogger(__name__)

_SOME_TRANSLATIONS = 3
"""Compare the URLs of at most this many translations of a page: some 10 us each."""


class UrlRules:
    """Learns rules from the pages that are stored, and keeps the queue in agreement with them.

    A rule changes the key of a page, never the URL that is requested. The
    requests that it skips stay in the queue's table. They go back into the queue if the
    rule turns out to be wrong: if two URLs that it takes for one page have
    different texts. To find that out, one page in twenty is fetched under a second
    URL too, and so is the first of every kind of path and, for a few values, of each.

    Where it is off, all requests are queued, and nothing is learned or skipped. An earlier process
    that was not may have left requests that it skipped.

    Args:
        database: The crawl's database.
        canonicalizer: The crawl's canonicalizer of URLs.
        queue: The queue of requests; from one in memory nothing can be put back, so that it is off.
        policy: The conditions on which a rule is believed; None: it is off.

    Attributes:
        is_busy: Whether the last ``lease`` returned nothing only because it took long enough, so
            that the next one may return a request at once.
        is_on: Whether rules are learned, and skip requests.
        fixed: The fixed rules, which are tried on each host.
        validation: The trials of rules before the crawl ends.
        substitutes: The requests that replace those that gave no page.
    """

    def __init__(
        self,
        database: Database,
        canonicalizer: Canonicalizer,
        queue: RequestQueue,
        policy: LearningPolicy | None,
    ) -> None:
        self._is_in_memory = isinstance(queue, MemoryQueue)
        self.is_on = policy is not None and not self._is_in_memory
        policy = policy or LearningPolicy()
        self.fixed = FixedRules(database, canonicalizer)
        state = self._state = RuleState.opened(
            database, canonicalizer, queue, policy, is_on=self.is_on
        )
        self.rules = state.rules
        self.traps = UrlTraps(
            database, policy.cluster_budget, is_breadth_first=policy.is_breadth_first
        )
        for cluster in self.traps.reopened:
            state.skipped.put_back_rule(-cluster)
        self._late = LateRequests(queue, state.skipped, self.traps, state.addresses)
        self._admission = Admission(state, self._late)
        self.substitutes = Substitutes(state)
        self.validation = Validation(state)
        self.trial = RuleTrial(state, self._regroup)
        self.regrouping = Regrouping(state, self._admission, self.trial)
        self.is_busy = False
        if self.is_on:
            self.regrouping.resume()
        else:
            self.validation.is_left = self._is_unsettled()
        database.before_commit.append(state.store.save_changed)

    def _is_unsettled(self) -> bool:
        """Return whether skipped requests may still be needed: rules changed or were not tried."""
        wanted = {rule for rule in self._state.skipped.counts() if rule > 0}
        tried = {rule.id for rule in self._state.store if rule.examined != NOT_EXAMINED}
        return bool(wanted) and (self.regrouping.is_left or not wanted <= tried)

    def _regroup(self, hosts: Iterable[str]) -> None:
        self.validation.note_change()
        self.regrouping.begin(hosts)

    def begin_visit(self, visit: int) -> None:
        """Begin another visit; the caller then empties the queue of the last one."""
        saved = self._state.skipped.counts()
        for rule in self.rules:
            rule.saved += saved.get(rule.id, 0)
            self._state.store.note_change(rule)
        self._state.visit = visit
        self.validation.begin_visit()
        self._admission.begin_visit()
        self._state.groups.clear()
        self.traps.clear()

    def continue_visit(self) -> None:
        """Let all requests wait again where it is off; else the rules are still those of before.

        What stands for them is forgotten: it may give no page while nothing is learned.
        """
        if self.is_on:
            return
        self.validation.is_left = False
        self._state.groups.clear()
        again = self._state.skipped.put_all_back()
        if again:
            logger.info("%d requests are made that URL rules skipped before", again)

    def take(self, proposals: Iterable[Proposal], origin: str) -> int:
        """Adopt rules of another crawl; return how many are new; see ``RuleTrial``.

        Raises:
            ValueError: It is off.
        """
        if not self.is_on:
            why = "a JOBDIR" if self._is_in_memory else "CRAWL_LEARN_URL_RULES, which is off"
            raise ValueError(f"{origin}: URL rules can only be used with {why}")
        return self.trial.take(proposals, origin)

    def suggest(self, proposals: Iterable[Proposal], origin: str) -> None:
        """Give the transforms of another crawl's rules a head start, whatever host they are of."""
        for _, transform in proposals:
            self.rules.known.name(transform, origin)

    def push(self, new: NewRequest) -> bool:
        """Queue a request, or note it as one that is skipped; return whether it is queued.

        Its priority is lowered where pages of its kind are hardly new any more. Nothing skips a
        request without a key.

        Complexity: O(rules of its host).
        """
        if not self.is_on:
            self._state.queue.push(new)
            return True
        is_fixed, key, admitted = new.is_fixed, new.key, None
        if not is_fixed:
            late = self._late.priority(new.url, new.priority, is_given=not new.priority)
            if late != new.priority:
                new = new._replace(priority=late)
        if key is not None:
            admitted = self._admission.admit(new.url, key, new.host, is_fixed=is_fixed)
        if not is_fixed and (not isinstance(admitted, Skip) or admitted.rule < 0):
            self._late.note_met(new)
        if isinstance(admitted, Skip):
            self.validation.note_change()
            self._state.queue.push_skipped(new, admitted)
            return False
        self._state.queue.push(new._replace(is_fixed=is_fixed or admitted == TRY))
        return True

    def lease(self, load: Load) -> QueuedRequest | None:
        """Lease the next request that is to be made now; None also where ``is_busy`` then.

        Where none waits, the regrouping that is left may put one back. Where some wait and no host
        has room, the regrouping can wait too: all of it at once may take long. Requests of kinds
        whose pages are seldom new wait for it, since they may be those that it sets aside.
        """
        if not self.is_on:
            return self._state.queue.lease(load)
        if (
            self.regrouping.is_pending
            and len(self._state.queue)
            and not self._state.queue.has_urgent(0)
        ):
            self.regrouping.step()
            self.is_busy = True
            return None
        queued = self._late.lease(load)
        if queued is None and self._may_put_back:
            self.regrouping.step()
            queued = self._late.lease(load)
        self.is_busy = queued is None and (self._late.is_passing or self._may_put_back)
        return queued

    @property
    def _may_put_back(self) -> bool:
        return not len(self._state.queue) and self.regrouping.is_pending

    def regroup_all(self) -> None:
        while self.regrouping.is_pending:
            self.regrouping.step()

    def note_wanted(self, key: bytes) -> None:
        """Let no rule skip the request with a fingerprint: a sitemap or the like names its URL."""
        if self.is_on:
            self._state.skipped.keep(key)

    def observe(
        self,
        row: PageRow,
        kept_url: str | None = None,
        redirected: Sequence[str] = (),
        *,
        is_first: bool = True,
    ) -> None:
        """Learn from a page that was stored.

        Args:
            row: Its row; one with no text that repeats none proves nothing.
            kept_url: URL of the page that it repeats.
            redirected: URLs that led to it.
            is_first: Whether it was not observed before, with another verdict.

        Complexity: O(hypotheses about its host).
        """
        if not self.is_on:
            return
        for url in redirected:
            self._note_led(url, row)
        address = self._state.addresses.parsed(row.canonical_url)
        content = content_of(row, kept_url)
        if address is not None and not address.is_learnable:
            self._note_newness(address, row, is_first=is_first)
        elif address is not None and row.verdict in WALLS:
            self._note_newness(self.rules.apply(address), row, is_first=is_first)
        if content is None:
            self.substitutes.note_failure([*redirected, row.canonical_url])
        elif address is None or not address.is_learnable:
            self.substitutes.note_redirected(redirected, None)
        else:
            after_rules = self._note_page(address, content, row)
            if not content.is_file:
                self._note_newness(after_rules, row, is_first=is_first)
            self.substitutes.note_redirected(redirected, after_rules)
            self._learn(address, content, row, kept_url, redirected)

    def _note_page(self, address: Address, content: PageContent, row: PageRow) -> Address:
        """Note a page and return its address after the rules."""
        self.trial.meet(address, content, row, self._state.visit)
        after_rules = self.rules.apply(address)
        number = host_number(address.hostname)
        if address.host in self.rules:
            self._admission.note_page(number)
        self._state.groups.note(after_rules.digest, number, row.key, content, self._state.visit)
        return after_rules

    def _learn(
        self,
        address: Address,
        content: PageContent,
        row: PageRow,
        kept_url: str | None,
        redirected: Sequence[str],
    ) -> None:
        if row.verdict == TOO_SHORT or not (row.words or content.is_file):
            return
        if self.trial.is_given_up(address.host):
            return
        believed = self._state.learner.observe(
            address,
            content,
            same_as=None if kept_url is None else self._state.canonical(kept_url),
            same_links=self._links_of(content.kept, row),
            declared=Declared(list(self._canonicals(redirected)), self._translations(row)),
            lookup=self._look_up,
        )
        self.trial.drop_doubted(address.host)
        self.trial.adopt(believed)

    def _note_newness(self, after_rules: Address, row: PageRow, *, is_first: bool) -> None:
        before = self.traps.note(
            after_rules,
            row.verdict,
            row.name or "",
            original=row.duplicate_of,
            is_first=is_first,
        )
        self._put_back(after_rules, before)

    def _note_led(self, url: str, row: PageRow) -> None:
        """Note a URL that was redirected to a page: it may be of a kind behind a wall."""
        address = self._state.addresses.parsed(url)
        if address is not None:
            after_rules = self.rules.apply(address)
            self._put_back(
                after_rules, self.traps.note_led(after_rules, row.verdict, row.duplicate_of)
            )

    def _put_back(self, after_rules: Address, before: str | None) -> None:
        """Queue what was skipped, where a kind of URLs is no longer closed."""
        if before == CLOSED:
            self._state.skipped.put_back_rule(-self.traps.cluster(after_rules).id)

    def note_filtered_redirect(self, sources: Sequence[str], target: str) -> None:
        self.trial.meet_redirect(sources, target)
        self.substitutes.note_filtered_redirect(sources, target)

    def _translations(self, row: PageRow) -> list[str]:
        alternates = alternates_of(row.metadata)
        some = one_of_each(alternates, _SOME_TRANSLATIONS, row.id) if alternates else ()
        return list(self._canonicals(some))

    def _canonicals(self, urls: Iterable[str]) -> Iterator[str]:
        for url in urls:
            with suppress(MalformedUrl):
                yield self._state.canonical(url)

    def _look_up(self, address: Address) -> PageContent | None:
        known = self._state.groups.get(address.digest)
        return None if known is None or known.visit != self._state.visit else known.content

    def _links_of(self, page: int, row: PageRow) -> int | None:
        """Return the number of links of the page with a number."""
        if page == row.id:
            return row.links
        found = columns_of(self._state.database.read, page, "links")
        return None if found is None else int(found[0])

    def save_refuted(self) -> None:
        self.validation.note_proven()
        self.trial.save_refuted()
