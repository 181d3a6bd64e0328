"""Log lines as JSON."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from crawler.console.escaping import JsonFormatter


def line_of(message: str, *args: object, with_error: bool = False) -> dict[str, str]:
    error = sys.exc_info() if with_error else None
    record = logging.LogRecord("some.logger", logging.ERROR, "", 1, message, args, error)
    record.created = 1_767_323_045.678
    text = JsonFormatter().format(record)
    assert "\n" not in text
    assert text.isprintable()
    loaded: dict[str, str] = json.loads(text)
    return loaded


def test_parts_of_a_line() -> None:
    assert line_of("%s: no", "a\x1b\nb") == {
        "time": "2026-01-02T03:04:05.678+00:00",
        "level": "ERROR",
        "logger": "some.logger",
        "message": "a\x1b\nb: no",
    }


@pytest.mark.parametrize(
    ("message", "url"),
    [
        ("http://a.example/x: no sitemap", "http://a.example/x"),
        ("Crawled (200) <GET https://a.example/?q=1> (referer: None)", "https://a.example/?q=1"),
        ("see (http://a.example/y).", "http://a.example/y"),
    ],
)
def test_the_first_url_of_the_message(message: str, url: str) -> None:
    assert line_of(message)["url"] == url


def test_the_traceback_of_an_error() -> None:
    try:
        raise ValueError("odd")
    except ValueError:
        line = line_of("broke", with_error=True)
    assert line["exception"].splitlines()[-1] == "ValueError: odd"
