"""Finish a mirror: open the folder and the database for ``Finisher``, and write the reports."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from crawler.mirror.folder import MirrorFolder
from crawler.mirror.link_rewriting import Finisher
from crawler.mirror.mirror_files import FileTable
from crawler.mirror.reports import write_changes, write_duplicates
from crawler.storage.database import Database
from crawler.url_rules.learning.address import Address
from crawler.url_rules.rule_set import RuleSet
from crawler.url_rules.rule_store import RuleStore
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawler.mirror.link_rewriting import FinishedMirror
    from crawler.urls.canonical import Canonicalizer

STATE = ".mirror"
"""Name of the folder within a mirror that holds the crawl's state."""


def finish(
    root: Path,
    start: str,
    canonicalizer: Canonicalizer,
    watch: Callable[[int, int], None],
) -> FinishedMirror:
    """Rewrite links, share the files of duplicates, write index.html and the reports.

    Args:
        root: Folder of the mirror; no other process may write to it.
        start: URL of the first seed.
        canonicalizer: Canonicalizer of the crawl's URLs.
        watch: Callback for progress: finished documents, and their total.

    Raises:
        JobError: There is no mirror, or its database cannot be used.
        MirrorError: A file cannot be written.
    """
    with closing(Database(root / STATE)) as database, MirrorFolder(root) as folder:
        rules = RuleSet()
        for rule in RuleStore(database):
            rules.add(rule)

        def is_one(url: str, other: str) -> bool:
            return _address(url, rules, canonicalizer) == _address(other, rules, canonicalizer)

        finisher = Finisher(
            database,
            FileTable(database.read, database.write),
            folder,
            start=start,
            key=canonicalizer.key,
            is_one=is_one,
            watch=watch,
        )
        finished = finisher.finish()
        write_changes(database, folder)
        write_duplicates(database, folder)
        return finished


def _address(url: str, rules: RuleSet, canonicalizer: Canonicalizer) -> Address | str:
    """Return a page's URL after the learned rules, unchanged if they cannot apply to it."""
    try:
        address = Address.parse(canonicalizer(url))
    except MalformedUrl:
        return url
    return rules.apply(address) if address.is_learnable else address
