import pytest

from neardup.comparison.diff import diff, render_diff
from neardup.errors import ParameterError


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ("", "", ""),
        ("a b", "a b", "a b"),
        ("the quick fox", "the slow fox", "the [-quick-] {+slow+} fox"),
        ("a b", "a b c", "a b {+c+}"),
        ("a b c", "a b", "a b [-c-]"),
        ("漢字。", "漢子。", "漢[-字-]{+子+}。"),
        ("a\nb c", "a\nx c", "a\n[-b-] {+x+} c"),
        ("a b c d", "b c", "[-a-] b c [-d-]"),
    ],
)
def test_changes_stand_in_marks(first: str, second: str, shown: str) -> None:
    assert render_diff(diff(first, second)) == shown


@pytest.mark.parametrize(
    ("context", "shown"),
    [
        (0, "[...] [-e-] {+x+} [...]"),
        (2, "[...] c d [-e-] {+x+} f g [...]"),
        (3, "[...] b c d [-e-] {+x+} f g h"),
        (9, "a b c d [-e-] {+x+} f g h"),
    ],
)
def test_long_equal_stretches_are_shortened(context: int, shown: str) -> None:
    runs = diff("a b c d e f g h", "a b c d x f g h")
    assert render_diff(runs, context=context) == shown


def test_a_negative_context_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least 0, got -1"):
        render_diff([], context=-1)
