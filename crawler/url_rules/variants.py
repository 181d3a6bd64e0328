"""Store the URLs that fixed rules take for one page, and what came of trying these rules."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from crawler.storage import meta_names
from crawler.storage.database import meta_of
from crawler.storage.states import VariantState
from crawler.urls.canonical import TRIED as TRIED_RULES
from crawler.urls.canonical import Canonicalizer

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crawler.storage.database import Database

SKIPPED, TRIED, SEPARATE = VariantState.SKIPPED, VariantState.TRIED, VariantState.SEPARATE

GROWTH: Final = 4
"""After a trial, the next one of the rule on the host comes when it met this many times more."""

MAX_PLACES: Final = 4
"""Try a rule at once in each new folder, or with new names of arguments, this many times a host."""

OF_SESSIONS: Final = frozenset(rule.name for rule in TRIED_RULES if rule.is_of_sessions)
"""Names of the tried rules that drop the name of a session."""

MAX_OF_SESSIONS: Final = 8
"""Store at most this many variants of a page that differ in sessions alone, once that is proven."""

ANY_OF: Final = "any:"
"""Mark the rule that skips a variant where others would do as well: it is not tried by that one."""

_MAX_HELD = 16_384

_COLUMNS = "key, page, standing, host, rules, url, state, priority, request"
_OF_HOST = (
    f"SELECT {_COLUMNS} FROM variants"  # noqa: S608
    f" WHERE state = {SKIPPED} AND host = ? AND (page, key) > (?, ?) ORDER BY page, key LIMIT ?"
)
_OF_RULE = (
    f"SELECT {_COLUMNS} FROM variants WHERE state = {SKIPPED} AND host = ?"  # noqa: S608
    " AND instr(',' || rules || ',', ',' || ? || ',') LIMIT 1"
)
_HAS_FIRST = f"SELECT 1 FROM variants WHERE state = {VariantState.FIRST} LIMIT 1"  # noqa: S608
_FORGET = (
    "DELETE FROM variants WHERE state IN (?, ?)"
    " AND NOT EXISTS (SELECT 1 FROM requests WHERE requests.key = variants.page)"
)


class Variant(NamedTuple):
    """A URL that fixed rules take for another one.

    Attributes:
        key: The digest of its exact form.
        page: The request fingerprint that it has by the rules.
        standing: The key of the URL that it is taken for.
        host: The host with its port.
        rules: Names of the rules by which it is; of one of several that do, after ``ANY_OF``.
        state: ``SKIPPED``, ``TRIED`` or ``SEPARATE``.
    """

    key: bytes
    page: bytes
    standing: bytes
    host: str
    rules: tuple[str, ...]
    url: str
    state: VariantState

    @property
    def can_be_tried(self) -> bool:
        """Whether a comparison would say something about the rules."""
        return not any(name.startswith(ANY_OF) for name in self.rules)


class SkippedVariant(NamedTuple):
    """A variant that was not requested, with its request."""

    key: bytes
    page: bytes
    standing: bytes
    host: str
    rules: str
    url: str
    state: VariantState
    priority: int
    request: bytes


@dataclass(slots=True)
class HostRule:
    """A fixed rule on a host.

    Attributes:
        met: Variants by this rule.
        tried: Those that were requested all the same.
        agreed: Those that were the page that they were taken for.
        due_at: The number of the next variant to request.
        reason: Why it does not hold there; None where it holds.
        places: Folders, with names of arguments, in which this process tried it.
    """

    host: str
    name: str
    met: int = 0
    tried: int = 0
    agreed: int = 0
    due_at: int = 1
    reason: str | None = None
    places: set[str] = field(default_factory=set)

    def is_due(self, place: str) -> bool:
        """Return whether the variant that was met last is to be tried."""
        return self.met >= self.due_at or (self.tried < MAX_PLACES and place not in self.places)

    def note_try(self, place: str) -> None:
        self.tried += 1
        self.places.add(place)
        self.due_at = max(self.due_at, GROWTH * self.met)


class HostRules:
    """The fixed rules that were tried, by host.

    Attributes:
        revoked_hosts: Hosts on which a rule was revoked.
    """

    def __init__(self, rules: Iterable[HostRule]) -> None:
        self._rules = {(rule.host, rule.name): rule for rule in rules}
        self.revoked_hosts = {rule.host for rule in self._rules.values() if rule.reason}

    def of(self, host: str, names: Iterable[str]) -> list[HostRule]:
        """Return rules of a host by their names, those that were not tried yet too."""
        return [
            self._rules.setdefault((host, name), HostRule(host, name)) for name in sorted(names)
        ]

    def revoked(self, host: str) -> frozenset[str]:
        """Return the names of the rules that do not hold on a host."""
        rules = (self._rules.get((host, rule.name)) for rule in TRIED_RULES)
        return frozenset(rule.name for rule in rules if rule is not None and rule.reason)

    def blamed(self, host: str, names: Iterable[str]) -> HostRule | None:
        """Return the rule to revoke: the one with the least evidence; None if one is revoked."""
        rules = self.of(host, names)
        if any(rule.reason for rule in rules):
            return None
        return min(rules, key=lambda one: (one.agreed, one.name in OF_SESSIONS))

    def revoke(self, rule: HostRule, reason: str) -> None:
        rule.reason = reason
        self.revoked_hosts.add(rule.host)


def place_of(canonical_url: str) -> str:
    """Return the folder of a URL with the names of its arguments."""
    parts = urlsplit(canonical_url)
    names = sorted({argument.partition("=")[0] for argument in parts.query.split("&")})
    return f"{parts.path.rpartition('/')[0]}?{'&'.join(names)}"[:200]


def separate_keys(read: Callable[[str], sqlite3.Cursor]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys of variants that are pages of their own, or tried, and of their pages."""
    yield from read(f"SELECT key, page FROM variants WHERE state IN ({TRIED}, {SEPARATE})")  # noqa: S608


