"""Sites that refuse what comes too fast: no page is lost, and nobody is asked before its time."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import crawl, report, scrapy, start_scrapy
from tests.crawls.command import pages as listed
from tests.sites.many import page_path, pages
from tests.sites.refusing import Answer, Refusal, RefusingSite, Visit, at_most, until_asked
from tests.waiting import wait_until

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.sites.serving import Request, Response

FAST = ("-s", "CRAWL_PAUSE_SECS=0.2", "-s", "READING_WORKERS=1")
ALONE = json.dumps({"127.0.0.1": {"delay": 0.05, "concurrency": 1, "jitter": 0}})
ONE_AT_A_TIME = ("-s", f"DOWNLOAD_SLOTS={ALONE}")
NOT_SOON = Refusal(429, {"Retry-After": "300"})
EPSILON_SECS = 0.05
"""Between the moment at which a request comes and the one at which its answer is there."""
PATIENCE_SECS = 60.0


def dated(secs: float) -> Refusal:
    """Not before a date so far in the future; dates of HTTP have whole seconds."""
    until = datetime.now(UTC) + timedelta(seconds=secs)
    return Refusal(503, {"Retry-After": format_datetime(until, usegmt=True)})


def resting(jobdir: Path) -> list[tuple[str, float]]:
    """The hosts that rest, as ``crawl.db`` has it, and for how long from now."""
    try:
        with closing(sqlite3.connect(f"file:{jobdir}/crawl.db?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT name, until FROM host_pauses WHERE number > 0")
            return [(name, until - time.time()) for name, until in rows if until > time.time()]
    except sqlite3.OperationalError:  # not there yet
        return []


def star(count: int) -> dict[str, bytes]:
    """Pages of which the first links to all others."""
    links = "".join(f'<a href="{page_path(number)}">{number}</a> ' for number in range(1, count))
    found = {path: body.partition(b"<nav>")[0] for path, body in pages(count).items()}
    return {**found, "/": f"<html><body>{links}</body></html>".encode()}


class CutSite(RefusingSite):
    """Sends parts of a page: of ``/3.html`` the first times that it is asked for."""

    def __init__(self, pages: dict[str, bytes], answer: Answer, times: int) -> None:
        super().__init__(pages, answer)
        self._times = times

    def respond(self, request: Request) -> Response | None:
        response = super().respond(request)
        is_cut = request.target == "/3.html" and len(self.asked_for("/3.html")) <= self._times
        if response is None or not is_cut:
            return response
        return replace(response, missing_bytes=100)


def once_asked(path: str, number: int, refusal: Refusal) -> Answer:
    """Refuse a path one time: so many."""

    def answer(visit: Visit, site: RefusingSite) -> Refusal | None:
        return refusal if (visit.path, visit.number) == (path, number) else None

    return answer


class TestTooManyRequests:
    @pytest.mark.parametrize(
        "refusal",
        [
            Refusal(429, {"Retry-After": "1"}),
            Refusal(429),
            Refusal(503),
            Refusal(503, {"Retry-After": "soon"}),
        ],
        ids=["in seconds", "429", "503", "not to be read"],
    )
    def test_no_page_is_lost(self, tmp_path: Path, refusal: Refusal) -> None:
        with RefusingSite(pages(41), at_most(10, 1.0, refusal)) as site:
            crawl(site.url, tmp_path / "job", *FAST)
            assert site.refused
        found = report(tmp_path / "job")
        assert (found["fetched"], found["failed"], found["queued"]) == (41, 0, 0)
        assert found["rested"][0]["name"] == "127.0.0.1"

    def test_nobody_is_asked_before_the_time_that_is_named(self, tmp_path: Path) -> None:
        """What waits in Scrapy's slot for its delay is not sent either."""
        refused = until_asked({"/3.html": 1, "/9.html": 1}, Refusal(429, {"Retry-After": "1"}))
        with RefusingSite(pages(31), refused) as site:
            crawl(site.url, tmp_path / "job", *FAST, *ONE_AT_A_TIME)
            gaps = site.gaps()
        assert len(gaps) == 2
        assert all(secs > 1.0 - EPSILON_SECS for _, secs in gaps)

    def test_nobody_is_asked_before_a_date(self, tmp_path: Path) -> None:
        def answer(visit: Visit, site: RefusingSite) -> Refusal | None:
            return dated(3) if (visit.path, visit.number) == ("/3.html", 1) else None

        with RefusingSite(pages(11), answer) as site:
            crawl(site.url, tmp_path / "job", *FAST, *ONE_AT_A_TIME)
            ((_, secs),) = site.gaps()
        assert secs > 1.0

    def test_what_a_host_says_is_bounded(self, tmp_path: Path) -> None:
        refused = until_asked({"/3.html": 2}, Refusal(429, {"Retry-After": "9" * 40}))
        with RefusingSite(pages(11), refused) as site:
            crawl(site.url, tmp_path / "job", *FAST, "-s", "CRAWL_MAX_PAUSE_SECS=0.5")
            assert len(site.asked_for("/3.html")) == 3
        assert report(tmp_path / "job")["fetched"] == 11

    def test_other_hosts_are_asked_meanwhile(self, tmp_path: Path) -> None:
        """The first host refuses until the second has all its pages."""
        with RefusingSite(pages(41), address="127.0.0.2") as quick:

            def answer(visit: Visit, site: RefusingSite) -> Refusal | None:
                is_refused = visit.path == "/" and len(quick.asked) < 41
                return Refusal(429, {"Retry-After": "1"}) if is_refused else None

            with RefusingSite(pages(11), answer) as slow:
                crawl(f"{slow.url},{quick.url}", tmp_path / "job", *FAST, "-s", "DOWNLOAD_DELAY=0")
                assert slow.refused
        assert report(tmp_path / "job")["fetched"] == 52

    def test_what_is_refused_for_good_has_failed_when_the_budget_is_spent(
        self, tmp_path: Path
    ) -> None:
        refused = until_asked({"/3.html": 1000, "/4.html": 1000}, Refusal(503))
        arguments = (*FAST, "-s", "CRAWL_RETRY_BUDGET_SECS=1.5")
        with RefusingSite(pages(41), refused) as site:
            done = crawl(site.url, tmp_path / "job", *arguments)
            # No pause is shorter than 0.2 s: eight of them are longer than the budget.
            assert 2 <= len(site.asked_for("/3.html")) <= 9
        assert "hosts that refused or did not answer, and were paused" in done.stdout
        found = report(tmp_path / "job")
        assert (found["failed"], found["reasons"]) == (2, {"failed: HTTP 503": 2})

    def test_an_outage_longer_than_the_budget_loses_no_page(self, tmp_path: Path) -> None:
        """It takes pauses of 0.1, 0.2, 0.4 and 0.8 s; whatever was not waited for may not fail."""
        begun: list[float] = []

        def answer(visit: Visit, site: RefusingSite) -> Refusal | None:
            if site.first_served_at() is None:
                return None
            begun.append(visit.at)
            return Refusal(503) if visit.at < begun[0] + 1.2 else None

        arguments = ("-s", "CRAWL_PAUSE_SECS=0.1", "-s", "CRAWL_RETRY_BUDGET_SECS=0.5")
        with RefusingSite(star(150), answer) as site:
            crawl(site.url, tmp_path / "job", *arguments)
            assert site.refused
        found = report(tmp_path / "job")
        assert (found["fetched"], found["failed"], found["queued"]) == (150, 0, 0)

    def test_a_host_that_is_dead_for_good_is_given_up_and_can_be_asked_again(
        self, tmp_path: Path
    ) -> None:
        """Pauses in a row come to more than six budgets, and most pages are never asked for."""
        is_dead = True

        def answer(visit: Visit, site: RefusingSite) -> Refusal | None:
            return Refusal(503) if is_dead and visit.path.endswith(".html") else None

        arguments = ("-s", "CRAWL_PAUSE_SECS=0.1", "-s", "CRAWL_RETRY_BUDGET_SECS=0.2")
        with RefusingSite(star(300), answer) as site:
            crawl(site.url, tmp_path / "job", *arguments)
            found, asked = report(tmp_path / "job"), {one.path for one in site.refused}
            assert (found["failed"], found["queued"]) == (299, 0)
            (given_up,) = (one for one in found["reasons"] if "is given up" in one)
            assert given_up.startswith("failed: its host is given up, after ")
            assert given_up.endswith("(HTTP 503); --revisit failed asks again")
            assert found["reasons"][given_up] >= 299 - len(asked)
            assert len(asked) < 200
            is_dead = False
            done = crawl(site.url, tmp_path / "job", *arguments, "-a", "revisit=failed")
        assert "visiting again what failed: 299 URLs" in done.stdout
        assert report(tmp_path / "job")["failed"] == 0

    def test_an_answer_from_a_cache_ends_no_row_of_pauses(self, tmp_path: Path) -> None:
        """The second pause is twice as long as the first, whatever a cache gave in between."""
        cache = (
            *("-s", "HTTPCACHE_ENABLED=True", "-s", f"HTTPCACHE_DIR={tmp_path / 'cache'}"),
            *("-s", "HTTPCACHE_IGNORE_HTTP_CODES=503"),
        )
        with RefusingSite(pages(11), until_asked({"/1.html": 3}, Refusal(503))) as site:
            crawl(site.url, tmp_path / "first", *cache, "-s", "RETRY_ENABLED=False")
            asked = len(site.asked)
            crawl(site.url, tmp_path / "job", *cache, *FAST, *ONE_AT_A_TIME)
            assert [one.path for one in site.asked[asked:]] == ["/1.html"] * 3
        found = report(tmp_path / "job")
        assert [host["secs"] for host in found["rested"]] == [0.6]
        assert found["failed"] == 0

    def test_without_retries_what_is_refused_has_failed(self, tmp_path: Path) -> None:
        with RefusingSite(pages(11), until_asked({"/3.html": 1}, NOT_SOON)) as site:
            crawl(site.url, tmp_path / "job", "-s", "RETRY_ENABLED=False")
        assert report(tmp_path / "job")["failed"] == 1


