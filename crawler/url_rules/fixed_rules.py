"""Try the fixed rules on each host, and revoke those that are wrong there.

Fixed are the rules of ``crawler.urls.standard``. Those that a standard promises hold everywhere.
The others, such as the order of arguments, are right on nearly all sites: a URL that one of them
takes for a page that was requested is a variant, and stored without being requested. The first
variant by a rule on a host is requested all the same, then ever fewer. Where one is another page
than the one that it was taken for, the rule is revoked on the host and its variants are requested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from crawler.frontier.seen import RecentDepths
from crawler.storage.states import VariantState
from crawler.url_rules.variant_trials import VariantComparison, VariantTrials
from crawler.url_rules.variants import (
    ANY_OF,
    MAX_OF_SESSIONS,
    OF_SESSIONS,
    HostRules,
    Variant,
    Variants,
    place_of,
    releasing_hosts,
    separate_keys,
    separate_of,
    standing_for,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawler.pages.page_row import PageRow
    from crawler.storage.database import Database
    from crawler.urls.canonical import Canonicalizer

MAX_UNDECIDED: Final = 4
"""Replace at most this many trials of a rule on a host whose pages could not be compared."""

SLICE: Final = 200
"""Reconsider this many variants at once after a rule was revoked."""

_PROVEN = 3  # trials that agreed, of each rule for ids of sessions
_RECENT = 16_384
_START = (b"", b"")


class FixedRules:
    """Decides which variants are requested, and on which hosts a fixed rule holds.

    Args:
        database: The crawl's database.
        canonicalizer: The crawl's canonicalizer, which learns from this which variants are pages
            of their own.

    Attributes:
        revoked_hosts: Hosts on which a rule was revoked.
    """

    def __init__(self, database: Database, canonicalizer: Canonicalizer) -> None:
        self._database = database
        self._canonical = canonicalizer
        canonicalizer.separate(separate_keys(database.read))
        self._comparison = VariantComparison(database, canonicalizer)
        self._reasons: dict[bytes, str] = {}
        self.variants = Variants(database)
        self._rules = HostRules(database)
        self._met = RecentDepths[bytes](_RECENT)
        self._trials = VariantTrials()
        for tried in self.variants.tried():
            self._await(tried)
        self.revoked_hosts = self._rules.revoked
        # A killed process may not have reconsidered all.
        self._released = dict.fromkeys(releasing_hosts(database.read), _START)

    def _await(self, variant: Variant) -> None:
        standing, end_of = variant.standing, self._comparison.redirects.end_of
        self._trials.begin(variant, (standing, end_of(standing), end_of(variant.key)))

    def is_first(self, page: bytes) -> bool:
        """Return whether the canonical URL stands for a page that was requested."""
        return self.variants.first(page) is None

    def begin_visit(self) -> None:
        """Begin another visit, of which the pages that it does not request count as seen.

        What proved to be a page of its own stays one.
        """
        self.variants.begin_visit()
        self._met.clear()
        self._trials.clear()
        self._reasons.clear()
        self._released.clear()
        self.variants.note_releasing(())

    def note_first(self, page: bytes, url: str) -> None:
        """Note the URL that is requested for a page."""
        is_odd = self._canonical(url) != self._canonical.exact(url)
        if is_odd or self.variants.first(page) is not None:
            self.variants.note_first(page, self._host(url), url)

    def keep_apart(self, url: str, page: bytes, *, tries: bool = True) -> Variant | None:
        """Return a URL that is met first in a visit, if the page of its key was another one's.

        The caller stores it by ``put``: on a host where a rule was revoked, or where none is
        tried, each URL keeps the key that it had in earlier visits.

        Args:
            url: The URL.
            page: The request fingerprint that the fixed rules give it.
            tries: Whether rules are tried; else none holds.
        """
        host = self._host(url)
        if tries and host not in self.revoked_hosts:
            return None
        before, key = self._comparison.url_of(page), self._canonical.variant_key(url)
        form = self._without_revoked(host) if tries else self._canonical.exact
        if before is None or form(url) == form(before) or self.variants.is_known(key):
            return None
        if tries and self._standing(url, page, before) is not None:
            return None
        self.variants.note_first(page, host, before)
        return self._separate(url, page, before)

    def _without_revoked(self, host: str) -> Canonicalizer:
        return self._canonical.without(self.revoked_hosts.get(host, ()))

    def may_be_variant(self, url: str, page: bytes, first: str | None = None) -> bool:
        """Return whether a URL differs from the one requested for its page, and was not met lately.

        Args:
            url: The URL.
            page: The request fingerprint that the fixed rules give it.
            first: The URL of a request for its page that is about to be queued.
        """
        if self._canonical.is_separate(page):
            return False
        first = self.variants.first(page) or first
        exact = self._canonical.exact(url)
        if exact == (self._merged(url) if first is None else self._canonical.exact(first)):
            return False
        return self._canonical.variant_key(url) not in self._met

    def meet(self, url: str, page: bytes, *, tries: bool = True) -> Variant | None:
        """Decide on a URL whose page was requested; return it where it is a variant met first.

        The caller stores it by ``put``, and requests it unless it is skipped.

        Args:
            url: The URL.
            page: The request fingerprint that the fixed rules give it.
            tries: Whether rules are tried; else no rule holds, and none is skipped.

        Raises:
            MalformedUrl: It is no http or https URL with a host.
        """
        first = self._first_of(page, url)
        key = self._canonical.variant_key(url)
        if self._canonical.exact(url) == self._canonical.exact(first):
            return None
        if not self._met.is_new(key, 0) or self.variants.is_known(key):
            return None
        found = self._standing(url, page, first) if tries else None
        if found is None:
            return self._separate(url, page, first)
        standing, rules = found
        host, skipped = self._host(url), VariantState.SKIPPED
        variant = Variant(key, page, standing, host, rules, url, skipped)
        state = self._tries(variant, is_new=True)
        return None if state == VariantState.FIRST else variant._replace(state=state)

    def _separate(self, url: str, page: bytes, other: str) -> Variant:
        """Return a URL as a page of its own, beside another one of which the rules make it."""
        key, rules = self._canonical.variant_key(url), ",".join(self._canonical.parting(url, other))
        return Variant(key, page, page, self._host(url), rules, url, VariantState.SEPARATE)

    def _standing(self, url: str, page: bytes, first: str) -> tuple[bytes, str] | None:
        """Return the key of the URL that a variant is taken for, and the rules by which it is.

        None: the rules that hold on the host take it for no URL that is requested, or several do of
        which none was found right.
        """
        host = self._host(url)
        without = self._without_revoked(host)
        others = separate_of(self._database.read, page)
        found = standing_for(url, without, [(page, first), *others])
        if found is None:
            return None
        parting = without.parting(url, found[1])
        names = tuple(name for name in parting if self._tells(name, url, found))
        if parting and not names:
            return None
        if not names:  # a trial would say that one of several is right, and not which
            rules = self._rules.of(host, without.sufficient(url, found[1]))
            proven = max(rules, key=lambda name: rules[name].positives, default=None)
            if proven is None or not rules[proven].positives:
                return None
            names = (ANY_OF + proven,)
        return found[0], ",".join(names)

    def _tells(self, name: str, url: str, standing: tuple[bytes, str]) -> bool:
        """Return whether two URLs differ in what a rule takes away, not in what a revoked one does.

        With one session id in two places they say nothing of session ids.
        """
        otherwise = self._canonical.without((name,))
        return otherwise(url) != otherwise(standing[1])

    def _tries(self, variant: Variant, *, is_new: bool) -> VariantState:
        """Return whether a variant is tried or skipped; FIRST: others stand for it already."""
        if not variant.can_be_tried:
            return VariantState.SKIPPED
        rules = self._rules.of(variant.host, variant.names)
        if self._rules.tries(rules.values(), place_of(self._merged(variant.url)), is_new=is_new):
            return VariantState.TRIED
        are_ids = all(name in OF_SESSIONS and rules[name].positives >= _PROVEN for name in rules)
        skipped = self.variants.count_skipped(variant.page, variant.rules) if are_ids else 0
        return VariantState.FIRST if skipped >= MAX_OF_SESSIONS else VariantState.SKIPPED

    def put(self, variant: Variant) -> None:
        """Store a variant, which is requested unless it is skipped."""
        self.variants.put(variant)
        if variant.state != VariantState.SKIPPED:
            self._canonical.separate([(variant.key, variant.page)])
        if variant.state == VariantState.TRIED:
            self._await(variant)

    def observe(self, row: PageRow) -> None:
        """Compare a page that was stored with the one that it was taken for, or that is for it."""
        if not self._trials:
            return
        for key in self._trials.concerned(row.key):
            self._compare(key)

    def _compare(self, key: bytes) -> None:
        variant = self._trials[key]
        end_of = self._comparison.redirects.end_of
        ends = end_of(key), end_of(variant.standing)
        if ends[0] == ends[1]:
            self.decide(key, agrees=True)
            return
        found = self._comparison.captures(*ends)
        if found is None:
            return
        agrees = self._comparison.agree(*found)
        self._reasons[key] = f"{found[0].url} is another page than {found[1].url}"
        blamed = self._rules.blamed(variant.host, variant.names)
        if agrees is False and blamed in OF_SESSIONS:
            # There may be no end of them: the page may be another one at each request.
            self._trials.want_control(key, found[1].url)
        else:
            self.decide(key, agrees=agrees)

    def take_controls(self) -> list[tuple[bytes, str]]:
        """Return URLs to request once more for ``note_control``, with the keys of variants."""
        return self._trials.take_controls()

    def note_control(self, key: bytes, digest: bytes | None, text: str | None = None) -> bool:
        """Revoke a rule if a page was the same at another request; return whether it was decided.

        Args:
            key: The key of the variant.
            digest: Digest of the bytes of the answer; None where there was none.
            text: Its text, which is wanted where the rule is not decided on without it.
        """
        if key not in self._trials:
            return True
        is_steady = False
        if digest is not None:
            standing = self._comparison.redirects.end_of(self._trials[key].standing)
            found = self._comparison.is_steady(standing, digest, text)
            if found is None:
                return False
            is_steady = found
        self.decide(key, agrees=False if is_steady else None)
        return True

    def decide(self, key: bytes, *, agrees: bool | None = False) -> None:
        """Decide on the rules of a trial; None where it says nothing."""
        reason = self._reasons.pop(key, "a variant is another page")
        variant = self._trials.end(key)
        host, names = variant.host, variant.names
        self.variants.separate(key)
        if agrees:
            for rule in self._rules.of(host, names).values():
                rule.positives += 1
                self._rules.note_change(rule)
        elif agrees is None:
            self._try_another(host, names)
        else:
            self._revoke(host, names, reason)

    def note_redirect(self, source: bytes, target: bytes, url: str) -> None:
        """Note a redirect: of a variant, or of the page that it was taken for.

        Where both lead to one page, they are that page; else the ends are compared.

        Args:
            source: The request fingerprint of the URL that redirects.
            target: That of the URL to which it does.
            url: The URL to which it does.
        """
        if source == target:
            return
        for key in self._trials.concerned(source):
            self._trials.wait_for(key, target)
            if self._stands_for(target, url):
                self._compare(key)
            else:  # the target is a variant itself, which is skipped
                self.decide(key, agrees=None)

    def _stands_for(self, page: bytes, url: str) -> bool:
        if self._canonical.is_separate(page):
            return True
        return self._canonical.exact(url) == self._canonical.exact(self._first_of(page, url))

    def note_failure(self, key: bytes) -> None:
        """Note that a URL gave no page: another variant is tried in its place."""
        for tried in self._trials.concerned(key):
            self.decide(tried, agrees=None)

    def _try_another(self, host: str, names: Iterable[str]) -> None:
        """Try one more variant by each of some rules: one that is skipped, or the next one met."""
        for name, rule in self._rules.of(host, names).items():
            is_revoked = name in self.revoked_hosts.get(host, ())
            if not is_revoked and rule.explored - rule.positives <= MAX_UNDECIDED:
                rule.due_at = 0
                self._rules.note_change(rule)
                self._reconsider_all(host)

    def _reconsider_all(self, host: str) -> None:
        self._released[host] = _START
        self.variants.note_releasing(self._released)

    def _revoke(self, host: str, names: Sequence[str], reason: str) -> None:
        """Revoke the rule with the least evidence, and reconsider all that is skipped there."""
        blamed = self._rules.blamed(host, names)
        if blamed is not None:
            self._rules.revoke(host, blamed, reason)
            self._reconsider_all(host)
        others = set(names).difference(self.revoked_hosts[host])
        for other in self._rules.of(host, others).values():
            other.explored -= 1  # it may be wrong too, and this trial says nothing about it
        self._try_another(host, others)

    def resume(self) -> None:
        """Continue what a process left that was killed: pages that were not compared yet."""
        for key in list(self._trials):
            self._compare(key)

    @property
    def is_releasing(self) -> bool:
        """Whether variants of hosts with a revoked rule are still to be reconsidered."""
        return bool(self._released) or self._trials.are_controls_wanted

    @property
    def is_unsettled(self) -> bool:
        """Whether a process ended before it had reconsidered all that revoked rules skipped."""
        return bool(self._released)

    def release(self) -> Iterator[Variant]:
        """Yield some variants that are to be requested after all; a slice of those of one host.

        The caller queues each at once.
        """
        if not self._released:
            return
        host, after = next(iter(self._released.items()))
        skipped = self.variants.skipped(host, after, SLICE)
        if len(skipped) == SLICE:
            self._released[host] = skipped[-1].page, skipped[-1].key
        else:
            del self._released[host]
            self.variants.note_releasing(self._released)  # committed with what is queued below
        for variant in map(self._reconsider, skipped):
            if variant.state != VariantState.SKIPPED:
                self._canonical.separate([(variant.key, variant.page)])
                yield variant

    def _reconsider(self, variant: Variant) -> Variant:
        """Decide on a variant again: another URL may stand for it, by other rules."""
        first = self._first_of(variant.page, variant.url)
        found = self._standing(variant.url, variant.page, first)
        if found is None:
            self.variants.separate(variant.key)
            return variant._replace(state=VariantState.SEPARATE)
        regrouped = variant._replace(standing=found[0], rules=found[1])
        if self._tries(regrouped, is_new=regrouped != variant) == VariantState.TRIED:
            regrouped = regrouped._replace(state=VariantState.TRIED)
            self._await(regrouped)
        if regrouped != variant:
            self.variants.regroup(regrouped)
        return regrouped

    def _first_of(self, page: bytes, url: str) -> str:
        """Return the URL that was requested for the page that the rules give a URL."""
        return self.variants.first(page) or self._merged(url)

    def _merged(self, url: str) -> str:
        """Return the canonical URL by all fixed rules, whether they hold on its host or not."""
        return self._canonical.without(())(url)

    def _host(self, url: str) -> str:
        return urlsplit(self._canonical.exact(url)).netloc
