"""``--format`` and ``--pack``: a mirror in one file, read back by the libraries of the formats."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest
from libzim.reader import Archive
from libzim.search import Query, Searcher

from tests.crawls.command import scrapy
from tests.crawls.mirrored import host, mirror
from tests.sites.needing import NeedingSite, body

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def test_packed_files_hold_every_file_of_the_mirror(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    with NeedingSite() as site:
        site.file("/docs/%C3%BC%20b.html", body("Zwiebelfisch", "Zwiebelfisch"))
        site.file("/docs/b.html", body("b", '<a href="%C3%BC%20b.html">ü</a>'))
        made = mirror(site.url, folder, "--format", "zip, zim", "--search", "--keep-versions")
        first = (tmp_path / "m.zip").read_bytes()
        asked = len(site.asked)
        for left in (".m.zip.part", ".m.zim.part", ".m.zim.part.tmp"):  # by a killed process
            (tmp_path / left).write_bytes(b"PK")
        done = scrapy("mirror", "pack", str(folder))
        assert done.returncode == 0, done.stderr
        assert len(site.asked) == asked
    assert (tmp_path / "m.zip").read_bytes() == first, "the same files are the same bytes"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "m.zim", "m.zip"]
    assert "ZIM file is ready" not in made.done.stdout

    with zipfile.ZipFile(tmp_path / "m.zip") as packed:
        assert packed.testzip() is None
        names = [name.removeprefix("m/") for name in packed.namelist()]
        assert set(names) == made.files - {"versions.html"}
        different = [name for name in names if packed.read(f"m/{name}") != made.read(name)]
        assert different == ["index.html"]
        index = packed.read("m/index.html").decode()
    assert "versions.html" in made.read("index.html").decode()
    assert "versions.html" not in index, "it leads to no file that is not packed"
    assert "search.html" in index

    archive = Archive(tmp_path / "m.zim")
    assert archive.check()
    assert archive.main_entry.get_item().path == "index.html"
    contents = {path: archive.get_entry_by_path(path).get_item() for path in names}
    different = [path for path, item in contents.items() if bytes(item.content) != made.read(path)]
    assert different == ["index.html"]
    assert bytes(contents["index.html"].content).decode() == index
    page = f"{host(site)}/docs/ü b.html"
    assert contents[page].mimetype.startswith("text/html")
    assert contents[page].title == "Zwiebelfisch"
    assert contents[f"{host(site)}/img/back.png"].mimetype == "image/png"
    assert archive.get_metadata("Language").decode() == "eng"
    assert archive.has_illustration(48)
    found = Searcher(archive).search(Query().set_query("Zwiebelfisch"))
    assert list(found.getResults(0, 5)) == [page]

    (folder / page).unlink()
    done = scrapy("mirror", "pack", str(folder))
    assert done.returncode == 2
    assert "there is no file" in done.stderr
    assert (tmp_path / "m.zip").read_bytes() == first, "what was packed before stays"


def test_packed_files_that_an_update_leaves_are_named(tmp_path: Path) -> None:
    packed = {name: tmp_path / f"m.{name}" for name in ("zip", "zim")}
    said = {
        name: f"{path} is older than the mirror; --format {name} makes it again"
        for name, path in packed.items()
    }
    with NeedingSite() as site:
        first = mirror(site.url, tmp_path / "m", "--format", "zip,zim")
        assert not any(line in first.done.stdout for line in said.values())
        again = mirror(site.url, tmp_path / "m")
        assert again.done.stdout.splitlines()[-2:] == [*said.values()]
        third = mirror(site.url, tmp_path / "m", "--format", "zim").done.stdout
        assert (said["zip"] in third, said["zim"] in third) == (True, False)
    for path in packed.values():
        archive, jobdir = f"warc={path}", tmp_path / "crawl"
        done = scrapy("crawl", "replay", "-a", archive, "-s", f"JOBDIR={jobdir}")
        assert (done.returncode, jobdir.exists()) == (2, False)
        assert f"{path.name} is no archive: WARC, WARC in gzip or zstd, WACZ" in done.stderr


def test_a_mirror_of_nothing_is_not_packed(tmp_path: Path) -> None:
    with NeedingSite() as site:
        url = site.url
    options = ("--format", "zip", "-s", "CRAWL_RETRY_BUDGET_SECS=1")
    made = mirror(url, tmp_path / "m", *options, status=1)
    packed = scrapy("mirror", "pack", str(tmp_path / "m"))
    for done in (made.done, packed):
        assert done.returncode == 1
        assert "nothing was packed" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
