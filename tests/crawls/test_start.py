"""What a crawl imports, and what is read from it later."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.crawler.console.test_command_line import modules_of_our_program
from tests.crawls.command import PROJECT, TIMEOUT_SECS
from tests.sites.many import ManyPages, pages

if TYPE_CHECKING:
    from pathlib import Path

_PROGRAM = """
import sys
from scrapy.cmdline import execute

try:
    execute(["scrapy", "crawl", "site", *sys.argv[1:]])
finally:
    print(*sys.modules, file=sys.stderr)
"""


@pytest.fixture(scope="module")
def jobdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("start") / "job"


@pytest.fixture(scope="module")
def imported(jobdir: Path) -> set[str]:
    """The modules of a crawl at its end."""
    with ManyPages(pages(3)) as site:
        arguments = ["-a", f"url={site.url}", "-s", f"JOBDIR={jobdir}"]
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, *arguments],
            cwd=PROJECT, capture_output=True, text=True, check=True, timeout=TIMEOUT_SECS,
        )  # fmt: skip
    assert "3 kept" in done.stdout, done.stdout + done.stderr
    return set(done.stderr.splitlines()[-1].split())


def test_a_crawl_imports_no_compiler(imported: set[str]) -> None:
    assert not imported & {"numba", "llvmlite"}


def test_a_crawl_imports_nothing_of_the_lab(imported: set[str]) -> None:
    others = ("crawler.lab", "crawler.fleet.fleet", "crawler.maintenance.merge")
    assert not [name for name in imported if name.startswith(others)]
    assert not imported & {"aiohttp", "redis", "warcio", "trafilatura", "matplotlib"}


def test_our_program_imports_no_other_spider_than_its_own(tmp_path: Path) -> None:
    with ManyPages(pages(1)) as site:
        loaded = modules_of_our_program(site.url, str(tmp_path / "job"), "--max-pages", "1")
    assert "crawler.spiders.site" in loaded
    others = {"crawler.spiders.mirror", "crawler.spiders.replay", "crawler.mirror.documents.places"}
    assert not loaded & others


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize(
    ("command", "others"),
    [
        ("pages", {"numpy", "rich", "requests", "tldextract", "trafilatura"}),
        ("report", {"filelock", "requests", "tldextract", "trafilatura"}),
        ("rules", {"numpy", "filelock", "requests", "tldextract", "trafilatura"}),
    ],
)
def test_what_reads_a_crawl_imports_what_it_needs(
    jobdir: Path, command: str, others: set[str]
) -> None:
    assert not modules_of_our_program(command, str(jobdir)) & {"scrapy", "twisted", *others}