class TestErrors:
    @pytest.mark.parametrize("status", [500, 502, 504, 0])
    def test_an_error_that_passes_loses_no_page(self, tmp_path: Path, status: int) -> None:
        paths = {f"/{number}.html": 2 for number in range(3, 20)}
        with RefusingSite(pages(21), until_asked(paths, Refusal(status))) as site:
            crawl(site.url, tmp_path / "job", *FAST)
        found = report(tmp_path / "job")
        assert (found["fetched"], found["failed"], found["queued"]) == (21, 0, 0)

    @pytest.mark.parametrize("status", [503, 500, 0])
    def test_a_refusal_after_answers_in_part_is_waited_for(
        self, tmp_path: Path, status: int
    ) -> None:
        with CutSite(pages(5), once_asked("/3.html", 2, Refusal(status)), 1) as site:
            crawl(site.url, tmp_path / "job", *FAST, "-s", "RETRY_TIMES=2")
            assert len(site.asked_for("/3.html")) == 3
        found = report(tmp_path / "job")
        assert (found["fetched"], found["failed"], found["reasons"]) == (5, 0, {})

    def test_what_comes_in_part_each_time_is_taken_as_it_comes(self, tmp_path: Path) -> None:
        with CutSite(pages(5), once_asked("/3.html", 99, Refusal(503)), 99) as site:
            crawl(site.url, tmp_path / "job", *FAST, "-s", "RETRY_TIMES=2")
            assert len(site.asked_for("/3.html")) == 3
        (reason,) = {page["reason"] for page in listed(tmp_path / "job")} - {None}
        assert reason == "truncated: the server sent less than it said"

    def test_a_page_that_always_breaks_is_asked_for_a_few_times_and_holds_nobody_up(
        self, tmp_path: Path
    ) -> None:
        with RefusingSite(pages(41), until_asked({"/1.html": 1000}, Refusal(500))) as site:
            settings = ("-s", "CRAWL_PAUSE_SECS=2", "-s", "RETRY_TIMES=2", *ONE_AT_A_TIME)
            crawl(site.url, tmp_path / "job", *settings)
            asked = site.asked_for("/1.html")
            served = [one.at for one in site.asked if one.status == 200]
        assert len(asked) == 3
        # Whatever else was queued went first.
        assert sum(asked[0].at < at < asked[1].at for at in served) >= 9
        assert asked[1].at - asked[0].at > 2.0 - EPSILON_SECS
        assert asked[2].at - asked[1].at > 4.0 - EPSILON_SECS
        found = report(tmp_path / "job")
        assert (found["failed"], found["reasons"]) == (1, {"failed: HTTP 500": 1})

    def test_a_server_that_restarts_loses_no_page(self, tmp_path: Path) -> None:
        """Nothing listens for a while, in the middle of the crawl."""
        with RefusingSite(pages(41)) as site:
            port = site.port
            process = start_scrapy(
                *("crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path / 'job'}"),
                *(*FAST, *ONE_AT_A_TIME, "-s", "RETRY_TIMES=5"),
            )
            wait_until(lambda: len(site.asked) >= 12, process)
        wait_until(lambda: resting(tmp_path / "job"), process)
        with RefusingSite(pages(41), port=port):
            output, errors = process.communicate(timeout=PATIENCE_SECS)
        assert process.returncode == 0, output + errors
        found = report(tmp_path / "job")
        assert (found["fetched"], found["failed"], found["queued"]) == (41, 0, 0)


