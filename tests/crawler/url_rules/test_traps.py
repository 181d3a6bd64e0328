"""Clusters in a real SQLite file: what is looked up, what a kill leaves, what goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.frontier.order import NewRequest, host_number
from crawler.frontier.queue import RequestQueue
from crawler.pages.verdicts import (
    DUPLICATES,
    EXACT_DUPLICATE,
    FAILED,
    KEPT,
    NEAR_DUPLICATE,
    NEW,
    SAME_TEMPLATE,
    UNCHANGED,
    VERDICTS,
    WALL,
    WALLS,
)
from crawler.storage.database import Database
from crawler.url_rules import kinds as url_kinds
from crawler.url_rules.engine import UrlRules
from crawler.url_rules.kinds import CLOSED, NEW_TEXT, OPEN, SLOW
from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.hypothesis import LearningPolicy
from crawler.url_rules.low_priority import MAX_PASSED
from crawler.url_rules.traps import MIN_WALLS, SLOW_PRIORITY, UrlCluster, UrlTraps
from crawler.urls.canonical import Canonicalizer
from neardup.names import Name
from tests.crawler.storage.counting import rows_written
from tests.crawler.url_rules.test_url_groups import row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from crawler.frontier.order import QueuedRequest

MONTH = "http://h.org/calendar?month={}"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path)
    yield database
    database.close()


def address(number: object, url: str = MONTH) -> Address:
    return Address.parse(url.format(number))


def note(traps: UrlTraps, pages: int, verdict: str = NEAR_DUPLICATE, url: str = MONTH) -> None:
    """Fetch pages of a cluster that each lead to another one."""
    for number in range(pages):
        note_one(traps, address(number, url), verdict)


def note_one(traps: UrlTraps, one: Address, verdict: str = NEAR_DUPLICATE) -> None:
    traps.note_met(one)
    traps.note(one, verdict)


def note_newness(rules: UrlRules, one: Address, verdict: str) -> None:
    rules._note_newness(one, row(verdict=verdict), is_first=True)


def tried(traps: UrlTraps, urls: int = 2_000) -> float:
    """The share of URLs that are fetched."""
    some = [address(f"2030-{number}") for number in range(urls)]
    return sum(traps.closed(one) is None for one in some) / urls


def test_what_redirects_to_a_wall_and_then_to_a_new_page_is_stored(database: Database) -> None:
    traps = UrlTraps(database, 0)
    traps.note_led(address(1), WALL, None)
    traps.note_led(address(2), NEW, None)
    database.commit()
    assert database.read("SELECT tried, gained FROM url_kinds").fetchone() == (0, 1)


class TestStates:
    def test_a_cluster_becomes_slow_then_closed_then_slow_again(self, database: Database) -> None:
        traps = UrlTraps(database, 0)
        note(traps, 39)
        assert not traps.is_slow(address("y"))
        assert traps.note(address("x"), NEAR_DUPLICATE) == OPEN
        assert traps.priority(address("y")) <= SLOW_PRIORITY
        assert traps.closed(address("y")) is None
        note(traps, 259)
        assert traps.note(address("x"), NEAR_DUPLICATE) == SLOW
        assert 0.03 < tried(traps) < 0.08
        assert traps.note(address("x"), NEW) == CLOSED
        assert tried(traps) == 1

    def test_the_reason_names_the_number_that_decided(self) -> None:
        cluster = UrlCluster(1, "h.org/calendar?month=")
        for _ in range(40):
            cluster.note(is_new=False)
        assert cluster.reason == "of its last 40 pages 2 or fewer were new"
        for _ in range(5):
            cluster.note(is_new=True)
        assert (cluster.state, cluster.reason) == (
            SLOW,
            "of its last 40 pages 8 or fewer were new",
        )

    @pytest.mark.parametrize("verdict", VERDICTS)
    def test_only_what_was_read_and_compared_counts(self, database: Database, verdict: str) -> None:
        traps = UrlTraps(database, 0)
        note(traps, 3, verdict)
        cluster = traps.cluster(address(1))
        counts = verdict in DUPLICATES | KEPT | WALLS
        assert cluster.tried == (3 if counts else 0)
        assert cluster.gained == (3 if verdict in KEPT else 0)

    @pytest.mark.parametrize(
        ("name", "is_new"),
        [
            (lambda number: Name(title=f"Month {number}"), False),
            (lambda number: Name(title="Lamp " + "x" * number), True),
            (lambda number: Name(title=f"Lamp {number}", identifiers=(f"sku:{number}",)), True),
        ],
    )
    def test_names_that_count_on_show_nothing_new(
        self, database: Database, name: Callable[[int], Name], is_new: bool
    ) -> None:
        traps = UrlTraps(database, 0)
        for number in range(300):
            traps.note(address(number), SAME_TEMPLATE, name(number).packed())
        assert traps.cluster(address(1)).gained == (300 if is_new else 1)

    @pytest.mark.parametrize(
        ("depth", "source", "state"),
        [
            (lambda number: number // 13, MONTH, CLOSED),
            (lambda number: number // 10, "http://h.org/list/{}", SLOW),
            (lambda number: number.bit_length(), MONTH, SLOW),
        ],
        ids=["a calendar", "a catalogue with lists", "parts that name each other"],
    )
    def test_kept_pages_close_their_kind_only_where_it_leads_on_by_itself(
        self, database: Database, depth: Callable[[int], int], source: str, state: str
    ) -> None:
        traps = UrlTraps(database, 0)
        for number in range(1_000):
            traps.note_met(address(number), depth(number), address(number, source))
            traps.note(address(number), SAME_TEMPLATE, Name(title=f"Part {number}").packed())
            database.commit()
            if number == 500:  # as after a restart
                traps = UrlTraps(database, 0)
        assert traps.cluster(address(1)).state == state

    def test_pages_of_one_name_show_something_new(self, database: Database) -> None:
        traps, name = UrlTraps(database, 0), Name(title="The act of 1998").packed()
        for number in range(400):
            traps.note_met(address(number), number)
            traps.note(address(number), SAME_TEMPLATE, name)
        assert traps.cluster(address(1)).gained == 400

    def test_a_page_that_is_kept_later_is_fetched_once(self, database: Database) -> None:
        traps = UrlTraps(database, 0)
        note(traps, 9)
        for number in range(9):
            traps.note(address(number), SAME_TEMPLATE, is_first=False)
        cluster = traps.cluster(address(1))
        assert (cluster.tried, cluster.gained, cluster.barren) == (9, 9, 0)

    def test_one_cluster_says_nothing_of_another(self, database: Database) -> None:
        traps = UrlTraps(database, 0)
        note(traps, 400)
        for other in ("http://h.org/page?id={}", "http://g.org/calendar?month={}"):
            assert traps.priority(address(1, other)) == 0
            assert traps.closed(address(1, other)) is None

    def test_a_budget_ends_what_is_new_as_well(self, database: Database) -> None:
        traps = UrlTraps(database, 25)
        note(traps, 25, NEW)
        assert traps.cluster(address(1)).reason == "its budget of 25 pages is spent"
        assert tried(traps) == 0
        traps.clear()
        assert tried(traps) == 1


class TestLookups:
    def test_hosts_without_traps_cost_none(self, database: Database) -> None:
        traps = UrlTraps(database, 0)
        note(traps, 30)
        asked: list[str] = []
        database._connection.set_trace_callback(asked.append)
        for number in range(100):
            one = address(number, "http://other.org/x{}")
            assert traps.priority(one) == 0
            assert traps.closed(one) is None
            assert one.host not in traps
        assert asked == []

    def test_memory_is_bounded_and_nothing_is_forgotten(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(url_kinds, "MAX_HELD", 10)
        traps = UrlTraps(database, 0)
        for _ in range(3):
            for number in range(30):
                traps.note(address(1, f"http://h{number}.org/x?a={{}}"), NEW)
        assert len(list(traps._kinds)) == 10
        counts = [traps.cluster(address(1, f"http://h{n}.org/x?a={{}}")).tried for n in range(30)]
        assert counts == [3] * 30


class TestProcesses:
    def test_what_was_committed_goes_on_after_a_kill(self, tmp_path: Path) -> None:
        database = Database(tmp_path)
        traps = UrlTraps(database, 0)
        note(traps, 250)
        database.commit()
        note(traps, 30)
        database.fail("killed")
        database.close()
        database = Database(tmp_path)
        traps = UrlTraps(database, 0)
        assert "h.org" in traps
        cluster = traps.cluster(address("x"))
        assert (cluster.tried, cluster.barren, cluster.state) == (250, 250, SLOW)
        note(traps, 50)
        assert traps.cluster(address("x")).state == CLOSED
        database.close()

    def test_names_go_on(self, tmp_path: Path) -> None:
        """Of a folder with many names the first to come is of the same kind in the next process."""
        database = Database(tmp_path)
        traps = UrlTraps(database, 0)
        letters = "abcdefghijklmnopqrst"
        for a in letters:
            for b in letters:
                note_one(traps, address(a + b, "http://h.org/tag/{}"))
        note(traps, 400, url="http://h.org/day/{}")
        database.commit()
        database.close()
        database = Database(tmp_path)
        traps = UrlTraps(database, 0)
        assert traps.cluster(address("zz", "http://h.org/tag/{}")).state == CLOSED
        assert traps.cluster(address(77, "http://h.org/day/{}")).state == CLOSED
        assert traps.cluster(address("about", "http://h.org/day/{}")).state == OPEN
        database.close()

    def test_another_visit_counts_anew_and_keeps_what_it_knows(self, database: Database) -> None:
        traps = UrlTraps(database, 0)
        note(traps, 400)
        note(traps, 100, url="http://h.org/slow?a={}")
        traps.clear()
        assert traps.note(address(1), UNCHANGED) is None
        traps.note(address(1), NEAR_DUPLICATE)
        traps.note(address(1, "http://h.org/slow?a={}"), NEAR_DUPLICATE)
        closed, slow = (
            traps.cluster(address(1)),
            traps.cluster(address(1, "http://h.org/slow?a={}")),
        )
        assert (closed.tried, closed.state) == (1, CLOSED)
        assert (slow.tried, slow.state) == (1, SLOW)
        assert traps.note(address(1), FAILED) is None


class TestQueue:
    """What becomes of requests that wait."""

    @pytest.fixture
    def queue(self, database: Database) -> RequestQueue:
        return RequestQueue(database)

    @pytest.fixture
    def rules(self, database: Database, queue: RequestQueue) -> UrlRules:
        return UrlRules(database, Canonicalizer(), queue, LearningPolicy())

    def push(self, queue: RequestQueue, url: str, *, is_fixed: bool = False) -> None:
        key = Canonicalizer().key(url)
        queue.push(NewRequest(host_number("h.org"), url, 0, b"", key, is_fixed=is_fixed))

    def drain(self, rules: UrlRules) -> list[str]:
        found: list[QueuedRequest] = []
        while (queued := rules.lease(lambda _: 0)) is not None or rules.is_busy:
            if queued is not None:
                found.append(queued)
        return [queued.url for queued in found]

    def test_a_slow_cluster_waits_until_nothing_else_does(
        self, rules: UrlRules, queue: RequestQueue
    ) -> None:
        months = [MONTH.format(number) for number in range(600)]
        pages = [f"http://h.org/page?id={number}" for number in range(5)]
        for url in (*months, *pages):
            self.push(queue, url)
        note(rules.traps, 100)
        drained = self.drain(rules)
        assert drained[:5] == pages
        assert sorted(drained[5:]) == sorted(months)
        assert len(queue) == 0

    @pytest.mark.parametrize("barren", [100, 300])
    def test_one_call_passes_over_a_bounded_part_of_a_late_cluster(
        self, rules: UrlRules, queue: RequestQueue, database: Database, barren: int
    ) -> None:
        for number in range(5 * MAX_PASSED):
            self.push(queue, MONTH.format(number))
        self.push(queue, "http://h.org/page")
        note(rules.traps, barren)
        database.commit()
        calls = [rules.lease(lambda _: 0)]
        statements: list[int] = []
        while calls[-1] is None:
            assert rules.is_busy
            before = rows_written(database)
            calls.append(rules.lease(lambda _: 0))
            statements.append(rows_written(database) - before)
        assert calls[-1].url == "http://h.org/page"
        assert len(calls) == 6
        # As leased, as waiting or given up, and the host in its line.
        assert max(statements) <= 2 * MAX_PASSED + 10

    def test_a_closed_one_is_given_up_but_for_what_is_tried_and_what_is_fixed(
        self, rules: UrlRules, queue: RequestQueue
    ) -> None:
        months = [MONTH.format(number) for number in range(600)]
        for url in months:
            self.push(queue, url)
        self.push(queue, MONTH.format("seed"), is_fixed=True)
        note(rules.traps, 300)
        fetched = self.drain(rules)
        assert MONTH.format("seed") in fetched
        assert 10 < len(fetched) < 60
        assert len(queue) == 0

    def test_a_new_page_puts_back_what_was_given_up(
        self, rules: UrlRules, queue: RequestQueue
    ) -> None:
        months = [MONTH.format(number) for number in range(100)]
        for url in months:
            self.push(queue, url)
        note(rules.traps, 300)
        fetched = self.drain(rules)
        note_newness(rules, address("2026-05"), NEW)
        assert sorted([*fetched, *self.drain(rules)]) == sorted(months)

    @pytest.mark.parametrize("path", ["a/b/" * 20, "x?" + "&".join(f"a{n}=1" for n in range(30))])
    def test_addresses_too_long_to_learn_of_are_of_a_cluster_too(
        self, rules: UrlRules, queue: RequestQueue, path: str
    ) -> None:
        url = f"http://h.org/{path}"
        assert not Address.parse(url).is_learnable
        for _ in range(300):
            rules.traps.note_met(Address.parse(url))
            note_newness(rules, Address.parse(url), NEAR_DUPLICATE)
        keys = [number.to_bytes(16, "big") for number in range(400)]
        queued = [
            rules.push(
                NewRequest(
                    1, url + (f"&a0={n}" if "?" in path else f"b/{n}/"), 0, b"", key, is_fixed=False
                )
            )
            for n, key in enumerate(keys)
        ]
        assert 0 < sum(queued) < 100
        leased = queue.lease(lambda _: 0)
        assert leased is not None
        assert leased.priority <= SLOW_PRIORITY


def test_a_larger_budget_opens_what_a_smaller_one_had_closed(tmp_path: Path) -> None:
    database = Database(tmp_path)
    traps = UrlTraps(database, 2)
    address = Address.parse("http://site.test/x?id=1")
    for _ in range(2):
        traps.note(address, "new")
    assert traps.cluster(address).state == "closed"
    number = traps.cluster(address).id
    database.commit()
    database.close()
    same, larger = Database(tmp_path), None
    assert UrlTraps(same, 2).reopened == []
    same.close()
    larger = Database(tmp_path)
    again = UrlTraps(larger, 50)
    assert again.reopened == [number]
    assert again.cluster(address).state == "open"
    larger.close()


class TestWalls:
    """Kinds of URLs of which all answers were one wall."""

    @pytest.mark.parametrize(
        ("verdict", "kind", "is_closed"),
        [
            (WALL, "", True),
            (EXACT_DUPLICATE, "login", True),
            (EXACT_DUPLICATE, "captcha", True),
            (EXACT_DUPLICATE, "", False),
            (EXACT_DUPLICATE, "not_found", False),
        ],
    )
    def test_are_asked_one_in_twenty_until_there_is_a_page(
        self, verdict: str, kind: str, is_closed: bool, database: Database
    ) -> None:
        database.write(
            "INSERT INTO wall_clusters (id, host, skeleton, kind, links, names, folders, has_seed,"
            " is_given) VALUES (1, 1, zeroblob(16), ?, x'', x'', x'', 0, 0)",
            (kind,),
        )
        database.write("INSERT INTO wall_pages VALUES (7, 1, NULL)")
        traps = UrlTraps(database, 0)
        for number in range(MIN_WALLS):
            assert traps.cluster(address(0)).state != CLOSED
            traps.note(address(number), verdict, original=None if verdict == WALL else 7)
        cluster = traps.cluster(address(0))
        assert (cluster.state == CLOSED) == is_closed
        if is_closed:
            asked = [number for number in range(2000) if cluster.is_sampled(NEW_TEXT, number)]
            assert len(asked) == 100
            traps.note(address(50), verdict, original=None if verdict == WALL else 7)
            assert cluster.state == CLOSED
            assert traps.note(address(51), NEAR_DUPLICATE) == CLOSED
            assert cluster.state != CLOSED

    def test_are_asked_as_often_however_many_copies_came_before(self, database: Database) -> None:
        traps = UrlTraps(database, 0)
        traps.note(address("first"), NEW)
        note(traps, 6_000)
        assert tried(traps) < 0.01, "a trap comes to an end"
        for number in range(MIN_WALLS):
            traps.note(address(f"wall-{number}"), WALL)
        assert 0.03 < tried(traps) < 0.08
