"""Fuzzing finds planted faults, tells the input that leads to each, and goes on."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.fuzzing.blackboard import Blackboard
from tests.fuzzing.mutating import mutated
from tests.fuzzing.planted import TARGETS
from tests.fuzzing.target import find_targets
from tests.fuzzing.watching import Outcome, Watch

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

SECS = 3.0


def fuzzed(name: str, folder: Path) -> tuple[Outcome, list[str]]:
    said: list[str] = []
    target = next(one for one in TARGETS if one.name == name)
    return Watch("planted", target, folder, said.append).run(SECS, seed=1), said


def test_nothing_is_found_in_a_sound_reader(tmp_path: Path) -> None:
    outcome, said = fuzzed("sound", tmp_path)
    assert (outcome.findings, said, list(tmp_path.iterdir())) == (0, [], [])
    assert outcome.inputs > 2


@pytest.mark.parametrize(
    ("name", "what", "word"),
    [
        ("file.db-raising", "raises", "ValueError: planted"),
        ("hanging", "hangs", "in read"),
        ("growing", "grows", "memory went from"),
        ("crashing", "crashes", "Segmentation fault"),
        ("several", "raises", "ValueError: planted"),
    ],
)
def test_each_fault_is_told_with_its_input(name: str, what: str, word: str, tmp_path: Path) -> None:
    outcome, said = fuzzed(name, tmp_path)
    assert outcome.findings
    assert word in said[0]
    assert what in said[0].partition("\n")[0]
    assert what.encode() in (tmp_path / f"{name}-1.input").read_bytes()


def test_an_error_is_told_once_and_further_inputs_are_read(tmp_path: Path) -> None:
    outcome, _ = fuzzed("file.db-raising", tmp_path)
    assert outcome.findings == 1
    assert outcome.inputs > 2


def test_every_target_has_seeds_of_its_size_and_a_name_of_its_own() -> None:
    targets = [target for _, target in find_targets([])]
    assert len({target.name for target in targets}) == len(targets)
    for target in targets:
        assert any(len(seed) <= target.max_bytes for seed in target.seeds())


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(LookupError, match="no target is called nonsense"):
        find_targets(["nonsense"])


def test_a_blackboard_shows_what_another_process_reads(tmp_path: Path) -> None:
    with Blackboard(tmp_path / "x", 8) as writer, Blackboard(tmp_path / "x", 8) as reader:
        writer.begin(b"longer than that")
        assert (reader.present().inputs, reader.present().data) == (1, b"longer t")
        assert reader.present().since
        writer.end()
        assert not reader.present().since


def test_the_same_seed_changes_inputs_alike() -> None:
    made = [[mutated([b"abc", b"defg"], Random(7), 50) for _ in range(2)] for _ in range(2)]
    assert made[0] == made[1]
    assert all(len(one) <= 50 for one in made[0])
