"""status.json is replaced as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.status_file import replace_file

if TYPE_CHECKING:
    from pathlib import Path


def test_a_reader_that_has_it_open_keeps_the_old_text(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    replace_file(path, "old")
    with path.open(encoding="utf-8") as file:
        replace_file(path, "new")
        assert file.read() == "old\n"
    assert path.read_text(encoding="utf-8") == "new\n"
    assert list(tmp_path.iterdir()) == [path]


def test_where_it_cannot_be_written_the_old_one_is_left(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    replace_file(path, "old")
    (tmp_path / "status.json.part").mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_file(path, "new")
    assert path.read_text(encoding="utf-8") == "old\n"
