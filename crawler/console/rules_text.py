"""Learned rules as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.console.report_text import trap_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.url_rules.rule_report import RuleReport, StoredRule

_MOST_REFUTED = 10
_MOST_TRAPS = 20


def rule_lines(report: RuleReport) -> Iterator[str]:
    """Everything that ``scrapy rules`` says."""
    holding = [rule for rule in report.rules if rule.state == "holds"]
    if not report.rules:
        yield "no rule was learned: no part of this site's URLs proved irrelevant"
    for rule in holding:
        yield from _lines(rule)
    ended = [rule for rule in report.rules if rule.state != "holds"]
    if ended:
        yield ""
        yield "do not hold any more:"
        for rule in ended:
            yield f"  {rule.id}  {rule.where}: {rule.what}"
            yield f"     {rule.state}: {rule.reason}"
    if holding:
        saved = sum(rule.saved for rule in holding)
        explored = sum(rule.explored for rule in holding)
        yield ""
        yield f"{saved:,} requests were not made, {explored:,} were made to try the rules"
    if report.traps:
        yield ""
        yield from trap_lines(report.traps, _MOST_TRAPS)
    if report.refuted:
        yield ""
        yield from _refuted(report)


def _lines(rule: StoredRule) -> Iterator[str]:
    yield f"{rule.id}  {rule.where}: {rule.what}"
    if rule.origin == "learned":
        evidence = f"{rule.texts:,} texts under two URLs each, none that differed"
    else:
        evidence = f"from {rule.origin}; {rule.texts:,} texts under two URLs each since"
    yield f"   {evidence}: right in {rule.confidence:.0%} or more of all cases"
    yield f"   {rule.saved:,} requests not made, {rule.explored:,} made to try it"
    yield f"   {_examined(rule)}"


def _examined(rule: StoredRule) -> str:
    """Whether enough of what a rule skips was tried, and why not."""
    values = ", ".join(f"{value}: {pages:,}" for value, pages in rule.tried.items())
    if list(rule.tried) == ["any"]:
        values = f"{rule.tried['any']:,} pages"
    return {
        "proven": f"examined on as many pages as prove it ({values})",
        "all": f"examined on each page that it skips ({values or 'none'})",
        "ids": "not examined, since it drops ids: some pages were tried on the way",
        "undecided": f"NOT examined: too many pages could not be compared ({values or 'none was'})",
    }.get(rule.examined, f"NOT examined to the end: the crawl ended before ({values or 'none'})")


def _refuted(report: RuleReport) -> Iterator[str]:
    yield "were looked at and do not hold:"
    for known in report.refuted[:_MOST_REFUTED]:
        yield f"  {known.where}: {known.what}"
        yield f"     {known.texts:,} for it; against it: {known.page}"
        yield f"     and {known.other}"
    more = len(report.refuted) - _MOST_REFUTED
    if more > 0:
        yield f"  and {more:,} more; --json has all of them"
