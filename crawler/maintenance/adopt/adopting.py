"""Make a crawl directory with the kept pages of a corpus, as if they had been crawled before.

Pages that a crawl fetches in it are judged against them: a page of the corpus is the original of
its duplicates like any other, with its URL, and its text is there for candidates to be compared
with.
"""

from __future__ import annotations

import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import zstandard

from crawler.maintenance.crawl_directory import CrawlDirectory, made_whole
from crawler.maintenance.rejudge.rejudging import judge_merged
from crawler.maintenance.verify.file_checks import make_indexes
from crawler.pages.live_parameters import adopt_settings
from crawler.pages.page_row import PageRow, to_unsigned
from crawler.pages.page_store import PageStore
from crawler.pages.verdicts import NEW
from crawler.reading.content.content_xml import StoredText
from crawler.storage.database import Database
from crawler.storage.directory import check_identity, identity_of
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
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.urls.canonical import Canonicalizer

_ROWS_AT_ONCE = 256

BEFORE_ALL_VISITS = 0
_COMMIT_PAGES = 1_000


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page of a corpus that repeats no page before it; ``fingerprint`` is a signed number."""

    name: str
    title: str | None
    date: str | None
    words: int
    is_main: bool
    digest: bytes
    fingerprint: int | None
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


def adopt(corpus: Corpus, folder: Path, canonicalizer: Canonicalizer, watch: CheckWatch) -> int:
    """Make a crawl directory of a corpus; return its number of texts.

    If there are several texts of one URL, the newest is its page, the others its older versions.
    Texts of URLs that only tried rules take for one page are pages of their own. All are judged as
    ``crawl-once rejudge`` does, by the parameters of the corpus.

    Args:
        corpus: Corpus with the pages.
        folder: New directory, which appears when it is whole.
        canonicalizer: Canonicalizer that makes the keys of pages, as in the crawl.
        watch: Callbacks for progress.

    Raises:
        JobError: There is something in it already, or it cannot be made.
        CrawlStorageError: The disk is full.
    """
    with made_whole(folder) as part, closing(Database(part)) as database:
        identity = identity_of(canonicalizer.version, corpus.about.parameters.fingerprint_features)
        check_identity(database, identity, part)
        adopt_settings(database, corpus.about.parameters)
        watch.begin("pages adopted", len(corpus))
        count = _store(database, corpus, canonicalizer, watch)
        with closing(CrawlDirectory(part)) as directory:
            _, lost = judge_merged(directory, database, watch)
            assert not lost, "each page has its own text"
            database.commit()
            make_indexes(part, database)
    return count


def _store(
    database: Database, corpus: Corpus, canonicalizer: Canonicalizer, watch: CheckWatch
) -> int:
    """Store the pages as new ones; return their number."""
    store, count = PageStore(database), 0
    variants = Variants(database)
    compress = zstandard.ZstdCompressor().compress
    for count, page in enumerate(corpus.pages(), start=1):
        with suppress(MalformedUrl):
            _separate(page.name, variants, canonicalizer)
        row = _row(store.new_id(), page, canonicalizer)
        row.hold(StoredText.of(compress(page.text.encode("utf-8", "replace")), None))
        store.insert(row, by_time=True)
        watch.advance()
        if count % _COMMIT_PAGES == 0:
            database.commit()
    database.commit()
    return count


def _separate(url: str, variants: Variants, canonical: Canonicalizer) -> None:
    """Let a URL be a page of its own where it is its canonical URL by tried rules alone.

    Raises:
        MalformedUrl: It is no http or https URL with a host.
    """
    exact, merged = canonical.exact(url), canonical.without(())(url)
    own = canonical.variant_key(url)
    if exact != merged and not canonical.is_separate(own):
        key, rules = canonical.key(url), ",".join(canonical.parting(url, merged))
        host = urlsplit(exact).netloc
        variants.put(Variant(own, key, key, host, rules, url, VariantState.SEPARATE))
        canonical.separate([(own, key)])


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
        verdict=NEW,
    )


def _seconds(date: str | None) -> float:
    """Return the time of a page's fetch in seconds since 1970, or the present if it is unknown."""
    try:
        found = datetime.fromisoformat(date or "")
    except ValueError:
        return time.time()
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
