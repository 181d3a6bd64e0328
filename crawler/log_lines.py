"""What of Scrapy's log a person at the terminal wants to see, and in which form."""

from __future__ import annotations

import logging
import sys


class _Echo(logging.Handler):
    """Shows what Scrapy says of Ctrl-C at a level that is not shown by default."""

    def emit(self, record: logging.LogRecord) -> None:
        if str(record.msg).startswith("Received"):
            print(f"\n{record.getMessage().strip()}", file=sys.stderr, flush=True)


def _in_one_line(record: logging.LogRecord) -> bool:
    """Take the traceback off: that a host does not answer is no fault of a program."""
    record.exc_info = None
    record.exc_text = None
    return True


def tidy_logs() -> None:
    """Show signals; say in one line that robots.txt could not be had."""
    scrapys = logging.getLogger("scrapy.crawler")
    if not any(isinstance(handler, _Echo) for handler in scrapys.handlers):
        scrapys.addHandler(_Echo(logging.INFO))
    robots = logging.getLogger("scrapy.downloadermiddlewares.robotstxt")
    if _in_one_line not in robots.filters:
        robots.addFilter(_in_one_line)
