"""Count in how many pages of a host each block of text stands, and store it in ``crawl.db``.

Counted is each kept page, when it is captured first. A near-duplicate or dropped part is counted
too if the last name of its URL is not that of its original: it may be another page on one template,
which nothing but the counts can tell. Session ids, print views and other copies of one page have
one last name; were they counted, the page would be its own boilerplate.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from crawler.pages.page_row import highest_id, url_of
from crawler.pages.stored_texts import own_texts, text_from, unpack
from crawler.pages.verdicts import INEXACT, NEAR_DUPLICATE, NEW, SAME_TEMPLATE, TOO_SHORT
from crawler.pages.wall_clusters import host_of, host_with_port, last_name
from crawler.storage import meta_names
from neardup.boilerplate import MIN_TEXTS, BlockCounts, block_hashes, blocks, boilerplate_spans
from neardup.errors import DocumentError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from crawler.pages.page_row import PageRow
    from crawler.reading.reading import Extract
    from crawler.storage.database import Database

    Execute = Callable[[str, Sequence[Any]], sqlite3.Cursor]

logger = logging.getLogger(__name__)

MAX_HELD_BLOCKS = 500_000
"""Hold the counts of this many blocks in memory at most, some 50 MB; those of other hosts are
read when they are needed."""

SAMPLED_PAGES = 100
"""Measure the share of boilerplate by the texts of this many pages."""

_SAVED_EVERY = 5_000
"""Save the counts of this many pages at a time where a directory has many that are not counted."""

FIRST_CAPTURES = (NEW, TOO_SHORT, SAME_TEMPLATE)
"""The verdicts of pages that are counted when they are captured first."""


class HostBoilerplate:
    """The boilerplate of the hosts of a crawl: implements ``neardup.boilerplate.Boilerplate``.

    Args:
        read: Function that runs a query.
    """

    def __init__(self, read: Execute) -> None:
        self._read = read
        self._held: OrderedDict[int, HeldCounts] = OrderedDict()
        self._blocks = 0

    def group(self, id: int) -> int | None:  # noqa: A002  # neardup's name for it
        url = url_of(self._read, id)
        return None if url is None else host_of(url)

    def blocks(self, group: int | None) -> BlockCounts | None:
        counts = None if group is None else self._counts(group).counts
        return counts if counts is not None and counts.texts >= MIN_TEXTS else None

    def spans(self, url: str, text: str) -> list[tuple[int, int]]:
        """Return the bounds of the blocks of a text that a tenth of its host's pages repeat.

        Args:
            url: URL of the page.
            text: Its text, without its whole.
        """
        return boilerplate_spans(text, self._common(host_of(url)))

    def is_boilerplate(self, url: str, text: str) -> bool:
        """Return whether a part of the text of a page is nothing but boilerplate."""
        common = self._common(host_of(url))
        return bool(common) and all(block.hash in common for block in blocks(text))

    def repeated(self, host: str, texts: Sequence[str]) -> RepeatedText | None:
        """Return what some texts of a host repeat, None where they repeat nothing."""
        group = host_of(f"//{host}")
        counts, common = self._counts(group).counts, self._common(group)
        found, repeats = [], 0
        for text in texts:
            spans = boilerplate_spans(text, common)
            repeats += sum(end - start for start, end in spans)
            found += [
                (counts.count(block.hash), block.end - block.start, text[block.start : block.end])
                for block in blocks(text)
                if spans and block.hash in common  # one that is boilerplate alone is exported whole
            ]
        if not found:
            return None
        share = repeats / sum(map(len, texts))
        pages, _, example = max(found)
        return RepeatedText(host, share, example.strip(), pages, counts.texts)

    def _common(self, group: int) -> frozenset[int]:
        held = self._counts(group)
        if held.common is None or held.common[0] != held.counts.texts:
            held.common = held.counts.texts, held.counts.common()
        return held.common[1]

    @property
    def is_any_known(self) -> bool:
        """Whether there is boilerplate at any host."""
        rows = self._read("SELECT host FROM host_blocks WHERE texts >= ?", (MIN_TEXTS,))
        return any(self._counts(host).counts.has_boilerplate for (host,) in rows.fetchall())

    def _counts(self, group: int) -> HeldCounts:
        held = self._held.get(group)
        if held is None:
            sql = "SELECT texts, error, last, blocks FROM host_blocks WHERE host = ?"
            row = self._read(sql, (group,)).fetchone()
            held = HeldCounts(BlockCounts()) if row is None else self._held_counts(group, row)
            self._held[group] = held
            self._blocks += len(held.counts)
            self._make_room(group)
        self._held.move_to_end(group)
        return held

    def _held_counts(self, group: int, row: Sequence[Any]) -> HeldCounts:
        """Return the counts of a row; where they are damaged, the pages are counted again."""
        try:
            return held_counts(*row)
        except DocumentError as error:
            logger.warning("the blocks of a host's pages are counted again: %s", error)
        held = HeldCounts(BlockCounts(), is_new=True)
        for page_id, url, packed in counted_pages(self._read):
            if host_of(url) == group:
                held.counts.add(packed)
                held.last = page_id
        return held

    def _make_room(self, group: int) -> None:
        """Let the hosts go that were not needed for the longest, but never this one."""
        while self._blocks > MAX_HELD_BLOCKS and len(self._held) > 1:
            oldest = next(other for other in self._held if other != group)
            held = self._held.pop(oldest)
            self._blocks -= len(held.counts)
            self._let_go(oldest, held)

    def _let_go(self, group: int, held: HeldCounts) -> None:
        """Do nothing: what is only read is not stored again."""


@dataclass(frozen=True, slots=True)
class RepeatedText:
    """The text that pages of a host repeat, as some of its kept pages show it.

    Attributes:
        host: The host with its port.
        share: Share of the characters of the texts that are boilerplate, 0 to 1.
        example: The block that stands in the most pages.
        pages: Number of pages that have it, at least.
        counted: Number of pages of the host that were counted.
    """

    host: str
    share: float
    example: str
    pages: int
    counted: int


def repeated_texts(read: Execute, most: int) -> list[RepeatedText]:
    """Return what the largest hosts repeat, by 100 kept pages from all over the crawl.

    Args:
        read: Function that runs a query.
        most: Number of hosts to return at most.

    Complexity: O(1), 0.03 s for pages of 1,000 words.
    """
    boilerplate, texts = HostBoilerplate(read), dict[str, list[str]]()
    last = highest_id(read)
    # An id that no page has gives the page behind it, which is then taken once.
    starts = {place * last // SAMPLED_PAGES + 1 for place in range(SAMPLED_PAGES)}
    sampled = dict.fromkeys(text_from(read, start) for start in starts)
    for _, url, packed in filter(None, sampled):
        texts.setdefault(host_with_port(url), []).append(unpack(packed))
    largest = sorted(texts, key=lambda host: len(texts[host]), reverse=True)
    found = (boilerplate.repeated(host, texts[host]) for host in largest)
    return list(islice(filter(None, found), most))


@dataclass(slots=True)
class HeldCounts:
    """The counts of one host.

    Attributes:
        counts: The counts.
        last: ``pages.id`` of the last page that was counted.
        is_new: Whether they are to be stored.
        common: The number of texts, and the blocks that a tenth of them repeats; None: not asked
            yet.
    """

    counts: BlockCounts
    last: int = 0
    is_new: bool = False
    common: tuple[int, frozenset[int]] | None = None


def held_counts(texts: int, error: int, last: int, packed: bytes) -> HeldCounts:
    """Return the counts of a row.

    Raises:
        DocumentError: They are damaged.
    """
    return HeldCounts(BlockCounts.unpacked(packed, texts=texts, error=error), last)


class CountedBoilerplate(HostBoilerplate):
    """Counts pages, and stores the counts.

    Near-duplicates are to be judged again at hosts where a block has become boilerplate.

    Args:
        read: Function that runs a query.
        write: Function that runs a statement.
    """

    def __init__(self, read: Execute, write: Execute) -> None:
        super().__init__(read)
        self._write = write
        self._last = 0
        self._is_new = False
        self._grown: set[int] = set()
        self._in_judging: set[int] = set()
        self._may_all_have_grown = False

    @classmethod
    def opened(cls, database: Database) -> CountedBoilerplate:
        """Return the counts of a crawl, with the pages that a killed process did not store."""
        boilerplate = cls(database.read, database.write)
        counted = int(database.meta(meta_names.COUNTED_PAGE) or 0)
        is_judged = database.meta(meta_names.BOILERPLATE_GROWN) == "0"
        boilerplate._may_all_have_grown = bool(counted) and not is_judged
        pages = counted_pages(database.read, counted)
        for number, (page_id, url, packed) in enumerate(pages, 1):
            boilerplate.count(page_id, url, packed)
            if number % _SAVED_EVERY == 0:
                logger.info("counted the repeated blocks of %s stored pages", f"{number:,}")
                boilerplate.save(database)
                database.commit()
        return boilerplate

    def note(self, row: PageRow, extract: Extract, original_url: str | None) -> None:
        """Count a page that was captured first.

        Args:
            row: The capture with its verdict.
            extract: Text of the page.
            original_url: URL of the page that a near-duplicate or a part repeats.
        """
        if is_counted(row.verdict, row.url, original_url):
            blocks = extract.blocks
            self.count(row.id, row.url, block_hashes(extract.text) if blocks is None else blocks)

    def count(self, page_id: int, url: str, blocks: bytes) -> None:
        """Count the blocks of a page, unless they were counted before."""
        group = host_of(url)
        held = self._counts(group)
        if page_id <= held.last:
            return
        before = len(held.counts)
        if held.counts.add(blocks):
            self._grown.add(group)
        self._note_counted(held, page_id)
        self._blocks += len(held.counts) - before
        self._make_room(group)

    def _note_counted(self, held: HeldCounts, page_id: int) -> None:
        held.last, held.is_new = page_id, True
        self._last, self._is_new = page_id, True

    def note_promoted(self, row: PageRow, text: str, original_url: str) -> None:
        """Count a near-duplicate that is kept now, unless it was counted when it was captured.

        Args:
            row: The capture that replaces the first one.
            text: Its text.
            original_url: URL of the page that it repeated.
        """
        if is_counted(NEAR_DUPLICATE, row.url, original_url):
            self._note_counted(self._counts(host_of(row.url)), row.id)
        else:
            self.count(row.id, row.url, block_hashes(text))

    def has_grown(self, url: str | None = None) -> bool:
        """Return whether a block of the host of a URL, or of any, may have become boilerplate.

        That is since all near-duplicates were judged the last time.
        """
        if self._may_all_have_grown:
            return True
        grown = self._grown | self._in_judging
        return bool(grown) if url is None else host_of(url) in grown

    def begin_judging(self) -> None:
        """Note that all near-duplicates of hosts that have grown are judged from now on.

        Those of hosts that grow meanwhile are judged the next time.
        """
        self._in_judging, self._grown = self._grown, set()

    def note_judged(self) -> None:
        """Note that all of them were judged."""
        self._in_judging.clear()
        self._may_all_have_grown = False
        self._is_new = True

    def save(self, database: Database) -> None:
        """Write what was counted since the last time, in the transaction that is open."""
        if self._is_new:
            self.store()
            if self._last:
                database.set_meta(meta_names.COUNTED_PAGE, str(self._last))
            database.set_meta(meta_names.BOILERPLATE_GROWN, str(int(self.has_grown())))
            self._is_new = False

    def store(self) -> None:
        """Write the counts of all hosts that are held and were not stored yet."""
        for group, held in self._held.items():
            self._let_go(group, held)

    def _let_go(self, group: int, held: HeldCounts) -> None:
        if held.is_new:
            counts = held.counts
            row = (group, counts.texts, counts.error, held.last, counts.packed())
            self._write("INSERT OR REPLACE INTO host_blocks VALUES (?, ?, ?, ?, ?)", row)
            held.is_new = False


def is_counted(verdict: str, url: str, original_url: str | None) -> bool:
    """Return whether a page counts when it is captured first."""
    if verdict in INEXACT:
        return original_url is not None and last_name(original_url) != last_name(url)
    return verdict in FIRST_CAPTURES


def counted_pages(read: Execute, after: int = 0) -> Iterator[tuple[int, str, bytes]]:
    """Yield id, URL and hashes of blocks of the stored pages that are counted, by id."""
    for page_id, url, text, original_url in own_texts(read, after, FIRST_CAPTURES):
        if original_url is None or is_counted(NEAR_DUPLICATE, url, original_url):
            yield page_id, url, block_hashes(unpack(text))
