"""What one run finds, two runs find, the second against the first."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from neardup.batch.input_files import find_files
from neardup.corpus.corpus_tables import RunFolder, read_about
from neardup.corpus.single_run import SingleRun, SingleTask, Status
from neardup.errors import InputError
from tests.neardup.batch.corpus import Result, made, read_back, write_lines
from tests.neardup.command_line.running import neardup, refused

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def read_tables(folder: Path) -> Result:
    return read_back(read_about(folder), folder)


def test_a_run_against_another_finds_what_one_run_finds(tmp_path: Path) -> None:
    texts = made(1, 240)
    write_lines(tmp_path / "a.jsonl", texts[:140])
    write_lines(tmp_path / "b.jsonl", texts[140:], first=140)
    first, second = tmp_path / "first", tmp_path / "second"
    alone = ("--processes", "1")
    assert neardup(tmp_path / "a.jsonl", first, *alone).status == 0
    assert neardup(tmp_path / "b.jsonl", second, "--against", first, *alone).status == 0
    assert neardup(f"{tmp_path}/*.jsonl", tmp_path / "whole", *alone).status == 0
    whole, parts = read_tables(tmp_path / "whole"), [read_tables(first), read_tables(second)]
    for name in ("documents", "signatures", "pairs", "kept", "near_texts"):
        joined = [row for part in parts for row in part[name]]
        assert sorted(map(str, joined)) == sorted(map(str, whole[name])), name
    newest = {row["id"]: row["representative"] for part in parts for row in part["clusters"]}
    assert newest == {row["id"]: row["representative"] for row in whole["clusters"]}
    said = refused(tmp_path / "b.jsonl", second, "--against", first)
    assert said == f"{second}: exists; --overwrite replaces it"
    said = refused(tmp_path / "b.jsonl", first, "--against", first, "--overwrite")
    assert said == f"{first}: is gone on from; choose another folder for the new"
    said = refused(tmp_path / "b.jsonl", tmp_path / "o", "--against", first, "--min-words", "9")
    assert "made with min_words 50, now it is 9" in said
    assert_memory_is_checked_before_texts_are_judged(tmp_path / "b.jsonl", first)


def assert_memory_is_checked_before_texts_are_judged(source: Path, against: Path) -> None:
    shown: list[Status] = []
    files = find_files(str(source))
    task = SingleTask(str(source), files, against=against, processes=1, max_bytes=1)
    with closing(RunFolder(source.with_name("small"), overwrite=False)) as folder:
        run = SingleRun(task, folder, shown.append)
        with pytest.raises(InputError, match=r"kept texts take .* with more --memory goes on"):
            run()
    assert not shown
