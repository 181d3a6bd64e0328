"""``crawl-once sweep``, ``pairs`` and ``lab``: what other parameters would make of pages."""

from __future__ import annotations

import importlib.util
import json
import sys
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.console.command_line import Command, checked_file
from crawler.console.escaping import say, say_coloured, say_json
from crawler.console.lab_options import (
    crawls_of,
    distances_of,
    method_option,
    parameter,
    paths_of,
    similarities_of,
    switched_off,
    tried_choice,
)
from crawler.console.options import (
    JSON,
    CommandError,
    PageOptions,
    flag,
    number,
    option,
    page_selection,
)
from neardup.installing import install_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.lab.comparison import PairDetails
    from crawler.lab.distance_evidence import DistanceEvidence, EvidenceLine
    from crawler.lab.judgement import Choice, Judgement, Sweep
    from crawler.lab.session import Loaded
    from neardup import Parameters


_ALL_DISTANCES, _ALL_SIMILARITIES = range(9), "0.5..1"


@dataclass(frozen=True)
class _SweepOptions(PageOptions):
    distances: str | None = option(
        "BITS",
        "distances to try, such as 3, 2..6 or 1,3; all of them where nothing confirms",
        names=("--max-distance",),
    )
    similarities: str | None = option(
        "S",
        f"similarities to try, such as 0.7, 0.6..0.9 or 0.7,0.8 ({_ALL_SIMILARITIES})",
        names=("--min-similarity",),
    )
    method: str = method_option()
    features: str | None = parameter("features")
    min_words: str | None = parameter("min_words")
    no_compare_names: bool = switched_off("compare_names")
    no_ignore_boilerplate: bool = switched_off("ignore_boilerplate")
    json: bool = flag(JSON)
    plot: str | None = option(
        "FILE.png", "draw distances of nearest neighbours, and what is kept (png, svg or pdf)"
    )


class SweepCommand(Command):
    """Only reads, also beside the process that crawls."""

    options = _SweepOptions
    usage = "[options] DIR|FILE [DIR...]"
    summary = "Say what other bounds and features would keep and drop"
    description = (
        "Judge the pages of a crawl, of a .jsonl file or of WARC files in crawl order, once "
        "for each value of the bound that decides, and say what is kept and dropped, by which "
        "layer, and what changes against the parameters that hold. Where similarity confirms, "
        "that bound is min_similarity: candidates are found by bands of their signatures too, so "
        "that max_distance names the layer alone. Where nothing confirms, it is max_distance."
    )

    def act(self, args: list[str], opts: _SweepOptions) -> None:
        paths, selection = paths_of(args), page_selection(opts)
        _check_method(opts)
        from crawler.console.lab_text import sweep_text
        from crawler.lab.judgement import Choice, Sweep
        from crawler.lab.labels import read_labels
        from crawler.lab.session import loaded

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


def _given_bounds(opts: _SweepOptions) -> tuple[list[int], list[float]]:
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
        within = choice.with_parameters(max_distance=distances[0]) if distances else choice
        return MIN_SIMILARITY, [within.with_parameters(min_similarity=least) for least in tried]
    confirmed = choice.with_parameters(min_similarity=similarities[0]) if similarities else choice
    return MAX_DISTANCE, [
        confirmed.with_parameters(max_distance=bits) for bits in distances or _ALL_DISTANCES
    ]


def _check_method(opts: _SweepOptions) -> None:
    """Refuse options about bounds with a method that has none."""
    from crawler.lab.judgement import METHODS, SIMHASH

    given = {
        "--max-distance": opts.distances,
        "--min-similarity": opts.similarities,
        "--plot": opts.plot,
    }
    for name, value in given.items():
        if value is not None and opts.method in METHODS and opts.method != SIMHASH:
            why = f"--method {opts.method} has neither distance nor similarity"
            raise CommandError(f"{why}; leave {name} out")


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
            _parameters_dict(line.choice.parameters)
            | {name: value for name, value in asdict(line).items() if name != "choice"}
            for line in sweep.lines
        ],
        "evidence": None if evidence is None else _evidence_dict(evidence),
    }


def _evidence_dict(evidence: DistanceEvidence) -> dict[str, Any]:
    def rows(lines: tuple[EvidenceLine, ...]) -> list[dict[str, Any]]:
        shares = [(line.precision, line.recall) for line in lines]
        return [
            asdict(line) | {"precision": one and one._asdict(), "recall": other and other._asdict()}
            for line, (one, other) in zip(lines, shares, strict=True)
        ]

    by_distance, by_similarity = rows(evidence.by_distance), rows(evidence.by_similarity)
    return asdict(evidence) | {"by_distance": by_distance, "by_similarity": by_similarity}


