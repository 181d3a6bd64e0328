"""Links to other sites are asked whether they are dead, where ``links`` is told to."""

from __future__ import annotations

import csv
import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest
from lxml import html

from tests.crawler.commands.in_process import run
from tests.crawls.command import PROJECT, crawl, scrapy, start_scrapy
from tests.sites.elsewhere import DEAD, PATHS, Elsewhere
from tests.sites.graph import GraphSite
from tests.sites.serving import Response
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

NOBODY = "http://127.0.0.3:9/"  # the port of nothing
NO_HOST = "http://no-such-host.invalid/page"


def test_links_to_other_sites_are_asked_once_each(tmp_path: Path) -> None:
    with Elsewhere() as other:
        out = [f"{other.origin}{path}" for path in PATHS] + [NOBODY, NO_HOST]
        with GraphSite({"/": ["/a", *out], "/a": ["/", out[1], "/gone"]}) as site:
            crawl(f"{site.origin}/", tmp_path)
        assert not other.asked
        before = run("links", str(tmp_path)).stdout
        assert "crawl-once links with --check-external N" in before
        # A part of them, then the rest.
        first = scrapy("links", str(tmp_path), "--check-external", "3", "-s", "DOWNLOAD_DELAY=0")
        assert "8 links to other sites not asked yet" in first.stderr
        done = scrapy("links", str(tmp_path), "--check-external", "99", "--json")
        assert done.returncode == 0, done.stderr
        asked = other.asked.copy()
        scrapy("links", str(tmp_path), "--check-external", "99")
        assert other.asked == asked, "once each"
    # What a connection breaks off at is sent once more; a redirect leads to another.
    others = {"/robots.txt", "/gone", "/drops-head"}
    of_pages = [request for request in asked if request[1] not in others]
    assert len(of_pages) == len(set(of_pages))
    assert ("HEAD", "/secret") not in asked, "robots.txt forbids it"
    assert {path for method, path in asked if method == "GET"} >= {"/no-head", "/no-head-gone"}
    assert ("GET", "/alive") not in asked
    assert other.most_at_once == 1
    found = json.loads(done.stdout)["faults"]["external_links"]
    said = {one["url"]: one["detail"] for one in found["examples"]}
    dead = {f"{other.origin}{path}": why for path, why in DEAD.items()}
    dead |= {NOBODY: "connection refused", NO_HOST: "no such host"}
    assert {url: why.partition(" on 2")[0] for url, why in said.items()} == dead
    (gone,) = (one for one in found["examples"] if one["url"] == out[1])
    assert [page["url"] for page in gone["pages"]] == [f"{site.origin}/", f"{site.origin}/a"]
    _are_everywhere(tmp_path, said)


def _are_everywhere(jobdir: Path, dead: dict[str, str]) -> None:
    """Check that text, table, page and exit status tell the same."""
    assert run("links", str(jobdir), "--fail-on", "external_links").returncode == 1
    shown = run("links", str(jobdir)).stdout
    assert all(f"    {url}\n        {why}\n" in shown for url, why in dead.items())
    table = jobdir / "links.csv"
    assert run("links", str(jobdir), "-o", str(table)).returncode == 0
    with table.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["broken"]]
    assert {row["target"]: row["broken"] for row in rows if row["target"] in dead} == dead
    page = jobdir / "report.html"
    assert run("report", str(jobdir), "--html", str(page)).returncode == 0
    section = html.parse(page).getroot().get_element_by_id("external_links").text_content()
    assert all(url in section and why in section for url, why in dead.items())


def test_runs_go_on_where_the_last_one_ended_and_then_ask_nothing(tmp_path: Path) -> None:
    with Elsewhere() as other:
        paths = [f"/page-{number}" for number in range(7)]
        with GraphSite({"/": [f"{other.origin}{path}" for path in paths]}) as site:
            crawl(f"{site.origin}/", tmp_path)
        asked, left = list[list[str]](), list[str]()
        for _ in range(4):
            before = len(other.asked)
            done = scrapy("links", str(tmp_path), "--check-external", "3", "-s", "DOWNLOAD_DELAY=0")
            assert done.returncode == 0, done.stderr
            heads = [path for method, path in other.asked[before:] if method == "HEAD"]
            asked.append(heads)
            left.append(done.stderr.strip().rpartition("\n")[2])
        assert asked == [paths[:3], paths[3:6], paths[6:], []]
        assert left[0] == "4 links to other sites not asked yet"
        assert left[1] == "1 link to other sites not asked yet"
        assert "not asked" not in left[2] + left[3]
        # A day later those asked longest ago come first.
        with closing(sqlite3.connect(tmp_path / "crawl.db")) as connection:
            for path, days in (("/page-5", 2), ("/page-0", 3)):
                sql = "UPDATE external_links SET asked_at = asked_at - ? WHERE url = ?"
                connection.execute(sql, (days * 86_400, f"{other.origin}{path}"))
            connection.commit()
        for path in ("/page-0", "/page-5"):
            scrapy("links", str(tmp_path), "--check-external", "1")
            assert other.asked[-1] == ("GET", path)
    found = json.loads(run("links", str(tmp_path), "--json", "--limit", "1").stdout)
    assert found["faults"]["external_links"]["count"] == len(paths), "all of all runs"


