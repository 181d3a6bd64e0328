"""Processes that read ahead of the one that judges."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from neardup.batch.input_files import InputOptions, find_files, parts_of
from neardup.corpus import analysis_pool
from neardup.corpus.analysis_pool import Analysis, AnalysisPool
from neardup.parameters import DEFAULTS
from tests.neardup.batch.corpus import write_lines

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def test_parts_behind_a_long_one_wait_until_what_was_read_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise all files behind a packed one would lie analysed on disk before it is read."""
    work = tmp_path / "work"
    work.mkdir()
    write_lines(tmp_path / "a.jsonl", [f"text {number}" for number in range(3_000)])
    for number in range(12):
        write_lines(tmp_path / f"b{number:02}.jsonl", [f"other {number}"])
    files = find_files(f"{tmp_path}/*.jsonl")
    # The processes are forked of another one, so that they have the limit of the module.
    monkeypatch.setattr(analysis_pool, "_MAX_AHEAD_BYTES", 0)
    documents = 0
    with closing(AnalysisPool(Analysis(work, InputOptions(), DEFAULTS), 2)) as pool:
        for found in pool(parts_of(files, 0)):
            documents += 0 if found.rows is None else found.rows.num_rows
            # That of each process, and the one of which the end is told.
            assert len(list(work.iterdir())) <= 3
    assert documents == 3_012
    assert not list(work.iterdir())
