"""Write log lines as JSON, an object a line, for programs that collect logs."""

from __future__ import annotations

import json
import logging
import re
from typing import Any

from crawler.console.escaping import plain_json, plain_record
from crawler.pages.export import iso_time

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
