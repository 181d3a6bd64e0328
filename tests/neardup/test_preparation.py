import os
import subprocess
import sys
from pathlib import Path

import pytest

from neardup.preparation import LOOPS

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
from neardup import Deduplicator, prepare
assert "numba" not in sys.modules
registry = "numba.np.linalg"  # what compiling needs, and loading does not
prepare(lambda done, steps: print(f"compiling {done} of {steps}", flush=True))
before = set(sys.modules)
with Deduplicator() as deduplicator:
    text = " ".join(f"word{number}" for number in range(200))
    deduplicator.judge(1, text)
    print(deduplicator.judge(2, text + " more").tier)
loaded = [name for name in set(sys.modules) - before if name.startswith("neardup")]
print(loaded, registry in sys.modules)
"""


def run(cache: Path, program: str = PROGRAM) -> list[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stderr == ""
    return ran.stdout.splitlines()


def test_the_first_use_says_that_it_compiles_and_leaves_nothing_to_load(tmp_path: Path) -> None:
    told = [f"compiling {done} of {len(LOOPS)}" for done in range(len(LOOPS))]
    assert run(tmp_path) == [*told, "simhash", "[] True"]
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith("neardup-")
    stored = sorted(folder.rglob("*"))
    assert run(tmp_path) == ["simhash", "[] False"]
    # What was compiled is used and not written again.
    assert sorted(folder.rglob("*")) == stored


def test_where_nothing_can_be_kept_it_works_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    program = "from neardup import simhash; print(simhash('a b c') == simhash('A B C'))"
    assert run(tmp_path / "file" / "folder", program) == ["True"]
