"""Why two texts are one page or two: names, parts, and what they say outside boilerplate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from neardup.boilerplate import RestComparison, boilerplate_spans
from neardup.candidates import KnownShingles
from neardup.cascade import NO_RELATIONS, Relations
from neardup.document import analyse, signed
from neardup.fingerprints.winnowing import unpacked_sample
from neardup.indexes.passages import add_sample
from neardup.names import Name, difference
from neardup.parts import PartFinder
from neardup.storage.documents import MemoryDocuments
from neardup.storage.signatures import memory_passages
from neardup.whole import part_of

if TYPE_CHECKING:
    from crawler.lab.crawl_source import Blocks
    from neardup import Parameters

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
            parameters, documents, passages, KnownShingles(), _PairBoilerplate(blocks)
        )
        return finder.find(replace(second, group=1), ()).relations


class _PairBoilerplate:
    """The boilerplate of two texts, each a group of its own: ``neardup.boilerplate.Boilerplate``.

    Args:
        blocks: Those of each text.
    """

    def __init__(self, blocks: tuple[Blocks, Blocks]) -> None:
        self._blocks = blocks

    def group(self, id: int) -> int:  # noqa: A002  # neardup's name for it
        return id

    def blocks(self, group: int | None) -> Blocks:
        return None if group is None else self._blocks[group]
