"""What a crawl imports, before its first request and after it, and what is read from it later."""

from __future__ import annotations

import json
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
import json, sys
from scrapy import signals
from scrapy.cmdline import execute
from scrapy.crawler import Crawler

def note(request):
    asked.setdefault(request.url.rpartition("/")[2], list(sys.modules))

class Noting:
    @classmethod
    def from_crawler(cls, crawler):
        crawler.signals.connect(note, signals.request_reached_downloader)
        return cls()

asked = {}
sys.modules["noting"] = sys.modules["__main__"]
try:
    execute(["scrapy", "crawl", "site", *sys.argv[1:], "-s", 'EXTENSIONS={"noting.Noting": 5}'])
finally:
    print(json.dumps({"first": asked["robots.txt"], "all": list(sys.modules)}), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def jobdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("start") / "job"


@pytest.fixture(scope="module")
def imported(jobdir: Path) -> dict[str, set[str]]:
    """Modules at the first request of a crawl, and at its end."""
    with ManyPages(pages(3)) as site:
        arguments = ["-a", f"url={site.url}", "-s", f"JOBDIR={jobdir}"]
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, *arguments],
            cwd=PROJECT, capture_output=True, text=True, check=True, timeout=TIMEOUT_SECS,
        )  # fmt: skip
    assert "3 kept" in done.stdout, done.stdout + done.stderr
    found = json.loads(done.stderr.splitlines()[-1])
    return {when: set(names) for when, names in found.items()}


def test_the_first_request_leaves_before_compiled_code_is_loaded(
    imported: dict[str, set[str]],
) -> None:
    assert not {"numba", "llvmlite"} & imported["first"]
    assert {"numba", "neardup.features.byte_kernels"} <= imported["all"]


def test_a_crawl_imports_nothing_of_the_lab(imported: dict[str, set[str]]) -> None:
    others = ("crawler.lab", "crawler.fleet.fleet", "crawler.maintenance.merge")
    assert not [name for name in imported["all"] if name.startswith(others)]
    assert not imported["all"] & {"aiohttp", "redis", "warcio", "trafilatura", "matplotlib"}


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
        ("report", {"numba", "filelock", "requests", "tldextract", "trafilatura"}),
        ("rules", {"numpy", "filelock", "requests", "tldextract", "trafilatura"}),
    ],
)
def test_what_reads_a_crawl_imports_what_it_needs(
    jobdir: Path, command: str, others: set[str]
) -> None:
    assert not modules_of_our_program(command, str(jobdir)) & {"scrapy", "twisted", *others}
