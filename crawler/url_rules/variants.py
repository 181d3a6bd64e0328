"""Store the URLs that fixed rules take for one page, and what came of trying these rules."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from crawler.storage import meta_names
from crawler.storage.database import meta_of
from crawler.storage.states import REVOKED, VariantState
from crawler.url_rules.learned_rule import SELDOM, LearnedRule
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.transforms import Standard
from crawler.url_rules.rule_store import STANDARD, RuleStore, rule_rows
from crawler.urls.canonical import TRIED as TRIED_RULES
from crawler.urls.canonical import Canonicalizer

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Iterator

    from crawler.pages.page_row import Read
    from crawler.storage.database import Database
    from crawler.url_rules.rule_store import RuleRow

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

_COLUMNS = "key, page, standing, host, rules, url, state, depth, source"
_OF_HOST = (
    f"SELECT {_COLUMNS} FROM variants"  # noqa: S608
    f" WHERE state = {SKIPPED} AND host = ? AND (page, key) > (?, ?) ORDER BY page, key LIMIT ?"
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
        rules: Names of the rules by which it is, with commas; of one of several that do, after
            ``ANY_OF``.
        state: ``SKIPPED``, ``TRIED`` or ``SEPARATE``.
        depth: The number of links that lead to it from a seed.
        source: URL of the page on which it was met; empty where that is not known.
    """

    key: bytes
    page: bytes
    standing: bytes
    host: str
    rules: str
    url: str
    state: VariantState
    depth: int = 0
    source: str = ""

    @property
    def names(self) -> list[str]:
        """Names of the rules."""
        return self.rules.split(",")

    @property
    def can_be_tried(self) -> bool:
        """Whether a comparison would say something about the rules."""
        return not self.rules.startswith(ANY_OF)


class HostRules:
    """The fixed rules that were tried, by host; they are rows of ``url_rules``.

    Attributes:
        revoked: Names of the rules that do not hold, by host.
    """

    def __init__(self, database: Database) -> None:
        self._store = RuleStore(database)
        self._rules = {one[:2]: one[2].rule for one in tried_rules(database.read)}
        self.revoked = revoked_rules(database.read)
        database.before_commit.append(self._store.save_changed)

    def of(self, host: str, names: Iterable[str]) -> dict[str, LearnedRule]:
        """Return rules of a host by their names, those that were not tried yet too."""
        return {
            name: self._rules.get((host, name)) or self._made(host, name) for name in sorted(names)
        }

    def _made(self, host: str, name: str) -> LearnedRule:
        rule = LearnedRule(0, Context(host), Standard(name), origin=STANDARD, examined=SELDOM)
        self._rules[host, name] = rule
        return rule

    def note_change(self, rule: LearnedRule) -> None:
        """Let a rule be stored, which gets its number now if it has none."""
        rule.id = rule.id or self._store.add(rule.context, rule.transform, STANDARD).id
        self._store.note_change(rule)

    def tries(self, rules: Collection[LearnedRule], place: str, *, is_new: bool) -> bool:
        """Count a variant by some rules; return whether it is requested to try them.

        Args:
            rules: The rules.
            place: Its folder, with the names of its arguments.
            is_new: Whether the rules skip it for the first time.
        """
        for rule in rules:
            rule.saved += is_new
            self.note_change(rule)
        if not any(_is_due(rule, place, is_new=is_new) for rule in rules):
            return False
        for rule in rules:
            rule.saved, rule.explored = max(0, rule.saved - 1), rule.explored + 1
            rule.due_at = max(rule.due_at, GROWTH * (rule.saved + rule.explored))
            if len(rule.patterns) < MAX_PLACES:
                rule.patterns[place] = 1
        return True

    def blamed(self, host: str, names: Iterable[str]) -> str | None:
        """Return the rule to revoke: the one with the least evidence; None if one is revoked."""
        if not self.revoked.get(host, set()).isdisjoint(names):
            return None
        rules = self.of(host, names)
        return min(rules, key=lambda name: (rules[name].positives, name in OF_SESSIONS))

    def revoke(self, host: str, name: str, reason: str) -> None:
        (rule,) = self.of(host, [name]).values()
        self.note_change(rule)
        self._store.end(rule, REVOKED, reason)
        self.revoked.setdefault(host, set()).add(name)


def _is_due(rule: LearnedRule, place: str, *, is_new: bool) -> bool:
    if rule.saved + rule.explored >= rule.due_at:
        return True
    return is_new and rule.explored < MAX_PLACES and place not in rule.patterns


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


