"""Make a crawl directory with the kept pages of a corpus, as if they had been crawled before.

Pages that a crawl fetches in it are judged against them: a page of the corpus is the original of
its duplicates like any other, with its URL, and its text is there for candidates to be compared
with.
"""

from __future__ import annotations

import shutil
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import zstandard

from crawler.maintenance.verify.file_checks import opened_indexes
from crawler.pages.live_parameters import settle
from crawler.pages.page_row import PageRow, to_unsigned
from crawler.pages.page_store import PageStore
from crawler.pages.verdicts import NEW, SAME_TEMPLATE
from crawler.reading.content.content_xml import FROM_LINES, pack_lines
from crawler.storage.database import FILE_NAME, Database
from crawler.storage.directory import check_identity, identity_of, locked
from crawler.storage.errors import JobError
from crawler.storage.states import VariantState
from crawler.url_rules.rule_files import wrong_fields
from crawler.url_rules.variants import Variant, Variants
from crawler.urls.canonical import MalformedUrl
from neardup.errors import InputError
from neardup.fingerprints.digest import payload_digest, words_digest
from neardup.installing import install_command
from neardup.names import name_of
from neardup.whole import part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from crawler.urls.canonical import Canonicalizer

_ROWS_AT_ONCE = 256

_ADOPTED = "CREATE TEMP TABLE adopted (corpus_id INTEGER PRIMARY KEY, page INTEGER NOT NULL)"
_NAME_RESEMBLED = """
UPDATE pages SET resembles = (SELECT page FROM temp.adopted WHERE corpus_id = pages.resembles)
WHERE resembles IS NOT NULL
"""
# Both may be of one URL, and so versions of one page.
_RESEMBLE_NO_OTHER = f"""
UPDATE pages SET verdict = '{NEW}', resembles = NULL, distance = NULL, similarity = NULL
WHERE verdict = '{SAME_TEMPLATE}' AND NOT EXISTS
  (SELECT 1 FROM pages AS other WHERE other.id = pages.resembles AND other.key <> pages.key)
"""

