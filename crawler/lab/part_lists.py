"""The pages that are parts of others, and why two texts are one page or two."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawler.lab.judgement import PartPairs
from neardup.boilerplate import RestComparison, boilerplate_spans
from neardup.candidates import KnownShingles
from neardup.cascade import NO_RELATIONS, Relations
from neardup.document import Document, analyse, signed
from neardup.evaluation.judging import Containers
from neardup.features.shingles import occurrences
from neardup.fingerprints.winnowing import packed_sample, unpacked_sample
from neardup.indexes.arrays import Column
from neardup.indexes.passages import add_sample
from neardup.names import Name, difference
from neardup.parts import PartFinder
from neardup.storage.documents import MemoryDocuments
from neardup.storage.signatures import memory_passages
from neardup.whole import part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    from crawler.lab.crawl_source import Blocks
    from crawler.lab.prepared import CrawlTexts, Watch
    from neardup import Parameters
    from neardup.evaluation.near_arrays import Members

MAX_CONTAINERS = 4
"""The largest number of pages that a page is found to be a part of."""

_PLACES_AT_ONCE = 200


class PartLists:
    """Finds which pages are parts of others, by the finder of the library; grows with them.

    Compared with are the pages that the crawl's own parameters keep: other parameters, which keep
    more, may make a page a part of one that is not looked at.

    Memory: that of the index of passages, 29 bytes for 16 words of a page, and 24 bytes a pair.

    Args:
        crawl_texts: The pages and their texts.
        parameters: The parameters; ``verify_shingle_size``, ``min_words`` and
            ``ignore_boilerplate`` count.
    """

    def __init__(self, crawl_texts: CrawlTexts, parameters: Parameters) -> None:
        self._pages = crawl_texts.pages
        self._crawl_texts = crawl_texts
        self.parameters = parameters
        self._begin()

    def _begin(self) -> None:
        size = self.parameters.verify_shingle_size
        self._index = memory_passages(size)
        texts = _PageTexts(self._crawl_texts)
        pages, blocks = self._pages.pages, self._crawl_texts.boilerplate()
        boilerplate = TextBoilerplate(lambda place: blocks(pages[place]))
        self._finder = PartFinder(self.parameters, texts, self._index, KnownShingles(), boilerplate)
        self._places = 0
        self._parts, self._containers = Column(np.int64), Column(np.int64)
        self._containments = Column(np.float64)

    def __len__(self) -> int:
        """Return the number of places that were looked at."""
        return self._places

    def serves(self, other: Parameters) -> bool:
        """Whether the pages that are parts of others are the same by other parameters."""
        ours = self.parameters
        return (ours.verify_shingle_size, ours.ignore_boilerplate) == (
            other.verify_shingle_size,
            other.ignore_boilerplate,
        )

    def pairs(self, members: Members) -> PartPairs:
        """Return all pairs; pages of one text are parts of the same pages, in the same order.

        Args:
            members: The pages by what they share.

        Complexity: O(places + pairs).
        """
        order = np.argsort(self._parts.values, kind="stable")
        starts = np.searchsorted(self._parts.values[order], np.arange(self._places + 1))
        firsts = _firsts(members)[: self._places]
        counts = np.where(firsts >= 0, np.diff(starts)[firsts], 0)
        ends = np.cumsum(counts)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
        rows = order[np.repeat(starts[firsts], counts) + within]
        parts = np.repeat(np.arange(self._places), counts)
        return PartPairs(parts, self._containers.values[rows], self._containments.values[rows])

    def containers(self, pairs: PartPairs) -> Containers:
        """Return the earlier pages that each page is a part of, of all pairs.

        Complexity: O(pairs), and a comparison for each distinct pair of names.
        """
        is_earlier = pairs.container < pairs.part
        part, container = pairs.part[is_earlier], pairs.container[is_earlier]
        names = self._pages.name_numbers.values
        is_other = self._pages.names.differ(names[container], names[part])
        starts = np.searchsorted(part, np.arange(self._places + 1)).astype(np.int64)
        containment = pairs.containment[is_earlier]
        return Containers(starts, container.astype(np.int32), is_other, containment)

    def catch_up(self, members: Members, is_kept: NDArray[np.bool_], watch: Watch) -> None:
        """Look at all pages that came since.

        Args:
            members: The pages by what they share.
            is_kept: bool, (pages,): whether the crawl's own parameters keep a page.
            watch: Called with the share that is done, and with what is being done.
        """
        count = len(members.texts)
        firsts = _firsts(members)
        is_held = is_kept & (self._pages.columns().words >= self.parameters.min_words)
        # A text whose first page is dropped may have a later page that is kept under its own name.
        is_asked = (firsts == np.arange(count)) | _is_first_held(firsts, is_held)
        for start in range(self._places, count, _PLACES_AT_ONCE):
            watch(start / count, f"parts looked for among {start:,} of {count:,} pages")
            stop = min(count, start + _PLACES_AT_ONCE)
            asked = np.flatnonzero(is_asked[start:stop]) + start
            texts = self._crawl_texts.read(members.texts[asked].astype(np.int64))
            try:
                for place, text in zip(asked.tolist(), texts, strict=True):
                    if text is not None:
                        self._look(place, text, firsts, is_held=bool(is_held[place]))
            except BaseException:
                # A text that cannot be read leaves the index half way.
                self._begin()
                raise
            self._places = stop

    def _look(self, place: int, text: str, firsts: NDArray[np.int64], *, is_held: bool) -> None:
        hashes = occurrences(part_of(text), size=self.parameters.verify_shingle_size)
        if not len(hashes):
            return
        page, sample = self._pages.pages[place], packed_sample(hashes)
        document = Document(page.words, page.text_digest, None, text, group=place, sample=sample)
        found = first = self._finder.find(document, ())
        for part in first.relations.parts:
            self._note(int(firsts[part.id]), place, part.containment)
        excluded: set[int] = set()
        while (container := found.relations.container) is not None:
            self._note(int(firsts[place]), container.id, container.containment)
            excluded.add(container.id)
            if len(excluded) == MAX_CONTAINERS:
                break
            found = self._finder.find(document, excluded)
        if is_held:
            add_sample(self._index, unpacked_sample(sample), place, first.shared)

    def _note(self, part: int, container: int, containment: float) -> None:
        self._parts.extend((part,))
        self._containers.extend((container,))
        self._containments.extend((containment,))


def _is_first_held(firsts: NDArray[np.int64], is_held: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether each page is the first of its text that is held."""
    is_first = np.zeros(len(firsts), np.bool_)
    held_places = np.flatnonzero(is_held & (firsts >= 0))
    is_first[held_places[np.unique(firsts[held_places], return_index=True)[1]]] = True
    return is_first


