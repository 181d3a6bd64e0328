"""A mirror of a site that attacks: nothing outside of its folder, nothing executable, bounded."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from tests.crawls.mirrored import Mirrored, check, mirror
from tests.sites.attacks import hosts, markup
from tests.sites.changing import ChangingSite
from tests.sites.hostile import HostileSite

if TYPE_CHECKING:
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
