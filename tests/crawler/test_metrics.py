"""The text format of Prometheus, and the server that answers with it."""

from __future__ import annotations

import asyncio

import pytest

from crawler.metrics import COUNTER, GAUGE, Family, metrics_text
from crawler.metrics_server import MetricsServer, release, reserve, take

FAMILY = Family("a_total", COUNTER, "Things.", {("x", "1"): 2, ('"\\\n', ""): 0.5}, ("b", "c"))


def test_text() -> None:
    assert metrics_text([FAMILY, Family("d", GAUGE, "One.", {(): 3})]) == (
        "# HELP a_total Things.\n# TYPE a_total counter\n"
        'a_total{b="x",c="1"} 2\na_total{b="\\"\\\\\\n",c=""} 0.5\n'
        "# HELP d One.\n# TYPE d gauge\nd 3\n"
    )


async def ask(server: MetricsServer, request: bytes) -> bytes:
    port = int(server.url.split(":")[2].partition("/")[0])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize(
    ("request_line", "status", "body"),
    [
        (b"GET /metrics HTTP/1.1", b"200 OK", b"text\n"),
        (b"GET /metrics?x=1 HTTP/1.0", b"200 OK", b"text\n"),
        (b"HEAD /metrics HTTP/1.1", b"200 OK", b""),
        (b"GET / HTTP/1.1", b"404 Not Found", b"there is only /metrics\n"),
        (b"POST /metrics HTTP/1.1", b"405 Method Not Allowed", b"GET is allowed\n"),
        (b"\x16\x03\x01", b"405 Method Not Allowed", b"GET is allowed\n"),
    ],
)
def test_answer(request_line: bytes, status: bytes, body: bytes) -> None:
    async def answered() -> bytes:
        server = MetricsServer(take("127.0.0.1", 0), lambda: "text\n")
        await server.start()
        try:
            return await ask(server, request_line + b"\r\nHost: x\r\n\r\n")
        finally:
            server.close()

    answer = asyncio.run(answered())
    assert answer.startswith(b"HTTP/1.1 " + status + b"\r\n")
    assert answer.partition(b"\r\n\r\n")[2] == body


def test_a_head_without_end_is_not_read() -> None:
    async def answered() -> bytes:
        server = MetricsServer(take("127.0.0.1", 0), lambda: "text\n")
        await server.start()
        try:
            return await ask(server, b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 40_000)
        except ConnectionResetError:
            return b""
        finally:
            server.close()

    assert asyncio.run(answered()) == b""


def test_a_reserved_port_is_taken_once() -> None:
    first = take("127.0.0.1", 0)
    port = first.getsockname()[1]
    first.close()
    reserve("127.0.0.1", port)
    with pytest.raises(ValueError, match=r"cannot listen at 127\.0\.0\.1"):
        reserve("127.0.0.1", port)
    taken = take("127.0.0.1", port)
    assert taken.getsockname()[1] == port
    taken.close()
    reserve("127.0.0.1", port)
    release("127.0.0.1", port)
    take("127.0.0.1", port).close()


def test_a_host_of_another_machine_is_refused() -> None:
    with pytest.raises(ValueError, match=r"METRICS_PORT: cannot listen at 192\.0\.2\.1:1024: "):
        reserve("192.0.2.1", 1024)
