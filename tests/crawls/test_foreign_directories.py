"""A crawl directory that others made: nothing of theirs leads a crawl to write outside of it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.console.crawling import _OF_ONE_VISIT
from crawler.spiders.argument_table import SITE
from crawler.storage import meta_names
from crawler.watch.visiting import FILE_ARGUMENTS, REMEMBERED
from tests.crawls.command import crawl, crawl_once, scrapy
from tests.crawls.terminal import OnTerminal
from tests.crawls.test_watch import let_a_day_pass
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


@pytest.mark.parametrize("words", [("mirror",), ("mirror", "check"), ("report",), ("verify",)])
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


@pytest.fixture
def harmful(jobdir: Path, tmp_path: Path) -> Path:
    """The directory, with a configuration that runs a program and writes elsewhere."""
    mark = tmp_path / "mark"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    (tmp_path / "feed.jsonl").write_text(IMPORTANT)
    (jobdir / "crawl-once.toml").write_text(
        f"""
        cookies = "{tmp_path / "cookies.txt"}"
        rules = "{tmp_path / "rules.json"}"
        max-pages = 1
        render = "always"

        [settings]
        DOWNLOAD_DELAY = 0.01
        CRAWL_RENDER_BROWSER = "{program}"
        LOG_FILE = "{tmp_path / "log"}"
        ROBOTSTXT_OBEY = false
        CRAWL_PRIVATE_ADDRESSES = true
        ITEM_PIPELINES = {{ "antigravity.Pipeline" = 1 }}
        WARC_FOLDER = "{tmp_path / "warc"}"

        [settings.FEEDS."{tmp_path / "feed.jsonl"}"]
        format = "jsonlines"
        overwrite = true
        """
    )
    return jobdir


IGNORED = (
    "CRAWL_PRIVATE_ADDRESSES, CRAWL_RENDER_BROWSER, FEEDS, ITEM_PIPELINES, LOG_FILE, "
    "ROBOTSTXT_OBEY, WARC_FOLDER, cookies, rules;"
)


def test_configuration_in_a_crawl_directory_holds_harmless_settings_alone(
    harmful: Path, tmp_path: Path
) -> None:
    """Of a watch, of a file that is named, and of a crawl that stands in the directory."""
    told = crawl_once("config", "--config", harmful / "crawl-once.toml", "--json")
    assert told.returncode == 0, told.stderr
    held = json.loads(told.stdout)
    assert held["DOWNLOAD_DELAY"]["value"] == 0.01
    assert held["max-pages"]["value"] == "1"
    assert held["ROBOTSTXT_OBEY"]["value"] is True
    assert not {"cookies", "rules", "CRAWL_RENDER_BROWSER", "LOG_FILE", "FEEDS"} & set(held)
    assert f"ignored, since the file is in a crawl directory: {IGNORED}" in told.stderr
    here = crawl_once("config", "--json", cwd=harmful)
    assert IGNORED in here.stderr
    let_a_day_pass(harmful)
    (harmful / "crawl-once.toml").write_text(
        (harmful / "crawl-once.toml").read_text().replace('render = "always"', "")
    )
    watched = crawl_once("watch", "--once", harmful, "-s", "READING_WORKERS=1")
    assert watched.returncode == 0, watched.stdout + watched.stderr
    assert IGNORED in (harmful / "watch.log").read_text()
    assert (tmp_path / "feed.jsonl").read_text() == IMPORTANT
    assert not [name for name in ("mark", "log", "warc") if (tmp_path / name).exists()]


def remember(jobdir: Path, **arguments: str) -> None:
    """Let a directory remember further arguments, as one of a stranger may."""
    with closing(sqlite3.connect(jobdir / "crawl.db")) as connection, connection:
        (known,) = connection.execute(
            "SELECT value FROM meta WHERE name = ?", (meta_names.ARGUMENTS,)
        ).fetchone()
        value = json.dumps({**json.loads(known), **arguments})
        connection.execute(
            "UPDATE meta SET value = ? WHERE name = ?", (value, meta_names.ARGUMENTS)
        )


class TestRememberedFiles:
    @pytest.mark.parametrize("name", FILE_ARGUMENTS)
    def test_they_are_refused_until_the_user_agrees(
        self, site: ChangingSite, jobdir: Path, tmp_path: Path, name: str
    ) -> None:
        file = tmp_path / "file"
        host = site.at("/").split("//")[1].partition(":")[0]
        file.write_text(
            f"{host}\tFALSE\t/\tFALSE\t0\tsession\tsecret\n" if name == "cookies" else "[]"
        )
        remember(jobdir, **{name: str(file)})
        let_a_day_pass(jobdir)
        asked = len(site.asked)
        refused = crawl_once("watch", "--once", jobdir)
        assert refused.returncode == 2
        assert f"remembers --{name} {file}" in refused.stderr
        assert "--remembered-files" in refused.stderr
        assert len(site.asked) == asked

    def test_agreed_file_is_used(self, site: ChangingSite, jobdir: Path, tmp_path: Path) -> None:
        file = tmp_path / "cookies.txt"
        host = site.at("/").split("//")[1].partition(":")[0]
        file.write_text(f"{host}\tFALSE\t/\tFALSE\t0\tsession\tsecret\n")
        remember(jobdir, cookies=str(file))
        let_a_day_pass(jobdir)
        options = ("--remembered-files", "-s", "DOWNLOAD_DELAY=0")
        agreed = crawl_once("watch", "--once", jobdir, *options)
        assert agreed.returncode == 0, agreed.stdout + agreed.stderr

    @pytest.mark.parametrize(("keys", "status"), [(b"y\n", 0), (b"\n", 2), (b"\x04", 2)])
    def test_a_person_is_asked(
        self, site: ChangingSite, jobdir: Path, tmp_path: Path, keys: bytes, status: int
    ) -> None:
        file = tmp_path / "cookies.txt"
        host = site.at("/").split("//")[1].partition(":")[0]
        file.write_text(f"{host}\tFALSE\t/\tFALSE\t0\tsession\tsecret\n")
        remember(jobdir, cookies=str(file))
        let_a_day_pass(jobdir)
        words = "watch", "--once", str(jobdir), "-s", "DOWNLOAD_DELAY=0"
        with OnTerminal(200, [sys.executable, "-m", "crawler", *words]) as terminal:
            terminal.wait_for(f"{jobdir} remembers --cookies {file}")
            terminal.press(keys)
            said = terminal.finish(status).text
        assert ("nothing is watched, since the files are not to be used" in said) == bool(status)
        assert "Traceback" not in said

    @pytest.mark.parametrize(
        "stored", [{"config": "x.toml"}, {"set": "LOG_FILE=x"}, {"logfile": "x"}]
    )
    def test_options_that_no_crawl_remembers_are_none(
        self, jobdir: Path, tmp_path: Path, stored: dict[str, str]
    ) -> None:
        value = {name: str(tmp_path / "outside") for name in stored}
        remember(jobdir, **value)
        let_a_day_pass(jobdir)
        done = crawl_once("watch", "--once", jobdir, "-s", "DOWNLOAD_DELAY=0")
        assert done.returncode == 0, done.stdout + done.stderr
        assert not (tmp_path / "outside").exists()

    def test_option_in_place_of_the_url_is_none(self, jobdir: Path, tmp_path: Path) -> None:
        remember(jobdir, url=f"--logfile={tmp_path / 'outside'}")
        let_a_day_pass(jobdir)
        done = crawl_once("watch", "--once", jobdir)
        assert "remembers no URL" in done.stdout + done.stderr
        assert not (tmp_path / "outside").exists()

    def test_all_that_crawls_remember_is_taken(self) -> None:
        assert {*SITE} - {*_OF_ONE_VISIT} <= REMEMBERED <= {*SITE}


class TestFeeds:
    """A feed of the configuration replaces what the crawl wrote, and no other file."""

    @pytest.fixture
    def place(self, site: ChangingSite, tmp_path: Path) -> Path:
        here = tmp_path / "here"
        here.mkdir()
        (here / "crawl-once.toml").write_text(
            f"""
            url = "{site.at("/")}"
            [settings]
            DOWNLOAD_DELAY = 0
            READING_WORKERS = 1
            [settings.FEEDS."feed.jsonl"]
            format = "jsonlines"
            overwrite = true
            """
        )
        return here

    def test_file_of_others_stays(self, place: Path) -> None:
        (place / "feed.jsonl").write_text(IMPORTANT)
        done = crawl_once("crawl", "--into", "d", cwd=place)
        assert (done.returncode, "--overwrite-output feed.jsonl" in done.stderr) == (2, True)
        assert (place / "feed.jsonl").read_text() == IMPORTANT

    def test_own_file_is_replaced_and_any_by_the_command_line(self, place: Path) -> None:
        for _ in range(2):
            done = crawl_once("crawl", "--into", "d", "--revisit", "yes", cwd=place)
            assert done.returncode == 0, done.stderr
            assert len((place / "feed.jsonl").read_text().splitlines()) == 3
        (place / "feed.jsonl").write_text(IMPORTANT)
        done = crawl_once("crawl", "--into", "e", "-O", "feed.jsonl", cwd=place)
        assert done.returncode == 0, done.stderr
        assert "important" not in (place / "feed.jsonl").read_text()
