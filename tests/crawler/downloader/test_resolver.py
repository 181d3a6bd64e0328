"""What a name server is asked for. Nothing is sent to anybody here."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.address import IPv6Address

from crawler.downloader.resolver import AddressesFirst


class Heard:
    """What a resolver says."""

    def __init__(self) -> None:
        self.said: list[Any] = []

    def resolutionBegan(self, resolution: Any) -> None:  # noqa: N802
        self.said.append("began")

    def addressResolved(self, address: Any) -> None:  # noqa: N802
        self.said.append(address)

    def resolutionComplete(self) -> None:  # noqa: N802
        self.said.append("complete")


class Names:
    """A resolver of names that answers nothing, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def resolveHostName(self, receiver: Any, name: str, *rest: Any, **named: Any) -> None:  # noqa: N802
        self.asked.append(name)


@pytest.mark.parametrize("address", ["::1", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_an_ipv6_address_is_its_own_answer(address: str) -> None:
    heard, names = Heard(), Names()
    AddressesFirst(names).resolveHostName(heard, address, portNumber=80)
    assert heard.said == ["began", IPv6Address("TCP", address, 80), "complete"]
    assert not names.asked


@pytest.mark.parametrize("name", ["example.com", "127.0.0.1", "1:2:3", "localhost"])
def test_everything_else_is_asked_for(name: str) -> None:
    heard, names = Heard(), Names()
    AddressesFirst(names).resolveHostName(heard, name, portNumber=80)
    assert names.asked == [name]
    assert not heard.said
