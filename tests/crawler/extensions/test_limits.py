"""A crawl pauses outside of its hours and goes on by itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from scrapy.utils.test import get_crawler

from crawler.downloading.pace import Hours
from crawler.extensions.limits import Budgets
from crawler.job_registry import job_of

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
    keeper = Budgets(crawler)
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
