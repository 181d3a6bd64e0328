"""Pages as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawler.pages.verdicts import (
    CHANGED,
    CONTAINED,
    EXACT_DUPLICATE,
    NEAR_DUPLICATE,
    NEW,
    SAME_TEMPLATE,
    TEXT_DUPLICATE,
    TOO_SHORT,
)
from neardup.evaluation import near_arrays as layers
from neardup.evaluation.judging import Columns
from neardup.evaluation.near_lists import NameTable
from neardup.fingerprints.digest import EMPTY_DIGEST, payload_digest
from neardup.indexes.arrays import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crawler.lab.crawl_source import LabPage

_NO_BYTES = payload_digest(b"")
UNREAD = -2
"""The number of a main text too short for the crawl, which judged all that its page shows."""

_LAYERS = {
    NEW: layers.NEW,
    TOO_SHORT: layers.TOO_SHORT,
    CHANGED: layers.CHANGED,
    SAME_TEMPLATE: layers.SAME_TEMPLATE,
    EXACT_DUPLICATE: layers.PAYLOAD,
    TEXT_DUPLICATE: layers.TEXT,
    NEAR_DUPLICATE: layers.SIMHASH,
    CONTAINED: layers.CONTAINED,
}
_REPEATS = frozenset({EXACT_DUPLICATE, TEXT_DUPLICATE})


class PageColumns:
    """Columns of all pages, with numbers for the texts that they share.

    Attributes:
        pages: All of them, in crawl order.
        numbers: The numbers of texts, by their digests.
        holders: For each text the place of the page to ask for it.
        fingerprints: uint64, (pages,): 0 where there is none.
        has_fingerprint: bool, (pages,).
        mains: int32, (pages,): by what a page is judged where its text is main and long enough, a
            number of its own kind; ``UNREAD`` where that takes the text.
        names: The names of all pages.
        name_numbers: int32, (pages,): the numbers of these.
        original: int32, (pages,): place of the page that the crawl's verdict names; -1.
        resembles: int32, (pages,): place of the page of another name that it names; -1.
        stored: float64, (pages,): the similarity of the two; -1: not known.
        distance: int16, (pages,): bits between the two; -1: not known.
        layer: uint8, (pages,): the place of that verdict in ``LAYERS``, of any near-duplicate that
            of ``simhash``.
        body_bytes: int64, (pages,).
    """

    def __init__(self) -> None:
        self.pages: list[LabPage] = []
        self.numbers: dict[bytes, int] = {}
        self.holders: list[int] = []
        self._payloads: dict[bytes, int] = {}
        self._places: dict[int, int] = {}
        self._texts: Column[np.int32] = Column(np.int32)
        self._payload_numbers: Column[np.int32] = Column(np.int32)
        self._equal: dict[bytes, int] = {}
        self._shown: Column[np.int32] = Column(np.int32)
        self.mains: Column[np.int32] = Column(np.int32)
        self._words: Column[np.int32] = Column(np.int32)
        self._is_main: Column[np.bool_] = Column(np.bool_)
        self._is_changed: Column[np.bool_] = Column(np.bool_)
        self.fingerprints: Column[np.uint64] = Column(np.uint64)
        self.has_fingerprint: Column[np.bool_] = Column(np.bool_)
        self.names = NameTable()
        self.name_numbers: Column[np.int32] = Column(np.int32)
        self.original: Column[np.int32] = Column(np.int32)
        self.resembles: Column[np.int32] = Column(np.int32)
        self.stored: Column[np.float64] = Column(np.float64)
        self.distance: Column[np.int16] = Column(np.int16)
        self.layer: Column[np.uint8] = Column(np.uint8)
        self.body_bytes: Column[np.int64] = Column(np.int64)

    def __len__(self) -> int:
        return len(self.pages)

    def judged(self, min_words: int) -> Columns:
        """Return the columns that judging reads.

        A page whose text is short, or not main, repeats only pages that show the same.
        """
        columns = self.columns()
        is_long = columns.is_main & (columns.words >= min_words)
        return columns._replace(texts=np.where(is_long, self.mains.values, self._shown.values))

    def read_main(self, place: int, digest: bytes | None) -> None:
        """Set the digest of a main text that was ``UNREAD``; None: the text is not stored."""
        shown = self._shown.values[place]
        self.mains.values[place] = shown if digest is None else self._equal_to(digest)

    def columns(self) -> Columns:
        """Return the columns that near lists read, texts by the numbers of ``numbers``."""
        return Columns(
            self._texts.values,
            self._payload_numbers.values,
            self._words.values,
            self._is_main.values,
            self._is_changed.values,
        )

    def extend(self, pages: Sequence[LabPage]) -> None:
        first = len(self.pages)
        self.pages.extend(pages)
        self._places.update((page.id, first + place) for place, page in enumerate(pages))
        self._texts.extend([self._text(first + place) for place in range(len(pages))])
        self._shown.extend([self._equal_to(_shown(page)) for page in pages])
        self.mains.extend([self._main(page) for page in pages])
        self._payload_numbers.extend([self._payload(page.payload_digest) for page in pages])
        self._words.extend([page.words for page in pages])
        self._is_main.extend([page.is_main for page in pages])
        self._is_changed.extend([page.verdict == CHANGED for page in pages])
        self.fingerprints.extend(np.array([page.fingerprint or 0 for page in pages], np.uint64))
        self.has_fingerprint.extend([page.fingerprint is not None for page in pages])
        self.name_numbers.extend(self.names.numbers([page.name for page in pages]))
        self.original.extend([self._place(page.duplicate_of) for page in pages])
        self.resembles.extend([self._place(page.resembles) for page in pages])
        stored = [-1.0 if page.similarity is None else page.similarity for page in pages]
        self.stored.extend(stored)
        self.distance.extend([-1 if page.distance is None else page.distance for page in pages])
        self.layer.extend([_LAYERS[page.verdict] for page in pages])
        self.body_bytes.extend([page.body_bytes for page in pages])

    def ids_of(self, texts: NDArray[np.int64]) -> list[int]:
        return [self.pages[self.holders[number]].id for number in texts.tolist()]

    def _place(self, number: int | None) -> int:
        return -1 if number is None else self._places.get(number, -1)

    def _text(self, place: int) -> int:
        page = self.pages[place]
        if page.text_digest == EMPTY_DIGEST:
            return -1
        number = self.numbers.setdefault(page.text_digest, len(self.holders))
        if number == len(self.holders):
            self.holders.append(place)
        elif page.verdict not in _REPEATS and self.pages[self.holders[number]].verdict in _REPEATS:
            # A repetition is stored as the name of its original.
            self.holders[number] = place
        return number

    def _main(self, page: LabPage) -> int:
        if page.is_main and page.text_digest == page.visible_digest:
            return UNREAD
        return self._equal_to(page.text_digest)

    def _equal_to(self, digest: bytes) -> int:
        """Return the number of equal content, be it a text or all that a page shows."""
        if digest == EMPTY_DIGEST:
            return -1
        return self._equal.setdefault(digest, len(self._equal))

    def _payload(self, digest: bytes | None) -> int:
        # Empty answers have the same bytes, and are no copies of each other.
        if digest is None or digest == _NO_BYTES:
            return -1
        return self._payloads.setdefault(digest, len(self._payloads))


def _shown(page: LabPage) -> bytes:
    return page.visible_digest or page.text_digest
