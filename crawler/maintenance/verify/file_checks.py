"""Check ``crawl.db`` as SQLite does, and the indexes and the Bloom filter against it."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawler.maintenance.verify.finding import MAX_EXAMPLES, Mend, Rule
from crawler.maintenance.verify.verdict_checks import readable_parameters
from crawler.pages.page_row import url_of
from crawler.pages.page_store import PageStore, indexed
from crawler.pages.stored_texts import PageDocuments, signed_ids
from crawler.storage.errors import JobInUseError
from crawler.storage.schema import TABLES
from crawler.warc.sources import archive_of
from neardup import HammingIndex, LshIndex, Parameters
from neardup.bloom import ScalableBloomFilter
from neardup.errors import IndexFileError, IndexLockedError, ParameterError
from neardup.indexes.banding import CANDIDATE_BANDING, CANDIDATE_PERMUTATIONS, Banding
from neardup.indexes.index_files import is_ours
from neardup.indexes.passages import PASSAGE_BANDING
from neardup.storage.signatures import open_passages, open_signatures
from neardup.storage.sqlite import open_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding, Read, Repairer
    from crawler.storage.database import Database


class TextIndex(NamedTuple):
    """An index that is made of the stored texts.

    Attributes:
        name: The word for it, and the name of its folder.
        permutations: Values of an entry.
        shape: Their bands.
    """

    name: str
    permutations: int
    shape: Banding


FINGERPRINTS = "fingerprints"
_TEXT_INDEXES = (
    TextIndex("signatures", CANDIDATE_PERMUTATIONS, CANDIDATE_BANDING),
    TextIndex("passages", 1, PASSAGE_BANDING),
)

_INDEX_ENDINGS = (".seg", ".log", ".tmp")
_BATCH = 1 << 16
_MAX_MESSAGES = 100_000
"""Read at most this many messages of SQLite, one of which may be of each row."""
_OF_INDEXES = ("missing from index", "wrong # of entries in index", "non-unique entry in index")
_COMMENTS = re.compile(r"\s*--.*|\s+")
_OF_VALUES = ("ok", "non-", "CHECK constraint failed")
"""Beginnings of messages of values, which other checks find and name."""


def find_damage(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Let SQLite check every page of the file, and every index.

    Complexity: O(size of the file).
    """
    watch.begin("crawl.db", 1)
    sql = f"PRAGMA integrity_check({_MAX_MESSAGES})"
    messages = [str(row[0]) for row in directory.connection.execute(sql)]
    messages = [message for message in messages if not message.startswith(_OF_VALUES)]
    if not messages:
        messages = _changed_tables(directory.connection.execute)
    if not messages:
        missing = _missing_indexes(directory.connection.execute)
        yield from LACKING.found(missing)
        yield from FOREIGN.found(_foreign_schema(directory.connection.execute))
        return
    is_of_indexes = all(any(words in message for words in _OF_INDEXES) for message in messages)
    rule = INDEXES if is_of_indexes else WHOLE
    yield rule.finding(rule.what, len(messages), tuple(messages))


def _changed_tables(read: Read) -> list[str]:
    """Say which tables are not there, or have other columns or conditions than a crawl makes."""
    sql = "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
    found = {name: _COMMENTS.sub(" ", made) for name, made in read(sql)}
    return [
        f"the table {name} is not as it was made"
        for name, made in _as_made(sql)
        if found.get(name) != _COMMENTS.sub(" ", made)
    ]


def _missing_indexes(read: Read) -> list[tuple[str, str]]:
    """Return the statements that make the missing indexes, with their names."""
    sql = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    found = {name for name, _ in read(sql)}
    return [(sql, name) for name, sql in _as_made(sql) if name not in found]


