"""The panel and the line of a crawl's numbers."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from crawler.console import progress
from crawler.console.progress import ProgressLine, clock, panel_of, plain_line
from crawler.crawl_numbers import FINISHING, RUNNING, Numbers, Sums
from crawler.pages.verdicts import (
    CHANGED,
    FAILED,
    NEAR_DUPLICATE,
    NEW,
    NOT_HTML,
    UNCHANGED,
    VERDICTS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SUMS = Sums.of({NEW: 7, NEAR_DUPLICATE: 2, NOT_HTML: 1, FAILED: 3, "bytes": 4_000})
NUMBERS = Numbers(
    title="crawls/a.example",
    state=RUNNING,
    elapsed_secs=133.0,
    run=SUMS,
    directory=Sums.of({NEW: 70, UNCHANGED: 5, "bytes": 9}),
    is_new=True,
    is_stored=True,
    promoted=0,
    files=0,
    pages_per_sec=9.25,
    queued=8_000,
    in_flight=12,
    busy=1,
    workers=2,
    hosts=("a.example",),
    paused=0,
    resting="",
    limit="",
    share=None,
    eta_secs=None,
    fleet="",
)
LIMITED = replace(NUMBERS, limit="max_pages 1,000", share=0.459, eta_secs=3_725.0)
COUNTS = st.integers(0, 10**11)


def drawn(numbers: Numbers, width: int) -> list[str]:
    """The lines of a panel on a terminal of so many columns."""
    file = io.StringIO()
    Console(file=file, width=width, color_system=None).print(panel_of(numbers, width - 4))
    return file.getvalue().splitlines()


class TestSums:
    @given(st.dictionaries(st.sampled_from([*VERDICTS, "bytes"]), COUNTS))
    def test_parts_add_up(self, counts: Mapping[str, int]) -> None:
        sums = Sums.of(counts)
        parts = sums.kept + sums.duplicates + sums.changed + sums.unchanged + sums.other
        assert sums.fetched == parts
        assert sums.fetched + sums.failed + sums.bytes == sum(counts.values())

    def test_a_page_that_changes_at_each_visit_is_kept_once(self) -> None:
        sums = Sums.of({NEW: 10, CHANGED: 20, UNCHANGED: 5})
        assert (sums.kept, sums.changed, sums.fetched) == (10, 20, 35)


class TestPanel:
    @pytest.mark.parametrize("width", [80, 120])
    @given(
        counts=st.dictionaries(st.sampled_from([*VERDICTS, "bytes"]), COUNTS),
        words=st.text(max_size=200),
        number=COUNTS,
    )
    def test_no_line_is_wider_than_the_terminal_and_none_is_broken(
        self, width: int, counts: Mapping[str, int], words: str, number: int
    ) -> None:
        sums = Sums.of(counts)
        plain = replace(LIMITED, run=sums, directory=sums, is_new=False, queued=number)
        named = replace(plain, title=words, hosts=(words,), resting=words, fleet=words)
        lines = drawn(named, width)
        assert max(map(cell_len, lines)) <= width - 4
        assert len(lines) <= len(drawn(replace(LIMITED, is_new=False), width)) + 2
        assert all(line[0] in "╭│╰" and line[-1] in "╮│╯" for line in lines)

    def test_sums_of_the_directory_stand_below_those_of_the_run(self) -> None:
        lines = drawn(replace(NUMBERS, is_new=False), 80)
        assert lines[1].split() == "│ fetched kept duplicates unchanged other failed │".split()
        assert lines[2].split() == "│ this run 10 7 2 0 1 3 │".split()
        assert lines[3].split() == "│ directory 75 70 0 5 0 0 │".split()

    def test_all_columns_fit_on_a_terminal_of_80_columns(self) -> None:
        counts = dict.fromkeys((NEW, CHANGED, NEAR_DUPLICATE, UNCHANGED, NOT_HTML, FAILED), 123_456)
        lines = drawn(replace(NUMBERS, is_new=False, directory=Sums.of(counts)), 80)
        shown = "fetched kept duplicates changed unchanged other failed"
        assert lines[1].split() == f"│ {shown} │".split()
        assert lines[3].split() == f"│ directory 617,280 {'123,456 ' * 6}│".split()

    def test_a_first_run_has_one_row(self) -> None:
        assert not any("directory" in line for line in drawn(NUMBERS, 80))

    def test_what_it_says_of_ctrl_c(self) -> None:
        assert "Ctrl-C stops safely, the same command goes on" in drawn(NUMBERS, 80)[-2]
        assert "goes on" not in drawn(replace(NUMBERS, is_stored=False), 80)[-2]
        finishing = replace(NUMBERS, state=FINISHING)
        words = "finishing 12 pages; Ctrl-C again ends at once, and they are fetched again"
        assert words[:70] in drawn(finishing, 80)[-2]
        assert "finishing 1 page;" in drawn(replace(finishing, in_flight=1), 80)[-2]

    def test_a_limit_shows_share_and_time(self) -> None:
        assert any(
            "45 % of max_pages 1,000, about 1:02:05 left" in line for line in drawn(LIMITED, 80)
        )

    def test_names_of_strangers_do_not_act_on_the_terminal(self) -> None:
        lines = drawn(replace(NUMBERS, hosts=("a\x1b]0;title\x07[bold]b",)), 80)
        assert any("now a␛]0;title␇[bold]b" in line for line in lines)


class TestPlainLine:
    def test_it_has_all_numbers(self) -> None:
        assert plain_line(
            replace(LIMITED, is_new=False, resting="asks a.example again in 3 s")
        ) == (
            "0:02:13, 10 fetched, 7 kept, 2 duplicates, 1 other, 3 failed, 9.2 pages/s, "
            "8,000 queued, 12 in flight, 45 % of max_pages 1,000, about 1:02:05 left, "
            "asks a.example again in 3 s, directory: 75 fetched, 70 kept, 0 duplicates, 5 unchanged"
        )

    def test_an_ending_crawl_says_so_first(self) -> None:
        finishing = replace(NUMBERS, state=FINISHING)
        assert plain_line(finishing).startswith("finishing 12 pages, 0:02")
        assert plain_line(replace(finishing, in_flight=0)).startswith("0:02")


@pytest.mark.parametrize(
    ("secs", "shown"), [(0.9, "0:00:00"), (3_661, "1:01:01"), (90_061, "1 d 1:01:01")]
)
def test_clock(secs: float, shown: str) -> None:
    assert clock(secs) == shown


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
