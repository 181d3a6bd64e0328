"""Apply the learned rules that hold: they decide which addresses of a host are one page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.url_rules.known_transforms import KnownTransforms
from crawler.url_rules.learned_rule import weakest
from crawler.url_rules.learning.context import AddressInContext
from crawler.url_rules.learning.transforms import includes, is_one_way, parts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from crawler.url_rules.learned_rule import Form, LearnedRule
    from crawler.url_rules.learning.address import Address
    from crawler.url_rules.learning.context import Context
    from crawler.url_rules.learning.transforms import Transform

_Way = tuple["Address", "tuple[LearnedRule, ...]"]
"""An address after the rules, and the rules that changed it."""

_ROUNDS = 3
"""Apply the rules of a host at most this many times, since one may enable another."""

_MAX_WAYS = 2_000
"""Remember the results for at most this many addresses: most links are met again soon."""


@dataclass(slots=True)
class RuleSet:
    """The rules of a crawl that hold, in the order in which they were learned.

    Attributes:
        known: The transforms that have a head start: those of rules on several hosts, and others.
        version: A number that is another one after each change.
    """

    known: KnownTransforms = field(default_factory=KnownTransforms)
    _by_host: dict[str, list[LearnedRule]] = field(default_factory=dict)
    _ways: dict[Address, _Way] = field(default_factory=dict)
    version: int = 0

    def add(self, rule: LearnedRule) -> None:
        self.forget_ways()
        self.known.add(rule.transform, rule.context.host)
        for host in rule.hosts:
            self._by_host.setdefault(host, []).append(rule)

    def remove(self, rule: LearnedRule) -> None:
        self.forget_ways()
        self.known.remove(rule.transform, rule.context.host)
        for host in rule.hosts:
            rules = self._by_host[host]
            rules.remove(rule)
            if not rules:
                del self._by_host[host]

    def covered(self, context: Context, transform: Transform) -> list[LearnedRule]:
        """Return the rules that another one makes superfluous."""
        return [
            rule
            for rule in self._by_host.get(context.host, ())
            if context.covers(rule.context) and includes(transform, rule.transform)
        ]

    def covers(self, context: Context, transform: Transform) -> bool:
        """Return whether a rule would be superfluous."""
        rules = [rule for rule in self.of(context.host) if rule.context.covers(context)]
        return all(
            any(includes(rule.transform, part) for rule in rules) for part in parts(transform)
        )

    def __iter__(self) -> Iterator[LearnedRule]:
        return iter({rule.id: rule for rules in self._by_host.values() for rule in rules}.values())

    def of(self, host: str) -> Sequence[LearnedRule]:
        """Return the rules of a host, in the order in which they are applied."""
        return self._by_host.get(host, ())

    def together(self, hosts: Iterable[str]) -> list[str]:
        """Return some hosts with all those that rules equate with them."""
        found = list(dict.fromkeys(hosts))
        for host in found:  # which grows meanwhile
            others = (other for rule in self.of(host) for other in rule.hosts)
            found += [other for other in dict.fromkeys(others) if other not in found]
        return found

    def __contains__(self, host: object) -> bool:
        return host in self._by_host

    def apply(self, address: Address, without: Collection[LearnedRule] = ()) -> Address:
        """Return the address of a page after every rule that holds for it.

        Each rule changes it once at most: a rule that removes the segment after
        ``/s`` makes ``/s/page`` of ``/s/ID/page``, and must not remove the page next.

        Complexity: O(rules of the host), once for an address that is met again soon.
        """
        if without:
            return self._follow(address, {rule.id for rule in without})[0]
        return self._followed(address)[0]

    def changing(self, address: Address) -> Sequence[LearnedRule]:
        """Return the rules that change an address in ``apply``, in the order of application."""
        return self._followed(address)[1]

    def _followed(self, address: Address) -> _Way:
        if address.host not in self._by_host:
            return address, ()
        way = self._ways.get(address)
        if way is None:
            if len(self._ways) >= _MAX_WAYS:
                self._ways.clear()
            way = self._ways[address] = self._follow(address, set())
        return way

    def _follow(self, address: Address, through: set[int]) -> _Way:
        did: list[LearnedRule] = []
        for _ in range(_ROUNDS):
            before = address
            place = AddressInContext.of(address)
            for rule in self._by_host.get(address.host, ()):
                if rule.id in through:
                    continue
                changed = rule.apply(place)
                if changed is not address:
                    through.add(rule.id)
                    did.append(rule)
                    address, place = changed, AddressInContext.of(changed)
            if address is before:
                break
        return address, tuple(did)

    def forget_ways(self) -> None:
        """Discard the remembered results: the rules, or the context of one, have changed."""
        self._ways.clear()
        self.version += 1

    def may_stand_for(self, one: Address, other: Address) -> bool:
        """Return whether the page at one address stands for another; not where it leads to less."""
        rules = [rule for rule in self.of(one.host) if is_one_way(rule.transform)]
        if not rules:
            return True
        one_way = {rule.id for rule in rules}
        changing = {rule.id for rule in self.changing(other)}
        return changing.issuperset(one_way & {rule.id for rule in self.changing(one)})

    def seen_by(self, rule: LearnedRule, address: Address) -> Address:
        """Return the input of a rule for an address: the address after all earlier rules."""
        for earlier in self.of(address.host):
            if earlier is rule:
                break
            address = earlier.apply(AddressInContext.of(address))
        return address

    def blamed(self, one: Address, other: Address) -> LearnedRule | None:
        """Return the rule to revoke where two addresses are one and should not be.

        Of several it is the one with the least evidence; the others show by themselves.
        """
        behind = self.behind(one, other)
        return weakest(behind) if behind else None

    def needed(self, one: Address, other: Address) -> list[LearnedRule]:
        """Return the rules that are each needed to make two addresses one."""
        if one == other or self.apply(one) != self.apply(other):
            return []
        did = {rule.id for rule in (*self.changing(one), *self.changing(other))}
        return [
            rule
            for rule in self._of_both(one, other)
            if rule.id in did
            and self.apply(one, without=[rule]) != self.apply(other, without=[rule])
        ]

    def behind(self, one: Address, other: Address) -> list[LearnedRule]:
        """Return the rules that make two addresses one.

        These are the needed ones; where several rules do the same, so that none is needed, all that
        change one of the addresses.
        """
        if one == other or self.apply(one) != self.apply(other):
            return []
        places = [AddressInContext.of(one), AddressInContext.of(other)]
        return self.needed(one, other) or [
            rule
            for rule in self._of_both(one, other)
            if any(rule.apply(place) != place.address for place in places)
        ]

    def form(self, address: Address) -> Form:
        """Return the parts that rules change in an address, ids apart: those that it can prove."""
        return frozenset(
            (rule.id, *proof) for rule in self.changing(address) for proof in rule.proofs(address)
        )

    def _of_both(self, one: Address, other: Address) -> list[LearnedRule]:
        hosts = dict.fromkeys((one.host, other.host))
        return list({rule.id: rule for host in hosts for rule in self.of(host)}.values())
