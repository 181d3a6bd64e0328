"""Who is answered, by header fields alone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from crawler.lab.app.binding import Door
from crawler.lab.app.lab_server import Guard, SecurityHeaders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Message, Receive, Scope, Send

PORT = 8123
LOCAL = Door(PORT, frozenset({"127.0.0.1", "localhost", "[::1]"}))
OPEN = Door(PORT, frozenset({"127.0.0.1", "localhost", "[::1]"}), True, "s3cret")
HOST = {"Host": "127.0.0.1:8123"}
PAGE = b"<html><script>own()</script><script type=module>own()</script></html>"


async def _application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    headers = [(b"content-type", b"text/html; charset=utf-8")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": PAGE[:20], "more_body": True})
    await send({"type": "http.response.body", "body": PAGE[20:]})


def asked(
    door: Door,
    headers: Mapping[str, str] | list[tuple[str, str]],
    *,
    kind: str = "http",
    method: str = "GET",
    target: str = "/",
) -> list[Message]:
    """What an application behind the guard answers."""
    pairs = headers if isinstance(headers, list) else list(headers.items())
    path, _, query = target.partition("?")
    scope: dict[str, Any] = {
        "type": kind,
        "scheme": "ws" if kind == "websocket" else "http",
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in pairs],
    }
    if kind == "http":
        scope["method"] = method
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    asyncio.run(Guard(SecurityHeaders(_application), door)(scope, receive, send))
    return sent


def is_answered(answer: list[Message]) -> bool:
    return answer[0].get("status") == 200 or answer[0]["type"] == "websocket.accept"


def head_of(answer: list[Message]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in answer[0]["headers"]}


@pytest.mark.parametrize("kind", ["http", "websocket"])
class TestHost:
    @pytest.mark.parametrize(
        "host", ["127.0.0.1:8123", "localhost:8123", "[::1]:8123", "LOCALHOST:8123"]
    )
    def test_our_names_are_answered(self, host: str, kind: str) -> None:
        assert is_answered(asked(LOCAL, {"Host": host}, kind=kind))

    @pytest.mark.parametrize(
        "host",
        [
            "evil.example", "evil.example:8123", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:81230",
            "127.0.0.1.evil.example:8123", "localhost.:8123", "[::2]:8123", "", ":8123",
            "127.0.0.1:8123@evil.example", "evil@127.0.0.1:8123", "10.0.0.1:8123", "[::1]",
            "\xff:8123",
        ],
    )  # fmt: skip
    def test_others_are_not(self, host: str, kind: str) -> None:
        assert not is_answered(asked(LOCAL, {"Host": host}, kind=kind))

    def test_none_and_two_are_not(self, kind: str) -> None:
        assert not is_answered(asked(LOCAL, {}, kind=kind))
        both = [("Host", "127.0.0.1:8123"), ("Host", "evil.example")]
        assert not is_answered(asked(LOCAL, both, kind=kind))

    def test_bound_to_all_addresses_numbers_are_ours_and_names_are_not(self, kind: str) -> None:
        cookie = {"Cookie": "lab-8123=s3cret"}
        for host in ("192.168.1.7:8123", "[fe80::1]:8123", "localhost:8123"):
            assert is_answered(asked(OPEN, {"Host": host, **cookie}, kind=kind))
        assert not is_answered(asked(OPEN, {"Host": "evil.example:8123", **cookie}, kind=kind))


@pytest.mark.parametrize("kind", ["http", "websocket"])
class TestOrigin:
    def test_the_page_itself_is_answered(self, kind: str) -> None:
        headers = {"Host": "localhost:8123", "Origin": "http://localhost:8123"}
        assert is_answered(asked(LOCAL, headers, kind=kind))

    @pytest.mark.parametrize(
        "origin",
        ["null", "", "http://evil.example", "http://localhost", "https://localhost:8123",
         "http://127.0.0.1:8123", "http://localhost:8123.evil.example", "file://"],
    )  # fmt: skip
    def test_others_are_not(self, origin: str, kind: str) -> None:
        headers = {"Host": "localhost:8123", "Origin": origin}
        assert not is_answered(asked(LOCAL, headers, kind=kind))

    def test_two_are_not(self, kind: str) -> None:
        own = ("Origin", "http://localhost:8123")
        both = [("Host", "localhost:8123"), own, ("Origin", "http://evil.example")]
        assert not is_answered(asked(LOCAL, both, kind=kind))

    @pytest.mark.parametrize(
        ("fetched", "is_welcome"),
        [
            ({"Sec-Fetch-Site": "same-origin"}, True),
            ({"Sec-Fetch-Site": "none"}, True),
            ({"Sec-Fetch-Site": "cross-site"}, False),
            ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, False),
            ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, False),
            (
                {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate",
                 "Sec-Fetch-Dest": "document"},
                True,
            ),
            (
                {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate",
                 "Sec-Fetch-Dest": "iframe"},
                False,
            ),
        ],
    )  # fmt: skip
    def test_what_the_browser_says_of_the_asker_counts(
        self, fetched: dict[str, str], is_welcome: bool, kind: str
    ) -> None:
        answer = asked(LOCAL, {"Host": "localhost:8123", **fetched}, kind=kind)
        assert is_answered(answer) is is_welcome


class TestMethod:
    @pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST"])
    def test_nothing_takes_anything_but_questions(self, method: str) -> None:
        assert not is_answered(asked(LOCAL, {"Host": "localhost:8123"}, method=method))

    def test_the_socket_may_fall_back_to_posts(self) -> None:
        target = "/_nicegui_ws/socket.io/?transport=polling"
        assert is_answered(asked(LOCAL, {"Host": "localhost:8123"}, method="POST", target=target))


class TestToken:
    @pytest.mark.parametrize("kind", ["http", "websocket"])
    @pytest.mark.parametrize(
        "cookie", [None, "lab-8123=", "lab-8123=s3cre", "lab-8124=s3cret", "x=s3cret", "lab-8123=é"]
    )
    @pytest.mark.parametrize("target", ["/", "/_nicegui/x", "/_nicegui_ws/socket.io/?token=s3cret"])
    def test_without_it_nothing_is_answered(
        self, cookie: str | None, target: str, kind: str
    ) -> None:
        headers = HOST if cookie is None else {**HOST, "Cookie": cookie}
        assert not is_answered(asked(OPEN, headers, kind=kind, target=target))

    def test_given_once_it_becomes_a_cookie_that_scripts_cannot_read(self) -> None:
        answer = asked(OPEN, HOST, target="/?token=s3cret&tab=Live")
        head = head_of(answer)
        assert answer[0]["status"] == 303
        assert head["location"] == "/?tab=Live"
        assert head["set-cookie"].startswith("lab-8123=s3cret;")
        assert "httponly" in head["set-cookie"].lower()
        assert "samesite=strict" in head["set-cookie"].lower()
        assert is_answered(asked(OPEN, {**HOST, "Cookie": 'a={"odd": [1]}; lab-8123=s3cret'}))

    def test_a_wrong_one_opens_nothing(self) -> None:
        for given in ("s3cre", "", "S3CRET", "s3cret%00"):
            assert asked(OPEN, HOST, target=f"/?token={given}")[0]["status"] == 403

    def test_it_does_not_excuse_a_foreign_page(self) -> None:
        headers = {**HOST, "Cookie": "lab-8123=s3cret", "Origin": "http://evil.example"}
        assert not is_answered(asked(OPEN, headers, kind="websocket"))


class TestSecurityHeaders:
    def test_only_scripts_with_the_nonce_run_and_it_is_never_the_same(self) -> None:
        nonces = set()
        for _ in range(2):
            answer = asked(LOCAL, {"Host": "localhost:8123"})
            policy = head_of(answer)["content-security-policy"]
            nonce = policy.partition("'nonce-")[2].partition("'")[0]
            assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]
            body = answer[1]["body"].decode()
            assert body.count(f'<script nonce="{nonce}"') == PAGE.count(b"<script") == 2
            assert head_of(answer)["content-length"] == str(len(body))
            nonces.add(nonce)
        assert len(nonces) == 2

    def test_nobody_may_frame_it_or_learn_where_a_link_was_followed(self) -> None:
        head = head_of(asked(LOCAL, {"Host": "localhost:8123"}))
        assert head["x-frame-options"] == "DENY"
        assert head["x-content-type-options"] == "nosniff"
        assert head["referrer-policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in head["content-security-policy"]
