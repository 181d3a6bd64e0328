"""What is told of clusters that are not open."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.frontier.order import NewRequest, Skip, host_number
from crawler.frontier.queue import RequestQueue
from crawler.pages.verdicts import NEAR_DUPLICATE, NEW
from crawler.storage.database import Database, open_for_reading
from crawler.url_rules.learning.address import Address
from crawler.url_rules.rule_report import MAX_CLUSTERS, StoredCluster, trap_report
from crawler.url_rules.traps import UrlTraps

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOST = host_number("h.org")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path)
    yield database
    database.close()


def note(traps: UrlTraps, name: str, verdict: str, pages: int) -> int:
    address = Address.parse(f"http://h.org/{name}?a=1")
    for _ in range(pages):
        traps.note_met(address)
        traps.note(address, verdict)
    return traps.cluster(address).id


def skip(queue: RequestQueue, rule: int, count: int) -> None:
    for number in range(count):
        key = (rule * 1_000 + number).to_bytes(16, "big", signed=True)
        queue.push_skipped(
            NewRequest(HOST, f"http://h.org/{rule}/{number}", 0, b"", key), Skip(rule, key)
        )


def told(folder: Path) -> tuple[StoredCluster, ...]:
    with closing(open_for_reading(folder)) as connection:
        return trap_report(connection)


def test_slow_and_closed_ones_are_told_the_most_skipped_first(
    database: Database, tmp_path: Path
) -> None:
    traps, queue = UrlTraps(database, 0), RequestQueue(database)
    note(traps, "open", NEW, 50)
    slow = note(traps, "slow", NEAR_DUPLICATE, 60)
    few = note(traps, "few", NEAR_DUPLICATE, 300)
    note(traps, "many", NEW, 2)
    many = note(traps, "many", NEAR_DUPLICATE, 310)
    skip(queue, -few, 3)
    skip(queue, -many, 7)
    skip(queue, slow, 90)  # of a rule with that number
    database.commit()
    assert told(tmp_path) == (
        StoredCluster("h.org/many?a=", 312, 2, "closed", "none of its last 300 pages was new", 7),
        StoredCluster("h.org/few?a=", 300, 0, "closed", "none of its last 300 pages was new", 3),
        StoredCluster(
            "h.org/slow?a=", 60, 0, "slow", "of its last 40 pages 8 or fewer were new", 0
        ),
    )


def test_no_more_are_told_than_one_can_read(database: Database, tmp_path: Path) -> None:
    traps, queue = UrlTraps(database, 1), RequestQueue(database)
    names = [first + second for first in "abcdefgh" for second in "stuvwxyz"]
    for number, name in enumerate(names[:39]):
        skip(queue, -note(traps, name, NEW, 1), number)
    for number, name in enumerate(names):
        note(traps, f"{name}/deeper", NEW, 1 + number)
    database.commit()
    found = told(tmp_path)
    assert len(found) == MAX_CLUSTERS
    assert [cluster.skipped for cluster in found[:39]] == [*range(38, -1, -1)]


def test_a_crawl_without_traps_has_none(database: Database, tmp_path: Path) -> None:
    note(UrlTraps(database, 0), "open", NEW, 400)
    database.commit()
    assert told(tmp_path) == ()
