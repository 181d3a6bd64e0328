"""What of Scrapy's log a person at the terminal wants to see, and in which form."""

from __future__ import annotations

import logging
import sys


class _Echo(logging.Handler):
    """Shows what Scrapy says of Ctrl-C at a level that is not shown by default."""

    def emit(self, record: logging.LogRecord) -> None:
        if str(record.msg).startswith("Received"):
            print(f"\n{record.getMessage().strip()}", file=sys.stderr, flush=True)


def _is_no_repetition(record: logging.LogRecord) -> bool:
    """Whether a record says more than the failure of the page's own request will."""
    return not str(record.msg).startswith("Error downloading")


def tidy_logs() -> None:
    """Show signals; say once, not twice, that a host does not answer."""
    scrapys = logging.getLogger("scrapy.crawler")
    if not any(isinstance(handler, _Echo) for handler in scrapys.handlers):
        scrapys.addHandler(_Echo(logging.INFO))
    robots = logging.getLogger("scrapy.downloadermiddlewares.robotstxt")
    if _is_no_repetition not in robots.filters:
        robots.addFilter(_is_no_repetition)
