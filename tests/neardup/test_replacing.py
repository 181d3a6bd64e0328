"""Files that take their names when they are whole: whatever happens in between."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from neardup.files.durable import (
    named_file,
    new_file,
    open_itself,
    open_sqlite,
    own_folder,
    replacing,
    write_durably,
    write_whole,
)

if TYPE_CHECKING:
    from collections.abc import Callable
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


def test_others_read_nothing_of_a_file_before_it_has_the_rights_of_its_predecessor(
    tmp_path: Path,
) -> None:
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o600)
    with replacing(path) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600


def _by_new_file(path: Path) -> None:
    with new_file(path) as file:
        file.write(b"new")


class TestLinks:
    """What a link of a file's name leads to is never written to."""

    @pytest.mark.parametrize(
        "write",
        [
            _replace,
            _by_new_file,
            lambda path: write_whole(path, b"new"),
            lambda path: write_durably(path, [b"new"]),
        ],
    )
    @pytest.mark.parametrize("name", ["file", "file.tmp"])
    def test_link_makes_room_for_the_file(
        self, tmp_path: Path, write: Callable[[Path], None], name: str
    ) -> None:
        other = tmp_path / "other"
        other.write_text("important")
        (tmp_path / name).symlink_to(other)
        write(tmp_path / "file")
        assert (tmp_path / "file").read_bytes() == b"new"
        assert not (tmp_path / "file").is_symlink()
        assert other.read_text() == "important"

    def test_links_are_refused_where_a_file_is_changed(self, tmp_path: Path) -> None:
        other = tmp_path / "other"
        other.write_text("important")
        (tmp_path / "file").symlink_to(other)
        with pytest.raises(OSError, match="symbolic links"):
            open_itself(tmp_path / "file", "r+b")

    def test_database_behind_a_link_is_refused(self, tmp_path: Path) -> None:
        other = tmp_path / "other.db"
        sqlite3.connect(other).close()
        (tmp_path / "a.db").symlink_to(other)
        with pytest.raises(sqlite3.OperationalError, match="symbolic link") as refused:
            open_sqlite(tmp_path / "a.db")
        assert refused.value.sqlite_errorcode == sqlite3.SQLITE_ERROR

    def test_folder_behind_a_link_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(tmp_path / "other", target_is_directory=True)
        with pytest.raises(OSError, match="symbolic link"):
            own_folder(tmp_path / "link")
        assert own_folder(tmp_path / "a" / "b").is_dir()

    def test_own_link_of_a_user_stays_one(self, tmp_path: Path) -> None:
        """A result goes where they want it, and is whole there or not at all."""
        other = tmp_path / "other"
        other.write_text("old")
        (tmp_path / "latest").symlink_to(other)
        with named_file(tmp_path / "latest") as file:
            file.write(b"new")
        assert (tmp_path / "latest").is_symlink()
        assert other.read_text() == "new"

    def test_link_that_leads_to_itself_makes_room_for_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").symlink_to(tmp_path / "file")
        with named_file(tmp_path / "file") as file:
            file.write(b"new")
        assert (tmp_path / "file").read_bytes() == b"new"

    def test_pipe_that_a_user_names_stays_one(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        with named_file(pipe) as file:
            file.write(b"new")
        assert os.read(reader, 99) == b"new"
        os.close(reader)
        assert pipe.is_fifo()


@pytest.mark.parametrize("rights", [0o600, 0o640])
def test_rights_of_the_file_before_are_kept(tmp_path: Path, rights: int) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(rights)
    _replace(path)
    assert path.stat().st_mode & 0o777 == rights


def test_where_it_cannot_be_written_the_old_one_is_left(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")
    with path.open("rb") as file:
        write_whole(path, b"new")
        assert file.read() == b"old", "a reader that has it open keeps the old one"
    (tmp_path / "file.tmp").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(path, b"newer")
    assert path.read_bytes() == b"new"
