"""Describe the faults of a site for people on a terminal."""

from __future__ import annotations

from textwrap import shorten
from typing import TYPE_CHECKING

from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.fault import Fault, FaultExample, FaultKind
    from crawler.maintenance.site_faults import SiteReport

_SHOWN_PAGES = 3
_SHOWN_CHARACTERS = 80


def fault_lines(report: SiteReport, folder: str) -> Iterator[str]:
    """Yield the faults of a site, each with its examples, then those of which there is none."""
    yield f"{folder}: {many(report.pages, 'page')}"
    if report.queued:
        left = many(report.queued, "URL")
        yield f"The crawl has still to ask for {left}: what follows is not the whole site."
    if not report.pages:
        return
    for fault in report.faults:
        if fault.count:
            yield from _lines(fault)
    if nothing := [_small(fault.kind.heading) for fault in report.faults if not fault.count]:
        yield ""
        yield f"none found: {', '.join(nothing)}"


def _lines(fault: Fault) -> Iterator[str]:
    yield ""
    yield f"{fault.kind.heading}: {fault.count:,}"
    yield f"  {fault.kind.meaning}"
    for example in fault.examples:
        yield from _example_lines(fault.kind, example)
    if fault.count > len(fault.examples):
        yield f"    {fault.count - len(fault.examples):,} more; --limit N shows more of them"


def _example_lines(kind: FaultKind, example: FaultExample) -> Iterator[str]:
    if kind.is_shared:
        yield f'    "{shorten(example.detail, _SHOWN_CHARACTERS, placeholder=" ...")}"'
    else:
        yield f"    {example.url}"
        if example.detail:
            yield f"        {example.detail}"
    for page in example.pages[:_SHOWN_PAGES]:
        text = f": {page.text}" if page.text else ""
        yield f"        {kind.relation} {page.url}{text}"
    if example.count > _SHOWN_PAGES:
        yield f"        and {example.count - _SHOWN_PAGES:,} more"


def _small(heading: str) -> str:
    return heading[:1].lower() + heading[1:]