ODD = {
    "http://b\u00fccher.invalid/": "no such host",
    "http://user:word@127.0.0.3:9/": "connection refused",
    "http://127.0.0.3:0/": "connection refused",
    "http://[::1]:9/": "connection refused",
    "http://127.0.0.3:9/two words": "connection refused",
    f"http://127.0.0.3:9/{'a' * 7_000}": "connection refused",
}
"""Links that are asked, and what comes of them."""

NO_URLS = ["http://[::1", "http://127.0.0.3:65536/", "http://two words.example/", "http://"]
NOT_LOOKED_AT = ["unknown://a.example/", "ftp://127.0.0.3/", f"http://127.0.0.3:9/{'a' * 9_000}"]


def test_odd_links_are_dead_or_no_urls_or_left_out(tmp_path: Path) -> None:
    with GraphSite({"/": [*ODD, *NO_URLS, *NOT_LOOKED_AT]}) as site:
        crawl(f"{site.origin}/", tmp_path)
    done = scrapy("links", str(tmp_path), "--check-external", "99", "--json")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    faults = json.loads(done.stdout)["faults"]
    dead = {one["url"]: one["detail"] for one in faults["external_links"]["examples"]}
    assert {url: why.partition(" on 2")[0] for url, why in dead.items()} == ODD
    broken = {one["url"]: one["detail"] for one in faults["broken_links"]["examples"]}
    assert broken == dict.fromkeys(NO_URLS, "no URL")


def test_ctrl_c_keeps_what_was_answered_and_the_same_command_goes_on(tmp_path: Path) -> None:
    with Elsewhere() as other:
        out = [f"{other.origin}/page-{number}" for number in range(8)]
        with GraphSite({"/": out}) as site:
            crawl(f"{site.origin}/", tmp_path)
        process = start_scrapy("links", str(tmp_path), "--check-external", "99")
        wait_until(lambda: len(other.asked) > 4)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130, errors
        assert "interrupted; the same command goes on" in errors
        before = len(other.asked)
        done = scrapy("links", str(tmp_path), "--check-external", "99", "--json")
        assert before < len(other.asked)
    heads = [path for method, path in other.asked if method == "HEAD"]
    assert len(heads) <= len(out) + 1, "the one under way may be asked again"
    assert json.loads(done.stdout)["faults"]["external_links"]["count"] == len(out)


def test_a_host_that_many_redirect_to_is_asked_one_thing_at_a_time(tmp_path: Path) -> None:
    with Elsewhere() as other, ExitStack() as stack:
        out = []
        for number in range(6):
            moved = Response(status=302, headers={"Location": f"{other.origin}/page-{number}"})
            host = stack.enter_context(Elsewhere(f"127.0.0.{10 + number}", {"/a": moved}))
            out.append(f"{host.origin}/a")
        with GraphSite({"/": out}) as site:
            crawl(f"{site.origin}/", tmp_path)
        done = scrapy("links", str(tmp_path), "--check-external", "9", "-s", "DOWNLOAD_DELAY=0")
    assert done.returncode == 0, done.stderr
    assert {path for _, path in other.asked} == {"/robots.txt", *map("/page-{}".format, range(6))}
    assert other.most_at_once == 1


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ({"/first": Response(status=429)}, ["/robots.txt", "/first"]),
        ({"/first": Response(status=503, headers={"Retry-After": "9"})}, ["/robots.txt", "/first"]),
        ({"/robots.txt": Response(status=503)}, ["/robots.txt"]),
    ],
)
def test_a_host_that_wants_to_be_asked_less_is_asked_nothing_more_and_is_not_told(
    tmp_path: Path, answers: dict[str, Response], asked: list[str]
) -> None:
    with Elsewhere(answers=answers) as other:
        with GraphSite({"/": [f"{other.origin}/first", f"{other.origin}/second"]}) as site:
            crawl(f"{site.origin}/", tmp_path)
        done = scrapy("links", str(tmp_path), "--check-external", "9", "--json")
    assert [path for _, path in other.asked] == asked
    assert "1 link to other sites not asked yet" in done.stderr
    assert json.loads(done.stdout)["faults"]["external_links"]["count"] == 0


def test_a_public_page_leads_to_no_private_address(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from scrapy.utils.project import get_project_settings\n"
        "from crawler.console.fetch import Links, ask\n"
        "found = {}\n"
        "links = {sys.argv[1]: 'http://example.org/'}\n"
        "ask(Links, links, get_project_settings(), found.__setitem__)\n"
        "print(found)\n"
    )
    with Elsewhere() as other:
        url = f"{other.origin}/alive"
        done = subprocess.run(
            [sys.executable, "-c", program, url],
            cwd=PROJECT, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.stdout.strip() == str({url: ""}), done.stderr
    assert not other.asked
