"""Apply the learned rules that hold: they decide which addresses of a host are one page."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawler.url_rules.learned_rule import weakest
from crawler.url_rules.learning.transforms import (
    Compound,
    DropArguments,
    ReplaceValues,
    includes,
    is_one_way,
    parts,
    variants,
)
from crawler.url_rules.rule_files import from_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from crawler.url_rules.learned_rule import Form, LearnedRule
    from crawler.url_rules.learning.address import Address
    from crawler.url_rules.learning.context import Context
    from crawler.url_rules.learning.transforms import Transform

MIN_HOSTS = 2
"""A transform is known from a crawl if rules make it hold on at least this many of its hosts."""

_COMMON = Path(__file__).with_name("common_rules.json")
_FORMAT = "crawl-once common rules 1"


class CommonRule(NamedTuple):
    """A transform that some software makes hold on many sites.

    Attributes:
        software: Its name.
        source: URL of a public page that says what the argument does.
    """

    transform: Transform
    software: str
    source: str


@cache
def common_rules() -> Sequence[CommonRule]:
    """Read the transforms of common software that the package brings."""
    content = json.loads(_COMMON.read_text(encoding="utf-8"))
    if content["format"] != _FORMAT:
        raise ValueError(f"{_COMMON}: {_FORMAT!r} expected, got {content['format']!r}")
    return tuple(
        CommonRule(from_json(rule["transform"]), rule["software"], rule["source"])
        for rule in content["rules"]
    )


class KnownTransforms:
    """The transforms that hold on hosts of this crawl, or were named as likely.

    A rule that has such a transform gets a head start, on every host and in every context. It is
    a proposal, never a belief: what speaks against it counts as for any other.

    Dropping several arguments is known where dropping each of them is, and so is replacing a value
    of an argument that is dropped elsewhere.
    """

    def __init__(self, common: Sequence[CommonRule] = ()) -> None:
        self._named: dict[Transform, str] = {}
        self._hosts: dict[Transform, Counter[str]] = {}
        for rule in common:
            self.name(rule.transform, f"{rule.software} ({rule.source})")

    def name(self, transform: Transform, source: str) -> None:
        """Give a transform a head start; of several sources the first is told."""
        for part in _parts(transform):
            self._named.setdefault(part, source)

    def add(self, transform: Transform, host: str) -> None:
        """Note that a rule holds on a host."""
        for part in _parts(transform):
            self._hosts.setdefault(part, Counter())[host] += 1

    def remove(self, transform: Transform, host: str) -> None:
        """Note that a rule holds no more that was added."""
        for part in _parts(transform):
            hosts = self._hosts[part]
            hosts[host] -= 1
            if not hosts[host]:
                del hosts[host]
            if not hosts:
                del self._hosts[part]

    def source(self, transform: Transform) -> str | None:
        """Return where a transform is known from, as people read it; None where it is not known.

        Complexity: O(arguments of the transform).
        """
        if isinstance(transform, DropArguments | Compound):
            found = [self._source(part) for one in parts(transform) for part in _parts(one)]
            sources = [source for source in found if source is not None]
            return "; ".join(dict.fromkeys(sources)) if len(sources) == len(found) else None
        found_whole = self._source(transform)
        if found_whole is None and isinstance(transform, ReplaceValues):
            return self._source(DropArguments((transform.name,)))
        return found_whole

    def _source(self, part: Transform) -> str | None:
        hosts = len(self._hosts.get(part, ()))
        return f"{hosts} hosts of this crawl" if hosts >= MIN_HOSTS else self._named.get(part)


def _parts(transform: Transform) -> Sequence[Transform]:
    """Return the transforms that are known with another one: each argument, each direction."""
    if isinstance(transform, DropArguments):
        return [DropArguments((name,)) for name in dict.fromkeys(transform.names)]
    return list(variants(transform))


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
            for rule in self._by_host.get(address.host, ()):
                if rule.id in through:
                    continue
                changed = rule.apply(address)
                if changed is not address:
                    through.add(rule.id)
                    did.append(rule)
                    address = changed
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
            address = earlier.apply(address)
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
        return self.needed(one, other) or [
            rule
            for rule in self._of_both(one, other)
            if any(rule.apply(address) != address for address in (one, other))
        ]

    def form(self, address: Address) -> Form:
        """Return the parts that rules change in an address, ids apart: those that it can prove."""
        return frozenset(
            (rule.id, *proof) for rule in self.changing(address) for proof in rule.proofs(address)
        )

    def _of_both(self, one: Address, other: Address) -> list[LearnedRule]:
        hosts = dict.fromkeys((one.host, other.host))
        return list({rule.id: rule for host in hosts for rule in self.of(host)}.values())
