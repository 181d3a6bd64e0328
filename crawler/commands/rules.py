"""``scrapy rules DIR``: which parts of a site's URLs do not matter, and what shows it."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.command_line import CommandError, PlainCommand, one_directory
from crawler.frontier.forgetting import forget_rule
from crawler.frontier.rule_files import discarder_text, rules_text
from crawler.frontier.rule_report import rule_report
from crawler.frontier.rule_store import holding
from crawler.pages.database import open_for_reading
from crawler.pages.errors import JobError
from crawler.rules_text import rule_lines

if TYPE_CHECKING:
    import argparse
    import sqlite3

    from crawler.urls.learning.proposals import Proposal

OWN, DISCARDER = "crawl-once", "duplicate-url-discarder"


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
            choices=[OWN, DISCARDER],
            default=OWN,
            help=f"of the file: {OWN} (the default), or what {DISCARDER} reads",
        )
        parser.add_argument(
            "--forget",
            metavar="RULE",
            help="let go of the rule with this number; what it skipped is queued again",
        )

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print, export or forget rules of a crawl directory."""
        folder = Path(one_directory(args))
        try:
            if opts.forget is not None:
                self._forget(folder, opts.forget)
                return
            with closing(open_for_reading(folder)) as connection:
                if opts.export is not None:
                    _export(connection, opts)
                else:
                    _report(connection, is_json=opts.json)
        except JobError as error:
            raise CommandError(str(error)) from None

    def _forget(self, folder: Path, number: str) -> None:
        if not number.isdecimal():
            raise CommandError(f"--forget takes the number of a rule, got {number!r}")
        again = forget_rule(folder, int(number))
        print(f"rule {number} is forgotten; {again:,} requests are queued again")


def _report(connection: sqlite3.Connection, *, is_json: bool) -> None:
    report = rule_report(connection)
    if is_json:
        print(report.to_json())
        return
    for line in rule_lines(report):
        print(line)


def _export(connection: sqlite3.Connection, opts: argparse.Namespace) -> None:
    rules = holding(connection)
    left: list[Proposal] = []
    if opts.format == DISCARDER:
        text, left = discarder_text(rules)
    else:
        text = rules_text(rules)
    if opts.export == "-":
        print(text, end="")
    else:
        try:
            Path(opts.export).write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{opts.export}: cannot be written: {error.strerror}") from None
    for context, transform in left:
        print(f"left out, {DISCARDER} cannot say it: {context}: {transform}", file=sys.stderr)
    if opts.export != "-":
        print(f"{opts.export}: {len(rules) - len(left):,} rules")
