"""Evidence as people read it: curves, rows of a table, and what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.lab.app.drawings.curves import Curve
from crawler.lab.distance_evidence import LABELS
from crawler.lab.distance_text import in_pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.lab.distance_evidence import Evidence, EvidenceLine
    from neardup.evaluation.wilson import Interval

HEADS = ("Found", "Right", "Precision", "95 %", "Recall", "95 %")


def basis_words(evidence: Evidence, least: float) -> str:
    """What the evidence rests on.

    Args:
        evidence: That is shown.
        least: Similarity from which Jaccard counts a pair as a duplicate.
    """
    if evidence.basis != LABELS:
        return (
            f"Nothing is labelled yet, so exact similarity stands in for labels: of "
            f"{in_pairs(evidence.pairs)}, {evidence.duplicates:,} have a Jaccard similarity of "
            f"{least:g} or more. Label some under Pairs, and they count instead. "
            f"{_recall(evidence)}"
        )
    different = evidence.pairs - evidence.duplicates
    beyond = (
        f" Not counted, too far apart or not held: {evidence.beyond:,}." if evidence.beyond else ""
    )
    return (
        f"{in_pairs(evidence.pairs, 'labelled')}: {evidence.duplicates:,} duplicate, "
        f"{different:,} different.{beyond} {_recall(evidence)}"
    )


def _recall(evidence: Evidence) -> str:
    """Farther apart than that nobody looked."""
    return f"Recall is a share of the {evidence.population}."


def curves(lines: Sequence[EvidenceLine]) -> tuple[Curve, Curve]:
    """Precision and recall."""
    return (
        _curve("precision", [line.precision for line in lines]),
        _curve("recall", [line.recall for line in lines]),
    )


def _curve(name: str, intervals: Iterable[Interval | None]) -> Curve:
    known = [(None, None, None) if one is None else tuple(map(_rounded, one)) for one in intervals]
    low, shares, high = ([one[part] for one in known] for part in range(3))
    return Curve(name, shares, low, high)


def cells(line: EvidenceLine) -> list[str]:
    """What stands under ``HEADS`` of one bound."""
    return [
        f"{line.found:,}",
        f"{line.right:,}",
        *_cells(line.precision),
        *_cells(line.recall),
    ]


def _cells(interval: Interval | None) -> list[str]:
    if interval is None:
        return ["\u2013", ""]
    return [f"{interval.share:.3f}", f"{interval.low:.3f}\u2013{interval.high:.3f}"]


def _rounded(share: float) -> float:
    return round(share, 4)
