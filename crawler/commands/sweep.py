"""``scrapy sweep DIR``: report what other distances would keep and drop."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.console.command_line import CommandError
from crawler.console.escaping import say, say_json
from crawler.console.lab_command import LabCommand, LineProgress, say_notes
from crawler.console.lab_options import (
    add_method_option,
    add_parameter_options,
    distances_of,
    paths_of,
    tried_choice,
)
from crawler.lab.choice import METHODS, SIMHASH, Choice

if TYPE_CHECKING:
    import argparse

    from crawler.lab.distance_evidence import DistanceEvidence, EvidenceLine
    from crawler.lab.figures import SweepLine
    from crawler.lab.loading import Loaded
    from neardup import Parameters

_ALL = "0..8"


class SweepCommand(LabCommand):
    """Only reads, also beside the process that crawls."""

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return "[options] DIR|FILE [DIR...]"

    def short_desc(self) -> str:
        """Return the line for the list of commands."""
        return "Say what other distances and features would keep and drop"

    def long_desc(self) -> str:
        """Return the text of --help."""
        return (
            "Judge the pages of a crawl, of a .jsonl file or of WARC files in crawl order, once "
            "for each distance, and say what is kept and dropped, by which layer, and what changes "
            "against the parameters that hold. A line looks for duplicates within its distance "
            "and no farther, unless --candidate-distance is given."
        )

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this command."""
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

    def work(self, args: list[str], opts: argparse.Namespace, watch: LineProgress) -> None:
        """Judge, print, draw."""
        from crawler.console.sweep_text import sweep_text  # noqa: PLC0415
        from crawler.lab.labels import read_labels  # noqa: PLC0415
        from crawler.lab.loading import loaded  # noqa: PLC0415  (takes half a second)
        from crawler.lab.sweeping import sweep_lines  # noqa: PLC0415

        paths = paths_of(args)
        _check_method(opts)
        distances = distances_of(opts.distances or _ALL, "--max-distance")
        plot = None if opts.plot is None else _plot_file(opts.plot)
        with loaded(paths, watch) as found:
            session = found.session
            # The lines choose it; candidates may be nearer than what holds.
            choice = tried_choice(opts, replace(session.running, max_distance=0))
            session.prepare(choice, watch)
            given = None
            if opts.candidate_distance is not None:
                given = choice.parameters.candidate_distance
            has_distance = choice.method == SIMHASH
            lines = sweep_lines(session, choice, distances if has_distance else [0], given)
            evidence = (
                session.evidence(choice, read_labels(found.sources)) if has_distance else None
            )
            say_notes(found.sources.notes, watch)
            if opts.json:
                say_json(json.dumps(_to_dict(found, lines, evidence), indent=2))
            else:
                running = session.judge(Choice(session.running))
                for line in sweep_text(lines, running, session.running, evidence):
                    say(line)
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
    found: Loaded, lines: list[SweepLine], evidence: DistanceEvidence | None
) -> dict[str, Any]:
    session = found.session
    running = session.judge(Choice(session.running))
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
