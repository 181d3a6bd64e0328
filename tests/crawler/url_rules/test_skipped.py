"""Requests that a rule skips: whole in the table, out of line, and back again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.frontier.order import NewRequest, Skip
from crawler.frontier.queue import RequestQueue
from crawler.storage.database import Database
from crawler.storage.states import SKIPPED, WAITING
from crawler.url_rules.skipped import START, SkippedCandidate, SkippedRequests, StandingRequest
from crawler.url_rules.url_groups import UrlGroups

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOST, OTHER_HOST = 7, 8
GROUP, OTHER_GROUP = b"f" * 16, b"o" * 16


class Line:
    """A queue with a few requests, and what can be set aside of it."""

    def __init__(self, folder: Path) -> None:
        self.open(folder)
        for number in range(1, 5):
            self.queue.push(NewRequest(HOST, f"http://a/{number}", 0, b"packed", b"%016d" % number))
        self.queue.push(NewRequest(OTHER_HOST, "http://b/5", 0, b"packed", b"%016d" % 5))

    def open(self, folder: Path) -> None:
        self.database = Database(folder)
        self.queue = RequestQueue(self.database)
        self.skipped = SkippedRequests(self.database, self.queue)

    def reasons(self) -> dict[int, Skip]:
        """Why requests are not made, by their numbers."""
        sql = "SELECT id, rule, group_digest FROM requests WHERE rule IS NOT NULL ORDER BY id"
        return {number: Skip(rule, group) for number, rule, group in self.database.read(sql)}

    def urls(self) -> list[str]:
        """Everything that is handed out."""
        found = []
        while (leased := self.queue.lease(lambda _: 0)) is not None:
            found.append(leased.url)
        return sorted(found)


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Line]:
    line = Line(tmp_path)
    yield line
    line.database.close()


def test_what_is_set_aside_is_not_handed_out(line: Line) -> None:
    line.skipped.set_aside(HOST, [(2, Skip(1, GROUP)), (4, Skip(2, OTHER_GROUP))])
    assert len(line.queue) == 3
    assert list(line.skipped.ids(HOST, SKIPPED)) == [2, 4]
    assert list(line.skipped.ids(HOST, WAITING)) == [1, 3]
    assert line.urls() == ["http://a/1", "http://a/3", "http://b/5"]


def test_a_host_of_which_all_is_set_aside_leaves_the_line_and_comes_back(line: Line) -> None:
    line.skipped.set_aside(HOST, [(number, Skip(1, GROUP)) for number in range(1, 5)])
    assert line.urls() == ["http://b/5"]
    line.skipped.put_back([3])
    assert line.urls() == ["http://a/3"]


def test_what_was_handed_out_already_stays(line: Line) -> None:
    leased = line.queue.lease(lambda host: 0 if host == HOST else None)
    assert leased is not None
    line.skipped.set_aside(HOST, [(leased.id, Skip(1, GROUP))])
    assert list(line.skipped.ids(HOST, SKIPPED)) == []
    assert len(line.queue) == 4


def test_a_request_is_leased_as_one_that_no_rule_may_skip_from_when_it_is_fixed(line: Line) -> None:
    def leased() -> bool:
        queued = line.queue.lease(lambda host: 0 if host == HOST else None)
        assert queued is not None
        return queued.is_fixed

    line.queue.push(NewRequest(HOST, "http://a/first", 1, b"packed", b"%016d" % 6, is_fixed=True))
    assert [leased(), leased()] == [True, False]
    line.skipped.fix(HOST, [2])
    assert [leased(), leased()] == [True, False]


def test_the_whole_request_comes_back(line: Line) -> None:
    line.skipped.set_aside(HOST, [(2, Skip(1, GROUP))])
    (row,) = line.skipped.requests([2], SKIPPED)
    assert row == StandingRequest(2, b"%016d" % 2, "http://a/2", 0)
    assert line.reasons() == {2: Skip(1, GROUP)}
    line.skipped.put_back([2])
    leased = {}
    while (request := line.queue.lease(lambda _: 0)) is not None:
        leased[request.url] = request.request
    assert leased["http://a/2"] == b"packed"


def test_one_of_an_address_is_put_back(line: Line) -> None:
    line.skipped.set_aside(HOST, [(2, Skip(1, GROUP)), (3, Skip(1, GROUP))])
    assert line.skipped.put_one_back(GROUP)
    assert len(line.skipped.ids(HOST, SKIPPED)) == 1
    assert line.skipped.put_one_back(GROUP)
    assert not line.skipped.put_one_back(GROUP)
    assert not line.skipped.put_one_back(OTHER_GROUP)
    assert len(line.queue) == 5


def test_what_one_rule_skipped_is_put_back_on_every_host(line: Line) -> None:
    line.skipped.set_aside(HOST, [(1, Skip(1, GROUP)), (2, Skip(2, GROUP))])
    line.skipped.set_aside(OTHER_HOST, [(5, Skip(1, OTHER_GROUP))])
    assert line.skipped.put_back_rule(1) == 2
    assert list(line.skipped.ids(HOST, SKIPPED)) == [2]
    assert len(line.queue) == 4


def test_the_reason_can_change(line: Line) -> None:
    line.skipped.set_aside(HOST, [(1, Skip(1, GROUP))])
    skips = [(1, Skip(2, OTHER_GROUP)), (2, Skip(2, OTHER_GROUP))]
    line.skipped.set_aside(HOST, skips, SKIPPED)
    assert line.reasons() == {1: Skip(2, OTHER_GROUP)}
    assert list(line.skipped.ids(HOST, WAITING)) == [2, 3, 4]


def test_a_skipped_request_survives_the_process(line: Line, tmp_path: Path) -> None:
    line.queue.push_skipped(
        NewRequest(HOST, "http://a/9", 0, b"packed", b"%016d" % 9), Skip(3, GROUP)
    )
    line.skipped.set_aside(HOST, [(1, Skip(1, GROUP))])
    line.database.close()
    line.open(tmp_path)
    assert list(line.reasons().values()) == [Skip(1, GROUP), Skip(3, GROUP)]
    assert line.skipped.url(b"%016d" % 9) == "http://a/9"
    assert line.skipped.url(b"0" * 16) is None


def test_what_is_named_elsewhere_waits_and_is_never_skipped(line: Line) -> None:
    line.skipped.set_aside(HOST, [(2, Skip(1, GROUP))])
    for number in (2, 3, 9):
        line.skipped.keep(b"%016d" % number)
    fixed = line.database.read("SELECT id FROM requests WHERE fixed").fetchall()
    assert fixed == [(2,), (3,)]
    assert len(line.urls()) == 5


def test_those_for_which_others_stand_are_found_a_slice_at_a_time(line: Line) -> None:
    UrlGroups(line.database).claim(GROUP, HOST, b"%016d" % 1)
    skips = [(2, Skip(1, GROUP)), (3, Skip(-1, GROUP)), (4, Skip(1, OTHER_GROUP))]
    line.skipped.set_aside(HOST, skips)
    after, found = START, list[SkippedCandidate]()
    for _ in skips:
        some, last = line.skipped.candidates(after, 1)
        assert last is not None
        after, found = last, found + some
    assert [(one.url, one.standing) for one in found] == [("http://a/2", "http://a/1")]
    assert line.skipped.candidates(after, 1) == ([], None)
