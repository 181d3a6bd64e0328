"""A crawl pauses outside of its hours and goes on by itself; connections wait for the rate."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from scrapy.utils.test import get_crawler
from twisted.internet.task import Clock

from crawler.downloading.pace import Hours, TransferRate
from crawler.job_registry import job_of
from crawler.pacing import OpenHours, PacedConnection

if TYPE_CHECKING:
    import pytest


def _from_now(begin: int, end: int) -> Hours:
    now = datetime.now().astimezone()
    times = (now + timedelta(hours=hours) for hours in (begin, end))
    return Hours.of("-".join(f"{at:%H:%M:%S}" for at in times))


def test_engine_pauses_and_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(_pause_and_go_on())
    said = capsys.readouterr().err.splitlines()  # among log records, where a test left a handler
    pauses, goes_on, pauses_again = (line for line in said if "hours" in line)
    assert "pauses for 2 hours; Ctrl-C ends it" in pauses
    assert goes_on.endswith("goes on")
    assert "pauses for 2 hours" in pauses_again, "and nothing of hours where it goes on to its end"


async def _pause_and_go_on() -> None:
    nothing_is_asked = dict.fromkeys(("http", "https", "ftp", "s3", "file", "data"))
    crawler = get_crawler(settings_dict={"DOWNLOAD_HANDLERS": nothing_is_asked})
    crawler.spider = crawler._create_spider("hours")
    engine = crawler.engine = crawler._create_engine()
    job = job_of(crawler)
    keeper = OpenHours(crawler)
    job.run = replace(job.run, hours=_from_now(2, 3))
    keeper._look()
    keeper._look()
    assert engine.paused
    job.run = replace(job.run, hours=_from_now(-1, 1))
    keeper._look()
    keeper._look()
    assert not engine.paused

    job.run = replace(job.run, hours=_from_now(2, 3))
    keeper._look()
    job.result.stop_requests("the time of --max-time is over")
    keeper._look()
    assert not engine.paused, "its end needs no hours"


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
    monkeypatch.setattr("crawler.pacing._later", clock.callLater)
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
