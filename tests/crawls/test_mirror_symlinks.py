"""``crawl-once mirror`` into a folder in which somebody put symbolic links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawls.mirrored import check, mirror
from tests.sites.needing import NeedingSite, body

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SAYS = "is a symbolic link"


@pytest.fixture
def site() -> Iterator[NeedingSite]:
    with NeedingSite() as served:
        served.file("/docs/", body("start", '<a href="folder/inner">in</a> <a href="b.html">b</a>'))
        yield served


def host(site: NeedingSite) -> str:
    return site.origin.removeprefix("http://").replace(":", "+")


@pytest.mark.parametrize("target", ["mine", "nothing", "folder"])
def test_a_file_takes_the_place_of_a_link_and_its_target_stays(
    site: NeedingSite, tmp_path: Path, target: str
) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / "folder").mkdir()
    found = mirror(site.url, tmp_path / "m")
    linked = [found.folder / host(site) / "docs" / "b.html", found.folder / "index.html"]
    before = [path.read_bytes() for path in linked]
    for path in linked:
        path.unlink()
        path.symlink_to(tmp_path / target)
    proof = check(found.folder)
    assert proof.returncode == 1
    assert "Traceback" not in proof.stderr
    assert f"{linked[0]} {SAYS}" in proof.stdout
    found = mirror(site.url, found.folder)
    for path in linked:
        assert found.done.stderr.count(f"{path} {SAYS}") == 1, found.done.stderr
        assert not path.is_symlink()
    assert [path.read_bytes() for path in linked] == before
    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert not list((tmp_path / "folder").iterdir())
    assert not (tmp_path / "nothing").exists()
    assert check(found.folder).returncode == 0


def test_a_link_of_a_page_that_gives_nothing_is_left(site: NeedingSite, tmp_path: Path) -> None:
    found = mirror(site.url, tmp_path / "m")
    link = found.folder / host(site) / "docs" / "b.html"
    link.rename(tmp_path / "mine")
    link.symlink_to(tmp_path / "mine")
    site.fail("/docs/b.html", 404)
    found = mirror(site.url, found.folder)
    assert link.is_symlink()
    assert (tmp_path / "mine").exists()


def test_a_link_in_the_place_of_a_folder_ends_the_run_in_a_line(
    site: NeedingSite, tmp_path: Path
) -> None:
    found = mirror(site.url, tmp_path / "m")
    folder = found.folder / host(site) / "docs" / "folder"
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    before = {path.name: path.read_bytes() for path in (tmp_path / "moved").iterdir()}
    site.file("/docs/folder/inner", body("inner anew", ""))
    found = mirror(site.url, found.folder, status=1)
    (line,) = [line for line in found.done.stderr.splitlines() if SAYS in line]
    assert line.startswith(f"scrapy mirror: stopped: {folder} {SAYS}, which a mirror never follows")
    assert {path.name: path.read_bytes() for path in (tmp_path / "moved").iterdir()} == before
    assert check(found.folder).returncode == 1
