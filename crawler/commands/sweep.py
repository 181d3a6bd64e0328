"""``scrapy sweep DIR``: report what other distances would keep and drop."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.console.command_line import CommandError, PlainCommand
from crawler.console.lab_options import (
    add_method_option,
    add_parameter_options,
    distances_of,
    paths_of,
    tried_choice,
)
from crawler.lab.choice import METHODS, SIMHASH, Choice
from crawler.lab.words import in_pairs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from crawler.lab.distance_evidence import DistanceEvidence, EvidenceLine
    from crawler.lab.figures import SweepLine
    from crawler.lab.judgement import Judgement
    from crawler.lab.loading import Loaded
    from neardup import Parameters

_ALL = "0..8"

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


class SweepCommand(PlainCommand):
    """Only reads, also beside the process that crawls."""

    usage = "[options] DIR|FILE [DIR...]"
    summary = "Say what other distances and features would keep and drop"
    description = (
        "Judge the pages of a crawl, of a .jsonl file or of WARC files in crawl order, once "
        "for each distance, and say what is kept and dropped, by which layer, and what changes "
        "against the parameters that hold. A line looks for duplicates within its distance "
        "and no farther, unless --candidate-distance is given."
    )

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--max-distance",
            dest="distances",
            metavar="BITS",
            help=f"distances to try, such as 3, 2..6 or 1,3 (default {_ALL})",
        )
        add_method_option(parser)
        add_parameter_options(
            parser, "features", "candidate-distance", "min-similarity", "min-words"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--plot",
            metavar="FILE.png",
            help="draw distances of nearest neighbours, and what is kept (png, svg or pdf)",
        )

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Judge, print, draw."""
        from crawler.lab.labels import read_labels  # noqa: PLC0415
        from crawler.lab.loading import loaded  # noqa: PLC0415  (takes half a second)

        paths = paths_of(args)
        _check_method(opts)
        distances = distances_of(opts.distances or _ALL, "--max-distance")
        plot = None if opts.plot is None else _plot_file(opts.plot)
        with loaded(paths, self.progress) as found:
            session = found.session
            # The lines choose it; candidates may be nearer than what holds.
            choice = tried_choice(opts, replace(session.running, max_distance=0))
            session.prepare(choice, self.progress)
            given = None
            if opts.candidate_distance is not None:
                given = choice.parameters.candidate_distance
            has_distance = choice.method == SIMHASH
            lines = session.sweep(choice, distances if has_distance else [0], given)
            evidence = (
                session.evidence(choice, read_labels(found.sources)) if has_distance else None
            )
            self.say_notes(found.sources.notes)
            running = session.judge(Choice(session.running))
            self.say_result(
                opts,
                partial(_to_dict, found, running, lines, evidence),
                sweep_text(lines, running, session.running, evidence),
            )
            if plot is not None:
                _draw(found, choice, lines, plot)


def _check_method(opts: argparse.Namespace) -> None:
    """Refuse options about distances with a method that has none."""
    given = {"--max-distance": opts.distances, "--plot": opts.plot}
    for option, value in given.items():
        if value is not None and opts.method in METHODS and opts.method != SIMHASH:
            why = f"--method {opts.method} knows no distance"
            raise CommandError(f"{why}; leave {option} out")


def _plot_file(name: str) -> Path:
    """Return the file to draw to; all its errors are reported before the work begins."""
    from crawler.lab import plot  # noqa: PLC0415  (matplotlib takes a second)

    path = Path(name)
    if path.suffix.lower() not in plot.ENDINGS:
        raise CommandError(f"--plot {name}: its ending must be {', '.join(plot.ENDINGS)}")
    if not path.parent.is_dir():
        raise CommandError(f"--plot {name}: no such directory: {path.parent}")
    if not plot.is_installed():
        raise CommandError("--plot needs matplotlib: pip install matplotlib")
    return path


def _draw(found: Loaded, choice: Choice, lines: list[SweepLine], path: Path) -> None:
    from crawler.lab.plot import draw_sweep  # noqa: PLC0415

    histogram = found.session.histogram(choice)
    try:
        draw_sweep(path, found.sources.name, histogram, lines, found.session.running)
    except OSError as error:
        raise CommandError(f"--plot {path}: {error.strerror or error}") from None


def _to_dict(
    found: Loaded,
    running: Judgement,
    lines: list[SweepLine],
    evidence: DistanceEvidence | None,
) -> dict[str, Any]:
    session = found.session
    return {
        "source": found.sources.name,
        "pages": len(session),
        "holds": _parameters_dict(session.running),
        "kept": running.kept_count,
        "dropped": running.dropped_count,
        "method": lines[0].choice.method,
        "lines": [
            {
                **_parameters_dict(line.choice.parameters),
                "kept": line.kept,
                "dropped": line.dropped,
                "layers": line.layers,
                "now_kept": line.now_kept,
                "now_dropped": line.now_dropped,
                "precision": line.precision,
                "recall": line.recall,
            }
            for line in lines
        ],
        "evidence": None if evidence is None else _evidence_dict(evidence),
    }


def _evidence_dict(evidence: DistanceEvidence) -> dict[str, Any]:
    def rows(lines: tuple[EvidenceLine, ...]) -> list[dict[str, Any]]:
        return [
            {
                "bound": line.bound,
                "found": line.found,
                "right": line.right,
                "duplicates": line.duplicates,
                "precision": None if line.precision is None else line.precision._asdict(),
                "recall": None if line.recall is None else line.recall._asdict(),
            }
            for line in lines
        ]

    whole = {name: getattr(evidence, name) for name in _WHOLE}
    by_distance, by_similarity = rows(evidence.by_distance), rows(evidence.by_similarity)
    return {**whole, "by_distance": by_distance, "by_similarity": by_similarity}


_WHOLE = (
    "basis",
    "pairs",
    "duplicates",
    "beyond",
    "population",
    "suggestion",
    "reason",
    "similarity",
    "similarity_reason",
)


def _parameters_dict(parameters: Parameters) -> dict[str, Any]:
    return {**asdict(parameters), "features": str(parameters.fingerprint_features)}
