"""Does an exported feed hold every kept page, once, and nothing else?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import xxhash

from crawler.maintenance.verify.feed_urls import FeedError, feed_urls
from crawler.maintenance.verify.finding import MOST_EXAMPLES, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import numpy.typing as npt

    from crawler.maintenance.verify.directory_checks import CrawlDirectory
    from crawler.maintenance.verify.finding import Watch

    Hashes = npt.NDArray[np.uint64]
    Urls = Callable[[], Iterable[str]]

WHOLE = "feed-whole"
LACKING = "feed-lacks"
TWICE = "feed-twice"
BESIDES = "feed-besides"

_KEPT = "SELECT url FROM pages WHERE latest = 1 AND text IS NOT NULL ORDER BY id"
_NAMED = 10_000
_ADVICE = "write it anew: scrapy pages DIR --verdict kept -o FILE"


def find_misfed(directory: CrawlDirectory, feed: Path, watch: Watch) -> Iterator[Finding]:
    """Hold a feed against the store.

    URLs are compared by hashes of 64 bits: of ten million, two are mistaken for one with a
    probability of 3 in a million.

    Complexity: O(size of the feed); 8 bytes of memory a page, and 32 in the middle.
    """

    def kept_urls() -> Iterator[str]:
        return (str(url) for (url,) in directory.connection.execute(_KEPT))

    watch.begin("feed", 2)
    try:
        fed, fed_counts = _counted(feed_urls(feed))
    except FeedError as error:
        yield Finding(WHOLE, str(error), advice=_ADVICE)
        return
    watch.advance()
    kept, kept_counts = _counted(kept_urls())
    watch.advance()
    wanted = _counts_of(fed, kept, kept_counts)
    given = _counts_of(kept, fed, fed_counts)
    twice = (wanted > 0) & (fed_counts > wanted)
    from_feed = partial(feed_urls, feed)
    for rule, what, hashes, urls in (
        (LACKING, "kept pages that it lacks", kept[given < kept_counts], kept_urls),
        (TWICE, "kept pages that it has more than once", fed[twice], from_feed),
        (BESIDES, "URLs of no kept page", fed[wanted == 0], from_feed),
    ):
        yield from _finding(rule, what, hashes, urls)


def _counted(urls: Iterable[str]) -> tuple[Hashes, npt.NDArray[np.int64]]:
    """Hashes of URLs, sorted and distinct, with how often each came."""
    hashes = np.fromiter((_hash(url) for url in urls), np.uint64)
    return np.unique(hashes, return_counts=True)


def _hash(url: str) -> int:
    return xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))


def _counts_of(
    asked: Hashes, known: Hashes, counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """How often each hash asked for is among the known ones."""
    if not len(known):
        return np.zeros(len(asked), np.int64)
    places = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return np.where(known[places] == asked, counts[places], 0)


def _finding(rule: str, what: str, hashes: Hashes, urls: Urls) -> Iterator[Finding]:
    if len(hashes):
        told = f"the feed: {what}: {len(hashes):,}"
        yield Finding(rule, told, len(hashes), _named(hashes, urls), advice=_ADVICE)


def _named(hashes: Hashes, urls: Urls) -> tuple[str, ...]:
    """The first URLs that have one of these hashes."""
    meant, named = set(hashes[:_NAMED].tolist()), []
    for url in urls():
        if _hash(url) in meant:
            meant.discard(_hash(url))
            named.append(url)
            if len(named) == MOST_EXAMPLES:
                break
    return tuple(named)
