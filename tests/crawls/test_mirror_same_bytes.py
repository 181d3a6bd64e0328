"""``crawl-once mirror`` of files with the same bytes: one file of several names, counted once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rich.filesize import decimal

from tests.crawls.mirrored import Mirrored, check, mirror
from tests.sites.needing import NeedingSite, body

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STYLES = "".join(f'<link rel="stylesheet" href="/style/plain.css?v={n}">' for n in (1, 2))

CHARSET = '<meta charset="utf-8">'


@pytest.fixture
def site() -> Iterator[NeedingSite]:
    """Two pages of the same bytes and two styles of the same bytes, all with nothing to edit."""
    with NeedingSite() as served:
        served.linked = ("/docs/", "/same/one.html", "/styled")
        served.file("/style/plain.css", b"body { color: black }", "text/css")
        served.file("/styled", body("styled", "", STYLES))
        for name in ("one", "two"):
            served.file(f"/same/{name}.html", body("same", '<a href="two.html">two</a>', CHARSET))
        yield served


def inodes(found: Mirrored, *urls: str) -> set[int]:
    paths = [found.path_of(url) for url in urls]
    assert None not in paths
    return {(found.folder / str(path)).stat().st_ino for path in paths}


def bytes_on_disk(found: Mirrored) -> int:
    stats = [(found.folder / path).stat() for path in found.files if "/" in path]
    return sum({stat.st_ino: stat.st_size for stat in stats}.values())


def test_documents_that_need_no_edit_are_one_file(site: NeedingSite, tmp_path: Path) -> None:
    found = mirror(site.url, tmp_path / "m")
    styles = [site.at(f"/style/plain.css?v={number}") for number in (1, 2)]
    assert len(inodes(found, *styles)) == 1
    assert len(inodes(found, site.at("/same/one.html"), site.at("/same/two.html"))) == 1
    assert check(found.folder).returncode == 0, check(found.folder).stdout


def test_the_printed_size_is_that_of_the_disk(site: NeedingSite, tmp_path: Path) -> None:
    found = mirror(site.url, tmp_path / "m")
    assert f" other files, {decimal(bytes_on_disk(found))}\n" in found.done.stdout
    path = found.folder / str(found.path_of(site.at("/style/plain.css?v=2")))
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)  # as where a copy without hard links was made of the folder
    again = mirror(site.url, tmp_path / "m")
    assert f" other files, {decimal(bytes_on_disk(again))}\n" in again.done.stdout
