"""Sites whose pages tell the time, as a footer or as content, or count visitors in titles."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.crawls.command import crawl, pages, report, scrapy
from tests.sites.clocks import EVENTS, FOOTERS, THINGS, ClockedSite, EventSite
from tests.sites.prose import prose
from tests.sites.serving import NOT_FOUND, MadeSite, Response

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.serving import Request

pytestmark = pytest.mark.slow


def kept_of_hosts(folder: Path) -> Counter[str | None]:
    """Count the kept pages of each host."""
    return Counter(urlsplit(row["url"]).hostname for row in pages(folder, "--verdict", "kept"))


def test_a_page_that_tells_the_time_is_kept_once_and_does_not_change(tmp_path: Path) -> None:
    """One crawl of a host for each way to tell it."""
    with ExitStack() as stack:
        hosts = {f"127.0.0.{number}": footer for number, footer in enumerate(FOOTERS, 2)}
        sites = [stack.enter_context(ClockedSite(hosts[host], host)) for host in hosts]
        seeds = ",".join(site.url for site in sites)
        crawl(seeds, tmp_path)
        assert kept_of_hosts(tmp_path) == dict.fromkeys(hosts, 1 + THINGS), hosts
        crawl(seeds, tmp_path, "-a", "revisit=yes")
    assert kept_of_hosts(tmp_path) == dict.fromkeys(hosts, 1 + THINGS), hosts
    outcomes = report(tmp_path)["changes"]["outcomes"]
    assert outcomes["unchanged"] == sum(outcomes.values()) > THINGS * len(hosts)


def test_times_near_the_present_that_are_content_are_kept(tmp_path: Path) -> None:
    with EventSite() as site:
        crawl(site.url, tmp_path)
        crawl(site.url, tmp_path, "-a", "revisit=yes")
        assert len(pages(tmp_path, "--verdict", "kept")) == 1 + EVENTS
        site.begin("The train leaves on")
        crawl(site.url, tmp_path, "-a", "revisit=yes")
    assert len(pages(tmp_path, "--verdict", "kept")) == 1 + EVENTS


COUNTED_THINGS = 6
TEMPLATE = prose("template of all things", 150)
"""The words that all things share; each has its own name."""


class CountingSite(MadeSite):
    """Things on one template, each under two URLs; every answer counts in every title."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._answers = 0

    def respond(self, request: Request) -> Response:
        with self._lock:
            self._answers += 1
            times = f"{self._answers:,}"
        if request.target == "/":
            paths = [f"/{way}/{n}" for n in range(COUNTED_THINGS) for way in ("thing", "print")]
            items = "".join(f'<li><a href="{path}">{path}</a></li>' for path in paths)
            return Response(f"<title>All</title><ul>{items}</ul>".encode())
        way, _, number = request.target.strip("/").partition("/")
        if way not in {"thing", "print"}:
            return NOT_FOUND
        more = "As it is printed." if way == "print" else ""
        name = f"Model {number}00"
        title = f"<title>{name} | you are visitor no. {times} | Shop</title>"
        body = f"<main><h1>Our things</h1><p>{TEMPLATE} {name}. {more}</p></main>"
        return Response(f"<html><head>{title}</head><body>{body}</body></html>".encode())


def things(jobdir: Path) -> list[str]:
    """The numbers of the things that are kept."""
    rows = pages(jobdir, "--verdict", "kept")
    return sorted(row["url"].rpartition("/")[2] for row in rows if row["url"][-1] != "/")


def test_visits_show_that_the_number_of_visitors_names_nothing(tmp_path: Path) -> None:
    each = [str(number) for number in range(COUNTED_THINGS)]
    jobdir = tmp_path / "job"
    with CountingSite() as site:
        crawl(site.url, jobdir)
        for _ in range(2):
            assert things(jobdir) == sorted(each * 2)
            crawl(site.url, jobdir, "-a", "revisit=yes")
        assert things(jobdir) == sorted(each * 2)
        done = scrapy("rejudge", str(jobdir))
        assert done.returncode == 0, done.stderr
        for _ in range(2):
            assert things(jobdir) == each
            done = scrapy("verify", str(jobdir))
            assert done.returncode == 0, done.stdout
            crawl(site.url, jobdir, "-a", "revisit=yes")
        assert things(jobdir) == each
