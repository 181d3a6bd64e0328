"""Learn from the pages of a crawl which addresses of a host are one page."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.evidence import CounterExample, PageContent, RuleEvidence, agreement
from crawler.url_rules.learning.hypothesis import (
    Hypothesis,
    LearningPolicy,
    Lookup,
    Observation,
    Refuted,
    narrowness,
)
from crawler.url_rules.learning.proposals import propose
from crawler.url_rules.learning.transforms import Compound, DropArguments, parts, variants
from crawler.url_rules.learning.versions import Versions, differences
from crawler.urls.path_patterns import PathPatterns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from crawler.url_rules.learned_rule import LearnedRule
    from crawler.url_rules.learning.proposals import Proposal
    from crawler.url_rules.learning.transforms import Transform
    from crawler.url_rules.rule_set import RuleSet

WINDOW = 400
"""Pages of a host that a new hypothesis is tried on at once."""

_MAX_ALIKE = 6  # copies of one page, the last ones
_MAX_HOSTS = 200
_MAX_HYPOTHESES = 120
_MAX_REFUTED = 2_000
_MAX_PAIRS = 2
_MAX_TRIES = 8


class Declared(NamedTuple):
    """Canonical URLs that a page or a redirect to it declares.

    Attributes:
        redirected: URLs that were redirected to it.
        translations: URLs of some translations of it, each in another language.
    """

    redirected: Sequence[str] = ()
    translations: Sequence[str] = ()


NOTHING = Declared()


@dataclass(slots=True)
class LearnedHost:
    """The hypotheses about one host, and the pages that they are tried on.

    Attributes:
        across_domains: Whether hosts of another registered domain may be the same.
    """

    across_domains: bool = False
    patterns: PathPatterns = field(default_factory=PathPatterns)
    window: deque[Observation] = field(default_factory=lambda: deque(maxlen=WINDOW))
    alike: OrderedDict[int, deque[Observation]] = field(default_factory=OrderedDict)
    # No OrderedDict, which hashes each key again when it is iterated over.
    hypotheses: dict[Proposal, Hypothesis] = field(default_factory=dict)
    refuted: OrderedDict[Proposal, Refuted | None] = field(default_factory=OrderedDict)
    clusters: OrderedDict[int, int] = field(default_factory=OrderedDict)
    versions: Versions = field(default_factory=Versions)
    has_hopeless: bool = False

    def proposed(self, seen: Observation, other: Address) -> Iterator[Proposal]:
        """Yield the rules by which two addresses would be one, but those never to be believed."""
        if self.versions.tell_apart(seen.place, other):
            return
        across = self.across_domains
        for proposal in propose(seen.place, other, seen.pattern, across_domains=across):
            if not self.versions.choose(proposal[1]):
                yield proposal

    def is_wrong_in_part(self, proposal: Proposal) -> bool:
        """Return whether one of the rules as which a rule would hold was refuted."""
        context, transform = proposal
        return any((context, part) in self.refuted for part in parts(transform))

    def note_wrong(self, transform: Transform, texts: Collection[int]) -> None:
        """Note a rule that is wrong; it may leave others without hope."""
        self.has_hopeless |= self.versions.note(transform, texts)

    def note_translations(
        self, urls: Iterable[str], after_rules: Callable[[Address], Address], text: int
    ) -> None:
        """Note what tells the translations of a page apart; it may leave rules without hope."""
        addresses = [address for address in map(Address.parse, urls) if address.is_learnable]
        for found in differences(addresses, after_rules):
            self.has_hopeless |= self.versions.note_translations(found, text)

    def drop_hopeless(self) -> None:
        """Remove the hypotheses that can never be believed: versions remain versions."""
        if not self.has_hopeless:
            return
        self.has_hopeless = False
        for proposal in list(self.hypotheses):
            if self.versions.choose(proposal[1]):
                del self.hypotheses[proposal]

    def remember(self, seen: Observation) -> None:
        """Keep a page for later hypotheses; of copies of one page only the last few are kept."""
        self.window.append(seen)
        copies = self.alike.pop(seen.content.kept, None) or deque(maxlen=_MAX_ALIKE)
        copies.append(seen)
        self.alike[seen.content.kept] = copies
        if len(self.alike) > WINDOW:
            self.alike.popitem(last=False)

    def pages_for(self, hypothesis: Hypothesis) -> Iterator[Observation]:
        """Yield the pages that a rule changes, and those that it takes others for."""
        shapes, transform = hypothesis.shapes, hypothesis.transform
        changed, keys, pages = set(), set(), list(self.window)
        for place, seen in enumerate(pages):
            if shapes is None or shapes.fullmatch(seen.place.text):
                address = seen.place
                target = transform(address)
                if target is not address:
                    changed.add(place)
                    keys.add(hash(target))
        yield from (seen for at, seen in enumerate(pages) if at in changed or seen.key in keys)


class RuleLearner:
    """Finds rules in the pages of a crawl.

    Two pages with the same text under two addresses suggest rules by which
    the addresses would be one. Each rule is tried on the last pages of its host
    and on all that follow: a page that it would take for another one refutes
    it for good. Where nothing refutes it and enough different texts support
    it, it is believed. A rule that is wrong on the whole host may still
    be right for one kind of path, or beside certain arguments.

    Rules that hold are applied first, so that further ones show.

    What pages declare to be translations is never made one.

    Memory is bounded by hosts (at most 200 at a time, some 2 MB each) and hypotheses, not by pages.

    Source: DUST, Bar-Yossef et al. 2007; Koppula et al. 2010.
    """

    def __init__(self, rules: RuleSet, policy: LearningPolicy) -> None:
        self._rules = rules
        self.policy = policy
        self._hosts: OrderedDict[str, LearnedHost] = OrderedDict()

    def observe(
        self,
        address: Address,
        content: PageContent,
        *,
        same_as: str | None = None,
        same_links: int | None = None,
        declared: Declared = NOTHING,
        lookup: Lookup | None = None,
    ) -> list[Proposal]:
        """Take a page into account.

        Args:
            address: Its address, of a canonical URL.
            content: Its content.
            same_as: Canonical URL of the page that it repeats.
            same_links: Number of links of that page that are followed, if known.
            declared: URLs that are declared to be the same page, or translations of it. Rules that
                the former suggest are tried; alone they are no evidence.
            lookup: Looks up the content of the page at an address after the rules.

        Returns:
            At most one rule that is believed from now on. The caller has to ``take`` it, apply it,
            and call ``regroup_again``.

        Complexity: O(hypotheses of the host), about a microsecond each, and a lookup for some.
        """
        if not address.is_learnable:
            return []
        host = self._host(address.host)
        host.drop_hopeless()
        if self._is_too_large(host, content.kept):
            content = content._replace(counts=False)
        if declared.translations:
            host.note_translations(declared.translations, self._rules.apply, content.kept)
        seen = self._observation(host, address, content)
        original = None
        if same_as is not None:
            original = self._original(host, seen, same_as, same_links)
        news = original is not None and self._compare(host, seen, original)
        for other in map(Address.parse, declared.redirected):
            if other.is_learnable:
                self._try_all(host, seen, self._rules.apply(other))
        self._try_some(host, seen, None if original is None else original.place)
        host.remember(seen)
        news |= self._observe(host, seen, lookup)
        return self._believed(host) if news else []

    def _original(
        self,
        host: LearnedHost,
        seen: Observation,
        same_as: str,
        links: int | None,
    ) -> Observation | None:
        """Return the page that another one repeats; None where nothing is learned from the two."""
        address = Address.parse(same_as)
        if not address.is_learnable or address == seen.raw:
            return None
        kept = PageContent(b"", seen.content.kept, 1.0, seen.content.kept, links)
        return self._observation(host, address, kept)

    def _compare(self, host: LearnedHost, seen: Observation, original: Observation) -> bool:
        """Compare a page with the one that it repeats; return whether that was news."""
        self._try_all(host, seen, original.place)
        texts = original.place.text, seen.place.text
        concerned = [
            one
            for one in host.hypotheses.values()
            if (shapes := one.shapes) is None
            or shapes.fullmatch(texts[0])
            or shapes.fullmatch(texts[1])
        ]
        return sum([one.compare(original, seen) for one in concerned]) > 0

    def pattern_of(self, address: Address) -> str:
        return self._host(address.host).patterns(address.segments)

    def _host(self, name: str) -> LearnedHost:
        if name not in self._hosts:
            self._hosts[name] = LearnedHost(self.policy.across_domains)
            if len(self._hosts) > _MAX_HOSTS:
                self._hosts.popitem(last=False)
        self._hosts.move_to_end(name)
        return self._hosts[name]

    def _is_too_large(self, host: LearnedHost, kept: int) -> bool:
        count = host.clusters[kept] = host.clusters.pop(kept, 0) + 1
        if len(host.clusters) > WINDOW:
            host.clusters.popitem(last=False)
        return count > self.policy.largest_cluster

    def _observation(
        self, host: LearnedHost, address: Address, content: PageContent
    ) -> Observation:
        place = self._rules.apply(address)
        return Observation(address, place, host.patterns(place.segments), content, hash(place))

    def _proposals(
        self, host: LearnedHost, seen: Observation, tried: Address | None
    ) -> Iterator[Proposal]:
        apart_from = (seen.place, tried)
        same = [
            other
            for other in reversed(host.alike.get(seen.content.kept, ()))
            if agreement(other.content, seen.content) and other.place not in apart_from
        ]
        for other in same[:_MAX_PAIRS]:
            for proposal in host.proposed(seen, other.place):
                if proposal not in host.hypotheses and proposal not in host.refuted:
                    yield proposal

    def _try_all(self, host: LearnedHost, seen: Observation, other: Address) -> None:
        for proposal in host.proposed(seen, other):
            self._try(host, proposal)

    def _try_some(self, host: LearnedHost, seen: Observation, tried: Address | None = None) -> None:
        """Try the first few rules that a page suggests; more of them would cost too much.

        Args:
            host: The host of the page.
            seen: The page.
            tried: An address with which all rules were tried already.
        """
        for proposal in list(islice(self._proposals(host, seen, tried), _MAX_TRIES)):
            self._try(host, proposal)

    def _try(self, host: LearnedHost, proposal: Proposal) -> None:
        """Add a hypothesis, and try it on the pages that are remembered."""
        context, transform = proposal
        if proposal in host.hypotheses or proposal in host.refuted:
            return
        spreads = context.pattern is None and isinstance(transform, DropArguments | Compound)
        hypothesis = Hypothesis(context, transform, RuleEvidence(spreads))
        host.hypotheses[proposal] = hypothesis
        if len(host.hypotheses) > _MAX_HYPOTHESES:
            del host.hypotheses[next(iter(host.hypotheses))]
        for seen in host.pages_for(hypothesis):
            hypothesis.observe(seen)
            if hypothesis.refuted is not None:
                self._refute(host, proposal)
                break

    def _observe(self, host: LearnedHost, seen: Observation, lookup: Lookup | None = None) -> bool:
        """Show a page to every hypothesis that it may concern; return whether it supports one."""
        strengthened = False
        text = seen.place.text
        concerned = [
            (proposal, one)
            for proposal, one in host.hypotheses.items()
            if (shapes := one.shapes) is None or shapes.fullmatch(text)
        ]
        for proposal, hypothesis in concerned:
            if not hypothesis.observe(seen, lookup):
                continue
            if hypothesis.refuted is not None:
                self._refute(host, proposal)
            else:
                host.hypotheses[proposal] = host.hypotheses.pop(proposal)
                strengthened = True
        return strengthened

    def _refute(self, host: LearnedHost, proposal: Proposal) -> None:
        hypothesis = host.hypotheses.pop(proposal)
        example, positives = hypothesis.refuted, hypothesis.evidence.texts
        if example is not None:
            host.note_wrong(hypothesis.transform, hypothesis.evidence.contents)
        known = Refuted(*proposal, positives, example) if example and positives else None
        host.refuted[proposal] = known
        if len(host.refuted) > _MAX_REFUTED:
            host.refuted.popitem(last=False)

    def _believed(self, host: LearnedHost) -> list[Proposal]:
        """Return the widest of the rules that are believed now, if any."""
        hypotheses = host.hypotheses.items()
        believed = [
            proposal
            for proposal, hypothesis in hypotheses
            if self._is_believed(hypothesis)
            and not host.is_wrong_in_part(proposal)
            and not self._rules.covers(hypothesis.context, hypothesis.transform)
            and not host.versions.choose(hypothesis.transform)
        ]
        return sorted(believed, key=narrowness)[:1]

    def take(self, proposal: Proposal) -> Hypothesis:
        """Remove and return a hypothesis that became a rule; remove those that it covers too."""
        context, transform = proposal
        for host in self._hosts.values():
            covered = [
                other
                for other in host.hypotheses
                if other[1] == transform and context.covers(other[0]) and other != proposal
            ]
            for other in covered:
                del host.hypotheses[other]
        return self._holder(proposal).hypotheses.pop(proposal)

    def _holder(self, proposal: Proposal) -> LearnedHost:
        # Not that of the context, where a rule has its pages counted as another host's.
        return next(host for host in self._hosts.values() if proposal in host.hypotheses)

    def hypothesis(self, proposal: Proposal) -> Hypothesis:
        return self._holder(proposal).hypotheses[proposal]

    def is_believed(self, proposal: Proposal) -> bool:
        """Return whether a hypothesis is still believed; remove one that was refuted for good.

        One that, given its exceptions, says no more than the rules is removed: it comes again.
        """
        host = self._holder(proposal)
        hypothesis = host.hypotheses[proposal]
        is_wrong = hypothesis.refuted is not None or host.is_wrong_in_part(proposal)
        if is_wrong or self._rules.covers(hypothesis.context, hypothesis.transform):
            self._refute(host, proposal)
            return False
        return self._is_believed(hypothesis)

    def _is_believed(self, hypothesis: Hypothesis) -> bool:
        """Return whether a hypothesis is believed, be it by a head start."""
        if not hypothesis.is_believed(self.policy, has_head_start=True):
            return False
        is_known = self._rules.known.source(hypothesis.transform) is not None
        return is_known or hypothesis.is_believed(self.policy)

    def head_start(self, hypothesis: Hypothesis) -> str:
        """Return where a hypothesis is known from that is believed by its head start; else ""."""
        known = self._rules.known.source(hypothesis.transform)
        return "" if known is None or hypothesis.is_believed(self.policy) else known

    def believed(self, hostname: str) -> list[Proposal]:
        """Return the widest rule of a host that is believed now, if any."""
        host = self._hosts.get(hostname)
        return [] if host is None else self._believed(host)

    def doubted(self, hostname: str) -> list[LearnedRule]:
        """Return the rules of a host that equate names which choose versions of pages."""
        host = self._hosts.get(hostname)
        if host is None:
            return []
        rules = self._rules.of(hostname)
        return [rule for rule in rules if host.versions.choose(rule.transform)]

    def regroup_again(self, hostname: str) -> list[Proposal]:
        """Show the pages of a host to its hypotheses again, after its rules changed.

        Returns:
            At most one rule that is believed now.
        """
        host = self._hosts.get(hostname)
        if host is None:
            return []
        window = list(host.window)
        host.window.clear()
        host.alike.clear()
        for hypothesis in host.hypotheses.values():
            hypothesis.evidence.start_over()
        for seen in window:
            again = self._observation(host, seen.raw, seen.content)
            self._try_some(host, again)
            host.remember(again)
            self._observe(host, again)
        for proposal, hypothesis in list(host.hypotheses.items()):
            if not hypothesis.evidence.is_useful:
                del host.hypotheses[proposal]
        return self._believed(host)

    def refute(self, rule: LearnedRule, example: CounterExample) -> None:
        """Remember that a rule which held turned out to be wrong."""
        host = self._host(rule.context.host)
        known: Refuted | None = Refuted(rule.context, rule.transform, rule.positives, example)
        host.note_wrong(rule.transform, range(rule.positives))
        # As it was proposed: without exceptions, and in both directions.
        context = replace(rule.context, apart_from=())
        for transform in variants(rule.transform):
            host.refuted[context, transform] = known
            known = None

    def refuted(self) -> Iterator[Refuted]:
        """Yield the rules that do not hold although there was evidence for them."""
        for host in self._hosts.values():
            yield from filter(None, host.refuted.values())
