"""Errors of verdicts that fell one after the other."""

from collections.abc import Iterable
from dataclasses import dataclass

from neardup.evaluation.labelled import Similar
from neardup.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the texts, and what of it was wrong.

    Attributes:
        kept: Texts that were kept.
        dropped: Texts whose verdict was a duplicate.
        wrong_drops: Of the dropped, those that no text kept before them resembles: pages lost.
        missed: Of the kept, those that a text kept before them resembles: work not saved.
    """

    kept: int
    dropped: int
    wrong_drops: int
    missed: int


def count_errors(verdicts: Iterable[tuple[int, Verdict]], similar: Similar) -> Outcome:
    """Hold verdicts, in the order in which they fell, against what is known of the texts.

    Args:
        verdicts: Ids of texts with their verdicts.
        similar: For an id, the ids of all texts that count as the same.
    """
    kept: set[int] = set()
    dropped = wrong_drops = missed = 0
    for text, verdict in verdicts:
        resembles_kept = not kept.isdisjoint(similar.get(text, ()))
        if verdict.is_duplicate:
            dropped += 1
            wrong_drops += not resembles_kept
        else:
            missed += resembles_kept
            kept.add(text)
    return Outcome(len(kept), dropped, wrong_drops, missed)
