"""A misspelt word is told with the one that was meant."""

from __future__ import annotations

import pytest

from crawler.suggestions import did_you_mean


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("--wazc", "; did you mean --wacz?"),
        ("--wrac", "; did you mean --warc?"),
        ("--nonsense", ""),
        ("--dir", ""),
    ],
)
def test_letters_that_changed_places_come_before_others(word: str, hint: str) -> None:
    assert did_you_mean(word, ["--warc", "--wacz", "--json", "--pdb"]) == hint