def tried_rules(read: Read) -> Iterator[tuple[str, str, RuleRow]]:
    """Yield host, name and row of each fixed rule that was tried on a host."""
    for row in rule_rows(read, are_standard=True):
        context, rule = row.proposal
        if isinstance(rule, Standard):
            yield context.host, rule.name, row


def revoked_rules(read: Read) -> dict[str, set[str]]:
    """Return the names of the fixed rules that do not hold on a host, by host."""
    revoked: dict[str, set[str]] = {}
    for host, name, row in tried_rules(read):
        if row.reason is not None:
            revoked.setdefault(host, set()).add(name)
    return revoked


def releasing_hosts(read: Callable[..., sqlite3.Cursor]) -> list[str]:
    """Return the hosts of which a process has not reconsidered all skipped variants."""
    return list(json.loads(meta_of(read, meta_names.FIXED_RELEASING) or "[]"))


class Variants:
    """The table ``variants``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._firsts: dict[bytes, str | None] = {}
        self.has_first = database.read(_HAS_FIRST).fetchone() is not None

    def note_first(self, page: bytes, host: str, url: str) -> None:
        """Note which URL was requested for a page, where it is not the canonical one."""
        row = (page, page, None, host, "", url, VariantState.FIRST, 0, "")
        self._database.write("REPLACE INTO variants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        self.has_first = True
        self._hold(page, url)

    def first(self, page: bytes) -> str | None:
        """Return the URL that was requested for a page; None where it was the canonical one."""
        if not self.has_first:
            return None
        if page not in self._firsts:
            self._hold(page, first_url(self._database.read, page))
        return self._firsts[page]

    def _hold(self, page: bytes, url: str | None) -> None:
        if len(self._firsts) >= _MAX_HELD:
            self._firsts.clear()
        self._firsts[page] = url

    def is_known(self, key: bytes) -> bool:
        return self._database.value("SELECT 1 FROM variants WHERE key = ?", (key,)) is not None

    def count_skipped(self, page: bytes, rules: str) -> int:
        """Return how many variants of a page some rules skip."""
        sql = f"SELECT count(*) FROM variants WHERE page = ? AND state = {SKIPPED} AND rules = ?"  # noqa: S608
        return self._database.value(sql, (page, rules)) or 0

    def put(self, variant: Variant) -> None:
        self._database.write("INSERT INTO variants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", variant)

    def separate(self, key: bytes) -> None:
        """Let a variant be a page of its own, which is requested or was."""
        self._database.write("UPDATE variants SET state = ? WHERE key = ?", (SEPARATE, key))

    def regroup(self, variant: Variant) -> None:
        """Let another URL stand for a variant, by other rules."""
        self._database.write(
            "UPDATE variants SET standing = ?, rules = ?, state = ? WHERE key = ?",
            (variant.standing, variant.rules, variant.state, variant.key),
        )

    def note_releasing(self, hosts: Iterable[str]) -> None:
        """Store the hosts of which skipped variants are still to be reconsidered."""
        self._database.set_meta(meta_names.FIXED_RELEASING, json.dumps(list(hosts)))

    def tried(self) -> list[Variant]:
        """Return the variants that are being tried."""
        rows = self._database.read(f"SELECT {_COLUMNS} FROM variants WHERE state = {TRIED}")  # noqa: S608
        return [Variant(*row) for row in rows]

    def skipped(self, host: str, after: tuple[bytes, bytes], most: int) -> list[Variant]:
        """Return skipped variants of a host, those of a page together, after page and key."""
        rows = self._database.read(_OF_HOST, (host, *after, most))
        return [Variant(*row) for row in rows]

    def begin_visit(self) -> None:
        """Forget what was skipped and which URL was first; pages of their own stay such.

        Pages that the visit does not request keep both: no link of theirs is followed again.
        """
        self._database.write(_FORGET, (VariantState.FIRST, SKIPPED))
        self._database.write("UPDATE variants SET state = ? WHERE state = ?", (SEPARATE, TRIED))
        self._firsts.clear()
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
        self._revoked = revoked_rules(read)

    def __call__(self, url: str) -> bytes:
        """Return the key of a URL's page.

        Raises:
            MalformedUrl: It is no http or https URL with a host.
        """
        key = self.canonicalizer.key(url)
        if not self._revoked or self.canonicalizer.is_separate(key):
            return key
        host = urlsplit(self.canonicalizer.exact(url)).netloc
        if host not in self._revoked:
            return key
        first = first_url(self._read, key) or self.canonicalizer.without(())(url)
        without = self.canonicalizer.without(self._revoked[host])
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
