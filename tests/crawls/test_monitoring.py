"""What programs learn of a crawl: status.json, /metrics and a log of JSON."""

from __future__ import annotations

import json
import re
import signal
import socket
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawls.command import scrapy, start_scrapy
from tests.crawls.kills import crawl_command, wait_for
from tests.sites.hostile import HostileSite
from tests.sites.many import ManyPages, pages
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from subprocess import Popen

PAGES = 40
HELD_AFTER = 25

pytestmark = pytest.mark.slow


@pytest.fixture
def site() -> Iterator[ManyPages]:
    with ManyPages(pages(PAGES)) as served:
        yield served


def often(site: ManyPages, job: Path) -> tuple[str, ...]:
    return (*crawl_command(site, job), "-s", "PROGRESS_INTERVAL_SECS=0.1")


def status_of(job: Path) -> dict[str, Any]:
    path = job / "status.json"
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return loaded


def has_fetched(job: Path, count: int) -> bool:
    return bool(status_of(job).get("run", {}).get("fetched", -1) >= count)


def samples(text: str) -> dict[str, float]:
    """The samples of a text in Prometheus' format, of which each line is one or a comment."""
    found = {}
    for line in text.splitlines():
        if not line.startswith(("# HELP ", "# TYPE ")):
            match = re.fullmatch(r'([a-z_]+(?:\{(?:[a-z]+="[^"\n]*",?)+\})?) ([0-9.e+-]+)', line)
            assert match is not None, line
            found[match[1]] = float(match[2])
    return found


def address_of(process: Popen[str]) -> str:
    """The address of the metrics, as the crawl prints it."""
    assert process.stderr is not None
    said = iter(process.stderr.readline, "")
    return next(line for line in said if line.startswith("metrics: ")).split()[1]


class TestStatusFile:
    def test_it_tells_of_a_run_of_a_kill_and_of_the_end(
        self, site: ManyPages, tmp_path: Path
    ) -> None:
        site.hold_after(HELD_AFTER)
        process = start_scrapy(*often(site, tmp_path))
        wait_until(lambda: has_fetched(tmp_path, HELD_AFTER), process)
        running = status_of(tmp_path)
        assert (running["state"], running["pid"]) == ("running", process.pid)
        assert running["in_flight"] > 0
        assert running["hosts"] == [site.url.split("/")[2]]
        process.kill()
        process.communicate()
        assert status_of(tmp_path)["state"] == "running"
        site.hold_after(None)
        assert scrapy(*often(site, tmp_path)).returncode == 0
        status = status_of(tmp_path)
        assert (status["state"], status["stopped_by"]) == ("finished", None)
        assert status["started_at"] <= status["updated_at"]
        assert status["run"]["fetched"] < PAGES <= status["directory"]["fetched"]
        assert not (tmp_path / "status.json.part").exists()
        assert scrapy("verify", str(tmp_path)).returncode == 0

    @pytest.mark.parametrize("by", ["signal", "max_pages"])
    def test_it_says_what_stopped_a_crawl(self, site: ManyPages, tmp_path: Path, by: str) -> None:
        site.hold_after(HELD_AFTER)
        limit = ("-a", "max_pages=30") if by == "max_pages" else ()
        process = start_scrapy(*often(site, tmp_path), *limit)
        wait_for(site, HELD_AFTER, process)
        if by == "signal":
            wait_until(lambda: has_fetched(tmp_path, HELD_AFTER), process)
            process.send_signal(signal.SIGTERM)
            wait_until(lambda: status_of(tmp_path)["state"] == "finishing", process)
        site.hold_after(None)
        process.communicate()
        status = status_of(tmp_path)
        assert (status["state"], status["stopped_by"]) == ("stopped", by)
        assert status["queued"] > 0

    def test_it_is_left_out_on_demand(self, site: ManyPages, tmp_path: Path) -> None:
        off = ("-s", "PROGRESS_STATUS_FILE=False")
        assert scrapy(*crawl_command(site, tmp_path), *off).returncode == 0
        assert not (tmp_path / "status.json").exists()

    def test_no_feed_takes_its_place(self, site: ManyPages, tmp_path: Path) -> None:
        assert scrapy(*crawl_command(site, tmp_path)).returncode == 0
        done = scrapy("pages", str(tmp_path), "-o", str(tmp_path / "status.json"))
        assert done.returncode == 2
        assert "lives on it" in done.stderr


