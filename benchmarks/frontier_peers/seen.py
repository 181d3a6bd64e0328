"""Seen sets: ours beside Scrapy's dupe filter, which holds every fingerprint in memory."""

from __future__ import annotations

import hashlib
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import xxhash
from scrapy import Request
from scrapy.dupefilters import RFPDupeFilter

from crawler.frontier.seen import SeenSet
from crawler.storage.database import Database
from frontier_peers.processes import (
    Figures,
    Watch,
    disk_megabytes,
    peak_megabytes,
    resident_megabytes,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_BATCH = 10_000
_ASKED = 200_000


class Given:
    """A fingerprinter that is told the answer, so that only the set is measured."""

    def __init__(self) -> None:
        self.key = b""

    def fingerprint(self, _: Request) -> bytes:
        """The key that was put down."""
        return self.key


def ours(folder: Path) -> Callable[[bytes], bool]:
    """Add a key; whether it was there."""
    database = Database(folder)
    seen = SeenSet(database, folder / "seen.bloom")

    def add(key: bytes) -> bool:
        is_new = seen.add(key)
        if database.is_due():
            database.commit()
        return not is_new

    return add


def scrapys(folder: Path) -> Callable[[bytes], bool]:
    """The same, of ``RFPDupeFilter`` with JOBDIR."""
    given, request = Given(), Request("http://example.com/")
    dupefilter = RFPDupeFilter(str(folder), fingerprinter=given)

    def add(key: bytes) -> bool:
        given.key = key
        return dupefilter.request_seen(request)

    return add


SETS = {"ours": ours, "Scrapy's RFPDupeFilter": scrapys}
_HASHES: dict[str, Callable[[bytes], bytes]] = {
    "ours": xxhash.xxh3_128_digest,
    "Scrapy's RFPDupeFilter": lambda url: hashlib.sha1(url).digest(),
}


def measure(name: str, urls: int) -> Figures:
    """Add so many keys, then the last ones again, and the first ones."""
    digest = _HASHES[name]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        add = SETS[name](folder)
        before = resident_megabytes()

        def spend(watch: Watch, start: int, stop: int) -> None:
            for first in range(start, stop, _BATCH):
                numbers = range(first, min(first + _BATCH, stop))
                keys = [digest(b"http://example.com/page/%d" % number) for number in numbers]
                watch.spend(partial(_add, add, keys))

        adding, recent, oldest = Watch(), Watch(), Watch()
        spend(adding, 0, urls)
        memory = resident_megabytes() - before
        asked = min(_ASKED, urls)
        spend(recent, urls - asked, urls)
        spend(oldest, 0, asked)
        return {
            "added/s": urls / adding.secs,
            "asked/s, recent": asked / recent.secs,
            "asked/s, oldest": asked / oldest.secs,
            "bytes a URL": memory * 2**20 / urls,
            "peak MB": peak_megabytes(),
            "MB on disk": disk_megabytes(folder),
        }


def _add(add: Callable[[bytes], bool], keys: list[bytes]) -> None:
    for key in keys:
        add(key)
