"""Lines of a report on a narrow terminal."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.console.report_text import MIN_WIDTH, for_terminal, wrapped
from neardup import Parameters
from tests.crawler.maintenance.rejudge.captured import Said, capture
from tests.crawls.terminal import OnTerminal
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

COUNT = (
    "          2  failed           no page came: an HTTP error, no connection, forbidden by robots"
)


def test_a_column_is_continued_below_itself() -> None:
    assert wrapped(COUNT, 70) == [
        "          2  failed           no page came: an HTTP error, no",
        "                              connection, forbidden by robots",
    ]


def test_a_url_is_not_broken() -> None:
    url = f"http://a.example/{'long-name/' * 12}"
    assert wrapped(f"{url} (HTTP 404)", 80) == [url, "    (HTTP 404)"]


@given(st.text(st.sampled_from("ab,. -19")), st.integers(0, 200))
def test_no_word_is_lost_or_broken(line: str, width: int) -> None:
    lines = wrapped(line, width)
    assert " ".join(lines).split() == line.split()
    if width >= MIN_WIDTH:
        assert all(len(one) <= width or len(one.split()) == 1 for one in lines)


def test_lines_for_a_pipe_stay_whole() -> None:
    assert list(for_terminal([COUNT * 3], io.StringIO())) == [COUNT * 3]


@pytest.mark.slow
def test_a_report_on_a_terminal_breaks_no_word(tmp_path: Path) -> None:
    text = prose("a page", 80)
    pages = [("/a", Said(text)), ("/b", Said(f"{text} more")), ("/short", Said("few words"))]
    capture(tmp_path / "job", pages, Parameters())
    command = (sys.executable, "-m", "crawler", "report", str(tmp_path / "job"))
    with OnTerminal(80, command) as terminal:
        shown = " ".join(terminal.finish().text.split())
    with OnTerminal(200, command) as terminal:
        assert shown == " ".join(terminal.finish().text.split())
    assert "too few words to compare, and no kept page has this text: kept" in shown
