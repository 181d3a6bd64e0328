"""Where a Redis is, as it may be printed."""

from __future__ import annotations

import asyncio

import pytest

from crawler.fleet.names import shown_url
from crawler.frontier.redis.errors import FleetError
from neardup.errors import ServerError
from neardup.storage.redis.connecting import connect


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://user:secret@example.com:7000/3", "example.com:7000"),
        ("rediss://:secret@example.com", "example.com:6379"),
        ("redis://[::1]:7000", "[::1]:7000"),
        ("redis://example.com/0?password=secret", "example.com:6379"),
        ("unix://user:secret@/run/redis.sock?password=secret", "/run/redis.sock"),
    ],
)
def test_shows_neither_user_nor_password(url: str, shown: str) -> None:
    assert shown_url(url) == shown


@pytest.mark.parametrize(
    "url", ["redis://:secret/7@127.0.0.1", "redis://u:secret#@127.0.0.1", "redis://:a@b:secret?@h"]
)
def test_shows_nothing_of_a_password_that_is_not_escaped(url: str) -> None:
    with pytest.raises(FleetError) as refused:
        shown_url(url)
    with pytest.raises(ServerError) as unconnected:
        asyncio.run(connect(url))
    assert "secret" not in f"{refused.value} {unconnected.value}"
    assert "%XX" in str(refused.value)
    assert "%XX" in str(unconnected.value)
