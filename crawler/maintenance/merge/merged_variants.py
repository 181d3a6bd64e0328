"""Keep apart pages of several crawls that an unproven fixed rule takes for one.

Each crawl met one URL of the two, so that none had anything to try: only their merge sees both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler.maintenance.merge.merged_captures import rivals
from crawler.storage import meta_names
from crawler.storage.states import VariantState
from crawler.url_rules.variants import Variant, Variants
from crawler.urls.canonical import Canonicalizer
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.maintenance.merge.merged_captures import MergedCapture
    from crawler.maintenance.merge.merged_crawls import MergedCrawl
    from crawler.storage.database import Database

SCRATCH = """
CREATE TABLE scratch.parted (
    source INTEGER, key BLOB, new BLOB, PRIMARY KEY (source, key)
) WITHOUT ROWID;
"""
_PLACE = "SELECT source, old FROM scratch.captures WHERE id = ?"
_PROVEN = """
SELECT rule FROM fixed_rules WHERE host = ? AND agreed > 0 AND reason IS NULL
"""


def part_variants(database: Database, sources: Sequence[MergedCrawl]) -> None:
    """Give each of two pages a key of its own where no trial says that they are one.

    Pages that say the same stay one, and so do those by rules that a crawl found right on the host.
    The canonical URL keeps the key that the rules give both.

    Args:
        database: Database of the merged crawl, with fixed rules, and the captures numbered.
        sources: The crawls.

    Complexity: O(pages that several crawls have).
    """
    canonical = Canonicalizer.of_version(sources[0].meta.get(meta_names.URL_RULES, ""))
    if canonical is None:
        return
    parting = _Parting(database, sources, canonical)
    for captures in rivals(database):
        parting.part(captures)


def key_in_merged(database: Database, source: int, key: bytes) -> bytes:
    """Return the key that a page of a crawl has in the merged one."""
    sql = "SELECT new FROM scratch.parted WHERE source = ? AND key = ?"
    row = database.read(sql, (source, key)).fetchone()
    return key if row is None else bytes(row[0])


class _Parting:
    def __init__(
        self, database: Database, sources: Sequence[MergedCrawl], canonical: Canonicalizer
    ) -> None:
        self._database = database
        self._sources = sources
        self._canonical = canonical
        self._variants = Variants(database)

    def part(self, captures: Sequence[MergedCapture]) -> None:
        """Part the newest captures of several crawls that have one key."""
        try:
            by_url = self._by_exact_url(captures)
        except MalformedUrl:  # an archive may hold what is no URL, each under a key of its own
            return
        newest = {url: found[-1] for url, found in by_url.items()}
        if all(self._are_one(newest, url, other) for url in newest for other in newest):
            return
        key = captures[0].key
        for url, found in by_url.items():
            merged = self._canonical.without(())(url)
            if url != merged:
                self._separate(url, merged, key, [capture.id for capture in found])

    def _by_exact_url(self, captures: Sequence[MergedCapture]) -> dict[str, list[MergedCapture]]:
        found: dict[str, list[MergedCapture]] = {}
        for capture in captures:
            source, old = self._database.read(_PLACE, (capture.id,)).fetchone()
            (url,) = self._sources[source].one("SELECT url FROM pages WHERE id = ?", old)
            found.setdefault(self._canonical.exact(url), []).append(capture)
        return found

    def _are_one(self, newest: dict[str, MergedCapture], url: str, other: str) -> bool:
        if url == other or newest[url].says_what(newest[other]):
            return True
        if not (newest[url].was_read and newest[other].was_read):
            return True
        proven = {rule for (rule,) in self._database.read(_PROVEN, (urlsplit(url).netloc,))}
        names = self._canonical.parting(url, other) or self._canonical.sufficient(url, other)[:1]
        return bool(names) and proven.issuperset(names)

    def _separate(self, url: str, merged: str, key: bytes, ids: Sequence[int]) -> None:
        own, write = self._canonical.variant_key(url), self._database.write
        names, host = self._canonical.parting(url, merged), urlsplit(url).netloc
        row = Variant(own, key, key, host, names, url, VariantState.SEPARATE)
        self._variants.put_merged(row)
        for capture in ids:
            (source, _) = self._database.read(_PLACE, (capture,)).fetchone()
            write("INSERT INTO scratch.parted VALUES (?, ?, ?)", (source, key, own))
            write(
                "UPDATE scratch.captures SET key = ? WHERE source = ? AND key = ?",
                (own, source, key),
            )
