"""Crawls of sites that say something else for a while, in place of their pages."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.crawler.maintenance.verify.crawled import check
from tests.crawls.command import crawl, killed
from tests.crawls.crawled import exported, queried
from tests.crawls.test_walls import QUICK, kept
from tests.sites.prose import document
from tests.sites.serving import NOT_FOUND, OF_EVERY_HOST, MadeSite, Response
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.serving import Request

NOTICE = document("Back soon", "<p>We are mending our servers. Please try again in a while.</p>")


class MendedSite(MadeSite):
    """Says at any URL that it is being mended, from one request on until each page was asked for.

    Args:
        pages: The number of its pages.
        open_requests: The number of requests before that.
    """

    def __init__(self, pages: int, open_requests: int = 10) -> None:
        super().__init__()
        self.paths = [f"/{('a', 'b')[number % 2]}/p{number}" for number in range(pages)]
        self.asked: Counter[str] = Counter()
        self._open_requests = open_requests

    @property
    def is_mended(self) -> bool:
        return self.asked.keys() >= set(self.paths)

    def respond(self, request: Request) -> Response:
        if request.target in OF_EVERY_HOST:
            return NOT_FOUND
        was_mended = self.is_mended
        self.asked[request.target] += 1
        if self._is_closed(was_mended=was_mended):
            return Response(NOTICE)
        links = " ".join(f'<a href="{path}">{path}</a>' for path in self.paths)
        return Response(document(f"Page {request.target}", links if request.target == "/" else ""))

    def _is_closed(self, *, was_mended: bool) -> bool:
        return self.asked.total() > self._open_requests and not was_mended


class RefusingSite(MendedSite):
    """Says that nothing is there, for a while; of every second page that is true."""

    def respond(self, request: Request) -> Response:
        answer = super().respond(request)
        is_gone = request.target.startswith("/b/")
        return NOT_FOUND if is_gone or answer.body == Response(NOTICE).body else answer


class DownSite(MendedSite):
    """Says for a while, as a proxy before it does, that its server is down."""

    def respond(self, request: Request) -> Response:
        answer = super().respond(request)
        return Response(status=521) if answer.body == Response(NOTICE).body else answer


class ShySite(MendedSite):
    """Asks that its notice be not kept."""

    def respond(self, request: Request) -> Response:
        answer = super().respond(request)
        headers = {"X-Robots-Tag": "noindex"} if answer.body == Response(NOTICE).body else {}
        return replace(answer, headers=headers)


class BusySite(MendedSite):
    """Answers so few requests in two seconds, and says to others to try again."""

    def _is_closed(self, *, was_mended: bool) -> bool:
        now = time.monotonic()
        self._times = [one for one in getattr(self, "_times", []) if now - one < 2.0]
        self._times.append(now)
        return len(self._times) > self._open_requests


def kept_pages(jobdir: Path, site: MendedSite) -> set[str]:
    return kept(exported(jobdir, site.origin))


@pytest.mark.parametrize("pages", [15, 60])
def test_pages_behind_a_notice_for_a_while_are_fetched_when_it_is_gone(
    tmp_path: Path, pages: int
) -> None:
    with MendedSite(pages) as site:
        crawl(f"{site.origin}/", tmp_path, *QUICK)
        assert kept_pages(tmp_path, site) == {"/", *site.paths}
        assert all(site.asked[path] <= 2 for path in site.paths)
    assert check(tmp_path).findings == ()


def test_pages_are_told_from_those_that_are_gone(tmp_path: Path) -> None:
    with RefusingSite(60) as site:
        crawl(f"{site.origin}/", tmp_path, *QUICK)
        there = {path for path in site.paths if path.startswith("/a/")}
        assert kept_pages(tmp_path, site) == {"/", *there}
    assert check(tmp_path).findings == ()


def test_pages_of_a_server_that_was_down_are_fetched_when_it_is_up(tmp_path: Path) -> None:
    with DownSite(20) as site:
        crawl(f"{site.origin}/", tmp_path, *QUICK)
        assert kept_pages(tmp_path, site) == {"/", *site.paths}
    assert check(tmp_path).findings == ()


def test_pages_behind_a_notice_that_asks_not_to_be_kept_are_fetched(tmp_path: Path) -> None:
    with ShySite(40) as site:
        crawl(f"{site.origin}/", tmp_path, *QUICK)
        assert kept_pages(tmp_path, site) == {"/", *site.paths}
        assert all(site.asked[path] <= 2 for path in site.paths)
    assert check(tmp_path).findings == ()


def test_a_site_that_bears_few_requests_is_asked_for_its_pages_until_all_came(
    tmp_path: Path,
) -> None:
    with BusySite(40, open_requests=20) as site:
        crawl(f"{site.origin}/", tmp_path, *QUICK)
        assert kept_pages(tmp_path, site) == {"/", *site.paths}
    assert check(tmp_path).findings == ()


class MovedSite(MendedSite):
    """Redirects any URL to one page, for a while."""

    def respond(self, request: Request) -> Response:
        if request.target.startswith("/soon"):
            return Response(NOTICE)
        answer = super().respond(request)
        is_closed = answer.body == Response(NOTICE).body
        return self._moved(request.target) if is_closed else answer

    def _moved(self, target: str) -> Response:
        return Response(status=302, headers={"Location": "/soon"})


class ReturningSite(MovedSite):
    """Redirects any URL to a page of one text, which knows the URL to return to."""

    def _moved(self, target: str) -> Response:
        return Response(status=302, headers={"Location": f"/soon?from={target}"})


def test_pages_behind_redirects_to_one_text_are_fetched_when_it_is_gone(tmp_path: Path) -> None:
    with ReturningSite(20) as site:
        crawl(f"{site.origin}/", tmp_path, *QUICK)
        assert kept_pages(tmp_path, site) >= {"/", *site.paths}
    assert check(tmp_path).findings == ()


class RenamedSite(MendedSite):
    """Redirects any URL to where its page is, and says for a while what it was told to.

    Args:
        closed: What it says for a while at any URL.
    """

    def __init__(self, closed: Response) -> None:
        super().__init__(40)
        self._closed = closed

    def respond(self, request: Request) -> Response:
        if request.target.startswith("/now/"):
            return Response(document(f"Page {request.target}", ""))
        answer = super().respond(request)
        if answer.body == Response(NOTICE).body:
            return self._closed
        is_moved = request.target in self.paths
        headers = {"Location": f"/now{request.target}"}
        return Response(status=301, headers=headers) if is_moved else answer


@pytest.mark.parametrize(
    "closed",
    [Response(NOTICE), Response(status=403), Response(status=302, headers={"Location": "/soon"})],
    ids=["notice", "refusal", "redirect"],
)
def test_a_redirect_to_a_page_is_a_page_too(tmp_path: Path, closed: Response) -> None:
    with RenamedSite(closed) as site:
        crawl(f"{site.origin}/", tmp_path, *QUICK)
        assert kept_pages(tmp_path, site) >= {"/", *(f"/now{path}" for path in site.paths)}
    assert check(tmp_path).findings == ()


class WaitingSite(MendedSite):
    """Redirects each URL, for a while, to a notice that has a URL of its own for it."""

    def respond(self, request: Request) -> Response:
        if request.target.startswith("/wait?"):
            return Response(NOTICE)
        answer = super().respond(request)
        is_closed = answer.body == Response(NOTICE).body
        headers = {"Location": f"/wait?for={request.target}"}
        return Response(status=302, headers=headers) if is_closed else answer


def test_urls_that_led_to_a_notice_are_asked_for_in_place_of_it(tmp_path: Path) -> None:
    with WaitingSite(40) as site:
        crawl(f"{site.origin}/", tmp_path, *QUICK)
        assert kept_pages(tmp_path, site) >= {"/", *site.paths}
        assert all(site.asked[path] <= 2 for path in site.paths)
    assert check(tmp_path).findings == ()


def _asks_again(jobdir: Path, site: MendedSite) -> bool:
    """Whether a crawl has stored that it is about to ask again."""
    sql = "SELECT 1 FROM meta WHERE name = 'passing' AND value = '1'"
    return site.is_mended and bool(queried(jobdir, sql))


@pytest.mark.parametrize("kind", [MendedSite, MovedSite])
def test_a_crawl_that_is_killed_before_it_asks_again_does_so_when_it_goes_on(
    tmp_path: Path, kind: type[MendedSite]
) -> None:
    with kind(40) as site:
        options = ("-a", f"url={site.origin}/", "-s", f"JOBDIR={tmp_path}", *QUICK)
        with killed("crawl", "site", *options) as process:
            wait_until(partial(_asks_again, tmp_path, site), process)
        crawl(f"{site.origin}/", tmp_path, *QUICK)
        assert kept_pages(tmp_path, site) >= {"/", *site.paths}
        asked = site.asked.copy()
        crawl(f"{site.origin}/", tmp_path, *QUICK)
        assert site.asked == asked, "it is finished"
    assert check(tmp_path).findings == ()


def test_a_crawl_that_ends_at_its_limit_asks_again_when_it_goes_on(tmp_path: Path) -> None:
    with MendedSite(40) as site:
        crawl(f"{site.origin}/", tmp_path, "-a", "max_pages=41", *QUICK)
        assert not kept_pages(tmp_path, site) >= set(site.paths)
        crawl(f"{site.origin}/", tmp_path, *QUICK)
        assert kept_pages(tmp_path, site) >= {"/", *site.paths}
    assert check(tmp_path).findings == ()
