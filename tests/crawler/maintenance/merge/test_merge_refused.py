"""What is not merged: refused in words, or broken off with nothing left behind."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.job import Job
from crawler.maintenance.merge.merging import merge
from crawler.storage.database import Database
from crawler.storage.errors import JobError, JobInUseError, JobVersionError
from neardup import Features
from tests.crawler.maintenance.merge.crawls import (
    LONG,
    NEAR,
    OTHER,
    PARAMETERS,
    crawled,
    merged,
)
from tests.crawler.maintenance.merge.test_any_deal import problems
from tests.crawler.maintenance.rejudge.captured import Said
from tests.crawler.maintenance.verify.crawled import execute
from tests.crawler.pages.test_capture import OPTIONS
from tests.no_watch import NoWatch
from tests.sites.prose import prose


class TestRefused:
    @pytest.fixture
    def one(self, tmp_path: Path) -> Path:
        return crawled(tmp_path / "one", [("/a", Said(LONG))])

    def test_what_is_no_crawl(self, tmp_path: Path, one: Path) -> None:
        with pytest.raises(JobError, match="no such directory"):
            merged(tmp_path, one, tmp_path / "absent")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["one"]

    def test_a_directory_named_twice(self, tmp_path: Path, one: Path) -> None:
        with pytest.raises(JobError, match="named twice"):
            merged(tmp_path, one, tmp_path / "x" / ".." / "one")

    def test_a_folder_with_something_in_it(self, tmp_path: Path, one: Path) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "mine").write_text("mine")
        with pytest.raises(JobError, match="something in it already"):
            merged(tmp_path, one)
        assert (tmp_path / "out" / "mine").read_text() == "mine"

    def test_not_an_empty_folder(self, tmp_path: Path, one: Path) -> None:
        (tmp_path / "out").mkdir()
        assert merged(tmp_path, one).kept == 1

    def test_not_a_link_to_one_and_not_the_folder_that_one_is_in(
        self, tmp_path: Path, one: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "empty").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "empty")
        (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
        for name in ("link", "dangling"):
            merge(tmp_path / name, [one], NoWatch())
            assert problems(tmp_path / name) == ()
        (tmp_path / "here").mkdir()
        monkeypatch.chdir(tmp_path / "here")
        merge(Path(), [one], NoWatch())
        assert problems(tmp_path / "here") == ()

    def test_one_that_is_damaged(self, tmp_path: Path, one: Path) -> None:
        pages = [(f"/{number}", Said(prose(str(number), 300))) for number in range(30)]
        two = crawled(tmp_path / "two", pages)
        with closing(sqlite3.connect(two / "crawl.db")) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            sql = "SELECT rootpage FROM sqlite_master WHERE name = 'pages'"
            (page,) = connection.execute(sql).fetchone()
        data = bytearray((two / "crawl.db").read_bytes())
        data[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
        (two / "crawl.db").write_bytes(data)
        with pytest.raises(JobError, match=r"two: damaged .* crawl-once verify"):
            merged(tmp_path, one, two)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]

    def test_one_with_a_damaged_text(self, tmp_path: Path, one: Path) -> None:
        two = crawled(tmp_path / "two", [("/b", Said(OTHER))])
        execute(two, "UPDATE pages SET text = x'28b5'")
        told = rf"{two}: the text of http://example.com/b cannot be read .* crawl-once verify"
        with pytest.raises(JobError, match=told):
            merged(tmp_path, one, two)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]

    def test_a_full_disk(self, tmp_path: Path) -> None:
        """Stands in for it: no file may be larger than 400 kB, of which the tables take half."""
        crawled(tmp_path / "one", [(f"/{n}", Said(prose(str(n), 3000))) for n in range(60)])
        command = f"ulimit -f 400; exec '{sys.executable}' -m scrapy merge one out"
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "cannot be written" in done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["one"]

    def test_other_features(self, tmp_path: Path, one: Path) -> None:
        parameters = replace(PARAMETERS, features=Features(unit="character", size=4))
        options = replace(OPTIONS, parameters=parameters)
        two = crawled(tmp_path / "two", [("/b", Said(OTHER))], options)
        with pytest.raises(JobVersionError, match="only what was made with the same"):
            merged(tmp_path, one, two)

    def test_a_crawl_that_is_running(self, tmp_path: Path, one: Path) -> None:
        with closing(Job(one, OPTIONS)), pytest.raises(JobInUseError, match="a crawl has it open"):
            merged(tmp_path, one)

    def test_a_mirror(self, tmp_path: Path, one: Path) -> None:
        with closing(Database(one)) as database:
            database.write(
                "INSERT INTO files VALUES (1, x'00', '', '', '', NULL, 0, 0, 0, x'00', 'own', NULL,"
                " 0, x'00', x'', NULL, NULL, 0, 0, 0)"
            )
        with pytest.raises(JobError, match="belongs to a mirror"):
            merged(tmp_path, one)


class _BreaksOff(NoWatch):
    """Ctrl-C when so much was begun."""

    def __init__(self, at: int) -> None:
        self._left = at

    def begin(self, what: str, total: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("at", range(9))
def test_broken_off_nothing_is_left(tmp_path: Path, at: int) -> None:
    one = crawled(tmp_path / "one", [("/a", Said(LONG))])
    two = crawled(tmp_path / "two", [("/a", Said(OTHER)), ("/b", Said(NEAR))])
    with pytest.raises(KeyboardInterrupt):
        merge(tmp_path / "out", [one, two], _BreaksOff(at))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]
    assert problems(one) == problems(two) == ()
    assert merged(tmp_path, one, two).pages == 2


KILLED = """
import os, signal, sys
from pathlib import Path
from crawler.maintenance.merge.merging import merge
from tests.no_watch import NoWatch

class Killed(NoWatch):
    def begin(self, what, total):
        if what == "fingerprint index":
            os.kill(os.getpid(), signal.SIGKILL)

merge(Path(sys.argv[1]), [Path(sys.argv[2])], Killed())
"""


def test_what_a_killed_process_left_is_thrown_away(tmp_path: Path) -> None:
    one = crawled(tmp_path / "one", [("/a", Said(LONG))])
    killed = [sys.executable, "-c", KILLED, str(tmp_path / "out"), str(one)]
    done = subprocess.run(killed, check=False, cwd=Path(__file__).parents[4], env=os.environ)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    assert (tmp_path / ".out.part").is_dir()
    assert merged(tmp_path, one).kept == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "out"]
