import random
import sys
from pathlib import Path

import pytest

from neardup import HammingIndex
from tests.damage import said_before_a_kill
from tests.neardup.indexes.flushing import fingerprint_of, is_deleted

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[3]
KILLS = 6


def promised_before_a_kill(path: Path, seed: int, chance: random.Random) -> int:
    """Let a process add and flush, kill it, and return how many entries it promised last."""
    words = ["-m", "tests.neardup.indexes.flushing", str(path), str(seed)]
    return max(map(int, said_before_a_kill(words, chance, 0.3)))


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_kill_9_at_any_moment_keeps_all_that_was_promised_and_invents_nothing(
    tmp_path: Path,
) -> None:
    moments = random.Random(9)
    last = 0
    for seed in range(KILLS):
        promised = promised_before_a_kill(tmp_path / "index", seed, moments)
        with HammingIndex(tmp_path / "index", radius=0) as index:
            end = index.max_id + 1
            assert end >= promised >= last
            last = end
            found = index.query_many([fingerprint_of(number) for number in range(end)])
            assert len(found.ids) == len(index)
        assert found.positions.tolist() == found.ids.tolist()
        stored = set(found.ids.tolist())
        assert stored >= {number for number in range(end) if not is_deleted(number)}
        assert not [number for number in range(promised) if is_deleted(number) and number in stored]
