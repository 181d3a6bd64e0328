"""SIGKILL of crawls that record, archives that were lost, and crawls that go on with them."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from crawler.storage.errors import JobError
from crawler.warc.archive import Archive
from tests.crawler.warc.exchanges import read_all
from tests.crawls.command import crawl, scrapy
from tests.crawls.kills import KilledCrawl, assert_nothing_lost_or_kept_twice
from tests.crawls.test_warc import RECORDED, items, replay
from tests.sites.changing import ChangingSite
from tests.sites.many import ManyPages, pages
from tests.sites.prose import prose
from tests.waiting import wait_until

PAGES = 400
KILLS = 5


def test_replay_that_is_killed_goes_on(tmp_path: Path) -> None:
    with ManyPages(pages(PAGES)) as site:
        crawl(site.url, tmp_path / "crawl", *RECORDED, "-s", "WARC_MAX_FILE_BYTES=100000")
        command = ("crawl", "replay", "-a", f"warc={tmp_path / 'crawl' / 'warc'}")
        jobdir = tmp_path / "replay"
        process = subprocess.Popen(
            [sys.executable, "-m", "scrapy", *command, "-s", f"JOBDIR={jobdir}"],
            cwd=Path(__file__).parents[2], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_until(lambda: stored(jobdir) > 0 or process.poll() is not None)
        process.kill()
        process.wait()
        done = stored(jobdir)
        replay(tmp_path / "crawl" / "warc", jobdir)
        print(f"killed after {done} of {PAGES}")
        assert_nothing_lost_or_kept_twice(site, jobdir)
        assert "unchanged" not in {row["verdict"] for row in items(jobdir).values()}


def stored(jobdir: Path) -> int:
    """Pages that are committed."""
    if not (jobdir / "crawl.db").exists():
        return 0
    try:
        return len(items(jobdir))
    except (JobError, sqlite3.Error):  # it is just being made
        return 0


def test_every_stored_page_is_recorded_however_the_crawl_is_killed(tmp_path: Path) -> None:
    jobdir = tmp_path / "job"
    with ManyPages(pages(PAGES)) as site:
        killed = KilledCrawl(site, jobdir, 20261120, (*RECORDED, "-s", "WARC_MAX_FILE_BYTES=60000"))
        while killed.kills < KILLS:
            moment = killed.chance.randrange(1, PAGES // KILLS)
            assert killed.run_until(moment), f"it ended after {killed.kills} kills"
            assert_recorded(jobdir, jobdir / "warc")
        killed.finish()
        assert_recorded(jobdir, jobdir / "warc")
        assert_nothing_lost_or_kept_twice(site, jobdir)
    files = list(map(str, (jobdir / "warc").glob("*.warc.gz*")))
    assert not any(file.endswith(".open") for file in files)
    command = [sys.executable, "-m", "warcio.cli", "check", *files]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_full_disk_stops_the_crawl_and_costs_no_record(small_disk: Path, tmp_path: Path) -> None:
    jobdir, folder = tmp_path / "job", small_disk / "warc"
    resize = ["mount", "-o", "remount,size={}", str(small_disk)]
    subprocess.run([word.format("300k") for word in resize], check=True)
    with ManyPages(pages(PAGES)) as site:
        command = ("crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={jobdir}")
        done = scrapy(*command, *RECORDED, "-s", f"WARC_FOLDER={folder}")
        assert done.returncode == 1
        # Either the records did not fit, or what is known of their payloads.
        assert f"{folder}: cannot be written" in done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        assert_recorded(jobdir, folder)
        subprocess.run([word.format("100m") for word in resize], check=True)
        assert scrapy(*command, *RECORDED, "-s", f"WARC_FOLDER={folder}").returncode == 0
        assert_recorded(jobdir, folder)
        assert_nothing_lost_or_kept_twice(site, jobdir)


def assert_recorded(jobdir: Path, folder: Path) -> None:
    """What ``crawl.db`` holds is in whole records of the files as a killed process left them."""
    said: list[str] = []
    held = {found.url for found in read_all(folder, said) if found.kind in {"response", "revisit"}}
    missing = set(items(jobdir)) - held
    assert not missing, f"{len(missing)} stored pages are not recorded"


def test_two_crawls_do_not_record_in_one_folder(tmp_path: Path) -> None:
    with ManyPages(pages(1)) as site, closing(Archive(tmp_path / "warc", "test")):
        done = scrapy(
            "crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path / 'job'}",
            *RECORDED, "-s", f"WARC_FOLDER={tmp_path / 'warc'}",
        )  # fmt: skip
        assert not site.total
    assert done.returncode == 2
    assert "in use by another process" in done.stderr
    assert len(done.stderr.splitlines()) == 1


class TestLostArchive:
    """Of a crawl whose WARC files were lost, the next visit records all bodies again."""

    @pytest.mark.parametrize("loss", ["removed", "cut", "never made"])
    def test_no_revisit_is_hollow(self, tmp_path: Path, loss: str) -> None:
        jobdir = tmp_path / "crawl"
        archive = jobdir / "warc"
        links = [f"/{number}" for number in range(4)]
        with ChangingSite(linked=tuple(links)) as site:
            for path in links:  # with an ETag, by which a server says "not modified"
                site.put(path, prose(path, 200))
            crawl(site.at("/"), jobdir, *(() if loss == "never made" else RECORDED))
            for file in archive.glob("*.warc.gz"):
                if loss == "removed":
                    file.unlink()
                else:
                    os.truncate(file, 600)
            told = scrapy("verify", str(jobdir))
            assert (told.returncode, "lost of the WARC files" in told.stdout) == (
                (0, False) if loss == "never made" else (1, True)
            )
            crawl(site.at("/"), jobdir, *RECORDED, "-a", "revisit=yes")
            crawl(site.at("/"), jobdir, *RECORDED, "-a", "revisit=yes")
        found = read_all(archive, [])
        bodies = {one.field("WARC-Payload-Digest") for one in found if one.kind == "response"}
        revisits = [one for one in found if one.kind == "revisit"]
        assert {one.field("WARC-Payload-Digest") for one in revisits} <= bodies
        assert {site.at(path) for path in links} <= {one.url for one in revisits}, "third visit"
        assert {site.at(path) for path in links} <= {
            one.url for one in found if one.kind == "response" and one.payload
        }

    def test_reading_it_through_tells_what_is_damaged(self, tmp_path: Path) -> None:
        jobdir = tmp_path / "crawl"
        with ChangingSite(linked=("/0",)) as site:
            site.put("/0", prose("/0", 200))
            crawl(site.at("/"), jobdir, *RECORDED)
        assert scrapy("verify", "--deep", str(jobdir)).returncode == 0
        (file,) = (jobdir / "warc").glob("*.warc.gz")
        with file.open("r+b") as opened:
            opened.seek(file.stat().st_size // 2)
            opened.write(bytes(300))
        assert scrapy("verify", str(jobdir)).returncode == 0
        told = scrapy("verify", "--deep", str(jobdir))
        assert (told.returncode, "damaged at byte" in told.stdout) == (1, True)