def _as_made(sql: str) -> list[tuple[str, ...]]:
    """Ask a database that has just been made."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        return connection.execute(sql).fetchall()


def _foreign_schema(read: Read) -> list[tuple[str, str]]:
    """Return the statements that drop triggers and views, with their kinds and names.

    A crawl makes none: a directory from elsewhere may have one, and each write would run them.
    """
    sql = "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY name"
    named = [(kind, name, name.replace('"', '""')) for kind, name in read(sql)]
    return [(f'DROP {kind} "{quoted}"', f"{kind} {name}") for kind, name, quoted in named]


def _run(repairer: Repairer, finding: Finding) -> None:
    for sql in finding.ids or ("REINDEX",):
        repairer.database.write(sql)


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
    Mend("makes the indexes again", _run),
)
LACKING = Rule("database-has-indexes", "indexes that crawl.db lacks", Mend("makes them", _run))
FOREIGN = Rule(
    "database-without-triggers",
    "triggers and views in crawl.db, which no crawl makes",
    Mend("drops them", _run),
)
ARCHIVE = Rule(
    "archive-there",
    "lost of the WARC files",
    advice="restore the files from a copy, or delete payloads.db beside them: the next crawl with "
    "--warc records again what it meets",
)


def find_lost_records(directory: CrawlDirectory, *, deep: bool) -> Iterator[Finding]:
    """Look at each WARC file that the archive of a crawl or mirror names; read it through if deep.

    Complexity: O(files); O(bytes of the archive) if deep.
    """
    archive = archive_of(directory.folder)
    if archive.is_dir():
        from crawler.warc.index_and_pack import losses  # noqa: PLC0415  # warcio can wait

        lost = tuple(losses(archive, deep=deep))
        yield from ARCHIVE.counted(len(lost), lost)


class Entries(NamedTuple):
    """Fingerprints with their ids, in their order: uint64 and int64, (entries,)."""

    fingerprints: npt.NDArray[np.uint64]
    ids: npt.NDArray[np.int64]


def find_unindexed(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Compare the index with the store, in both directions.

    Complexity: O(pages * log pages); 16 bytes of memory a page, and 40 in the middle.
    """
    stored = _stored(directory)
    if not directory.index.is_dir():
        if len(stored.ids):
            what = f"pages without a fingerprint index: {len(stored.ids):,}"
            yield _BEHIND.finding(what)
        return
    with _writable(directory.index) as folder:
        try:
            index = HammingIndex(folder, radius=0)
        except IndexLockedError:
            raise JobInUseError(f"{directory.index}: open in another process") from None
        except IndexFileError as error:
            yield INDEX.finding(f"the fingerprint index cannot be read: {error}")
            return
        try:
            found = list(_compare(directory, index, stored, watch))
        finally:
            index.abandon()
    yield from found  # it is closed, so that it can be made again


@contextmanager
def _writable(folder: Path) -> Iterator[Path]:
    """Yield a folder of an index, which is mended as it is opened; of a backup a copy of it."""
    if all(os.access(each, os.W_OK) for each in (folder, *folder.iterdir())):
        yield folder
        return
    with TemporaryDirectory() as place:
        copy = Path(shutil.copytree(folder, Path(place, "copy"), copy_function=shutil.copyfile))
        copy.chmod(0o700)
        yield copy


