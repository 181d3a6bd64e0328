import pytest

from crawler.lab.app.outcome import LAYER_WORDS, layer_rows, signed
from crawler.lab.judgement import LAYERS


def test_every_layer_has_words_in_the_order_of_layers() -> None:
    assert list(LAYER_WORDS) == list(LAYERS)


def test_rows_say_what_changes_and_leave_out_what_no_page_came_to() -> None:
    nothing = dict.fromkeys(LAYERS, 0)
    rows = layer_rows({**nothing, "new": 1, "text": 1, "simhash": 1}, {**nothing, "new": 3})
    assert rows == [
        ("New text", "3", "1", "\u22122"),
        ("Same text", "0", "1", "+1"),
        ("Near: a match", "0", "1", "+1"),
    ]
    assert layer_rows(nothing, nothing) == [("New text", "0", "0", "")]


@pytest.mark.parametrize(
    ("number", "written"), [(0, ""), (3, "+3"), (-12_000, "\u221212,000"), (1_000, "+1,000")]
)
def test_differences_are_written_with_their_sign(number: int, written: str) -> None:
    assert signed(number) == written
