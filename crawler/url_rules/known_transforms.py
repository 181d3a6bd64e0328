"""Tell which transforms hold elsewhere, so that fewer texts are wanted before they hold here."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawler.url_rules.learning.transforms import (
    Compound,
    DropArguments,
    ReplaceValues,
    parts,
    variants,
)
from crawler.url_rules.rule_files import from_json

if TYPE_CHECKING:
    from collections.abc import Sequence

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
