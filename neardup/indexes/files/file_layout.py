"""Tell from their names alone which files of an index directory count.

Each log has a number. A segment is named after the first and the last log whose entries it holds:
``00000001-00000004.seg``. So the name says what a segment replaces: every file whose logs lie
within its own. One rename puts a merged segment in and takes its inputs out; what a crash leaves
of the inputs is recognised and removed. The segments that count follow one another without a gap,
from log 1 on, and one log follows them.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from neardup.files.durable import TEMPORARY_SUFFIX, origin_of

LAST_LOG = 99_999_999
"""The largest number of a log: names have eight digits."""

_SEGMENT = re.compile(r"(\d{8})-(\d{8})\.seg")
_LOG = re.compile(r"(\d{8})\.log")
_OURS = (".seg", ".log", TEMPORARY_SUFFIX)


class Span(NamedTuple):
    """The logs whose entries a segment holds, both ends included."""

    first: int
    last: int

    @property
    def name(self) -> str:
        """The name of the segment's file."""
        return f"{self.first:08d}-{self.last:08d}.seg"


class Layout(NamedTuple):
    """The files of an index directory.

    Attributes:
        spans: The segments that count, the oldest first.
        log: The number of the log that takes new entries.
        log_exists: Whether that log exists; otherwise it has to be created.
        obsolete: The names of files that a segment has replaced or that were never finished.
    """

    spans: list[Span]
    log: int
    log_exists: bool
    obsolete: list[str]


class LayoutError(Exception):
    """The names contradict one another; the message says how."""


def log_name(number: int) -> str:
    """Return the name of a log's file."""
    return f"{number:08d}.log"


def layout_of(names: Iterable[str]) -> Layout:
    """Read the state of an index directory from the names in it.

    Names that are none of ours are left alone.

    Raises:
        LayoutError: A file is missing or has a wrong name.
    """
    spans, logs, obsolete = [], [], []
    for name in sorted(names):
        if found := _SEGMENT.fullmatch(name):
            spans.append(Span(int(found[1]), int(found[2])))
        elif found := _LOG.fullmatch(name):
            logs.append(int(found[1]))
        elif name.endswith(TEMPORARY_SUFFIX) and is_ours(name):
            obsolete.append(name)
        elif name.endswith(_OURS):
            raise LayoutError(f"a file name such as 00000001.log, found {name!r}")
    kept = _without_replaced(spans)
    obsolete += [span.name for span in spans if span not in kept]
    log = kept[-1].last + 1 if kept else 1
    _check_logs(logs, log)
    obsolete += [log_name(number) for number in logs if number < log]
    return Layout(kept, log, log in logs, obsolete)


def is_ours(name: str) -> bool:
    """Whether an index gives a segment or a log such a name, a torn tail or half of it included."""
    origin = origin_of(name)
    return bool(_SEGMENT.fullmatch(origin) or _LOG.fullmatch(origin))


def _without_replaced(spans: list[Span]) -> list[Span]:
    """Return the spans that lie within no other, checked to follow one another."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.first, -span.last)):
        if not 1 <= span.first <= span.last:
            raise LayoutError(f"a segment's first log before its last, found {span.name!r}")
        if kept and span.last <= kept[-1].last:
            continue
        wanted = kept[-1].last + 1 if kept else 1
        if span.first != wanted:
            raise LayoutError(f"a segment that starts with log {wanted}, found {span.name!r}")
        kept.append(span)
    return kept


def _check_logs(logs: list[int], log: int) -> None:
    if any(number > log for number in logs):
        raise LayoutError(f"{log_name(log)!r} to be the newest log, found {log_name(max(logs))!r}")
    # A segment is put in place before the next log is made, and removes its own log after that.
    if log not in logs and log - 1 not in logs and log > 1:
        raise LayoutError(f"the log {log_name(log)!r}, found none")
