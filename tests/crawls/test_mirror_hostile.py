"""Mirrors of sites that attack, and in folders with links: nothing leads out of the folder."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from tests.crawls.mirrored import Mirrored, check, host, mirror
from tests.sites.attacks import hosts, markup
from tests.sites.changing import ChangingSite
from tests.sites.hostile import HostileSite
from tests.sites.needing import NeedingSite, body

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MEGABYTE = 2**20
LIMITS = {
    "DOWNLOAD_TIMEOUT": 4,
    "DOWNLOAD_MAXSIZE": 5 * MEGABYTE,
    "READING_TIMEOUT_SECS": 10,
    "RETRY_ENABLED": False,
}
SETTINGS = [part for name, value in LIMITS.items() for part in ("-s", f"{name}={value}")]
CLIMBING = (
    "/../../../up.html", "/%2e%2e/%2e%2e/up", "/a/..%2f..%2f..%2fup", "/..%5c..%5cup.html",
    "/a\\..\\..\\up", "//%2e%2e/up", "/%2Fetc%2Fpasswd", "/.mirror/crawl.db", "/.mirror/lock",
    "/nul%00byte", "/con.txt", "/aux/x", "/trailing./dots.", "/" + "long" * 100, "/x?" + "q" * 3000,
    "/" + "deep/" * 200, "/%e2%80%ae/lmth.exe", "/line%0abreak", "/~root", "/$HOME", "/a:b", "/-rf",
    "/index.html/../../index.html", "/changes.json", "/%252e%252e/%252e%252e/twice",
    "/\u00e9", "/e\u0301",
)  # fmt: skip


def beside(folder: Path) -> set[str]:
    return {path.as_posix() for path in folder.parent.rglob("*") if folder not in path.parents}


def assert_contained(found: Mirrored, before: set[str]) -> None:
    assert beside(found.folder) == before
    for path in found.folder.rglob("*"):
        status = path.lstat()
        assert stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode), path
        assert stat.S_ISDIR(status.st_mode) or not status.st_mode & 0o111, path


def test_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "enough" / "m"
    folder.mkdir(parents=True)
    before = beside(folder)
    with ChangingSite(linked=CLIMBING) as site:
        for number, path in enumerate(CLIMBING):
            site.put(path.partition("?")[0], f"page{number}")
        found = mirror(site.url, folder)
    assert len([path for path in found.files if "/" in path]) > 15
    assert_contained(found, before)
    assert check(folder).returncode == 0, check(folder).stdout


def test_attacks_cost_no_more_than_they_may(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    before = beside(folder)
    # Slow answers and bombs are the same in every crawl: test_hostile_attacks.py has them.
    attacks = {**markup.ATTACKS, **hosts.ATTACKS}
    with HostileSite(linked=(*attacks, *(f"/plain/{number}" for number in range(20)))) as site:
        found = mirror(site.url, folder, *SETTINGS, "--max-depth", "1")
        plain = [found.path_of(site.at(f"/plain/{number}")) for number in range(1, 20)]
    assert None not in plain
    assert_contained(found, before)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert size < len(attacks) * 5 * MEGABYTE
    assert check(folder).returncode == 0, check(folder).stdout


SAYS = "is a symbolic link"


@pytest.fixture
def site() -> Iterator[NeedingSite]:
    with NeedingSite() as served:
        served.file("/docs/", body("start", '<a href="folder/inner">in</a> <a href="b.html">b</a>'))
        yield served


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
