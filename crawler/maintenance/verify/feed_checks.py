"""Check that an exported feed holds every kept page once, and no other."""

from __future__ import annotations

import csv
import io
import json
import sys
from contextlib import suppress
from functools import partial
from typing import IO, TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError, iterparse

import numpy as np
import xxhash

from crawler.maintenance.verify.finding import MAX_EXAMPLES, Rule
from crawler.pages.export import stored_urls
from crawler.storage.errors import JobError
from neardup.batch.rows import LeftOut, array_items
from neardup.installing import install_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import numpy.typing as npt

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding

    Hashes = npt.NDArray[np.uint64]
    Urls = Callable[[], Iterable[str]]

_FIELD = "url"


class FeedError(JobError):
    """A feed cannot be read; the message says where."""


def feed_urls(path: Path) -> Iterator[str]:
    """Yield the field ``url`` of every item, in the order of the feed.

    Args:
        path: Feed, whose ending names the format: jsonl, jl, jsonlines, json, csv, xml, parquet.

    Raises:
        FeedError: It is missing, cut short, damaged, or has items without a URL.
    """
    kind = path.suffix.lstrip(".").lower()
    if kind not in _READERS:
        raise FeedError(f"{path}: its ending names no format; there are {', '.join(_READERS)}")
    try:
        with path.open("rb") as file:
            for number, item in enumerate(_READERS[kind](file), 1):
                url = item.get(_FIELD) if isinstance(item, dict) else None
                if not isinstance(url, str):
                    raise FeedError(f"{path}: item {number:,} has no field {_FIELD!r}")
                yield url
    except OSError as error:
        raise FeedError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError, ParseError, csv.Error) as error:
        raise FeedError(f"{path}: cut short or damaged: {error}") from None


def _lines(file: IO[bytes]) -> Iterator[Any]:
    for line in file:
        if line.strip():
            yield json.loads(line)


def _array(file: IO[bytes]) -> Iterator[Any]:
    """Yield the items of one JSON array, with at most one piece of the file in memory."""
    if not _is_array(file):
        raise ValueError("no JSON array")
    with io.TextIOWrapper(file, "utf-8") as text:
        for found in array_items(text):
            if isinstance(found, LeftOut):
                raise ValueError(found.reason)  # noqa: TRY004 - ``feed_urls`` catches it
            yield found.values


def _is_array(file: IO[bytes]) -> bool:
    start = file.read(1)
    while start.isspace():
        start = file.read(1)
    file.seek(0)
    return start == b"["


def _table(file: IO[bytes]) -> Iterator[Any]:
    csv.field_size_limit(sys.maxsize)
    # No reader of codecs, which takes U+2028 and form feeds for ends of lines.
    text = io.TextIOWrapper(file, "utf-8", newline="")
    try:
        yield from csv.DictReader(text, strict=True)
    finally:
        with suppress(ValueError):  # the file was closed by its owner
            text.detach()


def _elements(file: IO[bytes]) -> Iterator[Any]:
    root = None
    for event, element in iterparse(file, ("start", "end")):  # noqa: S314  # a feed of our own
        root = element if root is None else root
        if event == "end" and element.tag == "item":
            yield {child.tag: child.text for child in element}
            root.clear()


def _parquet(file: IO[bytes]) -> Iterator[Any]:
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise FeedError(f"parquet needs pyarrow: {install_command('parquet')}") from None
    for batch in pq.ParquetFile(file).iter_batches(columns=[_FIELD]):
        yield from batch.to_pylist()


_READERS: dict[str, Callable[[IO[bytes]], Iterator[Any]]] = {
    "jsonl": _lines,
    "jl": _lines,
    "jsonlines": _lines,
    "json": _array,
    "csv": _table,
    "xml": _elements,
    "parquet": _parquet,
}

_NAMED = 10_000
_ADVICE = "write it again: crawl-once pages DIR --verdict kept -o FILE"

WHOLE = Rule("feed-whole", "the feed cannot be read", advice=_ADVICE)
LACKING = Rule("feed-lacks", "the feed: kept pages that it lacks", advice=_ADVICE)
TWICE = Rule("feed-twice", "the feed: kept pages that it has more than once", advice=_ADVICE)
BESIDES = Rule("feed-besides", "the feed: URLs of no kept page", advice=_ADVICE)


def find_misfed(directory: CrawlDirectory, feed: Path, watch: CheckWatch) -> Iterator[Finding]:
    """Compare a feed with the store.

    URLs are compared by hashes of 64 bits: of ten million, two are mistaken for one with a
    probability of 3 in a million.

    Complexity: O(size of the feed); 8 bytes of memory a page, and 32 in the middle.
    """

    def kept_urls() -> Iterator[str]:
        return stored_urls(directory.connection, kept_only=True)

    watch.begin("feed", 2)
    try:
        fed, fed_counts = _counted(feed_urls(feed))
    except FeedError as error:
        yield WHOLE.finding(str(error))
        return
    watch.advance()
    kept, kept_counts = _counted(kept_urls())
    watch.advance()
    wanted = _counts_of(fed, kept, kept_counts)
    given = _counts_of(kept, fed, fed_counts)
    twice = (wanted > 0) & (fed_counts > wanted)
    from_feed = partial(feed_urls, feed)
    for rule, hashes, urls in (
        (LACKING, kept[given < kept_counts], kept_urls),
        (TWICE, fed[twice], from_feed),
        (BESIDES, fed[wanted == 0], from_feed),
    ):
        if len(hashes):
            yield from rule.counted(len(hashes), _named(hashes, urls))


def _counted(urls: Iterable[str]) -> tuple[Hashes, npt.NDArray[np.int64]]:
    """Return the hashes of URLs, sorted and distinct, with the number of times each came."""
    hashes = np.fromiter((_hash(url) for url in urls), np.uint64)
    return np.unique(hashes, return_counts=True)


def _hash(url: str) -> int:
    return xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))


def _counts_of(
    asked: Hashes, known: Hashes, counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return for each hash in ``asked`` its count among the known ones, 0 if it is not there."""
    if not len(known):
        return np.zeros(len(asked), np.int64)
    places = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return np.where(known[places] == asked, counts[places], 0)


def _named(hashes: Hashes, urls: Urls) -> tuple[str, ...]:
    meant, named = set(hashes[:_NAMED].tolist()), []
    for url in urls():
        if _hash(url) in meant:
            meant.discard(_hash(url))
            named.append(url)
            if len(named) == MAX_EXAMPLES:
                break
    return tuple(named)
