"""The lab's commands over real crawls: finished, running, and stopped by Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.lab.labels import read_labels
from tests.crawler.commands.lab_crawl import label_pair
from tests.crawler.commands.test_tune import is_stored, wait_for_line
from tests.crawls.command import PROJECT, pages, scrapy, start_scrapy
from tests.crawls.kills import KilledCrawl, children, wait_for, workers_of
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
            ):
                done = scrapy(*arguments)
                assert done.returncode == 0, done.stderr
            label_pair(jobdir, (first, second), is_duplicate=False)
            assert site.total <= 150 + 32, "the crawl alone asks the site"
            site.hold_after(None)
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
            process.communicate()
        assert process.returncode == 0, errors
    # What was said of two pages outlives the crawl.
    (label,) = read_labels([jobdir])
    assert (label.first_url, label.second_url) in {(first, second), (second, first)}
    assert json.loads(scrapy("sweep", folder, "--json").stdout)["pages"] == 400


@pytest.mark.parametrize(
    ("command", "number"),
    [
        *((command, signal.SIGINT) for command in ("sweep", "pairs", "lab")),
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
    workers = wait_until(lambda: workers_of(child), process)
    others = {child, *children(child), *workers}
    os.killpg(process.pid, number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert errors.splitlines()[0] == (
        f"{file}: no crawl directory, so that a temporary crawl is made of it"
    )
    assert "Traceback" not in errors
    assert not list(place.glob("crawl-once-*"))
    wait_until(lambda: not any((Path("/proc") / str(pid)).exists() for pid in others))


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


def test_on_a_terminal_differences_are_coloured(demo: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "pairs", str(demo), "--diff"],
        cwd=PROJECT,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    seen = b""
    try:
        # The end of a terminal that nobody writes to any more is an error.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 4096):
                seen += part
        assert process.wait(timeout=30) == 0
        assert b"\x1b[31m[-" in seen
        assert b"\x1b[0m" in seen
    finally:
        process.kill()
        process.wait()
        os.close(ours)