BEFORE_ALL_VISITS = 0
_COMMIT_PAGES = 1_000


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page of a corpus that repeats no page before it.

    ``fingerprint`` is a signed number, and ``resembles`` the id of a page of the corpus.
    """

    id: int
    name: str
    title: str | None
    date: str | None
    words: int
    is_main: bool
    digest: bytes
    fingerprint: int | None
    verdict: str
    resembles: int | None
    distance: int | None
    similarity: float | None
    text: str


class Corpus:
    """The pages that a run kept, and those of the earlier runs that it builds on.

    Args:
        folder: Output of the run, on a disk of this machine.

    Raises:
        JobError: There is none, or an earlier one is missing.
    """

    def __init__(self, folder: Path) -> None:
        try:
            from neardup.corpus.corpus_tables import read_about, runs_to  # noqa: PLC0415
        except ImportError:
            raise JobError(f"parquet needs pyarrow: {install_command('parquet')}") from None
        try:
            self.about = read_about(folder)
            self._kept = [tables / "kept" for tables in runs_to(folder).tables]
        except InputError as error:
            raise JobError(str(error)) from None

    def __len__(self) -> int:
        count = 0
        for folder in self._kept:
            with _opened(folder) as rows:
                count += rows.count_rows()
        return count

    def pages(self) -> Iterator[KeptPage]:
        """Yield the pages, in no order, a few at a time in memory."""
        columns = [field.name for field in fields(KeptPage)]
        for folder in self._kept:
            with _opened(folder) as rows:
                for batch in rows.to_batches(columns=columns, batch_size=_ROWS_AT_ONCE):
                    for page in (KeptPage(**values) for values in batch.to_pylist()):
                        if wrong := wrong_fields(page):
                            raise JobError(f"{folder}: cannot be read: no {wrong[0]} in a row")
                        yield page


@contextmanager
def _opened(folder: Path) -> Iterator[Any]:
    """Give the rows of a table; raise JobError where a column is missing or a file was cut."""
    import pyarrow as pa  # noqa: PLC0415  (optional)
    from pyarrow import dataset  # noqa: PLC0415

    files = [str(place) for place in sorted(folder.glob("*.parquet"))]
    try:
        yield dataset.dataset(files, format="parquet")
    except (pa.ArrowException, OSError, ValueError) as error:
        raise JobError(f"{folder}: cannot be read: {str(error).splitlines()[0]}") from None


def adopt(
    corpus: Corpus, folder: Path, canonicalizer: Canonicalizer, advance: Callable[[], None]
) -> int:
    """Make a crawl directory of a corpus; return its number of texts.

    If there are several texts of one URL, the newest is its page, the others its older versions.
    Texts of URLs that only tried rules take for one page are pages of their own.

    Args:
        corpus: Corpus with the pages.
        folder: The directory, in which there is no crawl yet.
        canonicalizer: Canonicalizer that makes the keys of pages, as in the crawl.
        advance: Callback for each page.

    Raises:
        JobError: There is a crawl already, or it cannot be written.
        CrawlStorageError: The disk is full.
    """
    if (folder / FILE_NAME).exists():
        raise JobError(f"{folder}: holds a crawl already; choose another directory")
    before = set(folder.iterdir()) if folder.is_dir() else None
    lock = locked(folder)
    try:
        with closing(Database(folder)) as database:
            count = _fill(database, corpus, folder, canonicalizer, advance)
    except BaseException:
        _clear(folder, before)
        raise
    finally:
        if lock is not None:
            lock.release()
    return count


def _clear(folder: Path, before: set[Path] | None) -> None:
    for path in set(folder.iterdir()) - (before or set()):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    if before is None:
        folder.rmdir()


def _fill(
    database: Database,
    corpus: Corpus,
    folder: Path,
    canonicalizer: Canonicalizer,
    advance: Callable[[], None],
) -> int:
    parameters = corpus.about.parameters
    identity = identity_of(canonicalizer.version, parameters.fingerprint_features)
    check_identity(database, identity, folder)
    tuned = settle(database, parameters)
    store, count = PageStore(database), 0
    variants = _AdoptedVariants(store, canonicalizer)
    compress = zstandard.ZstdCompressor().compress
    database.write(_ADOPTED)
    for count, page in enumerate(corpus.pages(), start=1):
        with suppress(MalformedUrl):
            variants.part(page.name)
        row = _row(store.new_id(), page, canonicalizer)
        row.parameters, row.text = tuned.id, compress(page.text.encode("utf-8", "replace"))
        row.content, row.content_source = pack_lines(part_of(page.text)), FROM_LINES
        before = store.previous(row.key)
        store.insert(row, in_place=before is None or before.fetched_at <= row.fetched_at)
        database.write("INSERT INTO temp.adopted VALUES (?, ?)", (page.id, row.id))
        advance()
        if count % _COMMIT_PAGES == 0:
            database.commit()
    for sql in (_NAME_RESEMBLED, _RESEMBLE_NO_OTHER):
        database.write(sql)
    database.commit()
    with opened_indexes(folder, store, parameters):
        pass  # makes them
    return count


class _AdoptedVariants:
    """Parts URLs of a corpus that tried rules take for one page: their texts are not the same."""

    def __init__(self, store: PageStore, canonicalizer: Canonicalizer) -> None:
        self._store = store
        self._canonical = canonicalizer
        self._variants = Variants(store.database)
        self._parted: set[bytes] = set()

    def part(self, url: str) -> None:
        """Let a URL, and the one whose page has its key, be pages of their own if they differ.

        The canonical URL alone keeps the key that the rules give both.

        Raises:
            MalformedUrl: It is no http or https URL with a host.
        """
        key = self._canonical.key(url)
        if self._canonical.is_separate(key):
            return
        before = self._store.previous(key)
        if before is not None and self._canonical.exact(before.url) != self._canonical.exact(url):
            self._parted.add(key)
            self._separate(before.url, key)
            own = self._canonical.key(before.url)
            if own != key:
                self._store.rename(key, own, self._canonical(before.url))
                self._variants.forget_first(key)
        if key in self._parted:
            self._separate(url, key)
        elif before is None and self._canonical.exact(url) != self._canonical(url):
            host = urlsplit(self._canonical.exact(url)).netloc
            self._variants.note_first(key, host, url)

    def _separate(self, url: str, key: bytes) -> None:
        exact, merged = self._canonical.exact(url), self._canonical.without(())(url)
        own = self._canonical.variant_key(url)
        if exact == merged or self._canonical.is_separate(own):
            return
        names = self._canonical.parting(url, merged)
        host = urlsplit(exact).netloc
        self._variants.put(Variant(own, key, key, host, names, url, VariantState.SEPARATE), 0, b"")
        self._canonical.separate([(own, key)])


def _row(number: int, page: KeptPage, canonicalizer: Canonicalizer) -> PageRow:
    try:
        canonical_url, key = canonicalizer(page.name), canonicalizer.key(page.name)
    except MalformedUrl:  # a corpus may give its texts any names, and several texts one name
        canonical_url, key = page.name, payload_digest(page.digest + page.name.encode())
    fetched_at = _seconds(page.date)
    # The bytes of the page are unknown. Its text stands for them, as for an item's.
    payload = payload_digest(page.text.encode())
    return PageRow(
        id=number,
        key=key,
        url=page.name,
        canonical_url=canonical_url,
        latest=1,
        visit=BEFORE_ALL_VISITS,
        fetched_at=fetched_at,
        seen_visit=BEFORE_ALL_VISITS,
        seen_at=fetched_at,
        depth=0,
        status=None,
        body_bytes=len(page.text.encode()),
        title=page.title,
        name=name_of(part_of(page.text), page.title or "").packed() or None,
        words=page.words,
        is_main=int(page.is_main),
        payload_digest=payload,
        # Without a fingerprint the digest is that of all visible text.
        visible_digest=page.digest if page.fingerprint is None else None,
        text_digest=page.digest,
        last_payload_digest=payload,
        last_text_digest=page.digest,
        words_digest=words_digest(page.text),
        fingerprint=to_unsigned(page.fingerprint),
        verdict=page.verdict,
        resembles=page.resembles,
        distance=page.distance,
        similarity=page.similarity,
    )


def _seconds(date: str | None) -> float:
    """Return the time of a page's fetch in seconds since 1970, or the present if it is unknown."""
    try:
        found = datetime.fromisoformat(date or "")
    except ValueError:
        return time.time()
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
