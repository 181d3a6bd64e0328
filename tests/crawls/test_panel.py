"""The panel of a running crawl, on a real terminal of 80 and of 120 columns."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import pytest

from tests.crawls.terminal import OnTerminal
from tests.sites.hostile import HostileSite
from tests.sites.many import ManyPages, pages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES = 60
HELD_AFTER = 20
SEVERAL = (sys.executable, "-m", "scrapy", "crawl", "site")

pytestmark = pytest.mark.slow


@pytest.fixture
def site() -> Iterator[ManyPages]:
    with ManyPages(pages(PAGES)) as served:
        yield served


def command(url: str, folder: Path, *options: str) -> tuple[str, ...]:
    return (*SEVERAL, "-a", f"url={url}", "-s", f"JOBDIR={folder}", *options)


def counts_of(label: str, text: str) -> list[int]:
    """The numbers in a row of the panel."""
    row = re.search(rf"│ {label} +(.*?)│", text)
    assert row is not None, text
    return [int(number.replace(",", "")) for number in row[1].split()]


@pytest.mark.parametrize("columns", [80, 120])
def test_log_lines_stay_above_the_panel(tmp_path: Path, columns: int) -> None:
    maps = [f"/nothing/{number}" for number in range(6)]
    robots = "".join(f"Sitemap: {path}\n" for path in maps)
    pace = ("DOWNLOAD_DELAY=0.7", "DOWNLOAD_DELAY_JITTER=0", "AUTOTHROTTLE_ENABLED=False")
    options = [part for setting in pace for part in ("-s", setting)]
    with (
        HostileSite(robots, linked=("/plain/1",)) as site,
        OnTerminal(columns, command(site.url, tmp_path / "job", *options)) as terminal,
    ):
        screen = terminal.finish()
        shown = "".join(line.ljust(columns) for line in screen.cells)
        named = [path for path in maps if f"{site.at(path)}: no " in shown]
    assert named == maps, screen.text
    assert 0 < screen.widest <= columns - 4
    # The panel itself is gone.
    assert "╭" not in screen.text


def test_ctrl_c_shows_how_many_pages_it_finishes_and_the_next_run_goes_on(
    site: ManyPages, tmp_path: Path
) -> None:
    site.hold_after(HELD_AFTER)
    job = tmp_path / "job"
    with OnTerminal(80, command(site.url, job)) as terminal:
        terminal.wait_for(r"Ctrl-C stops safely, the same command goes on")
        terminal.wait_for(rf"this run +{HELD_AFTER} ")
        terminal.press(b"\x03")
        finishing = terminal.wait_for(r"finishing (\d+) pages; Ctrl-C again ends at once")
        in_flight = int(finishing[1])
        assert terminal.wait_for(r"(\d+) in flight")[1] == finishing[1]
        assert "directory  " not in terminal.screen.text
        site.hold_after(None)
        screen = terminal.finish(status=130)
        assert screen.widest <= 76
        fetched = HELD_AFTER + in_flight
        assert f"{fetched} fetched, " in screen.text, screen.text
    site.hold_after(site.total + HELD_AFTER)
    with OnTerminal(80, command(site.url, job)) as terminal:
        terminal.wait_for(rf"directory +{fetched + HELD_AFTER} ")
        text = terminal.screen.text
        of_run, of_all = counts_of("this run", text), counts_of("directory", text)
        for of_fetched, kept, duplicates, failed in (of_run, of_all):
            assert (kept + duplicates, failed) == (of_fetched, 0)
        assert (of_run[0], of_all[0]) == (HELD_AFTER, fetched + HELD_AFTER)
        site.hold_after(None)
        terminal.finish()


def test_a_limit_and_a_former_visit_tell_the_share_that_is_done(
    site: ManyPages, tmp_path: Path
) -> None:
    job = tmp_path / "job"
    site.hold_after(HELD_AFTER)
    with OnTerminal(80, command(site.url, job, "-a", "max_pages=40")) as terminal:
        terminal.wait_for(r"50 % of max_pages 40, about \d:\d\d:\d\d left")
        terminal.wait_for(rf"now {re.escape(site.url.split('/')[2])} ")
        site.hold_after(None)
        terminal.finish()
    with OnTerminal(80, command(site.url, job)) as terminal:
        terminal.finish()
    site.hold_after(site.total + HELD_AFTER)
    with OnTerminal(80, command(site.url, job, "-a", "revisit=yes")) as terminal:
        terminal.wait_for(rf"33 % of {len(site.pages)} known URLs, about")
        assert re.search(rf"this run +{HELD_AFTER} +0 +0 +{HELD_AFTER} ", terminal.screen.text)
        site.hold_after(None)
        terminal.finish()


def test_a_feed_to_the_terminal_has_no_panel_between_its_lines(
    site: ManyPages, tmp_path: Path
) -> None:
    with OnTerminal(5_000, command(site.url, tmp_path / "job", "-O", "-:jsonl")) as terminal:
        screen = terminal.finish()
        assert screen.widest == 0
    assert json.loads(next(line for line in screen.lines if line.startswith("{")))