class TestPauses:
    """A crawl in the middle of a pause: nothing of it is lost, and it can be left at any time."""

    def start(self, site: RefusingSite, tmp_path: Path, *more: str) -> subprocess.Popen[str]:
        jobdir = ("-s", f"JOBDIR={tmp_path / 'job'}")
        process = start_scrapy("crawl", "site", "-a", f"url={site.url}", *jobdir, *FAST, *more)
        wait_until(lambda: resting(tmp_path / "job"), process)
        return process

    def test_ctrl_c_ends_it_at_once_and_the_pause_goes_on(self, tmp_path: Path) -> None:
        with RefusingSite(pages(11), until_asked({"/3.html": 1}, NOT_SOON)) as site:
            process = self.start(site, tmp_path)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=PATIENCE_SECS)
            assert process.returncode == 130, output + errors
            assert "queued: the same command goes on" in output
            assert "127.0.0.1: 1 time, for up to 300 s (HTTP 429), asked again in " in output
            ((_, left_secs),) = resting(tmp_path / "job")
            assert left_secs > 200
            # The next process asks for nothing either.
            asked = len(site.asked)
            process = self.start(site, tmp_path, "-s", "PROGRESS_INTERVAL_SECS=0.2")
            assert process.stderr is not None
            while "asks 127.0.0.1 again in" not in (line := process.stderr.readline()):
                assert line or process.poll() is None
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE_SECS)
            assert len(site.asked) == asked

    def test_a_process_that_is_killed_loses_nothing(self, tmp_path: Path) -> None:
        refused = until_asked({f"/{number}.html": 1 for number in (3, 7, 9)}, NOT_SOON)
        with RefusingSite(pages(31), refused) as site:
            process = self.start(site, tmp_path)
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            end_pauses(tmp_path / "job")
            crawl(site.url, tmp_path / "job", *FAST, "-s", "CRAWL_MAX_PAUSE_SECS=0.2")
        found = report(tmp_path / "job")
        assert (found["fetched"], found["failed"], found["queued"]) == (31, 0, 0)
        assert scrapy("verify", str(tmp_path / "job")).returncode == 0


