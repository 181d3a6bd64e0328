"""What a terminal and a log get to see of the texts of strangers."""

from __future__ import annotations

import ast
import json
import logging
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.console.escaping import JsonFormatter, plain, plain_json, plain_logs


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Größe 大小 ☃", "Größe 大小 ☃"),
        ("\x1b[31mred\x07", "␛[31mred␇"),
        ("a\tb\r\nc\xa0d", "a b  c d"),
        ("\x9b2J\x7f", "\\x9b2J␡"),
        ("user\u202egpj.exe\u2066", "user\\u202egpj.exe\\u2066"),
        ("\u200b\ufeff\U000e0041", "\\u200b\\ufeff\\U000e0041"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_seen(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_line_breaks_stay_where_they_are_wanted() -> None:
    assert plain("a\nb\x0bc", with_lines=True) == "a\nb␋c"


class TestPlainProperties:
    @given(st.text(st.characters()))
    def test_nothing_is_left_that_cannot_be_printed(self, text: str) -> None:
        shown = plain(text)
        assert shown.isprintable()
        assert not any(unicodedata.category(one).startswith("C") for one in shown)
        shown.encode()

    @given(st.text(st.characters()))
    def test_doing_it_twice_changes_nothing(self, text: str) -> None:
        assert plain(plain(text)) == plain(text)


class TestPlainJsonProperties:
    @given(st.recursive(st.text(st.characters()), lambda inner: st.lists(inner, max_size=3)))
    def test_means_the_same_and_shows_nothing(self, value: object) -> None:
        shown = plain_json(json.dumps(value, ensure_ascii=False, indent=1))
        assert json.loads(shown) == value
        assert shown.replace("\n", "").isprintable()


def test_what_is_logged_is_plain_and_so_is_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    plain_logs()
    try:
        raise ValueError("bad \x1b[31m")
    except ValueError:
        logging.getLogger("anybody").exception("page \x1b]0;x\x07%s", "\x9b\r\n")
    (line, *traceback) = logging.Formatter().format(caplog.records[0]).split("\n")
    assert line == "page ␛]0;x␇\\x9b "
    assert traceback[-1] == "ValueError: bad ␛[31m"
    assert caplog.text.replace("\n", "").isprintable()


def test_nothing_else_prints() -> None:
    for path in Path("crawler").rglob("*.py"):
        names = [
            node.id
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Name)
        ]
        assert "print" not in names or path.name == "escaping.py", path


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
