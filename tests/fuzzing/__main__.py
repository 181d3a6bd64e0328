"""Fuzz the readers of foreign bytes: ``python -m tests.fuzzing [TARGET ...]``.

Exit status: 0 nothing was found, 1 an input raised, hung, grew or crashed, 2 a wrong option.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fuzzing.fuzzing_process import HAS_ATHERIS
from tests.fuzzing.target import find_targets
from tests.fuzzing.watching import Outcome, Watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.fuzzing.target import Target

FOUND, USAGE = 1, 2


def say(line: str) -> None:
    """Print a line at once, though it goes to a file."""
    print(line, flush=True)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzzing", description="Fuzz the readers of foreign bytes."
    )
    parser.add_argument("target", nargs="*", help="targets or their subjects (default: all)")
    parser.add_argument("--list", action="store_true", help="name the targets, and end")
    parser.add_argument("--minutes", type=float, default=10, help="time of a target (default: 10)")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30), metavar="N")
    parser.add_argument("--findings", type=Path, metavar="DIR", help="where wrong inputs are put")
    parser.add_argument("--input", type=Path, metavar="FILE", help="read one input, and end")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its status."""
    options = _options(arguments)
    try:
        targets = find_targets(options.target)
    except LookupError as error:
        print(error, file=sys.stderr)
        return USAGE
    if options.list:
        for subject, target in targets:
            say(f"{target.name:<24} {subject}")
        return 0
    if options.input is not None:
        return _read_one(targets, options.input)
    findings = options.findings or Path(tempfile.mkdtemp(prefix="fuzzing-"))
    findings.mkdir(parents=True, exist_ok=True)
    way = "changed by coverage" if HAS_ATHERIS else "changed blindly: atheris is not installed"
    say(f"seed {options.seed}, inputs {way}, findings go to {findings}")
    outcomes: list[Outcome] = []
    for subject, target in targets:
        outcomes.append(
            Watch(subject, target, findings, say).run(options.minutes * 60, options.seed)
        )
        say(_row(outcomes[-1]))
        if outcomes[-1].was_stopped:
            break
    for line in _table(outcomes):
        say(line)
    return FOUND if any(outcome.findings for outcome in outcomes) else 0


def _read_one(targets: list[tuple[str, Target]], path: Path) -> int:
    """Read one input by each target; let what it raises be seen."""
    for _, target in targets:
        with tempfile.TemporaryDirectory() as folder:
            try:
                target.begin(Path(folder))(path.read_bytes())
            except target.refusals as error:
                say(f"{target.name} refuses it: {error!r}")
            else:
                say(f"{target.name} reads it")
    return 0


def _table(outcomes: Sequence[Outcome]) -> list[str]:
    head = ["| target | inputs | minutes | findings |", "|---|---:|---:|---:|"]
    return [*head, *map(_row, outcomes)]


def _row(one: Outcome) -> str:
    return f"| {one.name} | {one.inputs:,} | {one.secs / 60:.1f} | {one.findings} |"


if __name__ == "__main__":
    sys.exit(main())
