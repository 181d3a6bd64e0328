"""Crawls of more hosts than files may be open, and of one host that is asked by its address.

Scrapy 2.19 deprecates ``CONCURRENT_REQUESTS_PER_IP``, by which the downloader counts by address and
the queue by name, and obeys it. ``-s`` does not know the setting, a settings file does.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.frontier.order import host_number
from tests.crawls.command import report, scrapy
from tests.sites.changing import page
from tests.sites.many import pages
from tests.sites.prose import prose
from tests.sites.refusing import Refusal, RefusingSite, Visit
from tests.sites.serving import NOT_FOUND, MadeSite, Response

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.serving import Request

HOSTS = 200
FILES = 150

# Every name is the one server; connections are kept for each name.
FEW_FILES = f"""
import resource, socket

def gethostbyname(name, real=socket.gethostbyname):
    return "127.0.0.2" if name.endswith(".invalid") else real(name)

socket.gethostbyname = gethostbyname
resource.setrlimit(resource.RLIMIT_NOFILE, ({FILES}, {FILES}))
"""


class KeepingSite(MadeSite):
    """One page under each name; connections stay open after an answer."""

    def respond(self, request: Request) -> Response:
        if request.target != "/":
            return NOT_FOUND
        return Response(f"<title>{request.host}</title><p>{prose(request.host, 120)}".encode())


def test_no_page_is_lost_for_connections_that_are_kept(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(FEW_FILES, encoding="utf-8")
    with KeepingSite(("127.0.0.2",)) as site:
        urls = [f"http://host{number}.invalid:{site.port}/" for number in range(HOSTS)]
        (tmp_path / "urls.txt").write_text("\n".join(urls), encoding="utf-8")
        done = scrapy(
            "crawl", "urls", "-a", f"file={tmp_path / 'urls.txt'}",
            "-s", f"JOBDIR={tmp_path / 'job'}", "-s", "CRAWL_PRIVATE_ADDRESSES=True",
            "-s", "DOWNLOAD_DELAY=0", "-s", "READING_WORKERS=1",
            environment={"PYTHONPATH": str(tmp_path)},
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Too many open files" not in done.stderr
    found = report(tmp_path / "job")
    assert (found["failed"], found["kept"]) == (0, HOSTS)


SETTINGS = """
from settings.crawl import *
CONCURRENT_REQUESTS_PER_IP = 2
DOWNLOAD_DELAY = 0
CRAWL_PAUSE_SECS = 0.1
READING_WORKERS = 1
RETRY_TIMES = 3
"""


def crawl(url: str, folder: Path) -> None:
    (folder / "per_ip.py").write_text(SETTINGS, encoding="utf-8")
    done = scrapy(
        *("crawl", "site", "-a", f"url={url}", "-s", f"JOBDIR={folder / 'job'}"),
        environment={"PYTHONPATH": str(folder), "SCRAPY_SETTINGS_MODULE": "per_ip"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "CONCURRENT_REQUESTS_PER_IP setting is deprecated" in done.stderr


def hosts(jobdir: Path) -> set[int]:
    with closing(sqlite3.connect(jobdir / "crawl.db")) as connection:
        return {host for (host,) in connection.execute("SELECT host FROM requests WHERE url != ''")}


@pytest.mark.parametrize("status", [0, 429, 500])
def test_a_host_has_one_queue_also_where_it_is_asked_again(tmp_path: Path, status: int) -> None:
    """The name and its address are two names of a slot of the downloader."""

    def answer(visit: Visit, site: RefusingSite) -> Refusal | None:
        if visit.path == "/2.html":
            return Refusal(302, {"Location": "/3.html"})
        is_first = visit.number == 1 and visit.path in {"/1.html", "/4.html", "/7.html"}
        return Refusal(status) if is_first else None

    with RefusingSite(pages(41), answer) as site:
        url = site.url.replace("127.0.0.1", "localhost")
        crawl(url, tmp_path)
    found = report(tmp_path / "job")
    assert (found["failed"], found["queued"]) == (0, 0)
    assert hosts(tmp_path / "job") == {host_number("localhost")}


def test_a_redirect_to_another_host_stands_in_the_line_of_that(tmp_path: Path) -> None:
    there = RefusingSite(
        {"/": page(prose("there", 120)), "/to": page(prose("to", 120))}, address="127.0.0.2"
    )
    target = f"{there.url}to"
    start = page(prose("start", 120), ["/from"])

    def answer(visit: Visit, site: RefusingSite) -> Refusal | None:
        return Refusal(302, {"Location": target}) if visit.path == "/from" else None

    with there, RefusingSite({"/": start}, answer) as site:
        url = site.url.replace("127.0.0.1", "localhost")
        crawl(f"{url},{there.url}", tmp_path)
        assert len(there.asked_for("/to")) == 1
    assert hosts(tmp_path / "job") == {host_number("localhost"), host_number("127.0.0.2")}
    with closing(sqlite3.connect(tmp_path / "job" / "crawl.db")) as connection:
        (host,) = connection.execute(
            "SELECT host FROM requests WHERE url = ?", (target,)
        ).fetchone()
    assert host == host_number("127.0.0.2")