class TestMetrics:
    def test_counters_of_this_run_and_of_the_directory(
        self, site: ManyPages, tmp_path: Path
    ) -> None:
        done = scrapy(*crawl_command(site, tmp_path), "-a", "max_pages=10")
        assert done.returncode == 0
        before = status_of(tmp_path)["run"]["fetched"]
        site.hold_after(site.total + 15)
        process = start_scrapy(*often(site, tmp_path), "-s", "METRICS_PORT=0")
        wait_until(lambda: has_fetched(tmp_path, 15), process)
        address = address_of(process)
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/metrics", address)
        with urllib.request.urlopen(address) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=")
            found = samples(answer.read().decode())
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(address.removesuffix("metrics"))
        with pytest.raises(urllib.error.HTTPError, match="405"):
            urllib.request.urlopen(address, data=b"x")
        site.hold_after(None)
        process.communicate()
        assert found["crawl_once_pages_fetched_total"] == 15
        assert found["crawl_once_directory_pages_fetched_total"] == before + 15
        verdicts = [found[name] for name in found if name.startswith("crawl_once_answers_total{")]
        failed = found['crawl_once_answers_total{verdict="failed"}']
        assert sum(verdicts) - failed == 15
        assert found["crawl_once_fetched_bytes_total"] > 15 * 500
        assert found["crawl_once_requests_in_flight"] > 0
        assert found["process_resident_memory_bytes"] > 10_000_000
        with pytest.raises(OSError, match="refused"):
            urllib.request.urlopen(address)

    def test_failures_by_reason(self, site: ManyPages, tmp_path: Path) -> None:
        site.pages["/"] = site.pages["/"].replace(b"</nav>", b'<a href="/gone.html">x</a></nav>')
        site.hold_after(5)
        process = start_scrapy(*crawl_command(site, tmp_path), "-s", "METRICS_PORT=0")
        address = address_of(process)

        def failed() -> float:
            with urllib.request.urlopen(address) as answer:
                found = samples(answer.read().decode())
            name = 'crawl_once_requests_failed_total{reason="http_status",status="404"}'
            return found.get(name, 0)

        assert wait_until(failed, process) == 1
        site.hold_after(None)
        process.communicate()

    def test_a_port_that_is_taken_is_one_line_and_no_crawl(
        self, site: ManyPages, tmp_path: Path
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            done = scrapy(*crawl_command(site, tmp_path / "job"), "-s", f"METRICS_PORT={port}")
        assert done.returncode == 2
        said = f"METRICS_PORT: cannot listen at 127.0.0.1:{port}: Address already in use"
        assert done.stderr.splitlines() == [f"scrapy crawl: {said}"]
        assert not (tmp_path / "job").exists()
        assert not site.total


class TestJsonLogs:
    def test_every_line_of_standard_error_is_an_object(self, tmp_path: Path) -> None:
        with HostileSite("Sitemap: /nothing/1\n", linked=("/plain/1",)) as site:
            done = scrapy(
                "crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path}",
                "-s", "CRAWL_LOG_FORMAT=json", "-s", "LOG_LEVEL=DEBUG",
            )  # fmt: skip
            url = site.at("/nothing/1")
        lines = [json.loads(line) for line in done.stderr.splitlines()]
        warned = [line for line in lines if line["level"] == "WARNING" and line.get("url") == url]
        assert [line["logger"] for line in warned] == ["site"]
        assert "no sitemap" in warned[0]["message"]
        assert any(line["logger"] == "crawler.progress" for line in lines)
        assert all({"time", "level", "logger", "message"} <= line.keys() for line in lines)
