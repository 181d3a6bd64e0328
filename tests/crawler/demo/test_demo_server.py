"""The demo server speaks HTTP/1.1 as a crawler needs it."""

from __future__ import annotations

import http.client
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from crawler.demo import DemoServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with DemoServer() as running:
        yield running


@pytest.fixture
def connection(server: DemoServer) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)) as opened:
        yield opened


def ask(
    connection: http.client.HTTPConnection,
    target: str,
    method: str = "GET",
    headers: dict[str, str] | None = None,
) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection.request(method, target, headers=headers or {})
    response = connection.getresponse()
    return response.status, response.headers, response.read()


class TestAnswers:
    def test_page_has_length_and_validators(self, connection: http.client.HTTPConnection) -> None:
        status, headers, body = ask(connection, "/ropes/bowline")
        assert status == 200
        assert headers["Content-Length"] == str(len(body))
        assert headers["ETag"].startswith('"')
        assert headers["Last-Modified"].endswith(" GMT")

    def test_connection_is_kept(self, connection: http.client.HTTPConnection) -> None:
        ask(connection, "/")
        kept = connection.sock
        assert ask(connection, "/lost")[0] == 404
        assert connection.sock is kept is not None

    def test_head_has_no_body(self, connection: http.client.HTTPConnection) -> None:
        whole = ask(connection, "/ropes/bowline")
        status, headers, body = ask(connection, "/ropes/bowline", "HEAD")
        assert (status, body) == (200, b"")
        assert headers["Content-Length"] == whole[1]["Content-Length"]

    def test_redirect_names_its_target(self, connection: http.client.HTTPConnection) -> None:
        status, headers, _ = ask(connection, "/old/bowline")
        assert (status, headers["Location"]) == (301, "/ropes/bowline")

    def test_robots_txt_names_the_served_sitemap(self, server: DemoServer) -> None:
        with urlopen(server.url + "robots.txt") as robots:
            assert f"Sitemap: {server.url}sitemap.xml" in robots.read().decode()


class TestConditional:
    @pytest.mark.parametrize(
        ("name", "copied"), [("If-None-Match", "ETag"), ("If-Modified-Since", "Last-Modified")]
    )
    def test_current_copy_gets_304(
        self, connection: http.client.HTTPConnection, name: str, copied: str
    ) -> None:
        _, headers, _ = ask(connection, "/about")
        status, again, body = ask(connection, "/about", headers={name: headers[copied]})
        assert (status, body) == (304, b"")
        assert again["ETag"] == headers["ETag"]
        assert ask(connection, "/walk")[0] == 200  # the connection is still in step

    @pytest.mark.parametrize(
        "headers",
        [
            {"If-None-Match": '"another"'},
            {"If-Modified-Since": "Mon, 01 Jan 2001 00:00:00 GMT"},
            {"If-Modified-Since": "yesterday"},
            {"If-Modified-Since": "Mon, 01 Jan 2031 00:00:00 -0000"},
        ],
        ids=str,
    )
    def test_any_other_copy_gets_the_page(
        self, connection: http.client.HTTPConnection, headers: dict[str, str]
    ) -> None:
        assert ask(connection, "/about", headers=headers)[0] == 200


class TestLife:
    def test_requests_are_remembered_in_order(self) -> None:
        with DemoServer() as fresh:
            for target in ("", "walk?utm_source=x"):
                urlopen(fresh.url + target).close()
            assert fresh.requests == ["/", "/walk?utm_source=x"]

    def test_nobody_answers_afterwards(self) -> None:
        with DemoServer() as fresh:
            netloc = urlsplit(fresh.url).netloc
        with pytest.raises(ConnectionRefusedError):
            ask(http.client.HTTPConnection(netloc, timeout=1), "/")
