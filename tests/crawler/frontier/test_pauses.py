"""How long hosts rest: what they say, or twice as long each time, within bounds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.pauses import (
    MAX_BUDGETS,
    MAX_SILENT_BUDGETS,
    HostPauses,
    PausePolicy,
    SharedPause,
    retry_after_secs,
)
from crawler.storage.database import Database
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

A, B = 1, 2
POLICY = PausePolicy(first_secs=2, max_secs=100, budget_secs=50)
BRIEF = PausePolicy(first_secs=0.001, max_secs=100, budget_secs=50)


@pytest.fixture
def database() -> Iterator[Database]:
    database = Database(None)
    yield database
    database.close()


def wait_for(pauses: HostPauses, host: int) -> None:
    wait_until(lambda: not pauses.left_secs(host))


class TestPolicy:
    def test_pauses_grow_and_are_bounded(self) -> None:
        assert [POLICY.pause_secs(number) for number in range(1, 9)] == [
            2, 4, 8, 16, 32, 64, 100, 100,
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("number", "wanted_secs", "secs"),
        [(1, 7, 7), (1, 0, 0), (1, 1e9, 100), (2, 7, 7), (2, 1, 4), (3, 0, 8)],
    )
    def test_a_host_that_says_how_long_is_believed_once(
        self, number: int, wanted_secs: float, secs: float
    ) -> None:
        assert POLICY.pause_secs(number, wanted_secs) == secs

    @given(st.integers(1, 10**6), st.none() | st.floats(0, 1e300))
    def test_no_pause_is_longer_than_the_longest(self, number: int, wanted: float | None) -> None:
        assert 0 <= POLICY.pause_secs(number, wanted) <= POLICY.max_secs

    @pytest.mark.parametrize(
        ("waited_secs", "budgets", "is_spent"),
        [(49.9, 1, False), (50, 1, True), (50 - 1e-9, 1, True), (99, 2, False), (101, 2, True)],
    )
    def test_rounding_does_not_decide_whether_a_budget_is_spent(
        self, waited_secs: float, budgets: int, is_spent: bool
    ) -> None:
        assert POLICY.is_spent(waited_secs, budgets) == is_spent


class TestHostPauses:
    def test_what_is_refused_together_begins_one_pause(self, database: Database) -> None:
        pauses = HostPauses(database, POLICY)
        for _ in range(5):
            assert 0 < pauses.begin(A, "a", "HTTP 429") <= 2
        (pause,) = pauses.resting()
        assert (pause.number, pause.waited_secs) == (1, 2)
        assert pauses.left_secs(B) == 0

    def test_the_longest_that_is_asked_for_holds(self, database: Database) -> None:
        pauses = HostPauses(database, POLICY)
        pauses.begin(A, "a", "HTTP 429", 5)
        pauses.begin(A, "a", "HTTP 429", 9)
        pauses.begin(A, "a", "HTTP 429", 1)
        assert 8 < pauses.left_secs(A) <= 9
        (pause,) = pauses.resting()
        assert pause.waited_secs == pytest.approx(9, abs=1)

    def test_an_answer_ends_the_row_but_not_the_pause(self, database: Database) -> None:
        pauses = HostPauses(database, BRIEF)
        pauses.begin(A, "a", "HTTP 429", 30)
        pauses.answered(A)  # it was asked before
        assert pauses.left_secs(A) > 20
        pauses.begin(B, "b", "HTTP 503")
        wait_for(pauses, B)
        pauses.answered(B)
        pauses.begin(B, "b", "HTTP 503")
        assert {pause.name: pause.number for pause in pauses.resting()} == {"a": 1, "b": 1}

    def test_the_length_of_a_pause_is_what_it_was_asked_to_be(self, database: Database) -> None:
        """Not what is left of it when two moments are subtracted."""
        pauses = HostPauses(database, PausePolicy(max_secs=100.1))
        for host in range(1, 100):
            pauses.begin(host, "a", "HTTP 429", 3600)
        assert {pause.waited_secs for pause in pauses.resting()} == {100.1}

    def test_a_host_is_given_up_after_pauses_of_some_budgets(self, database: Database) -> None:
        budget_secs = 0.5
        pauses = HostPauses(database, replace(BRIEF, budget_secs=budget_secs / MAX_BUDGETS))
        told: list[int] = []
        pauses.after_change.append(told.append)
        while pauses.begin(A, "a", "HTTP 429"):
            assert pauses.given_up(A) is None
            wait_for(pauses, A)
        pause = pauses.given_up(A)
        assert pause is not None
        assert pause.waited_secs >= budget_secs
        assert len(told) == pause.number + 1
        assert pauses.begin(A, "a", "HTTP 429") == 0
        assert len(told) == pause.number + 1
        assert pauses.given_up(B) is None
        pauses.answered(A)  # what was asked before
        assert pauses.given_up(A) is None

    def test_a_host_that_does_not_answer_is_given_up_sooner(self, database: Database) -> None:
        pauses = HostPauses(database, replace(BRIEF, budget_secs=0.1 / MAX_SILENT_BUDGETS))
        while pauses.begin(A, "a", "connection refused", is_silent=True):
            wait_for(pauses, A)
        pause = pauses.given_up(A)
        assert pause is not None
        assert 0.1 <= pause.waited_secs < pauses.policy.budget_secs

    def test_no_host_is_given_up_before_its_first_pause_is_over(self, database: Database) -> None:
        pauses = HostPauses(database, replace(BRIEF, budget_secs=0))
        for secs in (5, 9):
            assert pauses.begin(A, "a", "HTTP 429", secs) > 0
        assert pauses.given_up(A) is None

    def test_a_pause_outlives_its_process_and_a_clock_that_was_set_back(
        self, tmp_path: Path
    ) -> None:
        database = Database(tmp_path)
        pauses = HostPauses(database, POLICY)
        pauses.begin(A, "a", "HTTP 429", 60)
        pauses.begin(B, "b", "HTTP 503")
        database.write("UPDATE host_pauses SET until = until + 1e6 WHERE host = ?", (B,))
        database.commit()
        database.close()
        again = Database(tmp_path)
        pauses = HostPauses(again, POLICY)
        assert 50 < pauses.left_secs(A) <= 60
        assert 50 < pauses.left_secs(B) <= POLICY.max_secs
        again.close()

    def test_another_visit_has_a_budget_of_its_own(self, database: Database) -> None:
        pauses = HostPauses(database, BRIEF)
        pauses.begin(A, "a", "HTTP 429", 60)
        pauses.begin(B, "b", "HTTP 503")
        wait_for(pauses, B)
        pauses.begin_visit()
        assert pauses.left_secs(A) > 50
        assert [pause.waited_secs for pause in pauses.resting()] == [0]
        rows = database.read("SELECT name, pauses, total_secs FROM host_pauses").fetchall()
        assert rows == [("a", 0, 0)]

    def test_another_worker_goes_on_where_one_was(self, database: Database) -> None:
        pauses = HostPauses(database, POLICY)
        told: list[int] = []
        pauses.after_change.append(told.append)
        pauses.take_over(A, SharedPause("a", 0.0, 3, 14.0, "HTTP 429"))
        assert told == []
        assert pauses.begin(A, "a", "HTTP 429") == 16
        shared = pauses.shared(A)
        assert shared is not None
        assert (shared.number, shared.waited_secs) == (4, 30)
        assert told == [A]
        pauses.take_over(A, None)
        assert pauses.shared(A) is None


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("value", "secs"),
        [("120", 120), (" 3 ", 3), ("0", 0), ("9" * 5000, 999_999_999_999)],
    )
    def test_seconds(self, value: str, secs: float) -> None:
        assert retry_after_secs(value) == secs

    def test_a_date_is_one_of_the_servers_clock(self) -> None:
        date = "Wed, 21 Oct 2015 07:27:30 GMT"
        assert retry_after_secs("Wed, 21 Oct 2015 07:28:00 GMT", date) == 30
        assert retry_after_secs("Wednesday, 21-Oct-15 07:28:00 GMT", date) == 30
        assert retry_after_secs("Wed, 21 Oct 2015 07:00:00 GMT", date) == 0

    def test_without_a_date_of_the_server_it_is_one_of_ours(self) -> None:
        until = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
        secs = retry_after_secs(until, "today")
        assert secs is not None
        assert 80 < secs <= 90

    @pytest.mark.parametrize("value", ["", "soon", "-5", "1.5", "٣", "Wed, 99 Oct 2015", "1e3"])
    def test_what_cannot_be_read_says_nothing(self, value: str) -> None:
        assert retry_after_secs(value) is None

    @given(st.text(), st.text())
    def test_no_header_breaks_it(self, value: str, date: str) -> None:
        secs = retry_after_secs(value, date)
        assert secs is None or secs >= 0
