"""Open the crawl directories that are merged, make the new one, and part keys that they share."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.pages.page_row import fetched_in, url_of
from crawler.storage import meta_names
from crawler.storage.database import FILE_NAME, reading_mode
from crawler.storage.errors import CrawlStorageError, JobError, JobVersionError
from crawler.storage.states import VariantState
from crawler.url_rules.variants import tried_rules
from crawler.urls.canonical import Canonicalizer
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from crawler.storage.database import Database


@dataclass(frozen=True, slots=True)
class MergedCrawl:
    """A crawl directory that no other process has open.

    Attributes:
        number: Position among all directories.
        shift: Number that is added to its visits, so that all crawls have the same last visit.
    """

    number: int
    folder: Path
    connection: sqlite3.Connection
    meta: dict[str, str]
    shift: int

    def one(self, sql: str, *parameters: Any) -> Any:
        return self.connection.execute(sql, parameters).fetchone()

    def count(self, table: str) -> int:
        return int(self.one(f"SELECT count(*) FROM {table}")[0])


def attached(database: Database, sources: Iterable[MergedCrawl]) -> Iterator[MergedCrawl]:
    """Yield crawls one after the other; statements of another database read each as ``crawl``."""
    for source in sources:
        database.commit()
        path = source.folder / FILE_NAME
        uri = f"{path.absolute().as_uri()}?{reading_mode(path)}"
        database.read("ATTACH DATABASE ? AS crawl", (uri,))
        row = source.number, source.shift
        database.write("INSERT OR REPLACE INTO scratch.attached VALUES (1, ?, ?)", row)
        yield source
        database.commit()
        database.read("DETACH DATABASE crawl")


def own_key(key: str) -> str:
    """Return the SQL of the key in the merged crawl of what ``crawl`` has under a key."""
    return f"coalesce((SELECT own FROM scratch.parted WHERE {_PARTED.format(key)}), {key})"


_PARTED = "parted.source = attached.number AND parted.key = {}"
IS_PARTED = f"EXISTS (SELECT 1 FROM scratch.parted WHERE {_PARTED})"
OWN_URL = f"coalesce((SELECT parted.canonical_url FROM scratch.parted WHERE {_PARTED}), {{}})"


@contextmanager
def opened(folders: Sequence[Path]) -> Iterator[list[MergedCrawl]]:
    """Open directories until the block ends.

    Raises:
        JobInUseError: A crawl has one of them open.
        JobVersionError: Keys or fingerprints of one differ in meaning from those of another.
        JobError: One is no crawl directory, is named twice, or is a mirror's.
    """
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise JobError("a crawl directory is named twice")
    with ExitStack() as stack:
        directories = []
        for folder in folders:
            directory = CrawlDirectory(folder, only_reads=True)
            stack.callback(directory.close)
            directories.append(directory)
        last = max(_visit(directory.meta) for directory in directories)
        yield [
            _checked(directories[0], directory, number, last)
            for number, directory in enumerate(directories)
        ]


def blamed(sources: Sequence[MergedCrawl], error: sqlite3.Error | CrawlStorageError) -> JobError:
    """Return an error that names the directories it may come from.

    SQLite distinguishes an unreadable source from an unwritable result only by the code of the
    error, and text that is no UTF-8 has none.
    """
    cause = error.__cause__ if isinstance(error, CrawlStorageError) else error
    code = getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if isinstance(cause, sqlite3.Error) and code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        names = " or ".join(str(source.folder) for source in sources)
        return JobError(f"{names}: damaged ({cause}); crawl-once verify DIR says more")
    return (
        error
        if isinstance(error, CrawlStorageError)
        else CrawlStorageError(f"cannot be merged: {error}")
    )


def _visit(meta: dict[str, str]) -> int:
    return int(meta.get(meta_names.VISIT, 0))


def _checked(
    first: CrawlDirectory, directory: CrawlDirectory, number: int, last: int
) -> MergedCrawl:
    for name in meta_names.IDENTITY:
        wanted, found = first.meta.get(name), directory.meta.get(name)
        if wanted != found:
            raise JobVersionError(
                f"{directory.folder}: made with {name} '{found}', {first.folder} with '{wanted}'; "
                "only what was made with the same can become one"
            )
    if directory.count("SELECT count(*) FROM files"):
        raise JobError(f"{directory.folder}: belongs to a mirror, whose files cannot be merged")
    shift = last - _visit(directory.meta)
    return MergedCrawl(number, directory.folder, directory.connection, directory.meta, shift)


SCRATCH = """
CREATE TABLE scratch.attached (id INTEGER PRIMARY KEY, number INTEGER, shift INTEGER);
CREATE TABLE scratch.parted (
    source INTEGER, key BLOB, own BLOB, canonical_url TEXT, PRIMARY KEY (source, key)
) WITHOUT ROWID;
"""
_RIVALS = """
SELECT key, {} FROM scratch.captures
WHERE latest = 1 AND key IN (
    SELECT key FROM scratch.captures WHERE latest = 1 AND key > ? GROUP BY key HAVING count(*) > 1
    ORDER BY key LIMIT 1000)
