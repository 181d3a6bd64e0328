"""The line that shows how far a command is."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from crawler.console import progress
from crawler.console.progress import ProgressLine

if TYPE_CHECKING:
    from collections.abc import Callable


class Terminal(io.StringIO):
    """Standard error that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def _tell(line: ProgressLine) -> None:
    line(0.25, "pages read")


def _count(line: ProgressLine) -> None:
    line.begin("pages judged", 3)
    line.advance(2)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (_tell, " 25 %  pages read"),
        (_count, " 67 %  pages judged: 2 of 3"),
    ],
)
class TestProgressLine:
    def test_a_terminal_shows_it_and_is_left_clean(
        self, monkeypatch: pytest.MonkeyPatch, act: Callable[[ProgressLine], None], words: str
    ) -> None:
        terminal = Terminal()
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(progress, "REDRAW_SECS", 0)
        with ProgressLine() as line:
            act(line)
            assert words in terminal.getvalue()
        assert terminal.getvalue().rpartition(words)[2].endswith("\x1b[2K")

    def test_elsewhere_nothing_is_written(
        self, monkeypatch: pytest.MonkeyPatch, act: Callable[[ProgressLine], None], words: str
    ) -> None:
        file = io.StringIO()
        monkeypatch.setattr("sys.stderr", file)
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setattr(progress, "REDRAW_SECS", 0)
        with ProgressLine() as line:
            act(line)
        assert file.getvalue() == ""


def test_it_never_acts_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "REDRAW_SECS", 0)
    with ProgressLine() as line:
        line(0.5, "a\x1b]0;title\x07b [bold]c")
    assert "a␛]0;title␇b [bold]c" in terminal.getvalue()
