import gzip
from pathlib import Path

import pytest

from tests.neardup.command_line.running import neardup
from tests.neardup.texts import prose

pytestmark = pytest.mark.slow


def test_two_texts_are_measured_and_shown() -> None:
    ended = neardup("compare", "--text", "The quick brown fox jumps", "the slow brown fox jumps")
    assert (ended.status, ended.err) == (0, "")
    *measures, empty, difference = ended.out.splitlines()
    assert [line.split()[0] for line in measures] == [
        "distance", "similarity", "containment", "edit", "verdict",
    ]  # fmt: skip
    assert measures[1:] == [
        "similarity   0.0000 (Jaccard of word 5-shingles)",
        "containment  0.0000 of A in B, 0.0000 of B in A",
        "edit ratio   0.8163 (characters)",
        "verdict      too_short",
    ]
    assert empty == ""
    assert difference == "The [-quick-] {+slow+} brown fox jumps"


def test_two_files_are_judged_in_their_order(tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    text = prose(1, 800)
    first.write_text(text, encoding="utf-8-sig")
    second.write_bytes(gzip.compress(f"{text} and more".encode()))
    ended = neardup("compare", first, second, "--context", "1")
    assert "containment  1.0000 of A in B, 0.9975 of B in A\n" in ended.out
    assert "verdict      near_duplicate\n" in ended.out
    last = text.split()[-1]
    assert ended.out.endswith(f"\n\n[...] {last} {{+and more+}}\n")


def test_texts_equal_but_for_case_show_no_difference() -> None:
    ended = neardup("compare", "--text", "Same  Words", "same words")
    assert ended.out.splitlines()[0] == "distance     0 of 64 bits (word-1-log_count)"
    assert ended.out.splitlines()[-1] == "verdict      text_duplicate"


def test_two_things_in_the_same_words_are_told_apart_by_what_names_them(tmp_path: Path) -> None:
    for name in ("Widget", "Gadget"):
        (tmp_path / name).write_text(f"{name}\n{prose(1, 200)}")
    ended = neardup("compare", tmp_path / "Widget", tmp_path / "Gadget")
    assert "verdict      same_template (another opening)\n" in ended.out
    alone = neardup("compare", tmp_path / "Widget", tmp_path / "Gadget", "--no-compare-names")
    assert "verdict      near_duplicate\n" in alone.out


def test_a_text_without_words_has_no_distance(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    ended = neardup("compare", empty, "-", stdin="漢字".encode())
    reason = "none: the text is without words, so it has no fingerprint"
    assert ended.out.startswith(f"distance     {reason}\n")
    assert ended.out.endswith("\n{+漢字+}\n")


def test_bytes_that_no_terminal_can_show_do_no_harm() -> None:
    ended = neardup("compare", "--text", "a", "b\udcff")
    assert ended.status == 0
    assert ended.out.endswith("[-a-]{+b\\udcff+}\n")


def test_long_texts_come_to_an_end(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text(" ".join(f"w{number * 7919 % 5003}" for number in range(60_000)))
    second.write_text(" ".join(f"w{number * 104729 % 5009}" for number in range(60_000)))
    ended = neardup("compare", first, second, "--context", "0")
    assert ended.status == 0
    assert "edit ratio" not in ended.out
