"""What a run starts."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from neardup.batch.input_files import find_files
from neardup.corpus.corpus_tables import RunFolder
from neardup.corpus.single_run import SingleRun, SingleTask, Status
from tests.crawls.kills import workers_of
from tests.neardup.batch.corpus import made, write_lines

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def test_a_run_starts_no_more_processes_than_there_are_parts_to_read(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for number in range(2):
        write_lines(source / f"{number}.jsonl", made(number, 20))
    running: list[int] = []

    def show(status: Status) -> None:
        running.append(len(workers_of(os.getpid())))

    before = len(workers_of(os.getpid()))
    task = SingleTask(str(source), find_files(str(source)), processes=4)
    with closing(RunFolder(tmp_path / "out", overwrite=False)) as folder:
        SingleRun(task, folder, show)()
    assert max(running) - before == 2
