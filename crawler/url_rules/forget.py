"""Letting go of a learned rule, in a directory in which no crawl is running."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from crawler.frontier.queue import RequestQueue
from crawler.storage.database import Database, open_for_reading
from crawler.storage.errors import JobError, JobInUseError
from crawler.url_rules.regrouping import note_pending
from crawler.url_rules.rule_store import FORGOTTEN, RuleStore
from crawler.url_rules.skipped import SkippedRequests

if TYPE_CHECKING:
    from pathlib import Path


def forget_rule(folder: Path, number: int) -> int:
    """Let go of a rule for good; tell how many requests it skipped, which wait again.

    Those that another rule skips too are skipped again by the next crawl.

    Raises:
        JobError: It is no crawl directory, in use, or has no such rule.
    """
    open_for_reading(folder).close()  # says what is wrong with it, and makes none
    lock = FileLock(folder / "lock", timeout=0)
    try:
        with lock, closing(Database(folder)) as database:
            return _forget(database, number)
    except Timeout:
        raise JobInUseError(f"{folder}: in use by another process") from None


def _forget(database: Database, number: int) -> int:
    store = RuleStore(database)
    rules = {rule.id: rule for rule in store}
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
