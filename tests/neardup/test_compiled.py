from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SIGNATURES = """
import sys
import numpy as np
from neardup import LshIndex
from neardup.compiled import are_ready
from neardup.indexes.lsh_few import MAX_FEW
from neardup.indexes.lsh_tables import LOOPS

values = np.random.default_rng(1).integers(0, 2**32, (4 * MAX_FEW, 64), np.uint32)
index = LshIndex(0.8, permutations=64, shape=(16, 4))

def hold(first, last):
    for number in range(first, last):
        index.add(values[number], number)
    found = [index.query(one)[0].id for one in values[:last]]
    assert found == list(range(last)), found

hold(0, 2 * MAX_FEW)
print([module for module in LOOPS if module in sys.modules])
assert are_ready(LOOPS, wait=True)
hold(2 * MAX_FEW, 4 * MAX_FEW)
print(all(module in sys.modules for module in LOOPS))
"""

FINGERPRINTS = """
import sys
import numpy as np
from neardup import HammingIndex
from neardup.compiled import are_ready
from neardup.indexes.search import LOOPS

values = np.random.default_rng(1).integers(0, 2**64, 400, np.uint64).tolist()
index = HammingIndex(buffer_size=64)

def hold(first, last):
    for number in range(first, last):
        index.add(values[number], number)
    found = [index.query(one)[0].id for one in values[:last]]
    assert found == list(range(last)), found

hold(0, 200)
print([module for module in LOOPS if module in sys.modules])
assert are_ready(LOOPS, wait=True)
hold(200, 400)
print(all(module in sys.modules for module in LOOPS))
"""

CHILDREN = """
import os
from pathlib import Path
from neardup.compiled import are_ready
from neardup.indexes.search import LOOPS
assert not are_ready(LOOPS)
print(Path(f"/proc/self/task/{os.getpid()}/children").read_text())
"""


def printed(program: str, cache: Path) -> list[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    return ran.stdout.splitlines()


@pytest.mark.parametrize("program", [SIGNATURES, FINGERPRINTS])
def test_an_index_answers_while_another_process_compiles_for_it(
    program: str, tmp_path: Path
) -> None:
    assert printed(program, tmp_path) == ["[]", "True"]
    # What that process compiled, another one loads at once.
    loaded, _ = printed(program, tmp_path)
    assert "neardup.indexes" in loaded


@pytest.mark.parametrize("program", [SIGNATURES, FINGERPRINTS])
def test_where_no_code_can_be_kept_an_index_compiles_for_itself(
    program: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    loaded, at_the_end = printed(program, tmp_path / "file" / "folder")
    assert "neardup.indexes" in loaded
    assert at_the_end == "True"


def test_the_process_that_compiles_ends_with_the_one_that_started_it(tmp_path: Path) -> None:
    (child,) = printed(CHILDREN, tmp_path)
    assert not Path("/proc", child.strip()).exists()
