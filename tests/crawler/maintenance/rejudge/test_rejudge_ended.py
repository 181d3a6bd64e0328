"""Judging again that does not come to its end: nothing has happened."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.pages.live_parameters import tune
from crawler.storage.errors import JobError, JobInUseError
from tests.crawler.maintenance.rejudge.captured import dump, judge_again
from tests.crawler.maintenance.verify.crawled import check, execute
from tests.no_watch import NoWatch

if TYPE_CHECKING:
    from pathlib import Path

KILLED = """
import os, signal, sys
from pathlib import Path
from tests.crawler.maintenance.rejudge.captured import judge_again

class Killing:
    def begin(self, what, total):
        self.left = int(sys.argv[3]) if what == sys.argv[2] else 10**9
    def advance(self, steps=1):
        self.left -= steps
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)

judge_again(Path(sys.argv[1]), watch=Killing())
"""


@pytest.mark.parametrize(("step", "after"), [("pages judged again", after) for after in (1, 3, 5)])
def test_a_kill_in_the_middle_leaves_all_as_it_was(folder: Path, step: str, after: int) -> None:
    tune(folder, {"min_similarity": 1.0}, "tune")
    before = dump(folder)
    arguments = [sys.executable, "-c", KILLED, str(folder), step, str(after)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert dump(folder) == before
    assert check(folder).problems == ()
    assert judge_again(folder).now_kept == 1


class Interrupted(NoWatch):
    """A user who presses Ctrl-C when a verdict was written."""

    def __init__(self) -> None:
        self._left = 3

    def advance(self, steps: int = 1) -> None:
        self._left -= steps
        if not self._left:
            raise KeyboardInterrupt


def test_an_interrupt_leaves_all_as_it_was(folder: Path) -> None:
    tune(folder, {"min_similarity": 1.0}, "tune")
    before = dump(folder)
    with pytest.raises(KeyboardInterrupt):
        judge_again(folder, watch=Interrupted())
    assert dump(folder) == before
    assert check(folder).findings == ()


def test_nothing_changes_where_a_text_is_damaged(folder: Path) -> None:
    execute(folder, "UPDATE near_texts SET text = x'28b5'")
    before = dump(folder)
    told = rf"{folder}: the text of http://example.com/near cannot be read .* crawl-once verify"
    with pytest.raises(JobError, match=told):
        judge_again(folder)
    assert dump(folder) == before


def test_a_folder_in_use_or_without_a_crawl_is_refused(folder: Path, tmp_path: Path) -> None:
    with closing(CrawlDirectory(folder)), pytest.raises(JobInUseError, match="a crawl has it open"):
        judge_again(folder)
    with pytest.raises(JobError, match="no crawl in it"):
        judge_again(tmp_path)
