from __future__ import annotations

import pytest

from crawler.downloading.message_head import read_head


def test_head_is_read_as_it_came() -> None:
    head = read_head(
        b'HTTP/1.1 200 Fine, thanks\r\nserver:  x \r\nSET-COOKIE: a=1\r\nETag: W/"1"\r\n'
        b"Set-Cookie: b\r\nConnection: close\r\n\r\nbody: no header\r\n\r\n"
    )
    assert head is not None
    assert head.first_line == b"HTTP/1.1 200 Fine, thanks"
    assert head.headers == (
        (b"server", b"x"),
        (b"SET-COOKIE", b"a=1"),
        (b"ETag", b'W/"1"'),
        (b"Set-Cookie", b"b"),
        (b"Connection", b"close"),
    )


@pytest.mark.parametrize(
    ("data", "headers"),
    [
        (b"HTTP/1.1 200 OK\nA: 1\nB: 2\n\nbody", ((b"A", b"1"), (b"B", b"2"))),
        (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nA: 1\r\n\r\n",
         ((b"A", b"1"),)),
        (b"HTTP/1.1 200 OK\r\nA: 1\r\n\t and more\r\n\r\n", ((b"A", b"1 and more"),)),
        (b"HTTP/1.1 200 OK\r\n\r\n", ()),
        (b"HTTP/1.1 200 OK\r\n folded\r\nnothing\r\nA:\r\n\r\n", ((b"A", b""),)),
        (b"\r\n\r\nHTTP/1.1 200 OK\r\nA: 1\r\n\r\n", ((b"A", b"1"),)),
        (b"\nHTTP/1.1 200 OK\n\n", ()),
        (b"HTTP/1.1 103 Hints\r\n\r\n\r\n\r\nHTTP/1.1 200 OK\r\nA: 1\r\n\r\n", ((b"A", b"1"),)),
        (b"HTTP/1.1 200 OK\r\nSet-Cookie : 1\r\n\r\n", ((b"Set-Cookie", b"1"),)),
    ],
)  # fmt: skip
def test_heads_of_odd_servers(data: bytes, headers: tuple[tuple[bytes, bytes], ...]) -> None:
    head = read_head(data)
    assert head is not None
    assert head.headers == headers
    assert head.first_line == b"HTTP/1.1 200 OK"


@pytest.mark.parametrize("data", [b"", b"HTTP/1.1 200 OK\r\nA: 1\r\n", b"HTTP/1.1 100 C\r\n\r\n"])
def test_nothing_is_read_of_a_part(data: bytes) -> None:
    assert read_head(data) is None
