"""The table of a sweep, with what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.lab.distance_evidence import LABELS
from crawler.lab.judgement import MAX_DISTANCE, MIN_SIMILARITY, NO_BOUND
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crawler.lab.distance_evidence import DistanceEvidence, EvidenceLine
    from crawler.lab.judgement import Judgement, Sweep, SweepLine
    from neardup import Parameters

_SHOWN = {
    "same_template": "same template",
    "payload": "same bytes",
    "text": "same text",
    "simhash": "simhash",
    "candidate": "candidate",
    "contained": "part",
}
"""Headings of the layers that a text of something known comes to; the first one keeps it."""


_BOUNDS = {MAX_DISTANCE: "bits", MIN_SIMILARITY: "similarity", NO_BOUND: ""}
"""Headings of the column of the bound that is varied."""


def sweep_text(
    sweep: Sweep,
    running: Judgement,
    holds: Parameters,
    evidence: DistanceEvidence | None,
) -> Iterator[str]:
    """Yield the lines of a sweep.

    Args:
        sweep: The result for each value of a bound.
        running: The result for the crawl's parameters.
        holds: The crawl's parameters.
        evidence: The evidence for each value; None where no bound counts.
    """
    yield many(len(running), "page")
    yield f"holds:  {parameters_text(holds)}"
    yield f"        {running.kept_count:,} kept, {running.dropped_count:,} dropped"
    yield f"tried:  {_tried_text(sweep)}"
    yield ""
    yield from _table(sweep, holds, evidence)
    yield ""
    yield from _footnotes(sweep, evidence)


def parameters_text(parameters: Parameters) -> str:
    """Return parameters in one line."""
    within = f"within {many(parameters.max_distance, 'bit')}"
    confirmed = f"confirmed by similarity {parameters.min_similarity:g}"
    verified = f"{within} or found by MinHash, {confirmed}"
    return _joined(parameters, verified if parameters.verify else f"{within}, unconfirmed")


def _tried_text(sweep: Sweep) -> str:
    """Return the parameters of a sweep without the bound that it varies."""
    parameters = sweep.lines[0].choice.parameters
    if sweep.bound == NO_BOUND:
        return "equal bytes and equal texts alone"
    if not parameters.verify:
        return _joined(parameters, "unconfirmed")
    if sweep.bound == MIN_SIMILARITY:
        within = f"within {many(parameters.max_distance, 'bit')}"
        return _joined(parameters, f"{within} or found by MinHash")
    confirmed = f"confirmed by similarity {parameters.min_similarity:g}"
    return _joined(parameters, f"found by MinHash or nearer, {confirmed}")


def _joined(parameters: Parameters, decided: str) -> str:
    names = "names decide" if parameters.compare_names else "names not compared"
    if not parameters.ignore_boilerplate:
        names += ", boilerplate counts"
    words = f"at least {many(parameters.min_words, 'word')}"
    return f"{parameters.fingerprint_features}, {words}, {decided}, {names}"


def _table(sweep: Sweep, holds: Parameters, evidence: DistanceEvidence | None) -> Iterator[str]:
    layers = [layer for layer in _SHOWN if any(line.layers.get(layer) for line in sweep.lines)]
    scored = _scored(sweep, evidence)
    headings = [
        _BOUNDS[sweep.bound],
        "kept",
        "dropped",
        *(_SHOWN[layer] for layer in layers),
        "now kept",
        "now dropped",
        *(("precision", "recall") if scored else ()),
    ]
    rows = [headings, *(_cells(sweep, line, layers, scored) for line in sweep.lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(headings))]
    marks = ["", *("  holds" if _is_held(sweep, line, holds) else "" for line in sweep.lines)]
    for row, mark in zip(rows, marks, strict=True):
        cells = zip(row, widths, strict=True)
        yield "  ".join(cell.rjust(width) for cell, width in cells).rstrip() + mark


def _scored(sweep: Sweep, evidence: DistanceEvidence | None) -> dict[float, EvidenceLine]:
    """Return the evidence by the values of the bound; empty: there is none."""
    if evidence is None:
        return {}
    is_distance = sweep.bound == MAX_DISTANCE
    lines = evidence.by_distance if is_distance else evidence.by_similarity
    return {line.bound: line for line in lines}


def _is_held(sweep: Sweep, line: SweepLine, holds: Parameters) -> bool:
    return sweep.bound != NO_BOUND and line.choice.parameters == holds


def _cells(
    sweep: Sweep, line: SweepLine, layers: Sequence[str], scored: Mapping[float, EvidenceLine]
) -> list[str]:
    choice = line.choice
    value = choice.method
    scores: list[str] = []
    if sweep.bound != NO_BOUND:
        bound = sweep.value_of(choice.parameters)
        value = f"{bound:g}"
        at = scored.get(bound)
        known = (None, None) if at is None else (at.precision, at.recall)
        scores = ["-" if one is None else f"{one.share:.3f}" for one in known] if scored else []
    return [
        value,
        f"{line.kept:,}",
        f"{line.dropped:,}",
        *(f"{line.layers.get(layer, 0):,}" for layer in layers),
        f"{line.now_kept:+,}" if line.now_kept else "0",
        f"{line.now_dropped:+,}" if line.now_dropped else "0",
        *scores,
    ]


def _footnotes(sweep: Sweep, evidence: DistanceEvidence | None) -> Iterator[str]:
    yield "now kept: pages that the crawl dropped and this row keeps; now dropped: the reverse"
    if evidence is None:
        return
    if sweep.bound == MIN_SIMILARITY:
        yield from _of_similarity(evidence)
        return
    if sweep.lines[0].choice.parameters.verify:
        yield "candidates found by MinHash are confirmed by similarity at every distance"
    basis = (
        many(evidence.pairs, "labelled pair")
        if evidence.basis == LABELS
        else f"{many(evidence.pairs, 'pair')} within 8 bits, duplicates where Jaccard says so"
    )
    yield f"precision, recall: of pairs by distance alone, against {basis}"
    yield _suggestion(MAX_DISTANCE, evidence.suggestion, evidence.reason)


def _of_similarity(evidence: DistanceEvidence) -> Iterator[str]:
    if evidence.basis != LABELS:
        yield "precision, recall: unknown, since no pair is labelled; crawl-once lab does that"
        return
    yield (
        f"precision, recall: of {many(evidence.pairs, 'labelled pair')} within 8 bits; "
        "crawl-once lab adds more"
    )
    yield _suggestion(MIN_SIMILARITY, evidence.similarity, evidence.similarity_reason)


def _suggestion(name: str, bound: float | None, reason: str) -> str:
    return f"{name}: {reason}" if bound is None else f"suggested {name}: {reason}"
