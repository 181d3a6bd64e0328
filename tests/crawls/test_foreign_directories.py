"""A crawl directory that others made: nothing of theirs leads a crawl to write outside of it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import crawl, scrapy
from tests.sites.changing import ChangingSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES = (
    "status.json", "status.json.tmp", "status.json.part", "seen.bloom", "seen.bloom.tmp",
    "warc/crawl-once.warc.gz.open", "fingerprints/00000009.log.tmp",
)  # fmt: skip
"""Links of these names make room for files."""

REFUSED_FILES = (
    "crawl.db", "warc/payloads.db", "fingerprints/index.lock", "fingerprints/00000001.log", "lock",
)  # fmt: skip
REFUSED_FOLDERS = ("fingerprints", "signatures", "passages", "screenshots", "warc")
IMPORTANT = "important\n" * 50


@pytest.fixture
def site() -> Iterator[ChangingSite]:
    with ChangingSite(linked=("/0", "/1")) as site:
        for path in ("/0", "/1"):
            site.put(path, prose(path, 200))
        yield site


@pytest.fixture
def jobdir(site: ChangingSite, tmp_path: Path) -> Path:
    crawl(site.at("/"), tmp_path / "crawl", "-s", "WARC_ENABLED=True")
    return tmp_path / "crawl"


def again(site: ChangingSite, jobdir: Path) -> tuple[int, str]:
    done = scrapy(
        "crawl", "site", "-a", f"url={site.at('/')}", "-a", "revisit=yes",
        "-s", f"JOBDIR={jobdir}", "-s", "WARC_ENABLED=True", "-s", "PROGRESS_INTERVAL_SECS=0.1",
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_links_in_place_of_files_are_not_written_through(
    site: ChangingSite, jobdir: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.write_text(IMPORTANT)
    for name in FILES:
        (jobdir / name).unlink(missing_ok=True)
        (jobdir / name).symlink_to(other)
    status, said = again(site, jobdir)
    assert (status, "Traceback" in said) == (0, False), said
    assert other.read_text() == IMPORTANT
    assert not (jobdir / "status.json").is_symlink()


@pytest.mark.parametrize("name", REFUSED_FILES)
def test_link_in_place_of_what_is_changed_is_refused(
    site: ChangingSite, jobdir: Path, tmp_path: Path, name: str
) -> None:
    """Also a link to a database, into which tables might be written."""
    other = tmp_path / "other"
    if (jobdir / name).exists():
        shutil.move(jobdir / name, other)
    else:
        other.write_text(IMPORTANT)
    before = other.read_bytes()
    (jobdir / name).symlink_to(other)
    status, said = again(site, jobdir)
    assert status != 0
    assert "link" in said
    assert "Traceback" not in said, said
    assert other.read_bytes() == before


@pytest.mark.parametrize("name", REFUSED_FOLDERS)
def test_link_in_place_of_a_folder_is_refused(
    site: ChangingSite, jobdir: Path, tmp_path: Path, name: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shutil.rmtree(jobdir / name, ignore_errors=True)
    (jobdir / name).symlink_to(other, target_is_directory=True)
    status, said = again(site, jobdir)
    assert status != 0
    assert "symbolic link" in said
    assert "Traceback" not in said, said
    assert list(other.iterdir()) == []


@pytest.mark.parametrize("words", [("mirror",), ("mirror", "--check"), ("report",), ("verify",)])
def test_linked_state_of_a_mirror_is_refused(
    jobdir: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / ".mirror").symlink_to(jobdir, target_is_directory=True)
    before = {path: path.stat().st_mtime_ns for path in jobdir.rglob("*")}
    place = mirror if words[0] == "mirror" else mirror / ".mirror"
    done = scrapy(*words, str(place))
    assert (done.returncode, "symbolic link" in done.stderr) == (2, True), done.stderr
    assert {path: path.stat().st_mtime_ns for path in jobdir.rglob("*")} == before
