"""Judge documents of which one knows what they are, and count the verdicts that are wrong."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from neardup import Deduplicator, Parameters, Verdict
from neardup.names import difference, unpacked
from neardup.verdict import NEAR_DUPLICATE, SAME_TEMPLATE
from neardup.verification import JaccardVerifier, compared_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neardup.boilerplate import Boilerplate
    from tests.quality.labelled import Labelled

OTHER_DROPPED = "another page dropped"
GIVEN_UP = "copy given up by its name"
MISSED = "copy missed"


class WrongVerdict(NamedTuple):
    """A verdict that a person would not give.

    Attributes:
        kind: ``OTHER_DROPPED``, ``GIVEN_UP`` or ``MISSED``.
        judged: The document.
        kept: The kept document that it was taken for, or that it is a copy of.
        similarity: The Jaccard similarity of both.
    """

    kind: str
    judged: Labelled
    kept: Labelled
    similarity: float


@dataclass(slots=True)
class Outcome:
    """What came of judging a set in its order.

    Attributes:
        documents: Documents that were judged.
        kept: Documents that were kept.
        equal: Documents dropped since a kept text is equal to theirs.
        copies: Documents, but for equal ones, that a kept document is a copy of, at a similarity
            of ``min_similarity`` or more; of shorter texts and lists, which are compared by
            equality alone, none.
        found: Copies dropped.
        wrong: Verdicts that a person would not give.
        median_us: CPU time of a verdict beyond the analysis of the text, in the median.
        mean_us: The same in the mean.
    """

    documents: int = 0
    kept: int = 0
    equal: int = 0
    copies: int = 0
    found: int = 0
    wrong: list[WrongVerdict] = field(default_factory=list)
    median_us: float = 0.0
    mean_us: float = 0.0

    def count(self, kind: str) -> int:
        """Return the number of wrong verdicts of a kind."""
        return sum(one.kind == kind for one in self.wrong)


def judge_all(
    labelled: Sequence[Labelled], parameters: Parameters, boilerplate: Boilerplate | None = None
) -> Outcome:
    """Judge documents one after the other in memory, and count.

    Args:
        labelled: Documents that were analysed by the features of the parameters.
        parameters: The parameters that decide which texts are the same.
        boilerplate: What is boilerplate in the groups of the documents.
    """
    outcome, truth, spent = Outcome(len(labelled)), _Truth(labelled, parameters), list[float]()
    with Deduplicator(parameters, boilerplate=boilerplate) as deduplicator:
        for number, one in enumerate(labelled):
            started = time.process_time_ns()
            verdict = deduplicator.judge_document(number, one.document)
            spent.append((time.process_time_ns() - started) / 1000)
            truth.count(number, verdict, outcome)
    outcome.median_us, outcome.mean_us = statistics.median(spent), statistics.fmean(spent)
    return outcome


def _have_other_names(first: Labelled, second: Labelled) -> bool:
    names = (unpacked(one.document.name) for one in (first, second))
    return bool(difference(*names))


class _Truth:
    """Knows which kept documents are copies of another one."""

    def __init__(self, labelled: Sequence[Labelled], parameters: Parameters) -> None:
        self._labelled = labelled
        self._verifier = JaccardVerifier(parameters.verify_shingle_size)
        self._min_similarity = parameters.min_similarity
        self._kept: defaultdict[str, list[int]] = defaultdict(list)

    def count(self, number: int, verdict: Verdict, outcome: Outcome) -> None:
        """Count a verdict; to be called in the order in which verdicts fall."""
        judged = self._labelled[number]
        if verdict.is_duplicate and verdict.kind != NEAR_DUPLICATE:
            outcome.equal += 1
            return
        best, similarity = self._best_copy(judged)
        if best is not None:
            outcome.copies += 1
            outcome.found += verdict.is_duplicate
        if verdict.duplicate_of is not None:
            original = self._labelled[verdict.duplicate_of]
            if not judged.is_copy_of(original):
                known = verdict.similarity or 0.0
                outcome.wrong.append(WrongVerdict(OTHER_DROPPED, judged, original, known))
            return
        if best is not None:
            is_named = verdict.kind == SAME_TEMPLATE and _have_other_names(judged, best)
            kind = GIVEN_UP if is_named else MISSED
            outcome.wrong.append(WrongVerdict(kind, judged, best, similarity))
        outcome.kept += 1
        for identity in judged.identities:
            self._kept[identity].append(number)

    def _best_copy(self, judged: Labelled) -> tuple[Labelled | None, float]:
        """Return the most similar kept copy of a document, if it is similar enough."""
        if judged.document.fingerprint is None:
            return None, 0.0
        compare = compared_with(self._verifier, judged.document.text, min_similarity=0)
        numbers = {number for name in judged.identities for number in self._kept[name]}
        copies = [self._labelled[number] for number in sorted(numbers)]
        measured = [
            (compare(copy.document.text), place)
            for place, copy in enumerate(copies)
            if copy.document.fingerprint is not None
        ]
        similarity, place = max(measured, default=(0.0, -1))
        return (copies[place], similarity) if similarity >= self._min_similarity else (None, 0.0)
