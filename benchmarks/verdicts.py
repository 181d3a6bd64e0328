"""Verdicts that a person would not give: other pages dropped, copies given up, copies missed.

    python benchmarks/verdicts.py [--sets NAME ...] [--examples N] [--cache DIR] [--json] [--write]

Each set is judged in its order, in memory, first by distance and similarity alone, then with names,
and both once more with the boilerplate of its hosts left aside.
What a document is, the set knows: the name of its file, or the generator that made it. Pages that
were read are stored in --cache (by default in the user's cache). Sets that this machine lacks are
named and left out. Nothing is written unless --write is given.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the sets of the tests are no part of an installed package

from measuring import write  # noqa: E402
from verdict_sets.boilerplate import judge_without_boilerplate, small_share  # noqa: E402
from verdict_sets.documentation import (  # noqa: E402
    CLANG,
    JDK,
    PYTHON,
    MissingSetError,
    default_cache,
    labelled_folders,
    stored_pages,
)
from verdict_sets.edits import BINS, TEXTS, recall  # noqa: E402
from verdict_sets.parts import CUTS, told_parts  # noqa: E402

from neardup import Parameters  # noqa: E402
from neardup.whole import split_whole  # noqa: E402
from tests.quality.judged import (  # noqa: E402
    GIVEN_UP,
    MISSED,
    OTHER_DROPPED,
    judge_all,
)
from tests.quality.labelled import NUMPY_TEXTS, labelled_pages, numpy_texts  # noqa: E402
from tests.sites.templates.registers import directory_entries, statute_sections  # noqa: E402
from tests.sites.templates.shops import products  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.quality.judged import Outcome, WrongVerdict
    from tests.quality.labelled import Labelled

FOLDERS = {"jdk": JDK, "clang": CLANG, "python": PYTHON}
MADE = {
    "products": products,
    "directories": directory_entries,
    "statutes": statute_sections,
    "portal": small_share,
}
EDITS = "edits"
PARTS = "parts"
COUNTED = (OTHER_DROPPED, GIVEN_UP, MISSED)

Row = dict[str, Any]


def numpy_set(_: Path, parameters: Parameters) -> list[Labelled]:
    """Return NumPy's texts.

    Raises:
        MissingSetError: They are absent.
    """
    if not NUMPY_TEXTS.exists():
        raise MissingSetError("../shared/data is missing")
    return numpy_texts(parameters)


def sets() -> Mapping[str, Callable[[Path, Parameters], list[Labelled]]]:
    """Return what makes each set."""
    folders = {name: partial(labelled_folders, folders) for name, folders in FOLDERS.items()}
    made = {name: partial(made_set, name) for name in MADE}
    return {"numpy": numpy_set, **folders, **made}


def made_set(name: str, cache: Path, parameters: Parameters) -> list[Labelled]:
    """Return the pages of one of ``MADE``, the same every time."""
    read = partial(stored_pages, cache=cache)
    return labelled_pages(list(MADE[name]()), parameters, read)


def measure(labelled: Sequence[Labelled], parameters: Parameters) -> tuple[Row, Outcome]:
    """Judge a set in four ways; return the figures, and the outcome with names."""
    nameless = replace(parameters, compare_names=False)
    alone, named = (judge_all(labelled, chosen) for chosen in (nameless, parameters))
    rests, both = (judge_without_boilerplate(labelled, chosen) for chosen in (nameless, parameters))
    row = {
        "documents": named.documents,
        "equal": named.equal,
        "kept": named.kept,
        "other pages dropped without names": alone.count(OTHER_DROPPED),
        "other pages dropped": named.count(OTHER_DROPPED),
        "copies": named.copies,
        "copies given up": named.count(GIVEN_UP),
        "copies missed": named.count(MISSED),
        "other pages dropped, boilerplate aside": both.count(OTHER_DROPPED),
        "the same without names": rests.count(OTHER_DROPPED),
        "copies given up or missed, boilerplate aside": both.count(GIVEN_UP) + both.count(MISSED),
        "us with boilerplate aside, median": both.median_us,
        "us with it, mean": both.mean_us,
        "us a verdict, median": named.median_us,
        "us, mean": named.mean_us,
        "us without names, median": alone.median_us,
    }
    return row, named


def measure_edits() -> tuple[str, list[str]]:
    """Return recall of edits as Markdown, and what was missed, in words.

    Raises:
        MissingSetError: NumPy's texts are absent.
    """
    texts = [split_whole(one.document.text)[0] for one in numpy_set(Path(), Parameters())]
    found = recall(texts, Parameters())
    lines = ["| words | similarity | pairs | found | recall |", "|--:|---|--:|--:|--:|"]
    for length in TEXTS:
        for low, high in BINS:
            pairs, right = found.pairs[length, low], found.found[length, low]
            share = f"{right / pairs:.4f}" if pairs else ""
            lines.append(f"| {length:,} | {low} to {high} | {pairs:,} | {right:,} | {share} |")
    pairs, right = found.pairs.total(), found.found.total()
    lines.append(f"| all | | {pairs:,} | {right:,} | {right / pairs:.4f} |")
    missed = Counter((one.length, one.edit) for one in found.missed)
    words = [
        f"{EDITS}, missed: {n} of {length} words, {edit}" for (length, edit), n in missed.items()
    ]
    return "\n".join(lines), words


def measure_parts() -> str:
    """Return precision and recall of parts as Markdown.

    Raises:
        MissingSetError: NumPy's texts are absent.
    """
    texts = [split_whole(one.document.text)[0] for one in numpy_set(Path(), Parameters())]
    found = told_parts(texts, Parameters())
    lines = ["| words | part | parts | found | recall | told | right |", "|--:|---|" + "--:|" * 5]
    for length in TEXTS:
        for kind in CUTS:
            key = length, kind
            parts, right = found.parts[key], found.found[key]
            share = f"{right / parts:.4f}" if parts else ""
            cells = f"{parts:,} | {right:,} | {share} | {found.told[key]:,} | {found.right[key]:,}"
            lines.append(f"| {length:,} | {kind} | {cells} |")
    parts, right, told, true = (each.total() for each in found)
    lines.append(f"| all | | {parts:,} | {right:,} | {right / parts:.4f} | {told:,} | {true:,} |")
    return "\n".join(lines)


def show_examples(name: str, outcome: Outcome, count: int) -> None:
    """Print so many wrong verdicts of each kind, from all over the set."""
    for kind in COUNTED:
        wrong = [one for one in outcome.wrong if one.kind == kind]
        step = max(1, len(wrong) // count) if count else 1
        for one in wrong[::step][:count]:
            print(f"{name}, {example(one)}", flush=True)


def example(one: WrongVerdict) -> str:
    """Return a wrong verdict in a line."""
    names = f"{one.judged.document.name} | {one.kept.document.name}"
    return f"{one.kind}: {one.judged.label} for {one.kept.label}, {one.similarity:.3f}: {names}"


def table(rows: Mapping[str, Row]) -> str:
    """Return the figures as Markdown."""
    columns = list(next(iter(rows.values())))
    lines = ["| set | " + " | ".join(columns) + " |", "|---|" + "--:|" * len(columns)]
    for name, row in rows.items():
        cells = [f"{value:,.0f}" for value in row.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=f"{__doc__}".splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=[*sets(), EDITS, PARTS], metavar="NAME")
    parser.add_argument("--examples", type=int, default=0, metavar="N", help="wrong ones to show")
    parser.add_argument("--cache", type=Path, default=default_cache(), metavar="DIR")
    parser.add_argument("--json", action="store_true", help="figures as JSON, no table")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md")
    return parser.parse_args()


def main() -> int:
    """Measure, print, and write if asked to."""
    arguments = _arguments()
    chosen = arguments.sets or [*sets(), EDITS, PARTS]
    judged = [name for name in chosen if name not in {EDITS, PARTS}]
    rows = {name: row for name in judged for row in _figures(name, arguments)}
    tables = [table(rows)] if rows else []
    if EDITS in chosen:
        tables += _edits(arguments)
    if PARTS in chosen:
        tables += _parts()
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return 0
    print("\n\n".join(tables))
    if arguments.write and tables:
        write("verdicts.py", tables, "one run each.")
    return 0 if tables else 1


def _figures(name: str, arguments: argparse.Namespace) -> list[Row]:
    """Return the figures of a set, or nothing where this machine lacks it."""
    try:
        labelled = sets()[name](arguments.cache, Parameters())
    except MissingSetError as error:
        print(f"{name} is left out: {error}", file=sys.stderr)
        return []
    row, outcome = measure(labelled, Parameters())
    print(f"{name}: {row}", file=sys.stderr)
    show_examples(name, outcome, arguments.examples)
    return [row]


def _edits(arguments: argparse.Namespace) -> list[str]:
    """Return the table of edits, or nothing where this machine lacks the texts."""
    try:
        found, missed = measure_edits()
    except MissingSetError as error:
        print(f"{EDITS} is left out: {error}", file=sys.stderr)
        return []
    print("\n".join(missed[: arguments.examples]))
    return [found]


def _parts() -> list[str]:
    """Return the table of parts, or nothing where this machine lacks the texts."""
    try:
        return [measure_parts()]
    except MissingSetError as error:
        print(f"{PARTS} is left out: {error}", file=sys.stderr)
        return []


if __name__ == "__main__":
    sys.exit(main())
