"""Check ``crawl.db`` as SQLite does, and make its companion files."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from crawler.frontier.seen import SeenSet
from crawler.maintenance.verify.finding import MAX_EXAMPLES, Finding
from crawler.pages.page_store import PageStore
from crawler.storage.schema import TABLES
from neardup.indexes.files.file_layout import is_ours
from neardup.storage.catch_up import open_index

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.storage.database import Database

_INDEX_ENDINGS = (".seg", ".log", ".tmp")


def make_index(directory: CrawlDirectory, database: Database, *, anew: bool) -> str:
    """Bring the fingerprint index in step with the store.

    Args:
        directory: The crawl.
        database: Its database, committed.
        anew: Whether to delete the old index; otherwise missing entries are added.
    """
    if anew:
        remove_index(directory)
    with open_index(directory.index, PageStore(database)) as index:
        done = "made anew" if anew else "caught up"
        return f"files of the fingerprint index {done}, with {len(index):,} entries"


def remove_index(directory: CrawlDirectory) -> None:
    """Delete the files of the fingerprint index; the next opening makes them again."""
    if directory.index.is_dir():
        for file in directory.index.iterdir():
            if file.suffix in _INDEX_ENDINGS or is_ours(file.name):
                file.unlink()


def make_bloom(bloom: Path, database: Database) -> str:
    """Make the Bloom filter of the seen set."""
    bloom.unlink(missing_ok=True)
    seen = SeenSet(database, bloom)
    seen.save()
    return f"file of the Bloom filter made anew, with {len(seen):,} URLs"


if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch

    Read = Callable[..., sqlite3.Cursor]

INDEXES = "database-indexes"
LACKING = "database-has-indexes"
WHOLE = "database-whole"

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
        missing = missing_indexes(directory.connection.execute)
        if missing:
            what = f"indexes that crawl.db lacks: {len(missing):,}"
            yield Finding(LACKING, what, len(missing), tuple(missing), remedy="makes them")
        return
    some = tuple(messages[:MAX_EXAMPLES])
    if all(any(words in message for words in _OF_INDEXES) for message in messages):
        yield Finding(
            INDEXES,
            "indexes of crawl.db disagree with their tables",
            len(messages),
            some,
            remedy="makes the indexes anew",
        )
    else:
        yield damaged(len(messages), some)


def missing_indexes(read: Read) -> dict[str, str]:
    """Return the names of missing indexes, with the statements that make them."""
    sql = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        wanted = dict(connection.execute(sql))
    found = {name for name, _ in read(sql)}
    return {name: sql for name, sql in wanted.items() if name not in found}


def damaged(count: int, examples: tuple[str, ...]) -> Finding:
    """Return a finding that ends the verification: the database itself is unreadable."""
    return Finding(
        WHOLE,
        "crawl.db is damaged",
        count,
        examples,
        advice="restore it from a copy, or save what can be read: "
        'sqlite3 crawl.db ".recover" | sqlite3 saved.db',
    )
