"""What a mirror says at its end."""

from __future__ import annotations

import pytest

from crawler.console.mirror_run import _gone_lines
from crawler.mirror.file_table import Gone


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        (Gone(kept=1), "--gone remove takes them out"),
        (Gone(kept=2, are_too_many=True), "half of all or more"),
        (Gone(kept=1, are_needed=True), "kept: for pages that are there and repeated them"),
    ],
)
def test_gone_files_that_stay_are_told_with_their_reason(gone: Gone, words: str) -> None:
    [line] = _gone_lines(gone)
    assert words in line
    assert ("--gone remove" in line) == (gone == Gone(kept=1))
