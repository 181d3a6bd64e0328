"""Near lists that serve all bounds, and what their pairs share outside boilerplate."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawler.lab.page_columns import UNREAD, PageColumns
from neardup.boilerplate import PAIR, has_shingle, rest_of
from neardup.errors import FingerprintError
from neardup.evaluation import kernels
from neardup.evaluation.judging import Near
from neardup.evaluation.near_arrays import RADIUS, NewPlaces
from neardup.evaluation.near_lists import NearLists, ShingleSets
from neardup.fingerprints.digest import text_digest
from neardup.fingerprints.minhash import minhash
from neardup.fingerprints.simhash import simhash
from neardup.indexes.arrays import Column
from neardup.indexes.banding import CANDIDATE_PERMUTATIONS
from neardup.whole import part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from crawler.lab.crawl_source import Blocks, PageBoilerplate
    from crawler.lab.judgement import Choice
    from neardup import Features
    from neardup.evaluation.near_arrays import Lists, SetArrays

    Watch = Callable[[float, str], None]
    Texts = Callable[[Sequence[int]], Iterator[str | None]]
    ReadBoilerplate = Callable[[], PageBoilerplate]


class CrawlTexts:
    """Pages with their texts, and shingle sets, fingerprints and signatures of these by number.

    Args:
        texts: Gives the texts of pages by their ids; None for one that is not held.
        boilerplate: Opens the boilerplate of the pages' hosts as it is counted by now.

    Attributes:
        pages: The columns of the pages.
        boilerplate: See above.
    """

    def __init__(self, texts: Texts, boilerplate: ReadBoilerplate) -> None:
        self.pages = PageColumns()
        self.boilerplate = boilerplate
        self._texts = texts
        self._sets: dict[int, ShingleSets] = {}
        self._fingerprints: dict[Features, dict[int, int | None]] = {}

    def sets(self, texts: NDArray[np.int64], shingle_size: int) -> SetArrays:
        """Return all sets made so far, those of some texts among them."""
        sets_of_size = self._sets.setdefault(shingle_size, ShingleSets(shingle_size))
        sets_of_size.grow(len(self.pages.holders))
        missing = sets_of_size.missing(texts)
        for number, text in zip(missing.tolist(), self.read(missing), strict=True):
            sets_of_size.add(number, text)
        return sets_of_size.arrays()

    def fingerprints(
        self, texts: NDArray[np.int64], features: Features
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Return the fingerprints of texts, and which have one: their text is held."""
        known = self._fingerprints.setdefault(features, {})
        missing = np.array([one for one in texts.tolist() if one not in known], np.int64)
        missing = np.unique(missing)
        for number, text in zip(missing.tolist(), self.read(missing), strict=True):
            known[number] = _fingerprint(text, features)
        found = [known[number] for number in texts.tolist()]
        has_one = np.array([value is not None for value in found], np.bool_)
        return np.array([value or 0 for value in found], np.uint64), has_one

    def signatures(
        self, texts: NDArray[np.int64], shingle_size: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
        """Return the signatures of texts, and which have one: their text is held."""
        wanted, places = np.unique(texts, return_inverse=True)
        signatures = np.zeros((len(wanted), CANDIDATE_PERMUTATIONS), np.uint32)
        has_one = np.zeros(len(wanted), np.bool_)
        for row, text in enumerate(self.read(wanted)):
            if text is not None:
                signatures[row] = minhash(
                    part_of(text), permutations=CANDIDATE_PERMUTATIONS, shingle_size=shingle_size
                )
                has_one[row] = True
        return signatures[places], has_one[places]

    def read_mains(self, places: NDArray[np.int64]) -> None:
        """Tell the pages the digests of main texts that are ``UNREAD``."""
        unread = places[self.pages.mains.values[places] == UNREAD].tolist()
        ids = [self.pages.pages[place].id for place in unread]
        for place, text in zip(unread, self._texts(ids), strict=True):
            self.pages.read_main(place, None if text is None else text_digest(text))

    def read(self, texts: NDArray[np.int64]) -> Iterator[str | None]:
        """Yield texts by their numbers; None for one that is not stored."""
        return self._texts(self.pages.ids_of(texts))


def _fingerprint(text: str | None, features: Features) -> int | None:
    if text is None:
        return None
    try:
        return simhash(part_of(text), features)
    except FingerprintError:
        # Of words that weigh nothing.
        return None


_PAGES_AT_ONCE = 1000
_MIN_WORDS = 10
"""Texts of at least this many words are in the lists whatever is asked for, so that bounds from
here on are tried at once.

Most shorter texts are near to many.
"""


class Key(NamedTuple):
    """The kind of near lists: those of one kind serve the same choices.

    Attributes:
        features: The features of the fingerprints.
        shingle_size: The words of a shingle, for the similarity.
        min_words: The fewest words of a text in the lists.
    """

    features: Features
    shingle_size: int
    min_words: int

    def serves(self, other: Key) -> bool:
        """Whether lists of this kind hold all that the other one asks for."""
        return self[:2] == other[:2] and self.min_words <= other.min_words


def key_of(choice: Choice) -> Key:
    """Return the key of a choice's near lists; with ``exact`` they serve pictures alone."""
    parameters = choice.parameters
    words = _MIN_WORDS if parameters.min_words >= _MIN_WORDS else 1
    return Key(parameters.fingerprint_features, parameters.verify_shingle_size, words)


class Prepared:
    """Near lists of all pages so far, which grow with them.

    Args:
        key: The kind of the lists.
        crawl_texts: The pages and their texts.
        running: The features of the fingerprints that the pages have.
    """

    def __init__(self, key: Key, crawl_texts: CrawlTexts, running: Features) -> None:
        self.key = key
        self._pages = crawl_texts.pages
        self._crawl_texts = crawl_texts
        self._has_own = key.features == running
        self._begin()

    def _begin(self) -> None:
        self._near = NearLists(self._pages.names)
        self._rests = Rests(self._crawl_texts, self.key.shingle_size)

    def __len__(self) -> int:
        return len(self._rests)

    def near(self) -> Near:
        """Return the near lists, as views that ``catch_up`` may leave behind."""
        near = self._near
        return Near(near.members(), near.lists(), near.fingerprints, self._rests.shares())

    def catch_up(self, watch: Watch) -> None:
        """Take all pages that came since; what was taken stays, should ``watch`` raise.

        Args:
            watch: Called with the share that is done, and with what is being done.
        """
        first, count = len(self._near), len(self._pages)
        for start in range(first, count, _PAGES_AT_ONCE):
            stop = min(count, start + _PAGES_AT_ONCE)
            words = f"{start - first:,} of {count - first:,} pages compared"
            watch((start - first) / (count - first), words)
            try:
                self._crawl_texts.read_mains(np.flatnonzero(self._is_judged(start, stop)) + start)
                self._take(start, stop)
            except BaseException:
                # A text that cannot be read leaves lists half way.
                self._begin()
                raise
        self._rests.catch_up(self._near.lists(), watch)

    def _load(self, texts: NDArray[np.int64]) -> SetArrays:
        return self._crawl_texts.sets(texts, self.key.shingle_size)

    def _is_judged(self, start: int, stop: int) -> NDArray[np.bool_]:
        columns = self._pages.columns()
        is_long = columns.words[start:stop] >= self.key.min_words
        has_text = columns.texts[start:stop] >= 0
        is_judged: NDArray[np.bool_] = columns.is_main[start:stop] & is_long & has_text
        return is_judged

    def _take(self, start: int, stop: int) -> None:
        pages, is_judged = self._pages, self._is_judged(start, stop)
        texts = pages.columns().texts[start:stop]
        fingerprints = pages.fingerprints.values[start:stop].copy()
        is_missing = is_judged.copy()
        if self._has_own:
            is_missing &= ~pages.has_fingerprint.values[start:stop]
        asked = texts[is_missing].astype(np.int64)
        fingerprints[is_missing], has_one = self._crawl_texts.fingerprints(asked, self.key.features)
        is_judged[is_missing] = has_one
        signatures = np.zeros((stop - start, CANDIDATE_PERMUTATIONS), np.uint32)
        has_signature = is_judged.copy()
        asked = texts[is_judged].astype(np.int64)
        signatures[is_judged], has_signature[is_judged] = self._crawl_texts.signatures(
            asked, self.key.shingle_size
        )
        names = pages.name_numbers.values[start:stop]
        original, stored = pages.original.values[start:stop], pages.stored.values[start:stop]
        signed = signatures, has_signature
        new = NewPlaces(texts, names, fingerprints, is_judged, *signed, original, stored)
        self._near.extend(new, len(pages.holders), self._load)


_GROWTH = 1.125
"""The boilerplate is read again when there are this many times the pages as when it was read."""

MIN_SIMILARITY = 0.5
"""The rests of pages that are less similar and beyond ``RADIUS`` are not compared."""


class Rests:
    """The shares of their rests that near pairs have in common; grows behind the near lists.

    A share is that of ``neardup.boilerplate.RestComparison.shared_with``, by the boilerplate that
    the crawl has counted by now; 1.0 for pairs that are not compared.

    Memory: 8 bytes a pair, and 8 a shingle and a pair of words of the rests of similar pages.

    Args:
        crawl_texts: The pages and their texts.
        shingle_size: The words of a shingle.
    """

    def __init__(self, crawl_texts: CrawlTexts, shingle_size: int) -> None:
        self._pages = crawl_texts.pages
        self._crawl_texts = crawl_texts
        self._shingle_size = shingle_size
        self._begin()

    def _begin(self) -> None:
        self._blocks = self._crawl_texts.boilerplate()
        self._read_at, self._places = len(self._pages), 0
        self._numbers: dict[tuple[int, Blocks], int] = {}
        self._sets, self._sets_count = ShingleSets(self._shingle_size), 0
        self._pairs = ShingleSets(PAIR)
        self._shares = Column(np.float64)

    def __len__(self) -> int:
        """Return the number of places whose pairs have a share."""
        return self._places

    def shares(self) -> NDArray[np.float64]:
        """Return the shares of all pairs, as a view that ``catch_up`` may leave."""
        return self._shares.values

    def catch_up(self, lists: Lists, watch: Watch) -> None:
        """Compare the pairs that came since, or all where there are many more pages.

        Args:
            lists: The near lists of the same places.
            watch: Called with the share that is done, and with what is being done.
        """
        count = len(lists.starts) - 1
        if len(self._pages) > _GROWTH * self._read_at:
            self._begin()
        for start in range(self._places, count, _PAGES_AT_ONCE):
            watch(start / count, f"boilerplate of {start:,} of {count:,} pages left aside")
            stop = min(count, start + _PAGES_AT_ONCE)
            try:
                self._shares.extend(self._compared(lists, start, stop))
            except BaseException:
                # A text that cannot be read leaves sets half way.
                self._begin()
                raise
            self._places = stop

    def _compared(self, lists: Lists, start: int, stop: int) -> NDArray[np.float64]:
        """Return the shares of the pairs of some places."""
        first, last = lists.starts[start], lists.starts[stop]
        shares = np.ones(last - first)
        # Without verification the distance alone makes two pages near.
        is_near = lists.distance[first:last] <= RADIUS
        similar = np.flatnonzero(is_near | (lists.similarity[first:last] >= MIN_SIMILARITY))
        later = np.repeat(np.arange(start, stop), np.diff(lists.starts[start : stop + 1]))[similar]
        earlier = lists.earlier[first:last][similar].astype(np.int64)
        places, rows = np.unique(np.concatenate((later, earlier)), return_inverse=True)
        blocks = [self._blocks(self._pages.pages[place]) for place in places.tolist()]
        ours, theirs = rows.reshape(2, -1)
        are_known = np.array([known is not None for known in blocks], np.bool_)
        asked = are_known[ours] | are_known[theirs]
        numbers = self._load(
            places, blocks, np.unique(np.concatenate((ours[asked], theirs[asked])))
        )
        pairs = numbers[ours[asked]], numbers[theirs[asked]]
        sets, few = self._sets.arrays(), self._pairs.arrays()
        of_asked = kernels.shared_shares(sets, *pairs)
        # A rest that is shorter than a shingle is compared by its pairs of words.
        are_short = np.minimum(*(sets.sizes[each] for each in pairs)) < 0
        are_short &= np.minimum(*(few.sizes[each] for each in pairs)) > 0
        if are_short.any():
            short = pairs[0][are_short], pairs[1][are_short]
            of_asked[are_short] = kernels.shared_shares(few, *short)
        shares[similar[asked]] = of_asked
        return shares

    def _load(
        self, places: NDArray[np.int64], blocks: list[Blocks], rows: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the numbers of the rests of places; those of some rows are to have sets."""
        texts = self._pages.columns().texts[places].astype(np.int64)
        numbers, missing = np.full(len(places), -1, np.int64), []
        for row in rows.tolist():
            key = int(texts[row]), blocks[row]
            numbers[row] = number = self._numbers.setdefault(key, len(self._numbers))
            if number == self._sets_count:
                self._sets_count += 1
                missing.append(row)
        self._sets.grow(self._sets_count)
        self._pairs.grow(self._sets_count)
        for row, text in zip(missing, self._crawl_texts.read(texts[missing]), strict=True):
            number, size = int(numbers[row]), self._shingle_size
            rest = None if text is None else rest_of(text, blocks[row] or (), size)
            self._pairs.add(number, rest)
            self._sets.add(number, self._long(rest))
        return numbers

    def _long(self, rest: str | None) -> str | None:
        """Return a rest; None where it is shorter than a shingle, empty where it says nothing."""
        if rest is None or has_shingle(rest, self._shingle_size):
            return rest
        return None if rest else ""
