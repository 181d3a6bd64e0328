"""Read what pages declare of their URLs; find, store and report false rel=canonical of hosts."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from crawler.storage import meta_names
from crawler.storage.database import meta_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from crawler.storage.database import Database
    from crawler.url_rules.learning.address import Address
    from crawler.url_rules.learning.learner import RuleLearner


MIN_WRONG = 5
"""Distrust a host after this many texts whose pages name the URL of another text."""

_MAX_NAMED = 400
"""Remember the texts of this many URLs that were named last."""

_MAX_COUNTED = 400
"""Remember this many texts that were counted last, so that each counts once."""


class Declared(NamedTuple):
    """Canonical URLs that a page or a redirect to it declares.

    Attributes:
        redirected: URLs that were redirected to it.
        canonical: Its URL by rel=canonical.
        kept_canonical: The URL that the page which it repeats declares so.
        translations: URLs of some translations of it, each in another language.
    """

    redirected: Sequence[str] = ()
    canonical: str | None = None
    kept_canonical: str | None = None
    translations: Sequence[str] = ()

    def aliases(self, *, with_canonical: bool) -> Iterator[str]:
        """Yield the URLs that are declared to be the page's."""
        yield from self.redirected
        if with_canonical and self.canonical is not None:
            yield self.canonical


NOTHING = Declared()


class Declaration(NamedTuple):
    """A page that declares another URL than its own as canonical.

    Attributes:
        page: Its address.
        named: The address that it declares, after the rules that hold.
        text: Number of its text.
        is_its_text: Whether the page at that address has the same text; None where that is unknown.
    """

    page: Address
    named: Address
    text: int
    is_its_text: bool | None


@dataclass(frozen=True, slots=True)
class UntrustedHost:
    """A host whose pages declare canonical URLs of other texts, with the evidence.

    Attributes:
        texts: Number of texts whose pages name the URL of another text, when that was found out.
        page: URL of one of these pages.
        named: The URL that it names.
        is_one: Whether all of them name that URL.
    """

    host: str
    texts: int
    page: str
    named: str
    is_one: bool

    def __str__(self) -> str:
        if self.is_one:
            proof = f"pages of {self.texts} different texts name {self.named}"
        else:
            proof = (
                f"pages of {self.texts} texts name URLs of other texts, such as {self.page}, "
                f"which names {self.named}"
            )
        return f"rel=canonical of {self.host} is not trusted: {proof}"


@dataclass(slots=True)
class Canonicals:
    """Counts of one host's declarations that are true, and of those that are not.

    A declaration is wrong where the page that it names has another text, or where pages of another
    text named that URL before. Each text counts once for each of the two. Memory is bounded.
    """

    _right: int = 0
    _wrong: int = 0
    _texts: OrderedDict[int, int] = field(default_factory=OrderedDict)
    _counted: OrderedDict[tuple[int, bool], None] = field(default_factory=OrderedDict)
    _named_wrongly: set[int] = field(default_factory=set)

    def note(self, said: Declaration) -> UntrustedHost | None:
        """Take a declaration into account; return the evidence where the host is distrusted now."""
        named = hash(said.named)
        is_right = said.is_its_text
        if is_right is None and self._first_text(named, said.text) != said.text:
            is_right = False
        if is_right is None or not self._is_news(said.text, is_right):
            return None
        if is_right:
            self._right += 1
            return None
        self._wrong += 1
        if len(self._named_wrongly) < MIN_WRONG:
            self._named_wrongly.add(named)
        if self._wrong < MIN_WRONG or self._wrong <= self._right:
            return None
        is_one = self._named_wrongly == {named}
        page = said.page
        return UntrustedHost(page.host, self._wrong, str(page), str(said.named), is_one)

    def _first_text(self, named: int, text: int) -> int:
        first = self._texts.setdefault(named, text)
        self._texts.move_to_end(named)
        if len(self._texts) > _MAX_NAMED:
            self._texts.popitem(last=False)
        return first

    def _is_news(self, text: int, is_right: bool) -> bool:
        if (text, is_right) in self._counted:
            return False
        self._counted[text, is_right] = None
        if len(self._counted) > _MAX_COUNTED:
            self._counted.popitem(last=False)
        return True


class CanonicalTrust:
    """Stores what a learner finds out of the canonical URLs of hosts.

    Args:
        database: The crawl's database.
        learner: The learner, which is told what an earlier process found out.
    """

    def __init__(self, database: Database, learner: RuleLearner) -> None:
        self._database = database
        self._untrusted = learner.untrusted
        self._untrusted.update(_read(database.meta(meta_names.UNTRUSTED)))
        self._stored = dict(self._untrusted)

    def save(self) -> None:
        """Store the hosts if they are others than before."""
        if self._untrusted != self._stored:
            self._stored = dict(self._untrusted)
            evidence = {host: astuple(found)[1:] for host, found in self._untrusted.items()}
            self._database.set_meta(meta_names.UNTRUSTED, json.dumps(evidence))


def untrusted_hosts(connection: sqlite3.Connection) -> tuple[UntrustedHost, ...]:
    """Read the hosts of a crawl whose rel=canonical counts for nothing, also while it runs."""
    found = _read(meta_of(connection.execute, meta_names.UNTRUSTED))
    return tuple(found[host] for host in sorted(found))


def _read(packed: str | None) -> dict[str, UntrustedHost]:
    known = json.loads(packed or "{}")
    return {host: UntrustedHost(host, *evidence) for host, evidence in known.items()}
