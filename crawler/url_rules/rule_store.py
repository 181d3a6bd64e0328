"""Store learned rules in ``crawl.db``."""

from __future__ import annotations

import json
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from crawler.frontier.queue import RequestQueue
from crawler.storage import meta_names
from crawler.storage.database import Database, open_for_reading
from crawler.storage.directory import lock_held
from crawler.storage.errors import JobError
from crawler.storage.states import FORGOTTEN, HOLDS, RuleStatus
from crawler.url_rules.kinds import MORE_IN_BROWSER
from crawler.url_rules.learned_rule import NOT_EXAMINED, LearnedRule, Variety
from crawler.url_rules.render_kinds import read_kinds
from crawler.url_rules.rule_files import restored, stored
from crawler.url_rules.skipped import SkippedRequests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from crawler.pages.page_row import Read
    from crawler.url_rules.learning.context import Context
    from crawler.url_rules.learning.proposals import Proposal
    from crawler.url_rules.learning.transforms import Transform


class RuleRow(NamedTuple):
    """A row of ``url_rules``, of any state; ``text`` is the column ``rule``."""

    id: int
    state: int
    text: str
    positives: int
    explored: int
    saved: int
    tried: str
    origin: str
    reason: str | None

    @property
    def proposal(self) -> Proposal:
        return restored(json.loads(self.text))

    @property
    def rule(self) -> LearnedRule:
        found = LearnedRule(self.id, *self.proposal, self.positives)
        found.explored, found.saved, found.origin = self.explored, self.saved, self.origin
        seen = json.loads(self.tried)
        found.patterns = seen.get("patterns", {})
        found.values = list(map(set, seen.get("values", ())))
        found.clusters = set(seen.get("clusters", ()))
        found.examined = seen.get("examined", NOT_EXAMINED)
        found.since, found.due_at = seen.get("since", 0), seen.get("due_at", 1)
        found.head_start = seen.get("head_start", "")
        found.varieties = [Variety(m, frozenset(f), s) for m, f, s in seen.get("varieties", ())]
        for thing, value, pages, asked in seen.get("tried", ()):
            found.tried[thing, value], found.asked[thing, value] = pages, asked
        return found


STANDARD: Final = "docs/urls.md"
"""The origin of standard rules: where they are described."""


def rule_rows(read: Read, *, are_standard: bool = False) -> list[RuleRow]:
    """Return the learned rules of all states, or the standard ones, the oldest first."""
    sql = (
        "SELECT id, state, rule, positives, explored, saved, tried, origin, reason"
        " FROM url_rules WHERE (origin = ?) = ? ORDER BY id"
    )
    return [RuleRow(*row) for row in read(sql, (STANDARD, are_standard))]


def in_states(read: Read, *states: RuleStatus) -> list[Proposal]:
    """Return the rules in one of some states, in the order in which they are applied."""
    return [row.proposal for row in rule_rows(read) if row.state in states]


class RuleStore:
    """The table ``url_rules``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._changed: dict[int, LearnedRule] = {}

    def __iter__(self) -> Iterator[LearnedRule]:
        """Yield the rules that hold, oldest first."""
        return (row.rule for row in rule_rows(self._database.read) if row.state == HOLDS)

    def add(self, context: Context, transform: Transform, origin: str) -> LearnedRule:
        cursor = self._database.write(
            "INSERT INTO url_rules (state, rule, positives, explored, saved, tried, origin, since)"
            " VALUES (?, ?, 0, 0, 0, '{}', ?, ?)",
            (HOLDS, json.dumps(stored(context, transform)), origin, time.time()),
        )
        return LearnedRule(int(cursor.lastrowid or 0), context, transform, origin=origin)

    def change(self, rule: LearnedRule) -> None:
        text = json.dumps(stored(rule.context, rule.transform))
        self._database.write("UPDATE url_rules SET rule = ? WHERE id = ?", (text, rule.id))

    def note_change(self, rule: LearnedRule) -> None:
        """Mark a rule to be stored before the next commit."""
        self._changed[rule.id] = rule

    def save_changed(self) -> None:
        """Store the counts and trials of the rules that were marked."""
        for rule in self._changed.values():
            self._save(rule)
        self._changed.clear()

    def _save(self, rule: LearnedRule) -> None:
        tried = json.dumps(
            {
                "patterns": rule.patterns,
                "values": list(map(sorted, rule.values)),
                "clusters": sorted(rule.clusters),
                "examined": rule.examined,
                "since": rule.since,
                "due_at": rule.due_at,
                "head_start": rule.head_start,
                "varieties": [
                    (one.is_many, sorted(one.frequent), one.are_shared) for one in rule.varieties
                ],
                "tried": [
                    (*proof, rule.tried[proof], rule.asked[proof])
                    for proof in sorted({*rule.tried, *rule.asked})
                ],
            }
        )
        self._database.write(
            "UPDATE url_rules SET positives = ?, explored = ?, saved = ?, tried = ? WHERE id = ?",
            (rule.positives, rule.explored, rule.saved, tried, rule.id),
        )

    def end(self, rule: LearnedRule, state: RuleStatus, reason: str) -> None:
        self._changed.pop(rule.id, None)
        self._save(rule)
        self._database.write(
            "UPDATE url_rules SET state = ?, reason = ? WHERE id = ?", (state, reason, rule.id)
        )

    def in_states(self, *states: RuleStatus) -> list[Proposal]:
        return in_states(self._database.read, *states)


def forget_rule(folder: Path, number: int) -> int:
    """Forget a rule for good; return how many requests it skipped, which wait again.

    Those that another rule skips too are skipped again by the next crawl.

    Raises:
        JobError: It is no crawl directory, in use, or has no such rule.
    """
    with stopped_database(folder) as database:
        return _forget(database, number)


def forget_rendering(folder: Path) -> int:
    """Forget which kinds of URLs show more in a browser; return how many were known.

    Raises:
        JobError: It is no crawl directory, or in use.
    """
    with stopped_database(folder) as database:
        count = len(read_kinds(database.read))
        database.write("DELETE FROM url_kinds WHERE question = ?", (MORE_IN_BROWSER.name,))
        database.commit()
    return count


@contextmanager
def stopped_database(folder: Path) -> Iterator[Database]:
    """Open the database of a crawl that is stopped, and stays so meanwhile.

    Raises:
        JobError: It is no crawl directory, or in use.
    """
    open_for_reading(folder).close()  # says what is wrong with it, and makes none
    with lock_held(folder), closing(Database(folder)) as database:
        yield database


def _forget(database: Database, number: int) -> int:
    store = RuleStore(database)
    rules = {rule.id: rule for rule in store}
    for row in rule_rows(database.read, are_standard=True):
        if row.id == number:
            off = "-s URLS_DISABLED_RULES switches it off, in a new directory"
            raise JobError(f"rule {number} is a standard one, {row.proposal[1]}: {off}")
    if number not in rules:
        known = ", ".join(map(str, rules)) or "none"
        raise JobError(f"no rule {number} holds; there are: {known}")
    rule = rules[number]
    store.end(rule, FORGOTTEN, "forgotten by the user")
    note_pending(database, rule.hosts)
    skipped = SkippedRequests(database, RequestQueue(database))
    again = skipped.put_back_rule(number)
    database.commit()
    return again


def note_pending(database: Database, hosts: Iterable[str]) -> None:
    """Let the next process regroup some hosts, given with their ports."""
    pending = set(json.loads(database.meta(meta_names.REGROUPING) or "[]"))
    database.set_meta(meta_names.REGROUPING, json.dumps(sorted(pending.union(hosts))))
