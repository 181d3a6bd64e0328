"""robots.txt in whole crawls: what each answer means for the pages, and what is said of it."""

from __future__ import annotations

import socket
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from crawler.console.report_text import report_lines
from tests.crawls.command import crawl, pages, scrapy
from tests.crawls.crawled import crawl_site, read_back
from tests.crawls.test_warc_network import SecureSite
from tests.sites.hostile import HostileSite
from tests.sites.prose import prose
from tests.sites.serving import Request, Response

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.server import HTTPServer
    from pathlib import Path

    from tests.crawls.crawled import Crawled
    from tests.sites.exchange import Exchange

CLOSED = b"User-agent: *\nDisallow: /\n"
LINKED = ("/plain/1", "/plain/2")
QUICK = ("-s", "RETRY_ENABLED=False")
PATIENCE_SECS = 10


def asked_for_robots(site: HostileSite) -> int:
    return sum(asked.path == "/robots.txt" for asked in site.asked)


def answering(status: int) -> Callable[[Exchange], None]:
    return lambda exchange: exchange.answer(CLOSED, "text/plain", status=status)


def crawl_in_vain(site: HostileSite, jobdir: Path, *arguments: str) -> Crawled:
    """Crawl a site whose seed gives no page."""
    done = scrapy(
        "crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={jobdir}", *QUICK, *arguments
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return read_back(done, jobdir, site.origin, site.paths())


def text_of(found: Crawled) -> str:
    return "\n".join(report_lines(found.report, "job"))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_client_error_forbids_nothing_whatever_it_says(tmp_path: Path, status: int) -> None:
    with HostileSite(answering(status), LINKED) as site:
        found = crawl_site(site, tmp_path / "job", *QUICK)
    assert found.kept == {"/", *LINKED}
    host = site.origin.removeprefix("http://")
    assert f"robots.txt: HTTP {status} at {host}: nothing is forbidden" in text_of(found)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_an_error_of_the_server_forbids_everything_until_it_is_over(
    tmp_path: Path, status: int
) -> None:
    with HostileSite("", LINKED) as site:
        site.robots_txt = answering(status)
        first = crawl_in_vain(site, tmp_path / "job")
        assert first.asked == []
        assert first.rows["/"]["verdict"] == "failed"
        reason = f"robots.txt cannot be had: HTTP {status}"
        assert first.rows["/"]["reason"] == reason
        assert f"1  failed: {reason}" in text_of(first)
        site.robots_txt = ""
        second = crawl_site(site, tmp_path / "job", *QUICK, "-a", "revisit=yes")
    assert second.kept == {"/", *LINKED}


def test_a_known_page_has_failed_and_is_not_gone(tmp_path: Path) -> None:
    with HostileSite("", LINKED) as site:
        crawl_site(site, tmp_path / "job", *QUICK)
        site.robots_txt = answering(500)
        away = crawl_in_vain(site, tmp_path / "job", "-a", "revisit=yes")
        assert away.report.changes is not None
        assert away.report.changes.outcomes["failed"] == 3
        assert away.kept == {"/", *LINKED}
        site.robots_txt = ""
        back = crawl_site(site, tmp_path / "job", *QUICK, "-a", "revisit=yes")
    assert back.report.changes is not None
    assert back.report.changes.outcomes["unchanged"] == 3


def test_it_is_asked_for_again_and_its_pages_with_it(tmp_path: Path) -> None:
    with HostileSite("", LINKED) as site:
        site.robots_txt = lambda exchange: exchange.answer(
            b"User-agent: *\nDisallow: /plain/2\n",
            "text/plain",
            status=500 if asked_for_robots(site) < 2 else 200,
        )
        found = crawl_site(site, tmp_path / "job")
    assert found.kept == {"/", "/plain/1"}
    assert found.rows["/plain/2"]["reason"] == "forbidden by robots.txt"


@pytest.mark.parametrize(("redirects", "is_read"), [(1, True), (5, True), (6, False)])
def test_five_redirects_are_followed(tmp_path: Path, redirects: int, *, is_read: bool) -> None:
    def step(exchange: Exchange) -> None:
        done = int(exchange.path.partition("?")[2] or 0)
        if done < redirects:
            exchange.redirect(f"/robots.txt?{done + 1}")
        else:
            exchange.answer(b"User-agent: *\nDisallow: /plain/2\n", "text/plain")

    with HostileSite(step, LINKED) as site:
        found = crawl_site(site, tmp_path / "job", *QUICK)
    assert found.is_kept("/plain/2") != is_read
    assert found.is_kept("/plain/1")
    if not is_read:
        reason = found.rows["/robots.txt"]["reason"]
        assert reason == "redirected without end; taken as if it forbade nothing"


def test_half_a_megabyte_of_user_agents_and_rules_is_read_in_every_process(tmp_path: Path) -> None:
    agents = "".join(f"User-agent: agent{number}\n" for number in range(12_000))
    rules = "".join(f"Disallow: /x{number}\n" for number in range(13_500))
    robots = f"{agents}User-agent: *\n{rules}Disallow: /plain/2\n"
    assert 490_000 < len(robots) < 512_000
    with HostileSite(robots, LINKED) as site:
        first = crawl_site(site, tmp_path / "job", "-a", "max_pages=1")
        assert first.kept == {"/"}
        found = crawl_site(site, tmp_path / "job")
    assert found.kept == {"/", "/plain/1"}
    assert found.rows["/plain/2"]["reason"] == "forbidden by robots.txt"


class TwoDoors(SecureSite):
    """One port that speaks http and https, each with a robots.txt of its own; six pages."""

    rules: ClassVar = {False: "/plain", True: "/secret"}

    def secure(self, server: HTTPServer) -> None:
        accept = server.get_request

        def get_request() -> Any:
            connection, address = accept()
            is_tls = connection.recv(1, socket.MSG_PEEK) == b"\x16"
            if is_tls:
                connection = self.context.wrap_socket(connection, server_side=True)
            return connection, address

        server.get_request = get_request  # type: ignore[method-assign]

    def respond(self, request: Request) -> Response:
        if request.target == "/robots.txt":
            rules = f"\ufeffUser-Agent: *\r\nDisallow: {self.rules[request.is_secure]}\r\n"
            return Response(rules.encode(), content_type="text/plain")
        origins = [f"{scheme}://localhost:{self.port}" for scheme in ("http", "https")]
        links = "".join(
            f'<a href="{origin}{path}">a</a>'
            for origin, path in product(origins, ("/", "/plain", "/secret"))
        )
        words = prose(f"{request.is_secure} {request.target}", 200)
        return Response(f"<main>{words}</main>{links}".encode())


def test_rules_are_those_of_a_scheme_a_host_and_a_port(tmp_path: Path) -> None:
    with TwoDoors(tmp_path) as site:
        crawl(f"http://localhost:{site.port}/", tmp_path / "job")
    kept = {row["url"] for row in pages(tmp_path / "job") if row["verdict"] == "new"}
    open_paths = ("http", "/"), ("http", "/secret"), ("https", "/"), ("https", "/plain")
    assert kept == {f"{scheme}://localhost:{site.port}{path}" for scheme, path in open_paths}


@pytest.mark.parametrize("path", ["/x/%2e%2e/closed/a", "/x/%2E./closed/a", "/%63losed/a"])
def test_a_path_is_compared_as_a_server_reads_it_too(tmp_path: Path, path: str) -> None:
    with HostileSite("User-agent: *\nDisallow: /closed/\n", (path, "/plain/1")) as site:
        found = crawl_site(site, tmp_path / "job")
    assert found.asked == ["/", "/plain/1"]
    assert found.rows["/closed/a"]["reason"] == "forbidden by robots.txt"


# Rules are old as soon as they are read.
HASTE = """
from crawler.downloadermiddlewares import robots

robots.MAX_AGE_SECS = 0.0
HastyRules = robots.FirstRules
"""


def test_rules_are_asked_for_again_and_stay_where_they_cannot_be_had(tmp_path: Path) -> None:
    """First nothing is forbidden, then a page is, and then there is no robots.txt to be had."""

    def robots(exchange: Exchange) -> None:
        times = asked_for_robots(site)
        closed = b"Disallow: /plain/2" if times > 1 else b"Allow: /"
        exchange.answer(b"User-agent: *\n" + closed, status=200 if times < 3 else 503)

    (tmp_path / "hasty.py").write_text(HASTE, encoding="utf-8")
    with HostileSite(robots, LINKED) as site:
        done = scrapy(
            *("crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path / 'job'}"),
            *("-s", "ROBOTSTXT_PARSER=hasty.HastyRules", "-s", "CONCURRENT_REQUESTS=1"),
            environment={"PYTHONPATH": str(tmp_path)},
        )
        assert done.returncode == 0, done.stderr
        found = read_back(done, tmp_path / "job", site.origin, site.paths())
        assert asked_for_robots(site) == 3, "it is not asked for again and again"
    assert found.asked == ["/", "/plain/1"]
    assert found.rows["/plain/2"]["reason"] == "forbidden by robots.txt"


# Waits while it reads a large file until the event loop had a turn.
PARSER = f"""
import threading
from crawler.downloadermiddlewares.robots import FirstRules

class WaitingRules(FirstRules):
    @classmethod
    def from_crawler(cls, crawler, robotstxt_body):
        if len(robotstxt_body) > 100_000:
            from twisted.internet import reactor
            had_a_turn = threading.Event()
            reactor.callFromThread(had_a_turn.set)
            if not had_a_turn.wait({PATIENCE_SECS}):
                robotstxt_body = b""
        return super().from_crawler(crawler, robotstxt_body)
"""


def test_other_work_goes_on_while_a_large_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "waiting.py").write_text(PARSER, encoding="utf-8")
    rules = "".join(f"Disallow: /*x{number}$\n" for number in range(10_000))
    with HostileSite(f"User-agent: *\nDisallow: /plain/2\n{rules}", LINKED) as site:
        done = scrapy(
            *("crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path / 'job'}"),
            *("-s", "ROBOTSTXT_PARSER=waiting.WaitingRules"),
            environment={"PYTHONPATH": str(tmp_path)},
        )
        assert done.returncode == 0, done.stderr
        found = read_back(done, tmp_path / "job", site.origin, site.paths())
    assert found.kept == {"/", "/plain/1"}