def _firsts(members: Members) -> NDArray[np.int64]:
    """Return the first place of the text of each place; -1 where there is no fingerprint."""
    firsts = np.full(len(members.texts), -1, np.int64)
    has_one = members.items >= 0
    firsts[has_one] = members.first_of_text[members.texts[has_one]]
    return firsts


class _PageTexts:
    """The texts of pages by their places: implements ``neardup.parts.PartTexts``."""

    def __init__(self, crawl_texts: CrawlTexts) -> None:
        self._pages = crawl_texts.pages
        self._crawl_texts = crawl_texts

    def words_of(self, ids: Collection[int]) -> dict[int, int]:
        words = self._pages.columns().words
        return {place: int(words[place]) for place in ids}

    def text(self, id: int) -> str | None:  # noqa: A002  # neardup's name for it
        texts = self._pages.columns().texts[id : id + 1].astype(np.int64)
        return next(iter(self._crawl_texts.read(texts)))

    def name(self, id: int) -> str:  # noqa: A002  # neardup's name for it
        return self._pages.pages[id].name


class TextBoilerplate:
    """The boilerplate of texts, each a group of its own: ``neardup.boilerplate.Boilerplate``.

    Args:
        blocks: Returns that of a text by its id.
    """

    def __init__(self, blocks: Callable[[int], Blocks]) -> None:
        self._blocks = blocks

    def group(self, id: int) -> int:  # noqa: A002  # neardup's name for it
        return id

    def blocks(self, group: int | None) -> Blocks:
        return None if group is None else self._blocks(group)


Spans = list[tuple[int, int]]


class PairPart(NamedTuple):
    """The one of two texts that is a part of the other.

    Attributes:
        place: 0 for the first text, 1 for the second.
        containment: The share of its shingles that stand in the other one, 0 to 1.
    """

    place: int
    containment: float


@dataclass(frozen=True, slots=True)
class PairReasons:
    """The reasons, besides similarity, why two texts are one page or two.

    Attributes:
        difference: What in the names shows that the texts are different things: ``title``,
            ``heading``, ``opening`` or ``identifier``; empty: nothing does.
        relations: What the second text is a part of, or has as a part, by the rule of the library;
            the first text has the id 0.
        rest_share: The share of the shorter rest that stands in the other one, boilerplate left
            aside, 0 to 1; None: no boilerplate is known.
        spans: The bounds of the boilerplate in each text, without its whole.
    """

    difference: str
    relations: Relations
    rest_share: float | None
    spans: tuple[Spans, Spans]

    @property
    def part(self) -> PairPart | None:
        """The text that is a part of the other; None: neither is."""
        container, parts = self.relations
        if container is not None:
            return PairPart(1, container.containment)
        return PairPart(0, parts[0].containment) if parts else None

    def says_other(self, parameters: Parameters) -> bool:
        """Whether both say other things outside boilerplate, where that is known."""
        return self.rest_share is not None and self.rest_share < parameters.min_similarity


def pair_reasons(
    texts: tuple[str, str],
    names: tuple[Name, Name],
    blocks: tuple[Blocks, Blocks],
    parameters: Parameters,
) -> PairReasons:
    """Return the reasons why two texts are one page or two.

    Args:
        texts: The text that came first, and the one that is judged.
        names: What they are called.
        blocks: The hashes of the blocks that are boilerplate where each comes from; None: that is
            not known.
        parameters: The parameters of the verdict.

    Complexity: O(length), some milliseconds for 1,000 words.
    """
    share = None
    if any(known is not None for known in blocks):
        share = RestComparison(texts[0], blocks[0], parameters).shared_with(texts[1], blocks[1])
    first, second = (
        [] if known is None else boilerplate_spans(part_of(text), known)
        for text, known in zip(texts, blocks, strict=True)
    )
    relations = _relations(texts, names, blocks, parameters)
    return PairReasons(difference(names[1], names[0]), relations, share, (first, second))


def _relations(
    texts: tuple[str, str],
    names: tuple[Name, Name],
    blocks: tuple[Blocks, Blocks],
    parameters: Parameters,
) -> Relations:
    """Return what the library finds of the second text where the first one is kept."""
    first, second = (
        signed(analyse(text, parameters, name), parameters, with_sample=True)
        for text, name in zip(texts, names, strict=True)
    )
    if not (parameters.verify and first.sample and second.sample):
        return NO_RELATIONS
    documents = MemoryDocuments()
    with memory_passages(parameters.verify_shingle_size) as passages:
        documents.add(0, first)
        add_sample(passages, unpacked_sample(first.sample), 0)
        finder = PartFinder(
            parameters, documents, passages, KnownShingles(), TextBoilerplate(blocks.__getitem__)
        )
        return finder.find(replace(second, group=1), ()).relations