ORDER BY key, id
"""
_PART = "INSERT INTO scratch.parted VALUES (?, ?, ?, ?)"
_RENAME = "UPDATE scratch.captures SET key = ? WHERE key = ? AND source = ?"
_OWN = "SELECT own FROM scratch.parted WHERE source = ? AND key = ?"
_URLS_OF_KEY = """
SELECT url FROM requests WHERE key = ?1 AND url <> ''
UNION ALL SELECT url FROM variants WHERE key = ?1 AND page = ?1
"""
_VARIANT = f"""
INSERT INTO variants VALUES (?1, ?2, ?2, ?3, ?4, ?5, {VariantState.SEPARATE}, 0, '')
ON CONFLICT (key) DO UPDATE SET state = excluded.state
"""


def rivals(database: Database, columns: str) -> Iterator[list[Any]]:
    """Yield the newest captures of each key that several crawls have: the key, then columns."""
    last = b""
    while rows := database.read(_RIVALS.format(columns), (last,)).fetchall():
        for last, group in groupby(rows, itemgetter(0)):  # noqa: B007
            yield list(group)


class PartedKeys:
    """Gives a page that one crawl has under the key of another page a key of its own.

    Each crawl stored the URL that it met first under the key that tried rules give all variants.
    Where two crawls met different ones, and their pages differ, each stays a page, unless a crawl
    found the rules right on the host: the canonical URL alone keeps the key.

    Args:
        database: Database of the merged crawl, with its meta values.
        sources: Crawls to merge.
    """

    def __init__(self, database: Database, sources: Sequence[MergedCrawl]) -> None:
        self._database = database
        self._sources = sources
        version = database.meta(meta_names.URL_RULES) or ""
        self._canonical = Canonicalizer.of_version(version) or Canonicalizer()
        found = (tried_rules(source.connection.execute) for source in sources)
        self._tried = list(chain.from_iterable(found))

    def part(self) -> None:
        """Find the pages to part, and rename their numbered captures. Complexity: O(n log n)."""
        said = "source, old, coalesce(text_digest, payload_digest)"
        for captures in rivals(self._database, said):
            if len({digest for *_, digest in captures}) > 1:
                self._part(captures[0][0], captures)

    def _part(self, key: bytes, captures: Sequence[tuple[bytes, int, int, bytes | None]]) -> None:
        urls = {
            source: url_of(self._sources[source].connection.execute, old) or ""
            for _, source, old, _ in captures
        }
        with suppress(MalformedUrl):
            if self._are_one(set(map(self._canonical.exact, urls.values()))):
                return
            for source, url in urls.items():
                exact = self._canonical.exact(url)
                if exact == self._canonical(url) or self._canonical.key(url) != key:
                    continue
                own = self._canonical.variant_key(url)
                self._database.write(_PART, (source, key, own, exact))
                self._database.write(_RENAME, (own, key, source))

    def _are_one(self, exact: set[str]) -> bool:
        """Return whether exact URLs are the same, or all by rules that a crawl found right."""
        first, *others = exact
        host = urlsplit(first).netloc
        tried = [(name, row) for its_host, name, row in self._tried if its_host == host]
        right = {name for name, row in tried if row.positives and row.reason is None}
        right -= {name for name, row in tried if row.reason is not None}
        parting = [
            self._canonical.parting(first, other) or self._canonical.sufficient(first, other)[:1]
            for other in others
        ]
        return all(names and right.issuperset(names) for names in parting)

    def key(self, source: int, key: bytes) -> bytes:
        """Return the key in the merged crawl of what a crawl has under a key."""
        own: bytes | None = self._database.value(_OWN, (source, key))
        return key if own is None else own

    def note_variants(self) -> None:
        """Note all parted URLs as pages of their own, after the variants of all crawls."""
        rows = self._database.read("SELECT key, own, canonical_url FROM scratch.parted").fetchall()
        for key, own, url in rows:
            self._note(key, own, url)

    def _note(self, page: bytes, own: bytes, url: str) -> None:
        canonical = self._canonical
        names = ",".join(canonical.parting(url, canonical(url)))
        row = (own, page, urlsplit(canonical.exact(url)).netloc, names, url)
        self._database.write(_VARIANT, row)

    def key_of_waiting(self, key: bytes, url: str) -> bytes:
        """Return the key of a request that waits: its own where the key is that of another URL."""
        with suppress(MalformedUrl):
            exact = self._canonical.exact(url)
            if self._canonical.key(url) != key or self._is_of(key, exact):
                return key
            own = self._canonical.variant_key(url)
            self._note(key, own, url)
            return own
        return key

    def _is_of(self, key: bytes, exact: str) -> bool:
        """Return whether a key has no page or request in this visit, or those of a URL alone."""
        visit = int(self._database.meta(meta_names.VISIT) or 0)
        urls = [url for (url,) in self._database.read(_URLS_OF_KEY, (key,))]
        urls += [url for *_, url in fetched_in(self._database.read, visit, key)]
        return all(self._canonical.exact(url) == exact for url in urls)
