"""Mirrors that count what they would fetch, leave URLs out, or fetch at a rate and at hours."""

from __future__ import annotations

import re
import signal
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import scrapy, start_scrapy
from tests.crawls.mirrored import check, host, mirror
from tests.sites.needing import NeedingSite, body

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.exchange import Exchange

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


LARGE = bytes(range(256)) * 4_000
RATE = 250_000


def _stalled(exchange: Exchange) -> None:
    exchange.head(200, {"Content-Type": "video/mp4", "Content-Length": "100000"})
    exchange.wfile.write(b"x" * 1_000)
    exchange.wfile.flush()
    exchange.stage.closing.wait()


def test_the_rate_holds_for_a_large_file_and_beyond_the_time_of_an_answer(tmp_path: Path) -> None:
    with NeedingSite() as site:
        links = "".join(f'<img src="/img/{name}">' for name in ("large.bin", "stalled", "last.bin"))
        site.file("/docs/", body("paced", links))
        site.file("/img/large.bin", LARGE, "image/x-large")
        site.file("/img/last.bin", b"last", "image/x-large")
        site.added["/img/stalled"] = _stalled
        one_after_another = ("-s", "CONCURRENT_REQUESTS=1", "-s", "RETRY_TIMES=0")
        timeout = ("-s", "DOWNLOAD_TIMEOUT=3")
        made = mirror(
            f"{site.url}docs/",
            tmp_path / "m",
            *("--max-rate", f"{RATE}", *one_after_another, *timeout, "--max-depth", "0"),
            status=1,
        )
        asked = {one.path: one.at for one in site.asked}
    took = (
        min(at for at in asked.values() if at > asked["/img/large.bin"]) - asked["/img/large.bin"]
    )
    # The buffers of the connection come at once; all that follows waits for them.
    assert took > 3.0, "longer than DOWNLOAD_TIMEOUT, of which nothing is lost"
    assert took >= len(LARGE) / RATE * 0.9
    assert made.read(f"{host(site)}/img/large.bin") == LARGE
    assert made.read(f"{host(site)}/img/last.bin") == b"last"
    assert "1 file is only a part" in made.done.stdout, "of a server that says nothing any more"


def test_outside_of_its_hours_it_waits_and_can_be_stopped(tmp_path: Path) -> None:
    now = datetime.now().astimezone()
    hours = f"{now + timedelta(hours=2):%H}-{now + timedelta(hours=3):%H}"
    with NeedingSite() as site:
        running = start_scrapy("mirror", f"{site.url}docs/", str(tmp_path / "m"), "--hours", hours)
        assert running.stderr is not None
        words = next(line for line in running.stderr if "--hours" in line)
        assert f"outside of --hours {hours}, pauses for" in words
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=240)
        assert running.returncode == 130
        assert site.paths() == []
