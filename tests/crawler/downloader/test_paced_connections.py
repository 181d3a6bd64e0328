"""Connections wait for the rate of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twisted.internet.task import Clock

from crawler.downloader.handler import PacedConnection
from crawler.downloading.pace import TransferRate

if TYPE_CHECKING:
    import pytest


class _Connection:
    """What ``PacedConnection`` needs of Twisted's protocol, and whether it reads."""

    state = "WAITING"
    connected = True

    def __init__(self) -> None:
        self.transport = self
        self.is_read = True
        self.is_aborted = False

    def request(self, request: object) -> None:
        """Send a request; nothing in Twisted's resumes a connection that was paused."""

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - the name is Twisted's
        """Take data."""

    connectionLost = dataReceived  # noqa: N815

    def pauseProducing(self) -> None:  # noqa: N802
        self.is_read = False

    def resumeProducing(self) -> None:  # noqa: N802
        self.is_read = True

    def abortConnection(self) -> None:  # noqa: N802
        self.is_aborted = True


def test_next_request_of_a_connection_that_waits_for_its_turn_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, connection = Clock(), _Connection()
    monkeypatch.setattr("crawler.downloader.handler._later", clock.callLater)
    PacedConnection(connection, TransferRate(100, clock.seconds), idle_secs=60)
    connection.request("first")
    connection.dataReceived(b"x" * 500)
    connection.request("second")
    clock.advance(4.9)
    assert not connection.is_read
    clock.advance(0.2)
    assert connection.is_read
    clock.advance(59)
    assert not connection.is_aborted
    clock.advance(1)
    assert connection.is_aborted, "nothing came for a minute in which it was read"
