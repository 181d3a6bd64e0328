"""Files that take their names when they are whole: whatever happens in between."""

from __future__ import annotations

import sys
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from neardup.files.durable import replacing

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType


def _replace(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"new")


class _Interruption:
    """Presses Ctrl-C at one step of the code that runs under it.

    Args:
        step: The step's number, from 0.
    """

    def __init__(self, step: int) -> None:
        self._left = step

    def __call__(self, frame: FrameType, event: str, argument: object) -> Any:
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_code.co_filename.endswith("durable.py"):
            self._left -= 1
            if self._left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self


@pytest.mark.filterwarnings("ignore:Exception ignored in")  # opened, and never given to anybody
@pytest.mark.parametrize("before", [b"old", None])
def test_an_interruption_at_any_step_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, before: bytes | None
) -> None:
    path = tmp_path / "file"
    tracing = sys.gettrace()
    for step in count():
        path.unlink(missing_ok=True)
        if before is not None:
            path.write_bytes(before)
        sys.settrace(_Interruption(step))
        try:
            _replace(path)
        except KeyboardInterrupt:
            is_over = False
        else:
            is_over = True
        finally:
            sys.settrace(tracing)
        left = {found.name: found.read_bytes() for found in tmp_path.iterdir()}
        # The steps after the name was taken.
        assert left in ({"file": before} if before else {}, {"file": b"new"}), step
        if is_over:
            break
    assert step > 50
    assert left == {"file": b"new"}


def test_a_file_that_cannot_be_made_is_named_as_the_user_did(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "file"
    with pytest.raises(FileNotFoundError) as raised, replacing(path):
        pass
    assert raised.value.filename == str(path)


def test_the_rights_of_the_old_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    _replace(path)
    assert path.stat().st_mode & 0o777 == 0o640