def first_url(read: Callable[..., sqlite3.Cursor], page: bytes) -> str | None:
    """Return the URL that was requested for a page; None where it was the canonical one."""
    row = read("SELECT url FROM variants WHERE key = ? AND page = key", (page,)).fetchone()
    return None if row is None else str(row[0])


def separate_of(read: Callable[..., sqlite3.Cursor], page: bytes) -> list[tuple[bytes, str]]:
    """Return key and URL of the variants of a page that are pages of their own."""
    sql = f"SELECT key, url FROM variants WHERE page = ? AND state IN ({TRIED}, {SEPARATE})"  # noqa: S608
    return read(sql, (page,)).fetchall()


def tried_rules(read: Callable[[str], sqlite3.Cursor]) -> list[HostRule]:
    """Return the fixed rules that were tried on a host, those that are wrong there first."""
    rows = read(
        "SELECT host, rule, met, tried, agreed, due_at, reason FROM fixed_rules"
        " ORDER BY reason IS NULL, host, rule"
    )
    return [HostRule(*row) for row in rows]


def releasing_hosts(read: Callable[..., sqlite3.Cursor]) -> list[str]:
    """Return the hosts of which a process has not reconsidered all skipped variants."""
    return list(json.loads(meta_of(read, meta_names.FIXED_RELEASING) or "[]"))


