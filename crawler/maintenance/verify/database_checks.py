"""Check ``crawl.db`` as SQLite does, and make its indexes anew."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from crawler.maintenance.verify.finding import Rule, Stage
from crawler.storage.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding
    from crawler.maintenance.verify.repairer import Repairer

    Read = Callable[..., sqlite3.Cursor]

_MAX_MESSAGES = 100
_OF_INDEXES = ("missing from index", "wrong # of entries in index", "non-unique entry in index")


def find_damage(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Let SQLite check every page of the file, and every index.

    Complexity: O(size of the file).
    """
    watch.begin("crawl.db", 1)
    sql = f"PRAGMA integrity_check({_MAX_MESSAGES})"
    messages = [str(row[0]) for row in directory.connection.execute(sql)]
    if messages == ["ok"]:
        missing = _missing_indexes(directory.connection.execute)
        yield from LACKING.counted(len(missing), tuple(missing))
        return
    is_of_indexes = all(any(words in message for words in _OF_INDEXES) for message in messages)
    rule = INDEXES if is_of_indexes else WHOLE
    yield rule.finding(rule.what, len(messages), tuple(messages))


def _missing_indexes(read: Read) -> dict[str, str]:
    """Return the names of missing indexes, with the statements that make them."""
    sql = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        wanted = dict(connection.execute(sql))
    found = {name for name, _ in read(sql)}
    return {name: sql for name, sql in wanted.items() if name not in found}


def _make_indexes(repairer: Repairer, finding: Finding) -> str:
    repairer.database.write("REINDEX")
    return "made the indexes of crawl.db anew"


def _make_missing_indexes(repairer: Repairer, finding: Finding) -> str:
    missing = _missing_indexes(repairer.database.read)
    for sql in missing.values():
        repairer.database.write(sql)
    return f"made indexes of crawl.db: {', '.join(missing)}"


WHOLE = Rule(
    "database-whole",
    "crawl.db is damaged",
    advice="restore it from a copy, or save what can be read: "
    'sqlite3 crawl.db ".recover" | sqlite3 saved.db',
)
"""The rule whose breach ends a verification: the database itself is unreadable."""

INDEXES = Rule(
    "database-indexes",
    "indexes of crawl.db disagree with their tables",
    "makes the indexes anew",
    _make_indexes,
    Stage.DATABASE,
)
LACKING = Rule(
    "database-has-indexes",
    "indexes that crawl.db lacks",
    "makes them",
    _make_missing_indexes,
    Stage.DATABASE,
)
