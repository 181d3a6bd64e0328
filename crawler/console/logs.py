"""What of Scrapy's log a person at the terminal wants to see, and in which form."""

from __future__ import annotations

import logging

from crawler.console.escaping import say


class _Echo(logging.Handler):
    """Shows what Scrapy says of Ctrl-C at a level that is not shown by default."""

    def emit(self, record: logging.LogRecord) -> None:
        if str(record.msg).startswith("Received"):
            say(f"\n{record.getMessage().strip()}", to_stderr=True, with_lines=True)


def tidy_logs() -> None:
    """Show signals at a level that is shown."""
    scrapys = logging.getLogger("scrapy.crawler")
    if not any(isinstance(handler, _Echo) for handler in scrapys.handlers):
        scrapys.addHandler(_Echo(logging.INFO))
