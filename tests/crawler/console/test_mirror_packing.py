"""Packed mirrors whose files have odd types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from libzim.reader import Archive

from crawler.console.mirror_packing import Packer
from crawler.mirror.mirror_files import open_mirror
from tests.crawler.mirror.made import MadeMirror

if TYPE_CHECKING:
    from pathlib import Path

HOST = "host.example"
LISTING = b"<html><a href=x>This is how a link is written.</a>"


@pytest.mark.parametrize(
    ("content_type", "told"),
    [
        ("text/plain", "text/plain"),
        ("application/a\0\0b", "application/ab"),
        ("\N{NO-BREAK SPACE}", "text/html"),
        ("", "text/html"),
    ],
)
def test_a_zim_file_has_the_types_of_its_files(
    tmp_path: Path, content_type: str, told: str
) -> None:
    made = MadeMirror(tmp_path / "m")
    made.serve(f"http://{HOST}/", b"<p>home", is_seed=True)
    made.serve(f"http://{HOST}/listing.txt", LISTING, content_type, is_seed=True)
    made.serve(f"http://{HOST}/z.png", b"\x89PNG", "image/png", is_seed=True)
    made.finish()
    with open_mirror(tmp_path / "m") as mirror:
        Packer(mirror, lambda done, total: None).write_zim(tmp_path / "m.zim", "x")
        paths = [row.path for row in mirror.table.rows()]
    made.close()
    archive = Archive(tmp_path / "m.zim")
    kinds = [archive.get_entry_by_path(path).get_item().mimetype for path in paths]
    assert kinds == ["text/html; charset=utf-8", told, "image/png"]
