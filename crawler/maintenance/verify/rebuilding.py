"""Files that are made of ``crawl.db``: thrown away and made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.seen import SeenSet
from crawler.pages.page_store import PageStore
from neardup.indexes.files.file_layout import is_ours
from neardup.storage.catch_up import open_index

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.maintenance.verify.directory_checks import CrawlDirectory
    from crawler.storage.database import Database

_INDEX_ENDINGS = (".seg", ".log", ".tmp")


def make_index(directory: CrawlDirectory, database: Database, *, anew: bool) -> str:
    """Bring the fingerprint index in step with the store.

    Args:
        directory: The crawl.
        database: Its database, committed.
        anew: Throw away what is there; otherwise what it lacks is added.
    """
    if anew:
        remove_index(directory)
    with open_index(directory.index, PageStore(database)) as index:
        done = "made anew" if anew else "caught up"
        return f"files of the fingerprint index {done}, with {len(index):,} entries"


def remove_index(directory: CrawlDirectory) -> None:
    """Throw the files of the fingerprint index away; who opens it next makes them again."""
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
