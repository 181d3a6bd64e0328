"""Scrapy's own commands, in our project and in another one that has the add-on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import PROJECT, scrapy
from tests.crawls.test_foreign import make_project
from tests.sites.hostile import HostileSite

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Run = Callable[..., subprocess.CompletedProcess[str]]

STANDALONE = """
import scrapy

class Alone(scrapy.Spider):
    name = "alone"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"status": response.status}
"""


@pytest.fixture(scope="module")
def site() -> Iterator[HostileSite]:
    with HostileSite(linked=("/plain/1",)) as served:
        yield served


@pytest.fixture(params=["ours", "foreign"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """Run a command of Scrapy in a project, and expect that it ran."""
    if request.param != "ours":
        make_project(tmp_path, "text", "text")

    def run_there(*arguments: str) -> subprocess.CompletedProcess[str]:
        done = scrapy(*arguments, cwd=PROJECT if request.param == "ours" else tmp_path)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run_there


def test_shell(run: Run, site: HostileSite) -> None:
    assert run("shell", site.url, "-c", "response.status").stdout.strip() == "200"
    code = f"(fetch({site.at('/plain/1')!r}), response.url)[1]"
    assert run("shell", site.url, "-c", code).stdout.strip() == site.at("/plain/1")


def test_a_shell_is_no_visit_of_the_crawl_in_jobdir(site: HostileSite, tmp_path: Path) -> None:
    make_project(tmp_path, "text", "text", f"JOBDIR = {str(tmp_path / 'job')!r}")
    command = ("shell", site.url, "-c", "response.status")
    done = scrapy(*command, cwd=tmp_path)
    assert done.stdout.strip() == "200", done.stderr
    assert not (tmp_path / "job").exists()


def test_fetch(run: Run, site: HostileSite) -> None:
    assert "<main>" in run("fetch", site.at("/plain/1")).stdout


def test_parse(run: Run, site: HostileSite) -> None:
    spider = "site" if run("list").stdout.startswith("mirror") else "foreign"
    said = run("parse", f"--spider={spider}", "-a", f"url={site.url}", site.at("/plain/1")).stdout
    assert "Scraped Items" in said
    assert site.at("/plain/1") in said


def test_what_fetches_nothing(run: Run) -> None:
    run("check")
    assert run("settings", "--get", "DUPEFILTER_CLASS").stdout
    assert run("version").stdout.startswith("Scrapy")
    assert "basic" in run("genspider", "--list").stdout


def test_runspider(run: Run, site: HostileSite, tmp_path: Path) -> None:
    (tmp_path / "alone.py").write_text(STANDALONE)
    alone = str(tmp_path / "alone.py")
    assert (
        '"status": 200' in run("runspider", alone, "-a", f"url={site.url}", "-O", "-:json").stdout
    )
