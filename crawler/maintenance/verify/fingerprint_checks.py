"""Check that the fingerprint index holds the fingerprints of the stored pages, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawler.maintenance.verify.capture_checks import listed
from crawler.maintenance.verify.finding import MAX_EXAMPLES, Finding
from crawler.pages.verdicts import KEPT
from crawler.storage.errors import JobInUseError
from neardup import HammingIndex
from neardup.errors import IndexFileError, IndexLockedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch

INDEX = "index-right"

_BATCH = 1 << 16
# As in crawler.pages.page_store: every text that was ever kept, older versions too.
_INDEXED = f"fingerprint IS NOT NULL AND verdict IN ({listed(KEPT)})"
_REMEDY = "makes it anew from crawl.db"


class Entries(NamedTuple):
    """Fingerprints with their ids, sorted by both: uint64 and int64, (entries,)."""

    fingerprints: npt.NDArray[np.uint64]
    ids: npt.NDArray[np.int64]


def find_unindexed(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Compare the index with the store, in both directions.

    Complexity: O(pages * log pages); 16 bytes of memory a page, and 40 in the middle.
    """
    stored = _stored(directory)
    if not directory.index.is_dir():
        if len(stored.ids):
            yield _leftover(f"pages without a fingerprint index: {len(stored.ids):,}")
        return
    try:
        index = HammingIndex(directory.index, radius=0)
    except IndexLockedError:
        raise JobInUseError(f"{directory.index}: open in another process") from None
    except IndexFileError as error:
        yield Finding(INDEX, f"the fingerprint index cannot be read: {error}", remedy=_REMEDY)
        return
    try:
        yield from _compare(directory, index, stored, watch)
    finally:
        index.abandon()


def _stored(directory: CrawlDirectory) -> Entries:
    rows = directory.connection.execute(f"SELECT fingerprint, id FROM pages WHERE {_INDEXED}")
    flat = np.fromiter((number for row in rows for number in row), np.int64)
    fingerprints, ids = flat[0::2].astype(np.uint64), flat[1::2]
    order = np.lexsort((ids, fingerprints))
    return Entries(fingerprints[order], ids[order])


def _compare(
    directory: CrawlDirectory, index: HammingIndex, stored: Entries, watch: CheckWatch
) -> Iterator[Finding]:
    """Find missing entries of the index by queries, and foreign ones by their number."""
    missing: list[int] = []
    found = 0
    distinct = np.unique(stored.fingerprints)
    watch.begin("fingerprint index", len(distinct))
    for start in range(0, len(distinct), _BATCH):
        asked = distinct[start : start + _BATCH]
        answer = index.query_many(asked)
        first, last = np.searchsorted(stored.fingerprints, [asked[0], asked[-1]])
        last = np.searchsorted(stored.fingerprints, asked[-1], side="right")
        wanted = Entries(stored.fingerprints[first:last], stored.ids[first:last])
        lost = _lacking(Entries(asked[answer.positions], answer.ids), wanted)
        missing += lost
        found += len(wanted.ids) - len(lost)
        watch.advance(len(asked))
    foreign = len(index) - found
    if foreign:
        yield Finding(
            INDEX,
            f"entries of the fingerprint index of no stored page: {foreign:,}"
            + (f", pages that it lacks: {len(missing):,}" if missing else ""),
            foreign + len(missing),
            _urls(directory, missing),
            remedy=_REMEDY,
        )
    elif missing:
        yield from _behind(directory, missing, stored)


def _lacking(answer: Entries, wanted: Entries) -> list[int]:
    """Return the ids of wanted entries that an answer does not have."""
    if np.array_equal(answer.ids, wanted.ids):
        return []
    there = set(zip(answer.fingerprints.tolist(), answer.ids.tolist(), strict=True))
    pairs = zip(wanted.fingerprints.tolist(), wanted.ids.tolist(), strict=True)
    return [page_id for value, page_id in pairs if (value, page_id) not in there]


def _behind(directory: CrawlDirectory, missing: list[int], stored: Entries) -> Iterator[Finding]:
    """Distinguish an index that a killed process did not flush from one with holes."""
    newest = np.sort(stored.ids)[-len(missing) :]
    if np.array_equal(np.sort(missing), newest):
        yield _leftover(f"last pages not yet in the fingerprint index: {len(missing):,}")
        return
    yield Finding(
        INDEX,
        f"pages that the fingerprint index lacks: {len(missing):,}",
        len(missing),
        _urls(directory, missing),
        remedy=_REMEDY,
    )


def _leftover(what: str) -> Finding:
    return Finding(INDEX, what, remedy="adds them from crawl.db", is_leftover=True)


def _urls(directory: CrawlDirectory, ids: list[int]) -> tuple[str, ...]:
    found = (
        directory.connection.execute("SELECT url FROM pages WHERE id = ?", (page_id,)).fetchone()
        for page_id in ids[:MAX_EXAMPLES]
    )
    return tuple(str(row[0]) for row in found)
