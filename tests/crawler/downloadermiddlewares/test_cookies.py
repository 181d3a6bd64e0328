from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawler.downloadermiddlewares.cookies import Cookies
from crawler.downloading.cookies import netscape_cookie
from crawler.job import Job
from crawler.pages.needless_cookies import MIN_PAGES, PROOFS, CookieDifference
from crawler.request_meta import COOKIES
from crawler.run import JobOptions

if TYPE_CHECKING:
    from http.cookiejar import Cookie
    from pathlib import Path

URL = "http://www.example.com/"


class TestCookies:
    @staticmethod
    def cookies(**settings: Any) -> Cookies:
        return Cookies.from_crawler(get_crawler(settings_dict=settings))

    @staticmethod
    def sent_after(middleware: Cookies, *cookies: str) -> bytes | None:
        answer = Response(URL, headers={"Set-Cookie": list(cookies)})
        middleware.process_response(Request(URL), answer)
        request = Request(f"{URL}next")
        middleware.process_request(request)
        return request.headers.get(b"Cookie")

    def test_are_sent_back(self) -> None:
        assert self.sent_after(self.cookies(), "a=1; Path=/", "b=2") == b"a=1; b=2"

    @pytest.mark.parametrize(
        ("origin", "is_sent"),
        [
            ("http://localhost:8080", True),
            ("http://shop.localhost", True),
            ("http://127.0.0.1:8080", True),
            ("https://www.example.com", True),
            ("http://www.example.com", False),
            ("http://localhost.example.com", False),
            ("http://127.0.0.1.example.com", False),
        ],
    )
    def test_secure_ones_go_through_tls_or_to_this_machine(
        self, origin: str, is_sent: bool
    ) -> None:
        middleware = self.cookies()
        answer = Response(f"{origin}/", headers={"Set-Cookie": ["a=1; Path=/; Secure"]})
        middleware.process_response(Request(answer.url), answer)
        request = Request(f"{origin}/next")
        middleware.process_request(request)
        assert (request.headers.get(b"Cookie") is not None) == is_sent

    def test_so_many_are_taken(self) -> None:
        middleware = self.cookies(CRAWL_MAX_COOKIES=3)
        sent = self.sent_after(middleware, *(f"n{number}=v" for number in range(9)))
        assert sent == b"n0=v; n1=v; n2=v"

    def test_the_header_is_never_longer_than_servers_take(self) -> None:
        fat = [f"n{number}={'v' * 3000}" for number in range(9)]
        assert len(self.sent_after(self.cookies(), *fat) or b"") <= 8000

    def test_each_jar_is_bounded(self) -> None:
        middleware = self.cookies(CRAWL_MAX_COOKIES=1)
        request = Request(URL, meta={"cookiejar": "other"})
        answer = Response(URL, headers={"Set-Cookie": ["a=1", "b=2"]})
        middleware.process_response(request, answer)
        assert len(middleware.jars["other"]) == 1

    @staticmethod
    def kept_in(folder: Path, given: Cookie | None = None) -> tuple[Cookies, Job]:
        job = Job(folder, JobOptions())
        middleware = Cookies(9, given=() if given is None else (given,))
        middleware.keep(job)
        return middleware, job

    def test_outlive_the_process_but_for_those_of_the_user(self, tmp_path: Path) -> None:
        users = netscape_cookie("mine", "u", "www.example.com", "/", None)
        middleware, job = self.kept_in(tmp_path, users)
        kept = ["a=1", "b=2; Max-Age=999; HttpOnly", "c=3; Max-Age=1", "mine=m", "d=4"]
        assert self.sent_after(middleware, *kept) is not None
        job.commit()
        file = tmp_path / "cookies.txt"
        assert {line.split("\t")[5] for line in file.read_text().split("\n")[1:-1]} >= {"a", "b"}
        assert "mine" not in file.read_text()
        assert self.sent_after(middleware, "a=; Max-Age=0") is not None
        job.close()
        again, job = self.kept_in(tmp_path)
        names = {cookie.name for cookie in again.jars[None]}
        assert names - {"c"} == {"b", "d"}
        job.close()
        changed, job = self.kept_in(tmp_path, netscape_cookie("d", "u", "www.example.com", "/", 0))
        assert {one.value for one in changed.jars[None] if one.name == "d"} == {"u"}
        job.close()

    @pytest.mark.parametrize(
        ("urls", "late"), [([URL], set()), ([f"{URL}a", URL], {"www.example.com"})]
    )
    def test_that_come_late_are_noted(
        self, urls: list[str], late: set[str], tmp_path: Path
    ) -> None:
        middleware, job = self.kept_in(tmp_path)
        for url in urls:
            middleware.process_request(Request(url))
        middleware.process_response(Request(URL), Response(URL, headers={"Set-Cookie": "a=1"}))
        assert job.visits.notes.late_cookies == late
        job.close()

    def test_those_of_the_user_do_not_come_late(self) -> None:
        job = Job(None, JobOptions())
        given = netscape_cookie("a", "1", "www.example.com", "/", None)
        middleware = Cookies(9, given=(given,))
        middleware.keep(job)
        for url in (f"{URL}a", URL):
            middleware.process_request(Request(url))
        middleware.process_response(Request(URL), Response(URL))
        assert not job.visits.notes.late_cookies
        job.close()

    def test_a_host_that_needs_none_gets_none_and_replaces_none(self, tmp_path: Path) -> None:
        middleware, job = self.kept_in(tmp_path)
        assert self.sent_after(middleware, "a=1", "b=1") == b"a=1; b=1"
        needless = job.visits.cookies
        needless.is_on = True
        for _ in range(MIN_PAGES):
            needless.note_sent("www.example.com", {"a", "b"}, URL)
        for _ in range(PROOFS):
            needless.note_proof("www.example.com", CookieDifference([], is_trail=False))

        def asked(*cookies: str, **meta: Any) -> bytes | None:
            request = Request(URL, meta=meta)
            middleware.process_request(request)
            answer = Response(URL, headers={"Set-Cookie": list(cookies)})
            middleware.process_response(request, answer)
            return request.headers.get(b"Cookie")

        assert asked("a=2", "b=; Max-Age=0") is None
        assert asked(**{COOKIES: (URL, True, "")}) == b"a=1; b=1"
        assert asked(**{COOKIES: (f"{URL}before", True, "")}) is None, "it was redirected here"
        assert asked("c=1") is None
        assert asked("a=3") == b"a=1; b=1; c=1", "a new one may be needed"
        assert asked(**{COOKIES: (URL, False, "")}) is None
        assert asked() == b"a=3; b=1; c=1"
        job.close()

    def test_switched_off_with_scrapys(self) -> None:
        with pytest.raises(NotConfigured):
            self.cookies(COOKIES_ENABLED=False)
