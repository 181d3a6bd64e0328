"""``crawl-once rules DIR``: report which parts of a site's URLs do not matter, and why."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, one_directory, refuse_format
from crawler.console.escaping import say, say_json
from crawler.console.lab_options import one_of
from crawler.suggestions import did_you_mean
from neardup.plurals import many

if TYPE_CHECKING:
    import argparse
    import sqlite3
    from collections.abc import Iterator

    from crawler.url_rules.learning.proposals import Proposal
    from crawler.url_rules.rule_report import RuleReport, StoredRule

_MAX_REFUTED = 10
_MAX_TRAPS = 20
_MAX_FIXED = 20

OWN, DISCARDER = FORMATS = "crawl-once", "duplicate-url-discarder"

_MAX_DIGITS = 18


def rule_lines(report: RuleReport) -> Iterator[str]:
    """Yield all lines of ``crawl-once rules``."""
    from crawler.console.report_text import trap_lines, untrusted_lines

    holding = [rule for rule in report.rules if rule.state == "holds"]
    if not report.rules:
        yield "no rule was learned: no part of this site's URLs proved irrelevant"
    for rule in holding:
        yield from _lines(rule)
    ended = [rule for rule in report.rules if rule.state != "holds"]
    if ended:
        yield ""
        yield "rules that no longer hold:"
        for rule in ended:
            yield f"  {rule.id}  {rule.where}: {rule.what}"
            yield f"     {rule.state}: {rule.reason}"
    if holding:
        saved = sum(rule.saved for rule in holding)
        explored = sum(rule.explored for rule in holding)
        yield ""
        yield f"{many(saved, 'request')} not made, {explored:,} made to try the rules"
    if report.traps:
        yield ""
        yield from trap_lines(report.traps, _MAX_TRAPS)
    if report.untrusted_canonicals:
        yield ""
        yield from untrusted_lines(report.untrusted_canonicals, _MAX_TRAPS)
    if report.refuted:
        yield ""
        yield from _refuted(report)
    if report.fixed:
        yield ""
        yield from _fixed(report)


def _fixed(report: RuleReport) -> Iterator[str]:
    yield "fixed rules (docs/urls.md), tried on each host:"
    for rule in report.fixed[:_MAX_FIXED]:
        state = "holds" if rule.reason is None else "does not hold"
        yield f"  {rule.host}: {rule.name} {state}"
        variants = many(rule.variants, "variant")
        yield f"     {variants} met, {rule.tried:,} requested, {rule.agreed:,} the same page"
        if rule.reason is not None:
            yield f"     {rule.reason}"
    more = len(report.fixed) - _MAX_FIXED
    if more > 0:
        yield f"  and {more:,} more; --json has all of them"


def _lines(rule: StoredRule) -> Iterator[str]:
    from crawler.url_rules.rule_report import evidence_lines

    yield f"{rule.id}  {rule.where}: {rule.what}"
    yield from (f"   {line}" for line in evidence_lines(rule))


def _refuted(report: RuleReport) -> Iterator[str]:
    yield "rules that were considered and do not hold:"
    for known in report.refuted[:_MAX_REFUTED]:
        yield f"  {known.where}: {known.what}"
        yield f"     {many(known.texts, 'text')} for it; against it: {known.page}"
        yield f"     differs from {known.other}"
    more = len(report.refuted) - _MAX_REFUTED
    if more > 0:
        yield f"  and {more:,} more; --json has all of them"


class RulesCommand(PlainCommand):
    """Prints rules, also while the crawl is running; to forget needs it stopped."""

    usage = "[--json | --export FILE [--format FORMAT] | --forget NUMBER | --forget-rendering] DIR"
    summary = "Say which parts of URLs a crawl found irrelevant, and what that saved"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "-o",
            "--export",
            metavar="FILE",
            help="write the rules that hold for another crawl (--rules FILE); - prints them",
        )
        parser.add_argument(
            "--format",
            metavar="FORMAT",
            help=f"format of that file: {OWN} (default), or {DISCARDER}, which that library reads",
        )
        parser.add_argument(
            "--forget",
            metavar="NUMBER",
            help="forget the rule of this number for good; what it skipped is queued again",
        )

        parser.add_argument(
            "--forget-rendering",
            action="store_true",
            help="forget which kinds of URLs show more in a browser",
        )

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print, export or forget rules of a crawl directory."""
        from crawler.storage.database import open_for_reading
        from crawler.url_rules.rule_report import rule_report

        _check(opts)
        folder = Path(one_directory(args))
        if opts.forget is not None:
            from crawler.url_rules.rule_store import forget_rule

            again = forget_rule(folder, int(opts.forget))
            say(f"rule {opts.forget} is forgotten; {many(again, 'request')} queued again")
            return
        if opts.forget_rendering:
            from crawler.url_rules.rule_store import forget_kinds

            say(f"{many(forget_kinds(folder), 'kind')} of URLs forgotten")
            return
        with closing(open_for_reading(folder)) as connection:
            if opts.export is not None:
                _export(connection, opts)
            else:
                report = rule_report(connection)
                self.say_result(opts, partial(asdict, report), rule_lines(report))


def _check(opts: argparse.Namespace) -> None:
    """Refuse options that make no sense together, or alone."""
    one_of(opts, ("json", "export", "forget", "forget_rendering"))
    if opts.export == "":
        raise CommandError("--export takes a file, or - for standard output")
    refuse_format(opts.export or "", "-o", "--format names the format of rules")
    if opts.format is not None and opts.export is None:
        raise CommandError("--format needs --export FILE")
    if opts.format not in (None, *FORMATS):
        hint = did_you_mean(opts.format, FORMATS) or f"; there are {' and '.join(FORMATS)}"
        raise CommandError(f"--format {opts.format}: no such format{hint}")
    number = opts.forget
    if number is not None and not (number.isdecimal() and len(number) <= _MAX_DIGITS):
        raise CommandError(f"--forget takes the number of a rule, got {number!r}")


def _export(connection: sqlite3.Connection, opts: argparse.Namespace) -> None:
    from crawler.storage.output_files import check_output
    from crawler.url_rules.rule_files import discarder_text, rules_text
    from crawler.url_rules.rule_store import holding

    rules = holding(connection)
    left: list[Proposal] = []
    if opts.format == DISCARDER:
        text, left = discarder_text(rules)
    else:
        text = rules_text(rules)
    for context, transform in left:
        say(
            f"left out, since {DISCARDER} cannot express it: {context}: {transform}", to_stderr=True
        )
    if opts.export == "-":
        say_json(text.rstrip("\n"))
        return
    check_output(Path(opts.export))
    try:
        from neardup.files.durable import named_file

        with named_file(Path(opts.export)) as file:
            file.write(text.encode())
    except OSError as error:
        raise CommandError(f"{opts.export}: cannot be written: {error.strerror}") from None
    say(f"{many(len(rules) - len(left), 'rule')} in {opts.export}")
