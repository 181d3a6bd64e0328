"""The hostile site does what its tricks say, shown with plain sockets and urllib."""

from __future__ import annotations

import http.client
import time
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.request import Request, build_opener

import pytest

from tests.sites.asking import StayHere, connect, drain, fetch
from tests.sites.tricks import TRICKS, pages, redirects
from tests.waiting import wait_until

if TYPE_CHECKING:
    from http.client import HTTPResponse

    from tests.sites.hostile import HostileSite


class TestRecord:
    def test_requests_are_recorded_with_path_headers_and_time(
        self, hostile_site: HostileSite
    ) -> None:
        before = time.monotonic()
        request = Request(hostile_site.at("/plain/7?a=b"), headers={"X-Mark": "here"})
        with build_opener().open(request) as response:
            assert response.status == 200
        (asked,) = hostile_site.asked
        assert (asked.method, asked.path) == ("GET", "/plain/7?a=b")
        assert asked.headers["x-mark"] == "here"
        assert before <= asked.at <= time.monotonic()

    def test_paths_leave_robots_txt_out(self, hostile_site: HostileSite) -> None:
        fetch(hostile_site, "/robots.txt")
        fetch(hostile_site, "/plain/1")
        assert hostile_site.paths() == ["/plain/1"]


class TestIndex:
    def test_index_links_to_every_trick(self, hostile_site: HostileSite) -> None:
        page = fetch(hostile_site, "/")[2].decode()
        assert all(f'href="{path}"' in page for path in TRICKS)

    def test_index_links_to_what_it_is_told(self, hostile_site: HostileSite) -> None:
        hostile_site.linked = ("/empty",)
        page = fetch(hostile_site, "/")[2].decode()
        assert page.count("href") == 1

    def test_unknown_path_is_not_found(self, hostile_site: HostileSite) -> None:
        assert fetch(hostile_site, "/plain/x")[0] == 404

    def test_numbered_pages_differ(self, hostile_site: HostileSite) -> None:
        assert fetch(hostile_site, "/plain/1")[2] != fetch(hostile_site, "/plain/2")[2]

    def test_robots_txt_is_what_was_set(self, hostile_site: HostileSite) -> None:
        hostile_site.robots_txt = "User-agent: *\nDisallow: /\n"
        assert fetch(hostile_site, "/robots.txt")[2] == b"User-agent: *\nDisallow: /\n"

    def test_patient_site_wants_a_delay(self, patient_site: HostileSite) -> None:
        assert b"Crawl-delay: 1" in fetch(patient_site, "/robots.txt")[2]
        assert fetch(patient_site, "/")[2].count(b'href="/plain/') == 4


class TestConnections:
    def test_drip_goes_on_slowly(self, hostile_site: HostileSite) -> None:
        with connect(hostile_site, "/drip") as connection:
            received = b""
            while received.count(b"drop") < 3:
                received += connection.recv(4096)
        assert b"Content-Length" not in received

    @pytest.mark.parametrize("path", ["/drip", "/silent"])
    def test_endless_answers_end_with_the_site(self, hostile_site: HostileSite, path: str) -> None:
        with connect(hostile_site, path) as connection:
            wait_until(lambda: hostile_site.asked)
            hostile_site.closing.set()
            received = drain(connection)
        assert received == b"" if path == "/silent" else received

    @pytest.mark.parametrize("path", ["/reset", "/reset-midway"])
    def test_reset(self, hostile_site: HostileSite, path: str) -> None:
        with connect(hostile_site, path) as connection, pytest.raises(ConnectionResetError):
            drain(connection)

    def test_not_http(self, hostile_site: HostileSite) -> None:
        with connect(hostile_site, "/not-http") as connection:
            assert drain(connection).startswith(b"220 ")

    @pytest.mark.parametrize(
        ("path", "status"), [("/error-500", 500), ("/gone-410", 410), ("/missing-404", 404)]
    )
    def test_errors_have_bodies(self, hostile_site: HostileSite, path: str, status: int) -> None:
        answered, _, body = fetch(hostile_site, path)
        assert answered == status
        assert b"<p>" in body


class TestRedirects:
    @pytest.mark.parametrize(
        ("path", "location"),
        [
            ("/redirect/loop", "/redirect/loop-back"),
            ("/redirect/loop-back", "/redirect/loop"),
            ("/redirect/self", "/redirect/self"),
            ("/redirect/link-local", "http://169.254.169.254/latest/meta-data/"),
            ("/redirect/file", "file:///etc/passwd"),
            ("/redirect/ftp", "ftp://127.0.0.1/secret"),
        ],
    )
    def test_location(self, hostile_site: HostileSite, path: str, location: str) -> None:
        status, headers, _ = fetch(hostile_site, path)
        assert (status, headers["Location"]) == (302, location)

    def test_cookie_opens_the_page_behind_the_redirect(self, hostile_site: HostileSite) -> None:
        status, headers, _ = fetch(hostile_site, "/redirect/cookie")
        assert (status, headers["Location"]) == (302, "/redirect/cookie")
        cookie = headers["Set-Cookie"].split(";")[0]
        request = Request(hostile_site.at("/redirect/cookie"), headers={"Cookie": cookie})
        with build_opener(StayHere).open(request) as response:
            assert b"Behind a cookie" in response.read()

    def test_chain_ends(self, hostile_site: HostileSite) -> None:
        path = "/redirect/chain"
        for _ in range(redirects.CHAIN_LENGTH):
            path = fetch(hostile_site, path)[1]["Location"]
        assert fetch(hostile_site, path)[0] == 200

    def test_no_location(self, hostile_site: HostileSite) -> None:
        status, headers, _ = fetch(hostile_site, "/redirect/no-location")
        assert status == 302
        assert "Location" not in headers


class TestPages:
    @pytest.mark.parametrize(
        ("path", "markup"),
        [
            ("/robots/noindex", b'<meta name="robots" content="noindex">'),
            ("/robots/link", b'rel="nofollow"'),
            ("/meta-refresh", b'http-equiv="refresh" content="0; url=/plain/911"'),
            ("/base-href", b'<base href="/plain/">'),
            ("/frameset", b'<frame src="/plain/914">'),
            ("/iframe", b'<iframe src="/plain/916">'),
        ],
    )
    def test_markup(self, hostile_site: HostileSite, path: str, markup: bytes) -> None:
        assert markup in fetch(hostile_site, path)[2]

    def test_robots_header(self, hostile_site: HostileSite) -> None:
        assert fetch(hostile_site, "/robots/header-noindex")[1]["X-Robots-Tag"] == "noindex"

    def test_many_links(self, hostile_site: HostileSite) -> None:
        page = fetch(hostile_site, "/many-links")[2]
        assert page.count(b'href="/many/') == pages.MANY_LINKS == 20_000
        assert fetch(hostile_site, "/many/19999")[0] == 200

    def test_connections_are_kept_alive(self, hostile_site: HostileSite) -> None:
        host = hostile_site.origin.removeprefix("http://")
        with closing(http.client.HTTPConnection(host, timeout=10)) as connection:
            for _ in range(2):
                connection.request("GET", "/plain/1")
                response: HTTPResponse = connection.getresponse()
                response.read()
                assert not response.will_close
