"""``crawl-once mirror --dry-run``, and the patterns by which URLs are left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import scrapy
from tests.crawls.mirrored import check, host, mirror
from tests.sites.needing import NeedingSite, body

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

DISC = b"\1\2\3\0" * 100_000
FILM = b"\0\0\0\x18ftyp" + bytes(300_000)
OPTIONS = (
    *("--exclude", "/docs/print/", "--exclude", "*.png\n!pixel.png"),
    *("--max-file-bytes", "350K", "--include-from"),
)


@pytest.fixture
def site() -> NeedingSite:
    site = NeedingSite()
    site.file("/docs/print/b.html", body("print", ""))
    site.file("/docs/disc.iso", DISC, "application/octet-stream")
    site.file("/docs/film.mp4", FILM, "video/mp4")
    links = "".join(f'<a href="{to}">x</a>' for to in ("print/b.html", "disc.iso", "film.mp4"))
    site.file("/docs/b.html", body("b", links))
    return site


def test_a_dry_run_counts_what_a_mirror_fetches_and_writes_nothing(
    site: NeedingSite, tmp_path: Path
) -> None:
    patterns = tmp_path / "patterns"
    patterns.write_text("# the manual alone\n/docs/**\n!query\n")
    folder = tmp_path / "m"
    with site:
        told = scrapy("mirror", "--dry-run", site.url, str(folder), *OPTIONS, str(patterns))
        assert told.returncode == 0, told.stderr
        assert not folder.exists()
        made = mirror(site.url, folder, *OPTIONS, str(patterns))
        before = len(site.asked)
        update = scrapy("mirror", "--dry-run", str(folder))
        assert len(site.asked) == before, "its files tell what an update asks for"
        other = scrapy("mirror", "--dry-run", "http://127.0.0.1:9/", str(folder))
        had = made.files
        again = mirror(site.url, folder, *OPTIONS, str(patterns), "--exclude", "*.css")
        asked = {each.path for each in site.asked[before:]}
    assert other.returncode == 2
    assert "is a mirror of http://127.0.0.1:" in other.stderr
    assert again.files == had, "what is left out later keeps its file"
    assert not any(".css" in each for each in asked), "and is not asked for"
    assert any("b.html" in each for each in asked)
    at = host(site).replace("+", ":")
    line = re.search(rf"^{at} +(\d+) +(\d+)  (.+)$", told.stdout, re.MULTILINE)
    assert line is not None, told.stdout
    files = {path for path in made.files if path.startswith(host(site))}
    pages = {path for path in files if path.endswith(".html")}
    assert (int(line[1]), int(line[2])) == (len(pages), len(files - pages))
    assert f"{at}  " in update.stdout
    assert line[0].split()[1:3] == update.stdout.splitlines()[2].split()[1:3]
    assert "larger than --max-file-bytes: 1 file, 400.0 kB" in told.stdout
    fetched = re.search(r"^([\d.]+) kB were fetched", told.stdout, re.MULTILINE)
    assert fetched is not None
    assert float(fetched[1]) < 100, "of a film the head alone"

    names = {path.rpartition("/")[2] for path in files}
    assert {"film.mp4", "pixel.png", "main.css"} <= names
    assert not names & {"small.png", "lazy.png", "back.png", "disc.iso"}
    assert not any("/print/" in path or "query" in path for path in files)
    checked = check(folder)
    assert checked.returncode == 0, checked.stdout


def test_what_is_wrong_is_one_line(tmp_path: Path) -> None:
    for arguments, words in (
        (("--exclude", "a\\"), "exclude: 'a\\\\' is no pattern as in gitignore"),
        (("--exclude-from", str(tmp_path / "no")), f"--exclude-from: {tmp_path}/no: No such file"),
        (("--exclude", "https://h/a"), "exclude: 'https://h/a' is a URL; write the pattern from"),
        (("--format", "rar"), "--format must be zip, zim or wacz, got 'rar'"),
        (("--format", ""), "--format takes a value, got an empty one"),
    ):
        done = scrapy("mirror", "http://127.0.0.1:9/", str(tmp_path / "m"), *arguments)
        assert done.returncode == 2
        assert words in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "m").exists()
