"""What a crawl was tuned to, as people read it on a terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from crawler.pages.chosen_parameters import in_words
from crawler.pages.export import iso_time
from crawler.pages.live_parameters import to_json
from neardup.parameters import CONFIRMED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pages.live_parameters import Tuned
    from crawler.pages.tuning_report import TuningReport


def tuning_lines(report: TuningReport, folder: str) -> Iterator[str]:
    """What holds, what held before it, and what is still judged by that."""
    if not report.history:
        yield f"{folder}: no crawl has begun in it yet"
        return
    now = report.history[-1]
    for name, value in json.loads(to_json(now.parameters)).items():
        yield f"  {name:<18} {value}"
    features = now.parameters.fingerprint_features
    if not now.parameters.verify and features == CONFIRMED:
        yield (
            f"  {features} are features that are to be confirmed: by their distance alone "
            "distinct pages are dropped; verify=True and scrapy rejudge undo it"
        )
    yield ""
    before: Tuned | None = None
    for tuned, pages in zip(report.history, report.pages, strict=True):
        said = "first" if before is None else in_words(before.parameters, tuned.parameters)
        since = iso_time(tuned.since)[:19].replace("T", " ")
        yield f"{pages:>11,} pages judged since {since} UTC, {tuned.origin}: {said}"
        before = tuned
    stale = sum(report.pages[:-1])
    if stale:
        yield ""
        yield f"what would now be judged otherwise: scrapy rejudge {folder} --dry-run"
