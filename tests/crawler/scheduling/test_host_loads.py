"""Which hosts have room: nothing is handed out that would be put back at once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from scrapy import Request
from scrapy.core.downloader import Downloader, Slot
from scrapy.utils.test import get_crawler
from twisted.internet.defer import Deferred

from crawler.frontier.pauses import HostPauses, PausePolicy
from crawler.scheduling.host_loads import HostLoads
from crawler.storage.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST, NAME = 1, "example.org"


@pytest.fixture
def database() -> Iterator[Database]:
    database = Database(None)
    yield database
    database.close()


@pytest.mark.parametrize("passed", [0.2, 1.2, 1.8], ids=["early", "after the mean", "late"])
def test_no_host_has_room_while_a_request_of_others_waits_in_its_slot(
    database: Database, passed: float
) -> None:
    """A robots.txt, for example, which our scheduler did not hand out."""
    downloader = Downloader(
        get_crawler(settings_dict={"DOWNLOAD_DELAY": 100, "DOWNLOAD_HANDLERS_BASE": {}})
    )
    loads = HostLoads(downloader, HostPauses(database, PausePolicy()))
    before = Request(f"http://{NAME}/")
    loads.add(HOST, before)
    loads.remove(HOST, before)
    slot = downloader.slots[NAME] = Slot(8, 100, 0.5)
    slot.lastseen = time.monotonic() - passed * slot.delay
    slot.queue.append((Request(f"http://{NAME}/robots.txt"), Deferred()))
    assert loads.has_to_wait(HOST)
    loads.begin()
    assert loads(HOST) is None
    # The moment is told at which the slot will have sent it, unless that is over.
    assert (loads.free_at < float("inf")) == (passed < 1.5)
    slot.queue.clear()
    assert (loads(HOST) == 0) == (passed > 1)
