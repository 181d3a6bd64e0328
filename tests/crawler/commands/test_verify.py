"""``crawl-once verify`` as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from tests.crawler.maintenance.verify.crawled import check, execute, make, write
from tests.crawls.command import pages, scrapy, start_scrapy
from tests.waiting import attempts

if TYPE_CHECKING:
    from pathlib import Path

LOSE_A_TEXT = "UPDATE pages SET text = NULL, content = NULL WHERE url LIKE '%/other' AND latest = 1"


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clean") / "job"
    make(folder)
    return folder


def test_a_clean_directory_is_said_to_be_clean(clean: Path) -> None:
    done = scrapy("verify", str(clean))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "PROBLEM" not in done.stdout
    assert done.stdout.count("  ok  ") == 15


def test_problems_are_named_repaired_and_gone(tmp_path: Path) -> None:
    make(tmp_path)
    execute(tmp_path, LOSE_A_TEXT)
    found = scrapy("verify", str(tmp_path))
    assert found.returncode == 1
    assert "PROBLEM  kept pages without a text: 1" in found.stdout
    assert "http://example.com/other" in found.stdout
    mended = scrapy("verify", str(tmp_path), "--repair")
    assert mended.returncode == 0, mended.stdout + mended.stderr
    assert "repaired: kept pages without a text: 1\n" in mended.stdout
    assert "repaired: last pages not yet in the fingerprint index: " in mended.stdout
    assert check(tmp_path).findings == ()


def test_json_is_one_object(tmp_path: Path) -> None:
    make(tmp_path)
    write(tmp_path, LOSE_A_TEXT)
    done = scrapy("verify", str(tmp_path), "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["problems"] == 1
    rules = [finding["rule"] for checked in found["checked"] for finding in checked["findings"]]
    assert rules == ["kept-has-text"]
    done = scrapy("verify", str(tmp_path), "--json", "--repair")
    assert done.returncode == 0
    assert json.loads(done.stdout)["done"]


def test_a_feed_that_is_not_there_is_a_line(clean: Path) -> None:
    done = scrapy("verify", str(clean), "--feed", "missing.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "scrapy verify: --feed missing.jsonl: no such file\n"


def test_a_feed_is_held_against_the_store(clean: Path, tmp_path: Path) -> None:
    feed = tmp_path / "feed.jsonl"
    items = [json.dumps(page) for page in pages(clean, "--verdict", "kept")]
    feed.write_text("\n".join(items) + "\n")
    assert scrapy("verify", str(clean), "--feed", str(feed)).returncode == 0
    feed.write_text("\n".join([*items[1:], items[1], '{"url": "http://other.example/"}']))
    done = scrapy("verify", str(clean), "--feed", str(feed))
    assert done.returncode == 1
    assert "the feed: kept pages that it lacks: 1" in done.stdout
    assert "the feed: kept pages that it has more than once: 1" in done.stdout
    assert "the feed: URLs of no kept page: 1" in done.stdout
    assert "http://other.example/" in done.stdout
    feed.write_text(feed.read_text()[:-9])
    done = scrapy("verify", str(clean), "--feed", str(feed))
    assert done.returncode == 1
    assert "cut short or damaged" in done.stdout


def test_what_cannot_be_checked_is_said_in_one_line(clean: Path, tmp_path: Path) -> None:
    (tmp_path / "crawl.db").write_text("no database, but a text of some length " * 99)
    lock = FileLock(clean / "lock")
    with lock:
        refused = [
            (scrapy("verify", str(clean)), "a crawl has it open"),
            (scrapy("verify", str(tmp_path)), "not a crawl database"),
            (scrapy("verify", str(tmp_path / "absent")), "no such directory"),
            (scrapy("verify", f"{clean}x"), f"no such directory; did you mean {clean}?"),
            (scrapy("verify"), "one crawl directory is needed"),
        ]
    for done, reason in refused:
        assert done.returncode == 2
        assert reason in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr


def test_ctrl_c_ends_it_with_one_line(clean: Path, tmp_path: Path) -> None:
    feed = tmp_path / "feed.jsonl"
    os.mkfifo(feed)
    process = start_scrapy("verify", str(clean), "--feed", str(feed))
    with os.fdopen(opened_by_a_reader(feed), "wb"):  # it waits for what is never written
        errors = press_ctrl_c(process)
    assert process.returncode == 130
    assert errors == "scrapy verify: interrupted; what was not finished is as before\n"
    assert check(clean).findings == ()


def press_ctrl_c(process: subprocess.Popen[str]) -> str:
    """As somebody does who sees nothing happen; what the process said.

    Python notices a signal between two steps of its own or when it ends a wait of the system: one
    that comes just before a wait begins is not noticed before the next.
    """
    try:
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                return process.communicate(timeout=20)[1]
    finally:
        process.kill()
        process.communicate()
    raise AssertionError("it does not end")


def opened_by_a_reader(fifo: Path) -> int:
    """Open a pipe for writing as soon as somebody reads it."""
    for _ in attempts():
        with suppress(OSError):  # nobody does yet
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    raise AssertionError("nobody reads it")
