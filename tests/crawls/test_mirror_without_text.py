"""``crawl-once mirror --text no``: the same files, whatever was read before, and no URL rules."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.transforms import DropArguments
from crawler.url_rules.rule_files import rules_text
from tests.crawls.command import PROJECT, TIMEOUT_SECS, report, scrapy
from tests.crawls.mirrored import Mirrored, check, host, mirror
from tests.sites.dynamic import RULED, DynamicSite
from tests.sites.needing import NeedingSite, body

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def site() -> Iterator[NeedingSite]:
    with NeedingSite() as served:
        yield served


@pytest.fixture
def mirrored(site: NeedingSite, tmp_path: Path) -> Mirrored:
    return mirror(site.url, tmp_path / "m")


def test_the_files_are_the_same(site: NeedingSite, mirrored: Mirrored, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "crawler", "mirror", site.url,
         str(tmp_path / "n"), "--no-text"],
        cwd=PROJECT, capture_output=True, text=True, check=True, timeout=TIMEOUT_SECS,
    )  # fmt: skip
    other = Mirrored(tmp_path / "n", done)
    imported = [line.rpartition("|")[2].strip() for line in other.done.stderr.splitlines()]
    # At its import it reads the source of all that import each other until it is reached.
    slow, late = "scrapy.core.downloader.contextfactory", "crawler.job"
    assert imported.index(slow) < imported.index(late)
    assert other.files == mirrored.files
    sites = {path for path in mirrored.files if "/" in path}
    assert [path for path in sites if other.read(path) != mirrored.read(path)] == []
    assert check(other.folder).returncode == 0


def test_it_is_remembered_and_what_changed_is_told(site: NeedingSite, tmp_path: Path) -> None:
    mirror(site.url, tmp_path / "m", "--no-text")
    site.file("/docs/folder/inner", body("something new", ""))
    again = mirror(site.url, tmp_path / "m")
    assert "--no-text" in again.done.stdout
    inner = f"{host(site)}/docs/folder/inner.html"
    assert b"something new" in again.read(inner)
    changed = again.json("changes.json")["changed"]
    assert [entry["path"] for entry in changed] == [inner]
    assert check(again.folder).returncode == 0
    done = scrapy("verify", str(again.folder / ".mirror"))
    assert done.returncode == 0, done.stdout


def test_rules_are_refused(tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text(rules_text([]))
    without = ("--no-text", "--rules", str(rules))
    done = scrapy("mirror", "http://127.0.0.1:9/", str(tmp_path / "m"), *without)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "--rules" in done.stderr
    assert "--text" in done.stderr
    assert not (tmp_path / "m").exists()


def test_what_rules_skipped_in_the_same_run_is_fetched(tmp_path: Path) -> None:
    rules, some = tmp_path / "rules.json", ("--max-pages", "40")
    with DynamicSite(RULED) as site:
        context = Context(urlsplit(site.url).netloc)
        rules.write_text(rules_text([(context, DropArguments(("ref",)))]))
        folder = mirror(site.url, tmp_path / "m", "--rules", str(rules), *some).folder
        assert report(folder / ".mirror")["skipped"]
        mirror(site.url, folder, "--no-text")
        assert not site.lost()
        assert not report(folder / ".mirror")["skipped"]
        site.forget()
        mirror(site.url, folder, "--no-text", *some)
        mirror(site.url, folder, "--text")
        assert not site.lost()
    assert report(folder / ".mirror")["url_rules"] == 1
    assert check(folder).returncode == 0


def test_pages_of_the_same_words_are_all_kept(site: NeedingSite, tmp_path: Path) -> None:
    names = [f"/copies/{number}" for number in range(20)]
    site.linked = ("/docs/", *names)
    for name in names:
        site.file(name, body("the same words", f"<!-- {name} -->"))
    found = mirror(site.url, tmp_path / "m", "--no-text")
    for name in names:
        path = found.path_of(site.at(name))
        assert path is not None
        assert name.encode() in found.read(path)