def _parameters_dict(parameters: Parameters) -> dict[str, Any]:
    return {**asdict(parameters), "features": str(parameters.fingerprint_features)}


_ALL = "0..8"
_LIMIT = 20
_CONTEXT = 10


@dataclass(frozen=True)
class _PairsOptions(PageOptions):
    distance: str = option(
        "BITS", f"bits between the two, such as 3..5 or 4 (default {_ALL})", _ALL
    )
    limit: int = option("N", f"pairs to show (default {_LIMIT})", _LIMIT, read=number(1))
    diff: bool = flag("show where their texts differ")
    method: str = method_option()
    features: str | None = parameter("features")
    max_distance: str | None = parameter("max_distance")
    min_similarity: str | None = parameter("min_similarity")
    min_words: str | None = parameter("min_words")
    no_compare_names: bool = switched_off("compare_names")
    json: bool = flag("print one JSON object a line")


class PairsCommand(Command):
    """Only reads, also beside the process that crawls."""

    options = _PairsOptions
    word = "pairs"
    usage = "[--distance BITS] [--limit N] [--diff] [--json] DIR|FILE [DIR...]"
    summary = "Show near pairs of pages, those first from which most can be learned"

    def act(self, args: list[str], opts: _PairsOptions) -> None:
        paths, selection = paths_of(args), page_selection(opts)
        distances = distances_of(opts.distance, "--distance")
        from crawler.lab.comparison import details_of
        from crawler.lab.judgement import SIMHASH
        from crawler.lab.labels import read_labels
        from crawler.lab.session import loaded

        with crawls_of(paths) as made:
            found = loaded(paths, self.progress, selection, made)
            choice = tried_choice(opts, found.session.running)
            found.session.prepare(choice, self.progress)
            labels = read_labels(found.sources.paths)
            pairs = found.session.pairs(choice, distances, opts.limit, labels=labels)
            self.progress.end()
            least = choice.parameters.min_similarity
            for number, pair in enumerate(pairs, start=1):
                _show(details_of(found, pair), number, least, opts)
            if not pairs and not opts.json:
                bits = "" if choice.method != SIMHASH else f" at {opts.distance} bits"
                say(f"no two distinct texts{bits}")


def _show(found: PairDetails, number: int, min_similarity: float, opts: _PairsOptions) -> None:
    from crawler.console.lab_text import pair_dict, pair_diff, pair_lines

    if opts.json:
        fields = pair_dict(found, _CONTEXT if opts.diff else None)
        say_json(json.dumps(fields))
        return
    if number > 1:
        say()
    for line in pair_lines(found, number, min_similarity):
        say(line)
    if opts.diff:
        say()
        say_coloured(pair_diff(found, _CONTEXT, coloured=sys.stdout.isatty()))


HOST = "127.0.0.1"


def _usual_port() -> int:
    from crawler.lab.app.binding import USUAL_PORT

    return USUAL_PORT


@dataclass(frozen=True)
class _LabOptions(PageOptions):
    pages_host: None = None  # --host is the address to bind to
    port: str | None = option(
        "N", lambda: f"port (default: {_usual_port()} if it is free, else any other); 0: any"
    )
    host: str = option(
        "H",
        f"the address to bind to ({HOST}); any but a loopback one asks for a token",
        HOST,
    )
    no_browser: bool = flag("print the address, open nothing")


class ServeLabCommand(Command):
    """Reads beside a running crawl, in a process of its own."""

    options = _LabOptions
    word = "lab"
    after_interrupt = ""  # that is how it is ended
    usage = "[--port N] [--host H] [--no-browser] DIR [DIR...] | FILE [FILE...]"
    summary = "Look at a crawl in the browser, and try other parameters on its pages"

    def act(self, args: list[str], opts: _LabOptions) -> None:
        if not args:
            raise CommandError("a crawl directory or a file is needed, got none")
        paths = paths_of(args)
        if importlib.util.find_spec("nicegui") is None:
            raise CommandError(
                f"NiceGUI is not installed: {install_command('lab')}; "
                "crawl-once sweep, pairs and compare do without"
            )
        _serve(paths, opts)


def _serve(paths: list[Path], opts: _LabOptions) -> None:
    from crawler.lab.app.binding import bind
    from crawler.lab.app.lab_server import make_app, open_browser, serve
    from crawler.lab.app.lab_state import Lab

    selection = page_selection(opts)
    bound = bind(opts.host, opts.port)
    with bound.listening, crawls_of(paths) as made:
        lab = Lab(paths, selection, made)

        def announce() -> None:
            say(bound.address, flush=True)
            say("(Ctrl-C ends it)", to_stderr=True)
            if not opts.no_browser:
                open_browser(bound.address)

        with closing(lab):
            serve(make_app(lab, bound, announce), bound.listening)
