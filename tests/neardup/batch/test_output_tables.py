"""Folders without a description of a run: which of them a run may write to."""

from __future__ import annotations

import pytest

from neardup.batch.output_tables import TABLES, are_of_runs


@pytest.mark.parametrize(
    ("names", "are_ours"),
    [
        ([], True),
        (["run-1", "run-2"], True),
        (["run-1", *TABLES], True),
        (list(TABLES), False),
        (["run-1", "notes"], False),
        (["notes"], False),
    ],
)
def test_what_killed_runs_leave_is_told_from_other_folders(
    names: list[str], are_ours: bool
) -> None:
    assert are_of_runs(names) is are_ours
