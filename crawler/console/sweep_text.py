"""Describe a sweep for people on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.lab.choice import SIMHASH
from crawler.lab.distance_text import in_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.lab.choice import Choice
    from crawler.lab.distance_evidence import DistanceEvidence
    from crawler.lab.figures import SweepLine
    from crawler.lab.judgement import Judgement
    from neardup import Parameters

_DROPPING = {
    "payload": "same bytes",
    "text": "same text",
    "simhash": "simhash",
    "candidate": "candidate",
    "minhash": "minhash",
}
"""Names in the table of the layers that drop a page."""


def sweep_text(
    lines: Sequence[SweepLine],
    running: Judgement,
    holds: Parameters,
    evidence: DistanceEvidence | None,
) -> Iterator[str]:
    """Yield the lines of a sweep.

    Args:
        lines: The result for each distance.
        running: The result for the crawl's parameters.
        holds: The crawl's parameters.
        evidence: The evidence for each distance; None where no distance counts.
    """
    tried = lines[0].choice
    yield "1 page" if len(running) == 1 else f"{len(running):,} pages"
    yield f"holds:  {parameters_text(holds)}"
    yield f"        {running.kept_count:,} kept, {running.dropped_count:,} dropped"
    yield f"tried:  {_choice_text(tried)}"
    yield ""
    yield from _table(lines, evidence)
    yield ""
    yield from _footnotes(lines, evidence)


def parameters_text(parameters: Parameters) -> str:
    """Return parameters in one line."""
    words = f"{parameters.fingerprint_features}, at least {parameters.min_words} words"
    if not parameters.verify:
        return f"{words}, within {parameters.max_distance} bits, unconfirmed"
    return (
        f"{words}, within {parameters.max_distance} bits, candidates within "
        f"{parameters.candidate_distance}, confirmed by similarity {parameters.min_similarity:g}"
    )


def _choice_text(choice: Choice) -> str:
    parameters = choice.parameters
    if choice.method == SIMHASH:
        confirmed = f"confirmed by similarity {parameters.min_similarity:g}"
        return (
            f"{parameters.fingerprint_features}, at least {parameters.min_words} words, "
            f"{confirmed if parameters.verify else 'unconfirmed'}"
        )
    if choice.method == "minhash":
        return f"MinHash, at least {parameters.min_words} words, similarity " + (
            f"{parameters.min_similarity:g}"
        )
    return "equal bytes and equal texts alone"


def _table(lines: Sequence[SweepLine], evidence: DistanceEvidence | None) -> Iterator[str]:
    layers = [layer for layer in _DROPPING if any(line.layers.get(layer) for line in lines)]
    headings = [
        "bits" if evidence is not None else "",
        "kept",
        "dropped",
        *(_DROPPING[layer] for layer in layers),
        "now kept",
        "now dropped",
        *(("precision", "recall") if evidence is not None else ()),
    ]
    rows = [headings, *(_cells(line, layers, evidence) for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(headings))]
    for row in rows:
        cells = zip(row, widths, strict=True)
        yield "  ".join(cell.rjust(width) for cell, width in cells).rstrip()


def _cells(line: SweepLine, layers: Sequence[str], evidence: DistanceEvidence | None) -> list[str]:
    scores: list[str] = []
    if evidence is not None:
        at = evidence.by_distance[line.max_distance]
        scores = [
            "-" if score is None else f"{score.share:.3f}" for score in (at.precision, at.recall)
        ]
    return [
        str(line.max_distance) if evidence is not None else line.choice.method,
        f"{line.kept:,}",
        f"{line.dropped:,}",
        *(f"{line.layers.get(layer, 0):,}" for layer in layers),
        f"{line.now_kept:+,}" if line.now_kept else "0",
        f"{line.now_dropped:+,}" if line.now_dropped else "0",
        *scores,
    ]


def _footnotes(lines: Sequence[SweepLine], evidence: DistanceEvidence | None) -> Iterator[str]:
    yield "now kept, now dropped: pages that the parameters that hold treat otherwise"
    if evidence is None:
        return
    candidates = max(line.choice.parameters.candidate_distance for line in lines)
    if candidates > max(line.max_distance for line in lines):
        yield f"candidates within {candidates} bits are confirmed by similarity too"
    basis = (
        in_pairs(evidence.pairs, "labelled")
        if evidence.basis == "labels"
        else f"{in_pairs(evidence.pairs)} within 8 bits, similar where Jaccard says so"
    )
    yield f"precision, recall: of pairs by distance alone, against {basis}"
    told = "no suggestion" if evidence.suggestion is None else "suggestion"
    yield f"{told}: {evidence.reason}"
    if evidence.similarity_reason:
        told = "no suggestion" if evidence.similarity is None else "suggestion"
        yield f"{told} for min_similarity: {evidence.similarity_reason}"