def find_unsigned(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Find pages that the indexes of texts lack; what these know beyond them does no harm.

    Complexity: O(pages * log pages); 8 bytes of memory a page, and that of one index.
    """
    stored = signed_ids(directory.connection.execute)
    for kind in _TEXT_INDEXES:
        watch.begin(f"index of {kind.name}", len(stored))
        yield from _find_missing(directory, kind, stored)


def _find_missing(
    directory: CrawlDirectory, kind: TextIndex, stored: npt.NDArray[np.int64]
) -> Iterator[Finding]:
    folder = directory.folder / kind.name
    rule, what = f"{kind.name}-right", f"pages that the index of {kind.name} lacks"
    behind = Rule(rule, what, Mend("adds them from their texts", _catch_up), is_leftover=True)
    if not folder.is_dir():
        yield from behind.counted(len(stored))
        return
    with _writable(folder) as place:
        try:
            index = LshIndex(
                path=place,
                permutations=kind.permutations,
                shape=kind.shape,
                shingle_size=_newest(directory.connection.execute).verify_shingle_size,
            )
        except IndexLockedError:
            raise JobInUseError(f"{folder}: open in another process") from None
        except (IndexFileError, ParameterError) as error:
            unreadable = Rule(rule, "", Mend("makes it again from the texts", _catch_up))
            yield unreadable.finding(f"the index of {kind.name} cannot be read: {error}")
            return
        try:
            missing = np.setdiff1d(stored, index.ids()).tolist()
        finally:
            index.abandon()
    yield from behind.counted(len(missing), _urls(directory, missing))


def _stored(directory: CrawlDirectory) -> Entries:
    rows = indexed(directory.connection.execute)
    flat = np.fromiter((number for row in rows for number in row), np.int64)
    return Entries(flat[0::2].astype(np.uint64), flat[1::2])


def _compare(
    directory: CrawlDirectory, index: HammingIndex, stored: Entries, watch: CheckWatch
) -> Iterator[Finding]:
    """Find missing entries of the index by queries, and foreign ones by their number."""
    is_there = np.zeros(len(stored.ids), np.bool_)
    distinct = np.unique(stored.fingerprints)
    watch.begin("fingerprint index", len(distinct))
    for start in range(0, len(distinct), _BATCH):
        asked = distinct[start : start + _BATCH]
        answer = index.query_many(asked)
        places = np.minimum(np.searchsorted(stored.ids, answer.ids), len(stored.ids) - 1)
        is_same = stored.ids[places] == answer.ids
        is_same &= stored.fingerprints[places] == asked[answer.positions]
        is_there[places[is_same]] = True
        watch.advance(len(asked))
    missing = stored.ids[~is_there].tolist()
    foreign = len(index) - int(np.count_nonzero(is_there))
    if foreign:
        what = f"entries of the fingerprint index of no stored page: {foreign:,}"
        what += f", pages that it lacks: {len(missing):,}" if missing else ""
        yield INDEX.finding(what, foreign + len(missing), _urls(directory, missing))
    elif missing:
        yield from _behind(directory, missing, stored)


def _behind(directory: CrawlDirectory, missing: list[int], stored: Entries) -> Iterator[Finding]:
    """Distinguish an index that a killed process did not flush from one with holes."""
    if missing == stored.ids[-len(missing) :].tolist():
        yield _BEHIND.finding(f"last pages not yet in the fingerprint index: {len(missing):,}")
    else:
        yield from INDEX.counted(len(missing), _urls(directory, missing))


def _urls(directory: CrawlDirectory, ids: list[int]) -> tuple[str, ...]:
    read = directory.connection.execute
    return tuple(filter(None, (url_of(read, page_id) for page_id in ids[:MAX_EXAMPLES])))


def find_forgotten(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Query the Bloom filter for every seen key: it may have too many, but never too few.

    Complexity: O(seen keys).
    """
    if not directory.bloom.exists():
        return  # the next crawl makes it of the table, as after every kill
    try:
        bloom = ScalableBloomFilter.load(directory.bloom)
    except IndexFileError as error:
        yield BLOOM.finding(f"the Bloom filter cannot be read: {error}")
        return
    keys = "FROM requests WHERE key IS NOT NULL"
    watch.begin("Bloom filter", directory.count(f"SELECT count(*) {keys}"))
    lacking = 0
    for (key,) in directory.connection.execute(f"SELECT key {keys}"):
        lacking += not bloom.has_digest(key)
        watch.advance()
    yield from BLOOM.counted(lacking)


class OpenedIndexes(NamedTuple):
    """The indexes of a crawl directory, which hold what its store holds."""

    fingerprints: HammingIndex
    signatures: LshIndex
    passages: LshIndex


@contextmanager
def opened_indexes(
    folder: Path, store: PageStore, parameters: Parameters
) -> Iterator[OpenedIndexes]:
    """Open the indexes of a crawl directory in step with its committed store; add what they lack.

    Raises:
        NearDupError: An index is open in another process, or its folder holds foreign files.
    """
    documents, size = PageDocuments(store), parameters.verify_shingle_size
    with (
        open_index(folder / FINGERPRINTS, store, radius=parameters.max_distance) as index,
        open_signatures(folder / "signatures", documents, shingle_size=size) as signatures,
        open_passages(folder / "passages", documents, shingle_size=size) as passages,
    ):
        yield OpenedIndexes(index, signatures, passages)


def make_indexes(folder: Path, database: Database) -> None:
    """Bring the indexes in step with the committed store."""
    with opened_indexes(folder, PageStore(database), _newest(database.read)):
        pass


def remove_fingerprints(index: Path) -> None:
    """Delete the files of the fingerprint index; the next opening makes it again."""
    if index.is_dir():
        for file in index.iterdir():
            if file.suffix in _INDEX_ENDINGS or is_ours(file.name):
                file.unlink()


def _newest(read: Read) -> Parameters:
    """Return the newest parameters that can be read."""
    found = [one for one in readable_parameters(read).values() if one is not None]
    return found[-1] if found else Parameters()


def _catch_up(repairer: Repairer, finding: Finding) -> None:
    """Open the indexes, which mends them but for a hole in that of the fingerprints."""
    if finding.broken is INDEX:
        remove_fingerprints(repairer.directory.index)
    make_indexes(repairer.directory.folder, repairer.database)


def _remove_bloom(repairer: Repairer, finding: Finding) -> None:
    repairer.directory.bloom.unlink(missing_ok=True)


INDEX = Rule(
    "index-right",
    "pages that the fingerprint index lacks",
    Mend("makes it again from crawl.db", _catch_up),
)
_BEHIND = Rule("index-right", "", Mend("adds them from crawl.db", _catch_up), is_leftover=True)
BLOOM = Rule(
    "bloom-knows-seen",
    "seen URLs that the Bloom filter does not know",
    Mend("deletes it; the next crawl makes it again", _remove_bloom),
)
