"""``crawl-once rules DIR``: report which parts of a site's URLs do not matter, and why."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import Command, checked_file, one_directory, refuse_format
from crawler.console.escaping import say, whole_file
from crawler.console.options import JSON, CommandError, among, flag, one_of, option
from neardup.plurals import many

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from crawler.url_rules.learning.proposals import Proposal
    from crawler.url_rules.rule_report import RuleReport, StoredRule

_MAX_REFUTED = 10
_MAX_TRAPS = 20
_MAX_STANDARD = 20

OWN, DISCARDER = FORMATS = "crawl-once", "duplicate-url-discarder"

_MAX_DIGITS = 18


def rule_lines(report: RuleReport) -> Iterator[str]:
    """Yield all lines of ``crawl-once rules``."""
    from crawler.console.report_text import trap_lines

    holding = [rule for rule in report.rules if rule.state == "holds"]
    standard = [rule for rule in holding if rule.is_standard]
    if all(rule.is_standard for rule in report.rules):
        yield "no rule was learned: no part of this site's URLs proved irrelevant"
    left_out = standard[_MAX_STANDARD:]
    for rule in holding:
        if rule not in left_out:
            yield from _lines(rule)
    if left_out:
        yield f"and {many(len(left_out), 'standard rule')} more; --json has all of them"
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
    if report.refuted:
        yield ""
        yield from _refuted(report)


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


@dataclass(frozen=True)
class _RulesOptions:
    json: bool = flag(JSON)
    export: str | None = option(
        "FILE",
        "write the rules that hold for another crawl (--rules FILE); - prints them",
        names=("-o", ""),
    )
    format: str | None = option(
        "FORMAT",
        f"format of that file: {OWN} (default), or {DISCARDER}, which that library reads",
        read=among(lambda: FORMATS, "format"),
    )
    forget: str | None = option(
        "NUMBER", "forget the rule of this number for good; what it skipped is queued again"
    )
    forget_rendering: bool = flag("forget which kinds of URLs show more in a browser")


class RulesCommand(Command):
    """Prints rules, also while the crawl is running; to forget needs it stopped."""

    options = _RulesOptions
    usage = "[--json | --export FILE [--format FORMAT] | --forget NUMBER | --forget-rendering] DIR"
    summary = "Say which parts of URLs a crawl found irrelevant, and what that saved"

    def act(self, args: list[str], opts: _RulesOptions) -> None:
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
            from crawler.url_rules.rule_store import forget_rendering

            say(f"{many(forget_rendering(folder), 'kind')} of URLs forgotten")
            return
        with closing(open_for_reading(folder)) as connection:
            if opts.export is not None:
                _export(connection, opts.export, opts.format)
            else:
                report = rule_report(connection)
                self.say_result(opts, partial(asdict, report), rule_lines(report))


def _check(opts: _RulesOptions) -> None:
    """Refuse options that make no sense together, or alone."""
    one_of(opts, ("json", "export", "forget", "forget_rendering"))
    refuse_format(opts.export or "", "-o", "--format names the format of rules")
    if opts.format is not None and opts.export is None:
        raise CommandError("--format needs --export FILE")
    number = opts.forget
    if number is not None and not (number.isdecimal() and len(number) <= _MAX_DIGITS):
        raise CommandError(f"--forget takes the number of a rule, got {number!r}")


def _export(connection: sqlite3.Connection, to: str, kind: str | None) -> None:
    from crawler.storage.states import HOLDS
    from crawler.url_rules.rule_files import discarder_text, rules_text
    from crawler.url_rules.rule_store import in_states

    rules = in_states(connection.execute, HOLDS)
    left: list[Proposal] = []
    if kind == DISCARDER:
        text, left = discarder_text(rules)
    else:
        text = rules_text(rules)
    for context, transform in left:
        say(
            f"left out, since {DISCARDER} cannot express it: {context}: {transform}", to_stderr=True
        )
    with whole_file(checked_file(to, "-o"), "json") as file:
        file.write(text.encode())
    if to != "-":
        say(f"{many(len(rules) - len(left), 'rule')} in {to}")
