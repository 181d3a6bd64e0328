"""``crawl-once sweep DIR``: report what other bounds would keep and drop."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.console.command_line import CommandError, PlainCommand, checked_file
from crawler.console.lab_options import (
    add_method_option,
    add_parameter_options,
    distances_of,
    paths_of,
    similarities_of,
    tried_choice,
)
from neardup.installing import install_command

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from crawler.lab.crawl_sources import Loaded
    from crawler.lab.distance_evidence import DistanceEvidence, EvidenceLine
    from crawler.lab.judgement import Choice, Judgement, Sweep
    from neardup import Parameters

_ALL_DISTANCES, _ALL_SIMILARITIES = range(9), "0.5..1"


class SweepCommand(PlainCommand):
    """Only reads, also beside the process that crawls."""

    usage = "[options] DIR|FILE [DIR...]"
    summary = "Say what other bounds and features would keep and drop"
    description = (
        "Judge the pages of a crawl, of a .jsonl file or of WARC files in crawl order, once "
        "for each value of the bound that decides, and say what is kept and dropped, by which "
        "layer, and what changes against the parameters that hold. Where similarity confirms, "
        "that bound is min_similarity: candidates are found by bands of their signatures too, so "
        "that max_distance names the layer alone. Where nothing confirms, it is max_distance."
    )

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--max-distance",
            dest="distances",
            metavar="BITS",
            help="distances to try, such as 3, 2..6 or 1,3; all of them where nothing confirms",
        )
        parser.add_argument(
            "--min-similarity",
            dest="similarities",
            metavar="S",
            help=f"similarities to try, such as 0.7, 0.6..0.9 or 0.7,0.8 ({_ALL_SIMILARITIES})",
        )
        add_method_option(parser)
        names = "features", "min-words", "compare-names", "ignore-boilerplate"
        add_parameter_options(parser, *names)
        from crawler.console.page_options import add_page_options

        add_page_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--plot",
            metavar="FILE.png",
            help="draw distances of nearest neighbours, and what is kept (png, svg or pdf)",
        )

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Judge, print, draw."""
        from crawler.console.page_options import page_selection

        paths, selection = paths_of(args), page_selection(opts)
        _check_method(opts)
        from crawler.console.sweep_table import sweep_text
        from crawler.console.temporary_crawl import crawls_of
        from crawler.lab.crawl_sources import loaded
        from crawler.lab.judgement import Choice, Sweep
        from crawler.lab.labels import read_labels

        distances, similarities = _given_bounds(opts)
        plot = None if opts.plot is None else _plot_file(opts.plot)
        with crawls_of(paths) as made:
            found = loaded(paths, self.progress, selection, made)
            session = found.session
            choice = tried_choice(opts, session.running)
            session.prepare(choice, self.progress)
            bound, choices = _varied(choice, distances, similarities)
            sweep = Sweep(bound, session.sweep(choices))
            evidence = session.evidence(choice, read_labels(found.sources.paths)) if bound else None
            if evidence is not None and sweep.is_same:
                evidence = evidence.without_suggestion()
            running = session.judge(Choice(session.running))
            self.say_result(
                opts,
                partial(_to_dict, found, running, sweep, evidence),
                sweep_text(sweep, running, session.running, evidence),
            )
            if plot is not None:
                _draw(found, choice, sweep, plot)


def _given_bounds(opts: argparse.Namespace) -> tuple[list[int], list[float]]:
    """Return the distances and the similarities that options name; empty: none are named."""
    named = opts.distances, opts.similarities
    distances = [] if named[0] is None else distances_of(named[0], "--max-distance")
    similarities = [] if named[1] is None else similarities_of(named[1], "--min-similarity")
    if len(distances) > 1 and len(similarities) > 1:
        raise CommandError("give several values of --max-distance or --min-similarity, not of both")
    return distances, similarities


def _varied(
    choice: Choice, distances: Sequence[int], similarities: Sequence[float]
) -> tuple[str, list[Choice]]:
    """Return the bound that a sweep varies, and the choice of each line."""
    from crawler.lab.judgement import MAX_DISTANCE, MIN_SIMILARITY, NO_BOUND, SIMHASH

    if choice.method != SIMHASH:
        return NO_BOUND, [choice]
    verify = choice.parameters.verify
    if similarities and not verify:
        raise CommandError(
            "--min-similarity confirms nothing where distance alone decides; leave it out"
        )
    if verify and (len(similarities) > 1 or not distances):
        tried = similarities or similarities_of(_ALL_SIMILARITIES, "--min-similarity")
        within = choice.within(distances[0]) if distances else choice
        return MIN_SIMILARITY, [within.confirmed_from(least) for least in tried]
    confirmed = choice.confirmed_from(similarities[0]) if similarities else choice
    return MAX_DISTANCE, [confirmed.within(bits) for bits in distances or _ALL_DISTANCES]


def _check_method(opts: argparse.Namespace) -> None:
    """Refuse options about bounds with a method that has none."""
    from crawler.lab.judgement import METHODS, SIMHASH

    given = {
        "--max-distance": opts.distances,
        "--min-similarity": opts.similarities,
        "--plot": opts.plot,
    }
    for option, value in given.items():
        if value is not None and opts.method in METHODS and opts.method != SIMHASH:
            why = f"--method {opts.method} has neither distance nor similarity"
            raise CommandError(f"{why}; leave {option} out")


def _plot_file(name: str) -> Path:
    """Return the file to draw to; all its errors are reported before the work begins."""
    from crawler.lab import plot  # matplotlib takes a second

    path = Path(name)
    if path.suffix.lower() not in plot.ENDINGS:
        raise CommandError(f"--plot {name}: its ending must be {', '.join(plot.ENDINGS)}")
    checked_file(name, "--plot")
    if not plot.is_installed():
        raise CommandError(f"--plot needs matplotlib: {install_command('plot')}")
    return path


def _draw(found: Loaded, choice: Choice, sweep: Sweep, path: Path) -> None:
    from crawler.lab.plot import draw_sweep

    histogram = found.session.histogram(choice)
    try:
        draw_sweep(path, found.sources.name, histogram, sweep, found.session.running)
    except OSError as error:
        raise CommandError(f"--plot {path}: {error.strerror or error}") from None


def _to_dict(
    found: Loaded,
    running: Judgement,
    sweep: Sweep,
    evidence: DistanceEvidence | None,
) -> dict[str, Any]:
    session = found.session
    return {
        "source": found.sources.name,
        "pages": len(session),
        "holds": _parameters_dict(session.running),
        "kept": running.kept_count,
        "dropped": running.dropped_count,
        "method": sweep.lines[0].choice.method,
        "varied": sweep.bound or None,
        "lines": [
            {
                **_parameters_dict(line.choice.parameters),
                "kept": line.kept,
                "dropped": line.dropped,
                "layers": line.layers,
                "now_kept": line.now_kept,
                "now_dropped": line.now_dropped,
            }
            for line in sweep.lines
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
