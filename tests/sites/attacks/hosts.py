"""Redirects that go from one host of the site to the next: 127.0.0.1, 127.0.0.2, localhost."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sites.exchange import Exchange

HOSTS = ("127.0.0.1", "127.0.0.2", "localhost")


def _port(exchange: Exchange) -> int:
    port: int = exchange.connection.getsockname()[1]
    return port


def loop(exchange: Exchange) -> None:
    """Round all three hosts, and again."""
    asked = exchange.headers.get("Host", "").partition(":")[0]
    after = HOSTS[(HOSTS.index(asked) + 1) % len(HOSTS)]
    exchange.redirect(f"http://{after}:{_port(exchange)}/hosts/loop")


def chain(exchange: Exchange) -> None:
    """To another host at each step, and to another page."""
    step = int(parse_qs(urlsplit(exchange.path).query).get("step", ["0"])[0]) + 1
    after = HOSTS[step % len(HOSTS)]
    exchange.redirect(f"http://{after}:{_port(exchange)}/hosts/chain?step={step}")


ATTACKS: dict[str, Callable[[Exchange], None]] = {"/hosts/loop": loop, "/hosts/chain": chain}
