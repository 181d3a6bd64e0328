"""Show the numbers of a crawl on standard error, line by line."""

from __future__ import annotations

import json
import logging
import re
import time
from typing import TYPE_CHECKING, Any

from crawler.console.escaping import plain_json, plain_record, say
from crawler.crawl_numbers import FINISHING
from crawler.options import JSON, TEXT
from crawler.pages.export import iso_time
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawler.crawl_numbers import Numbers, Sums

_URL = re.compile(r"https?://[^\s<>\"']+")
_AFTER_URL = ".,:;)]}"


class JsonFormatter(logging.Formatter):
    """Formats a record as an object: ``time``, ``level``, ``logger``, ``message``.

    ``url`` is the first URL of the message, ``exception`` the traceback; both are there only where
    there is one.
    """

    def format(self, record: logging.LogRecord) -> str:
        """See the base class."""
        exception = record.exc_text or ""
        if not exception and record.exc_info:
            exception = self.formatException(record.exc_info)
        message = record.getMessage()
        return json_line(record.created, record.levelno, record.name, message, exception)


def json_line(at: float, level: int, logger: str, message: str, exception: str = "") -> str:
    """Return a line of the log as JSON; its parts are those of a record."""
    line = {
        "time": iso_time(at),
        "level": logging.getLevelName(level),
        "logger": logger,
        "message": message,
    }
    if (found := _URL.search(message)) is not None:
        line["url"] = found[0].rstrip(_AFTER_URL)
    if exception:
        line["exception"] = exception
    return plain_json(json.dumps(line, ensure_ascii=False))


def json_logs() -> None:
    """Let all handlers of the log write JSON from now on, also those that are made later."""
    logging.setLogRecordFactory(_record)


def _record(*args: Any, **kwargs: Any) -> logging.LogRecord:
    # Scrapy makes its handler after the settings are read, and again for each crawler.
    for handler in logging.getLogger().handlers:
        if not isinstance(handler.formatter, JsonFormatter):
            handler.setFormatter(JsonFormatter())
    return plain_record(*args, **kwargs)


def clock(secs: float) -> str:
    """Return a time as hours, minutes and seconds: ``0:02:13``, ``2 d 0:05:00``."""
    minutes, seconds = divmod(int(secs), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{f'{days} d ' if days else ''}{hours}:{minutes:02}:{seconds:02}"


def limit_words(numbers: Numbers) -> str:
    """Return how far a crawl is, and how long it still takes; empty where no limit is known."""
    if numbers.share is None:
        return ""
    left = "" if numbers.eta_secs is None else f", about {clock(numbers.eta_secs)} left"
    return f"{int(100 * numbers.share)} % of {numbers.limit}{left}"


def finishing_words(numbers: Numbers) -> str:
    """Return how many pages a crawl that ends still waits for."""
    return f"finishing {many(numbers.in_flight, 'page')}"


def plain_line(numbers: Numbers) -> str:
    """Return all numbers in one line."""
    parts = [clock(numbers.elapsed_secs), f"{_sums_words(numbers.run)}"]
    if numbers.state == FINISHING and numbers.in_flight:
        parts.insert(0, finishing_words(numbers))
    parts += [
        f"{numbers.pages_per_sec:.1f} pages/s",
        f"{numbers.queued:,} queued",
        f"{numbers.in_flight:,} in flight",
        limit_words(numbers),
        *remarks(numbers),
    ]
    if not numbers.is_new:
        parts.append(f"directory: {_sums_words(numbers.directory)}")
    return ", ".join(filter(None, parts))


def _sums_words(sums: Sums) -> str:
    words = [f"{sums.fetched:,} fetched", f"{sums.kept:,} kept", many(sums.duplicates, "duplicate")]
    words += [f"{count:,} {name}" for name, count in optional_sums(sums) if count]
    return ", ".join(words)


def optional_sums(sums: Sums) -> tuple[tuple[str, int], ...]:
    return (
        ("changed", sums.changed),
        ("unchanged", sums.unchanged),
        ("other", sums.other),
        ("failed", sums.failed),
    )


def remarks(numbers: Numbers) -> Iterator[str]:
    if numbers.promoted:
        yield f"{many(numbers.promoted, 'duplicate')} kept after all"
    if numbers.files:
        yield f"{many(numbers.files, 'file')} among what was fetched"
    if requests := numbers.run.browser_requests:
        yield f"{many(requests, 'request')} of the browser"
    yield from filter(None, (numbers.resting, numbers.fleet))


class PlainProgress:
    """A line at an interval, for logs.

    Args:
        read: Returns the numbers.
        log_format: Format of the lines of the log, between which these stand.
    """

    def __init__(self, read: Callable[[], Numbers], log_format: str = TEXT) -> None:
        self._read = read
        self._is_json = log_format == JSON

    def show(self) -> None:
        """Print the line."""
        line, now = plain_line(self._read()), time.time()
        if self._is_json:
            say(json_line(now, logging.INFO, "crawler.progress", line), to_stderr=True)
            return
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))
        say(f"{stamp} {line}", to_stderr=True)

    def stop(self) -> None:
        """Print the line a last time."""
        self.show()
