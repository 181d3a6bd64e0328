"""Describe a verification for people on a terminal, with its progress."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from crawler.console.escaping import redraw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.verify.finding import Finding
    from crawler.maintenance.verify.verification import Verification

_INTERVAL_SECS = 0.5


def verification_lines(found: Verification) -> Iterator[str]:
    """Yield the lines of a verification: what is right, what is not, and how to repair it."""
    yield f"{found.folder}: {found.pages:,} URLs, {found.kept:,} pages kept"
    yield ""
    for checked in found.checked:
        if not checked.findings:
            yield f"  ok       {checked.name}"
        for finding in checked.findings:
            yield from _finding_lines(finding)


def _finding_lines(finding: Finding) -> Iterator[str]:
    yield f"  {'left' if finding.is_leftover else 'PROBLEM':<8} {finding.what}"
    for example in finding.examples:
        yield f"             {example}"
    if finding.count > len(finding.examples) > 0:
        yield f"             and {finding.count - len(finding.examples):,} more"
    if finding.is_leftover:
        yield f"           the next crawl {finding.remedy}, and so does --repair"
    elif finding.remedy:
        yield f"           --repair {finding.remedy}"
    else:
        yield f"           no repair can mend this: {finding.advice}"


class TerminalWatch:
    """Shows the progress of checks on a terminal, in one line that is overwritten."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._what = ""
        self._done = self._total = 0
        self._said_at = time.monotonic()

    def begin(self, what: str, total: int) -> None:
        """Begin a task with a number of steps."""
        self._what, self._done, self._total = what, 0, total

    def advance(self, steps: int = 1) -> None:
        """Count steps that are done, and show the progress, not too often."""
        self._done += steps
        if self._is_shown and time.monotonic() - self._said_at >= _INTERVAL_SECS:
            self._said_at = time.monotonic()
            line = f"{self._what}: {self._done:,} of {self._total:,}"
            redraw(line)

    def end(self) -> None:
        """Remove the line."""
        if self._is_shown:
            redraw()
