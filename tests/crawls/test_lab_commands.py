"""The lab's commands over real crawls: finished, running, and stopped by Ctrl-C."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.crawler.commands.test_tune import is_stored, wait_for_line
from tests.crawls.command import PROJECT, pages, scrapy, start_scrapy
from tests.crawls.kills import KilledCrawl, children, wait_for
from tests.sites.many import ManyPages, page_path
from tests.sites.many import pages as many_pages
from tests.sites.prose import document
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    jobdir = tmp_path_factory.mktemp("lab") / "job"
    done = scrapy("demo", "-s", f"JOBDIR={jobdir}", "-s", "WARC_ENABLED=True")
    assert done.returncode == 0, done.stdout + done.stderr
    return jobdir


def test_crawl_and_its_archive_say_the_same(demo: Path) -> None:
    of_crawl, of_archive = (
        json.loads(scrapy("sweep", str(path), "--json").stdout) for path in (demo, demo / "warc")
    )
    kept = [page for page in pages(demo) if page["text"] is not None]
    assert of_crawl["kept"] == of_archive["kept"] == len(kept)
    counts = [(line["kept"], line["dropped"]) for line in of_crawl["lines"]]
    assert counts == [(line["kept"], line["dropped"]) for line in of_archive["lines"]]


def test_every_command_works_beside_a_crawl_that_is_running(tmp_path: Path) -> None:
    jobdir = tmp_path / "job"
    with ManyPages(many_pages(400)) as site:
        site.hold_after(150)
        process = KilledCrawl(site, jobdir, 1).start()
        try:
            wait_for(site, 150, process)
            wait_until(lambda: is_stored(jobdir, "SELECT count(*) > 100 FROM pages"))
            folder = str(jobdir)
            swept = json.loads(scrapy("sweep", folder, "--json").stdout)
            assert 100 < swept["pages"] <= 150
            first, second = (site.url.rstrip("/") + page_path(number) for number in (1, 2))
            for arguments in (
                ("pairs", folder),
                ("compare", first, second, "--crawl", folder),
                ("label", folder, "--pair", first, second, "different"),
                ("label", folder, "--list"),
            ):
                done = scrapy(*arguments)
                assert done.returncode == 0, done.stderr
            assert done.stdout.startswith("different  ")
            assert site.total <= 150 + 32, "the crawl alone asks the site"
            site.hold_after(None)
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
            process.communicate()
        assert process.returncode == 0, errors
    # What was said of two pages outlives the crawl.
    assert scrapy("label", folder, "--list").stdout == done.stdout
    assert json.loads(scrapy("sweep", folder, "--json").stdout)["pages"] == 400


@pytest.mark.parametrize(
    ("command", "number"),
    [
        *((command, signal.SIGINT) for command in ("sweep", "pairs", "label", "lab")),
        ("lab", signal.SIGTERM),
        ("sweep", signal.SIGHUP),
    ],
)
def test_a_signal_removes_what_was_made_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, number: signal.Signals
) -> None:
    file, place = tmp_path / "pages.jsonl", tmp_path / "temporary"
    rows = (
        {"url": f"http://x/{number}", "html": document(str(number)).decode()}
        for number in range(5_000)
    )
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    process = start_scrapy(command, str(file))
    wait_until(lambda: list(place.glob("*/crawl/crawl.db")), process)
    (child,) = children(process.pid)
    workers = wait_until(lambda: set(children(child)), process)
    os.killpg(process.pid, number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert errors.splitlines()[0] == (
        f"{file}: no crawl directory, so that a temporary crawl is made of it"
    )
    assert "Traceback" not in errors
    assert not list(place.glob("crawl-once-*"))
    wait_until(lambda: not any((Path("/proc") / str(pid)).exists() for pid in {child, *workers}))


def test_ctrl_c_pressed_twice_does_not_wait_for_an_answer() -> None:
    with ManyPages(many_pages(3)) as site:
        site.hold_after(1)  # robots.txt
        process = start_scrapy("compare", site.url, f"{site.url}1.html")
        wait_for(site, 1, process)
        process.send_signal(signal.SIGINT)
        assert wait_for_line(process, "Ctrl-C again ends at once")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "scrapy compare: interrupted"
    assert "Traceback" not in errors


PROMPT = b"d/n/s/b/r/m/q> "


def seen_until(ours: int, prompts: int) -> bytes:
    """Read a terminal until it has asked so often."""
    seen = b""
    while seen.count(PROMPT) < prompts:
        seen += os.read(ours, 4096)
    return seen


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 14)])
def test_on_a_terminal_it_fits_the_screen_and_needs_no_enter(
    demo: Path, columns: int, rows: int
) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "label", str(demo), "--distance", "0..8"],
        cwd=PROJECT, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env={**os.environ, "PAGER": "cat", "TERM": "xterm", "LINES": "", "COLUMNS": ""},
    )  # fmt: skip
    os.close(theirs)
    try:
        seen_until(ours, 1)
        for key in (b"s", b"b"):
            os.write(ours, key)
            screen = seen_until(ours, 1).decode()
            lines = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in screen.split("\r\n")]
            taken = sum(max(1, -(-len(line) // columns)) for line in lines)
            assert taken <= rows, screen
            assert any("similarity" in line for line in lines)
        os.write(ours, b"m")
        whole = seen_until(ours, 1).decode()
        assert whole.count("similarity") == 2  # all of it, then the pair again
        os.write(ours, b"q")
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_on_a_terminal_it_asks_and_colours(demo: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "label", str(demo), "--distance", "0..8"],
        cwd=PROJECT,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    seen = b""
    try:
        seen = seen_until(ours, 1)
        os.write(ours, b"q")
        assert process.wait(timeout=30) == 0
        assert b"\x1b[31m[-" in seen
        assert b"\x1b[0m" in seen
    finally:
        process.kill()
        process.wait()
        os.close(ours)
