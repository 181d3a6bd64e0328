"""``scrapy tune DIR max_distance=5``: judge pages to come by other parameters."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.command_line import CommandError, PlainCommand, one_directory
from crawler.pages.database import open_for_reading
from crawler.pages.errors import JobError
from crawler.pages.tuning import check_name, tune
from crawler.pages.tuning_report import tuning_report
from crawler.tuning_text import tuning_lines
from neardup import ParameterError

if TYPE_CHECKING:
    import argparse

ORIGIN = "tune"

_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Command(PlainCommand):
    """Also while the crawl is running, which takes them over within a second."""

    def syntax(self) -> str:
        """Shown in the usage line."""
        return "[--json] DIR [NAME=VALUE ...]"

    def short_desc(self) -> str:
        """Shown in the list of commands."""
        return "Change when a crawl calls pages duplicates, also while it is running"

    def long_desc(self) -> str:
        """Shown by --help."""
        return (
            "max_distance=0..8, candidate_distance=0..8, min_similarity=0..1, min_words=1.., "
            "verify=True|False: for pages to come. scrapy rejudge applies them to all others. "
            "Without any, what holds and what held before is printed."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """The options of this command."""
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Change parameters of a crawl directory, or print them."""
        folder = Path(one_directory(args[:1]))
        try:
            changes = _changes(args[1:])
            if changes:
                tune(folder, changes, ORIGIN)
            with closing(open_for_reading(folder)) as connection:
                report = tuning_report(connection)
        except (JobError, ParameterError) as error:
            raise CommandError(str(error)) from None
        if opts.json:
            print(json.dumps(report.to_dict(), indent=2))
            return
        for line in tuning_lines(report, str(folder)):
            print(line)


def _changes(arguments: list[str]) -> dict[str, object]:
    changes: dict[str, object] = {}
    for name, value in map(_assignment, arguments):
        if name in changes:
            raise CommandError(f"{name} is given twice")
        changes[name] = value
    return changes


def _assignment(argument: str) -> tuple[str, object]:
    name, equals, value = argument.partition("=")
    if not equals:
        raise CommandError(f"NAME=VALUE expected, got {argument}; such as max_distance=5")
    check_name(name)
    if name == "verify":
        if value.lower() not in _WORDS:
            raise ParameterError(f"verify must be True or False, got {value!r}")
        return name, _WORDS[value.lower()]
    try:
        return name, float(value) if name == "min_similarity" else int(value)
    except ValueError:
        kind = "a number" if name == "min_similarity" else "a whole number"
        raise ParameterError(f"{name} must be {kind}, got {value!r}") from None
