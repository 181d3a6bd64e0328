import numpy as np
import pytest

from crawler.lab.app.threshold_tab import LAYER_WORDS, layer_rows, signed, stale_words
from crawler.lab.judgement import VerdictChanges
from neardup.evaluation.near_arrays import LAYERS


def test_every_layer_has_words_in_the_order_of_layers() -> None:
    assert list(LAYER_WORDS) == list(LAYERS)


def test_rows_say_what_changes_and_leave_out_what_no_page_came_to() -> None:
    nothing = dict.fromkeys(LAYERS, 0)
    tried = {**nothing, "new": 1, "text": 1, "simhash": 1}
    rows = layer_rows(tried, {**nothing, "new": 3}, {**nothing, "new": 2, "payload": 1})
    assert rows == [
        ("New text", "3", "2", "1", "\u22122"),
        ("Same bytes", "0", "1", "0", ""),
        ("Same text", "0", "0", "1", "+1"),
        ("Near: a match", "0", "0", "1", "+1"),
    ]
    assert layer_rows(nothing, nothing, nothing) == [("New text", "0", "0", "0", "")]


@pytest.mark.parametrize(
    ("kept", "dropped", "said"),
    [
        ([], [], ""),
        ([4], [], "1 stored verdict is older than the rules that hold now, which would keep 1 of"),
        ([4, 5], [7], "3 stored verdicts are older than the rules that hold now, which would keep"),
    ],
)
def test_verdicts_of_earlier_rules_are_told(kept: list[int], dropped: list[int], said: str) -> None:
    changes = VerdictChanges(np.array(kept, np.int64), np.array(dropped, np.int64))
    assert stale_words(changes).startswith(said)
    assert bool(stale_words(changes)) == bool(said)


@pytest.mark.parametrize(
    ("number", "written"), [(0, ""), (3, "+3"), (-12_000, "\u221212,000"), (1_000, "+1,000")]
)
def test_differences_are_written_with_their_sign(number: int, written: str) -> None:
    assert signed(number) == written