class Variants:
    """The tables ``variants`` and ``fixed_rules``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._changed: dict[tuple[str, str], HostRule] = {}
        self._firsts: dict[bytes, str | None] = {}
        self._older_firsts: dict[bytes, str | None] = {}
        self.has_first = database.read(_HAS_FIRST).fetchone() is not None
        database.before_commit.append(self._write)

    def note_change(self, rule: HostRule) -> None:
        self._changed[rule.host, rule.name] = rule

    def _write(self) -> None:
        rows = [
            (one.host, one.name, one.met, one.tried, one.agreed, one.due_at, one.reason)
            for one in self._changed.values()
        ]
        self._changed.clear()
        self._database.write_many("REPLACE INTO fixed_rules VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def note_first(self, page: bytes, host: str, url: str) -> None:
        """Note which URL was requested for a page, where it is not the canonical one."""
        row = (page, page, None, host, "", url, VariantState.FIRST, 0, b"")
        self._database.write("REPLACE INTO variants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        self.has_first = True
        self._hold(page, url)

    def forget_first(self, page: bytes) -> None:
        """Let no URL be the one that was requested for a page."""
        self._database.write("DELETE FROM variants WHERE key = ? AND page = key", (page,))
        self._hold(page, None)

    def first(self, page: bytes) -> str | None:
        """Return the URL that was requested for a page; None where it was the canonical one."""
        if not self.has_first:
            return None
        if page not in self._firsts and page in self._older_firsts:
            self._hold(page, self._older_firsts[page])
        elif page not in self._firsts:
            self._hold(page, first_url(self._database.read, page))
        return self._firsts[page]

    def _hold(self, page: bytes, url: str | None) -> None:
        if len(self._firsts) >= _MAX_HELD:
            self._older_firsts, self._firsts = self._firsts, {}
        self._firsts[page] = url

    def is_known(self, key: bytes) -> bool:
        return self._database.value("SELECT 1 FROM variants WHERE key = ?", (key,)) is not None

    def count_skipped(self, page: bytes, rules: Sequence[str]) -> int:
        """Return how many variants of a page some rules skip."""
        sql = f"SELECT count(*) FROM variants WHERE page = ? AND state = {SKIPPED} AND rules = ?"  # noqa: S608
        return self._database.value(sql, (page, ",".join(rules))) or 0

    def put(self, variant: Variant, priority: int, request: bytes) -> None:
        key, page, standing, host, rules, url, state = variant
        row = (key, page, standing, host, ",".join(rules), url, state, priority, request)
        self._database.write("INSERT INTO variants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def separate(self, key: bytes) -> None:
        """Let a variant be a page of its own, which is requested or was."""
        self._database.write("UPDATE variants SET state = ? WHERE key = ?", (SEPARATE, key))

    def regroup(
        self, key: bytes, standing: bytes, rules: Sequence[str], state: VariantState
    ) -> None:
        """Let another URL stand for a variant, by other rules."""
        self._database.write(
            "UPDATE variants SET standing = ?, rules = ?, state = ? WHERE key = ?",
            (standing, ",".join(rules), state, key),
        )

    def note_queued(self, key: bytes) -> None:
        """Forget the request of a variant, which is in the queue now."""
        self._database.write("UPDATE variants SET request = x'' WHERE key = ?", (key,))

    def try_skipped(self, host: str, rule: str) -> SkippedVariant | None:
        """Let a variant that a rule skipped be tried; return it, or None where there is none."""
        row = self._database.read(_OF_RULE, (host, rule)).fetchone()
        if row is None:
            return None
        found = SkippedVariant(*row)
        self._database.write("UPDATE variants SET state = ? WHERE key = ?", (TRIED, found.key))
        return found._replace(state=TRIED)

    def note_releasing(self, hosts: Iterable[str]) -> None:
        """Store the hosts of which skipped variants are still to be reconsidered."""
        self._database.set_meta(meta_names.FIXED_RELEASING, json.dumps(list(hosts)))

    def tried(self) -> list[SkippedVariant]:
        """Return the variants that are being tried; those with a request are not queued yet."""
        rows = self._database.read(f"SELECT {_COLUMNS} FROM variants WHERE state = {TRIED}")  # noqa: S608
        return [SkippedVariant(*row) for row in rows]

    def skipped(self, host: str, after: tuple[bytes, bytes], most: int) -> list[SkippedVariant]:
        """Return skipped variants of a host, those of a page together, after page and key."""
        rows = self._database.read(_OF_HOST, (host, *after, most))
        return [SkippedVariant(*row) for row in rows]

    def begin_visit(self) -> None:
        """Forget what was skipped and which URL was first; pages of their own stay such.

        Pages that the visit does not request keep both: no link of theirs is followed again.
        """
        self._database.write(_FORGET, (VariantState.FIRST, SKIPPED))
        self._database.write("UPDATE variants SET state = ? WHERE state = ?", (SEPARATE, TRIED))
        self._firsts.clear()
        self._older_firsts.clear()
        self.has_first = self._database.read(_HAS_FIRST).fetchone() is not None


class PageKeys:
    """Returns the key of the page that a URL leads to.

    The canonicalizer knows which URLs proved to be pages of their own. A URL that was not
    requested may stand for one of these: where the order of arguments matters and a tracking name
    does not, ``?b=1&a=2&utm_source=x`` leads to ``?b=1&a=2``, and not to ``?a=2&b=1``.

    Args:
        read: Function that runs a query, of the crawl's ``Database`` or of a connection.

    Attributes:
        canonicalizer: The canonicalizer with which the keys of the crawl were made.
    """

    def __init__(self, read: Callable[..., sqlite3.Cursor]) -> None:
        self._read = read
        self.canonicalizer = _canonicalizer_of(read)
        self.canonicalizer.separate(separate_keys(read))
        self._rules = HostRules(tried_rules(read))

    def __call__(self, url: str) -> bytes:
        """Return the key of a URL's page.

        Raises:
            MalformedUrl: It is no http or https URL with a host.
        """
        key = self.canonicalizer.key(url)
        if not self._rules.revoked_hosts or self.canonicalizer.is_separate(key):
            return key
        host = urlsplit(self.canonicalizer.exact(url)).netloc
        if host not in self._rules.revoked_hosts:
            return key
        first = first_url(self._read, key) or self.canonicalizer.without(())(url)
        without = self.canonicalizer.without(self._rules.revoked(host))
        found = standing_for(url, without, [(key, first), *separate_of(self._read, key)])
        return key if found is None else found[0]


def standing_for(
    url: str, without: Canonicalizer, requested: Iterable[tuple[bytes, str]]
) -> tuple[bytes, str] | None:
    """Return key and URL of the request whose page a URL leads to, or None.

    Args:
        url: The URL.
        without: Canonicalizer without the rules that do not hold on its host.
        requested: Keys and URLs of the requests for pages that the fixed rules take for its page.
    """
    wanted = without(url)
    return next(((key, other) for key, other in requested if without(other) == wanted), None)


def _canonicalizer_of(read: Callable[..., sqlite3.Cursor]) -> Canonicalizer:
    version = meta_of(read, meta_names.URL_RULES)
    return (None if version is None else Canonicalizer.of_version(version)) or Canonicalizer()