def end_pauses(jobdir: Path) -> None:
    """Let five minutes pass."""
    with closing(sqlite3.connect(jobdir / "crawl.db")) as connection:
        connection.execute("UPDATE host_pauses SET until = 0")
        connection.commit()


class TestRevisitFailed:
    def test_the_failed_alone_are_asked_for_and_what_they_link(self, tmp_path: Path) -> None:
        """All children of a page are unknown where that failed."""
        answers = {"/1.html": 500, "/3.html": 404, "/4.html": 429, "/5.html": 0}

        def answer(visit: Visit, site: RefusingSite) -> Refusal | None:
            status = answers.get(visit.path)
            return None if status is None else Refusal(status)

        once = ("-s", "RETRY_ENABLED=False", "-s", "CRAWL_LEARN_URL_RULES=False")
        with RefusingSite(pages(41), answer) as site:
            crawl(site.url, tmp_path / "job", *once)
            before = {one.path for one in site.asked if one.status == 200}
            first = len(site.asked)
            assert report(tmp_path / "job")["failed"] == 4
            answers.clear()
            done = crawl(site.url, tmp_path / "job", *once, "-a", "revisit=failed")
            asked = [one.path for one in site.asked[first:]]
            assert "visiting again what failed: 3 URLs" in done.stdout
            unknown = set(site.pages) - before - {"/3.html"}
            assert set(asked) == unknown
            assert len(asked) == len(unknown)
            done = crawl(site.url, tmp_path / "job", *once, "-a", "revisit=failed")
            assert "visiting again what failed: 0 URLs" in done.stdout
            assert len(site.asked) == first + len(asked)
