"""``scrapy rules DIR``: which parts of a site's URLs do not matter, and what shows it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, one_directory
from crawler.console.escaping import say, say_json
from crawler.console.rules_text import rule_lines
from crawler.options import did_you_mean
from crawler.storage.database import open_for_reading
from crawler.storage.errors import JobError
from crawler.url_rules.forget import forget_rule
from crawler.url_rules.rule_files import discarder_text, rules_text
from crawler.url_rules.rule_report import rule_report
from crawler.url_rules.rule_store import holding

if TYPE_CHECKING:
    import argparse
    import sqlite3

    from crawler.url_rules.learning.proposals import Proposal

OWN, DISCARDER = FORMATS = "crawl-once", "duplicate-url-discarder"

_MOST_DIGITS = 18


class Command(PlainCommand):
    """Also while the crawl is running, but for ``--forget``."""

    def syntax(self) -> str:
        """Shown in the usage line."""
        return "[--json | --export FILE [--format FORMAT] | --forget RULE] DIR"

    def short_desc(self) -> str:
        """Shown in the list of commands."""
        return "Say which parts of URLs a crawl found irrelevant, and what that saved"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """The options of this command."""
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--export",
            metavar="FILE",
            help="write the rules that hold for another crawl (-a rules=FILE); - prints them",
        )
        parser.add_argument(
            "--format",
            metavar="FORMAT",
            help=f"of that file: {OWN} (the default), or {DISCARDER}, which that library reads",
        )
        parser.add_argument(
            "--forget",
            metavar="RULE",
            help="let go of the rule with this number for good; what it skipped is queued again",
        )

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print, export or forget rules of a crawl directory."""
        folder = Path(one_directory(args))
        _check(opts)
        try:
            if opts.forget is not None:
                _forget(folder, int(opts.forget))
                return
            with closing(open_for_reading(folder)) as connection:
                if opts.export is not None:
                    _export(connection, opts)
                else:
                    _report(connection, is_json=opts.json)
        except JobError as error:
            raise CommandError(str(error)) from None


def _check(opts: argparse.Namespace) -> None:
    """Refuse options that make no sense together, or alone."""
    chosen = [f"--{name}" for name in ("json", "export", "forget") if getattr(opts, name)]
    if len(chosen) > 1:
        raise CommandError(f"{' and '.join(chosen)} exclude each other")
    if opts.export == "":
        raise CommandError("--export takes a file, or - for standard output")
    if opts.format is not None and opts.export is None:
        raise CommandError("--format is that of --export FILE, which is missing")
    if opts.format not in (None, *FORMATS):
        hint = did_you_mean(opts.format, FORMATS) or f"; there are {' and '.join(FORMATS)}"
        raise CommandError(f"--format {opts.format}: no such format{hint}")
    number = opts.forget
    if number is not None and not (number.isdecimal() and len(number) <= _MOST_DIGITS):
        raise CommandError(f"--forget takes the number of a rule, got {number!r}")


def _forget(folder: Path, number: int) -> None:
    again = forget_rule(folder, number)
    say(f"rule {number} is forgotten; requests that are queued again: {again:,}")


def _report(connection: sqlite3.Connection, *, is_json: bool) -> None:
    report = rule_report(connection)
    if is_json:
        say_json(report.to_json())
        return
    for line in rule_lines(report):
        say(line)


def _export(connection: sqlite3.Connection, opts: argparse.Namespace) -> None:
    rules = holding(connection)
    left: list[Proposal] = []
    if opts.format == DISCARDER:
        text, left = discarder_text(rules)
    else:
        text = rules_text(rules)
    for context, transform in left:
        say(f"left out, {DISCARDER} cannot say it: {context}: {transform}", to_stderr=True)
    if opts.export == "-":
        say_json(text.rstrip("\n"))
        return
    try:
        Path(opts.export).write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{opts.export}: cannot be written: {error.strerror}") from None
    say(f"rules in {opts.export}: {len(rules) - len(left):,}")
