"""What is remembered of URLs, and the time between two visits of one."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.frontier import Redirects
from crawler.frontier.request_records import decode_parts
from crawler.maintenance.verify.finding import QueueAgain
from crawler.pages.page_context import Fetched, blank_row
from crawler.pages.page_store import PageStore
from crawler.pages.reasons import Reason, Stored
from crawler.pages.url_history import (
    LATER,
    Agenda,
    IntervalPolicy,
    KnownUrls,
    Outcome,
    outcome_of_failure,
)
from crawler.storage.database import Database

if TYPE_CHECKING:
    from pathlib import Path

POLICY = IntervalPolicy(first_secs=100, min_secs=10, max_secs=1000)
NEW, UNCHANGED = Outcome("new"), Outcome("unchanged")
CHANGED, NEARLY = Outcome("changed"), Outcome("changed", is_near=True)
MOVED = Outcome("moved", Reason.HTTP_STATUS.stored(302), moved_to="http://example.com/cookie")
GONE, FAILED = (
    Outcome("gone", Reason.HTTP_STATUS.stored(404)),
    Outcome("failed", Reason.HTTP_STATUS.stored(500)),
)


KEY = b"k" * 16


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path)


@pytest.fixture
def known(database: Database) -> KnownUrls:
    return KnownUrls(database, POLICY)


def columns(database: Database, names: str) -> tuple[Any, ...]:
    row: tuple[Any, ...] = database.read(f"SELECT {names} FROM known").fetchone()
    return row


@pytest.mark.parametrize(
    ("visits", "secs"),
    [
        ([NEW], 100),
        ([NEW, UNCHANGED], 140),
        ([NEW, NEARLY], 140),
        ([NEW, CHANGED], 70),
        ([NEW, CHANGED, CHANGED], 49),
        ([NEW, FAILED], 100),
        ([NEW, GONE], 140),
        ([NEW, *[UNCHANGED] * 9], 1000),
        ([NEW, *[CHANGED] * 9], 10),
    ],
)
def test_interval(known: KnownUrls, database: Database, visits: list[Outcome], secs: float) -> None:
    for visit, outcome in enumerate(visits, 1):
        known.note(KEY, visit, outcome, 1000.0 * visit)
    found, due_at = columns(database, "interval_secs, due_at")
    assert found == pytest.approx(secs)
    assert due_at == pytest.approx(1000.0 * len(visits) + secs)


@pytest.mark.parametrize(
    ("visits", "referer"),
    [
        ([(NEW, "/a"), (UNCHANGED, None)], "/a"),
        ([(NEW, None), (UNCHANGED, "/b")], "/b"),
        ([(NEW, "/a"), (CHANGED, "/b")], "/b"),
        ([(NEW, "/a"), (MOVED, "/b"), (FAILED, "/c")], "/a"),
        ([(FAILED, "/a"), (FAILED, None)], "/a"),
        ([(NEW, None)], None),
    ],
)
def test_the_referer_that_led_to_a_page_stays(
    known: KnownUrls, database: Database, visits: list[tuple[Outcome, str | None]], referer: str
) -> None:
    for visit, (outcome, sent) in enumerate(visits, 1):
        known.note(KEY, visit, outcome, 1000.0, sent)
    assert known.referer(KEY) == referer
    assert known.referer(bytes(16)) is None
    queue = QueueAgain(database)  # of a repair
    queue.push_url("http://example.com/", KEY, 1)
    ((request,),) = database.read("SELECT request FROM requests").fetchall()
    headers = [["Referer", [referer]]] if referer else None
    assert decode_parts(request).get("headers") == headers


@pytest.mark.parametrize(
    ("first", "then", "stays"),
    [
        (NEW, UNCHANGED, "new"),
        (NEW, CHANGED, "new"),
        (NEW, GONE, "new"),
        (CHANGED, UNCHANGED, "changed"),
        (CHANGED, FAILED, "changed"),
        (UNCHANGED, CHANGED, "changed"),
        (UNCHANGED, GONE, "unchanged"),
        (GONE, UNCHANGED, "unchanged"),
        (FAILED, CHANGED, "changed"),
        (GONE, FAILED, "failed"),
    ],
)
def test_in_one_visit_a_page_that_was_got_stays_got(
    known: KnownUrls, database: Database, first: Outcome, then: Outcome, stays: str
) -> None:
    known.note(KEY, 1, NEW, 0)
    for visit, outcome in ((2, first), (2, then)):
        known.note(KEY, visit, outcome, 0)
    assert columns(database, "visit, outcome") == (2, stays)


@pytest.mark.parametrize(
    ("notes", "secs"),
    [
        ([MOVED] * 5, 140),
        ([MOVED] * 5 + [UNCHANGED], 140),
        ([MOVED] * 5 + [CHANGED], 70),
        ([MOVED, FAILED, CHANGED], 70),
        ([FAILED, FAILED, UNCHANGED], 140),
        ([UNCHANGED, CHANGED, CHANGED], 70),
        ([NEARLY, CHANGED], 70),
    ],
)
def test_notes_of_one_visit_move_the_interval_once(
    known: KnownUrls, database: Database, notes: list[Outcome], secs: float
) -> None:
    known.note(KEY, 1, NEW, 0)
    for outcome in notes:
        known.note(KEY, 2, outcome, 0)
    found, was_away = columns(database, "interval_secs, was_away")
    assert found == pytest.approx(secs)
    assert not was_away


def test_what_came_back_stays_so_for_the_visit(known: KnownUrls, database: Database) -> None:
    for visit, outcome in [(1, NEW), (2, GONE), (3, UNCHANGED), (3, CHANGED)]:
        known.note(KEY, visit, outcome, 0)
    assert columns(database, "outcome, was_away") == ("changed", 1)


def test_since_is_the_first_of_visits_with_the_same_outcome(
    known: KnownUrls, database: Database
) -> None:
    for visit, outcome in enumerate([NEW, GONE, GONE], 1):
        known.note(KEY, visit, outcome, 0)
    assert columns(database, "since, was_away") == (2, 0)
    known.note(KEY, 4, UNCHANGED, 0)
    assert columns(database, "since, was_away") == (4, 1)
    known.note(KEY, 5, UNCHANGED, 0)
    assert columns(database, "since, was_away") == (4, 0)


def later(database: Database, now: float) -> list[bytes]:
    return [bytes(key) for (key, _) in database.read(LATER, (now,))]


def test_agenda_counts_what_is_due_and_names_the_next(known: KnownUrls, database: Database) -> None:
    assert known.agenda(0) == Agenda(0, 0, None)
    store = PageStore(database)
    for number in range(3):
        key = bytes([number]) * 16
        store.insert(blank_row(store.new_id(), Fetched("", "", key, 0, 200, b""), 1))
        known.note(key, 1, NEW, 10.0 * number)
    assert known.agenda(110) == Agenda(2, 1, 120)
    assert later(database, 110) == [b"\2" * 16]
    assert known.agenda(200) == Agenda(3, 0, None)


def test_what_only_redirects_is_held_back_and_is_no_page(
    known: KnownUrls, database: Database
) -> None:
    Redirects(database).note(b"a" * 16, "http://example.com/alias", KEY)
    known.note_redirects(1, 0.0)
    assert later(database, 50) == [b"a" * 16]
    assert not later(database, 150)
    assert known.agenda(150) == Agenda(0, 0, None)
    known.note_redirects(2, 100.0)
    assert later(database, 150) == [b"a" * 16]


@pytest.mark.parametrize(
    ("status", "reason", "kind"),
    [
        (404, Reason.HTTP_STATUS.stored(404), "gone"),
        (410, Reason.HTTP_STATUS.stored(410), "gone"),
        (0, Reason.NO_HOST.stored(), "failed"),
        (0, Reason.CONNECTION_LOST.stored(), "failed"),
        (0, Reason.FORBIDDEN.stored(), "forbidden"),
        (403, Reason.HTTP_STATUS.stored(403), "failed"),
        (503, Reason.HTTP_STATUS.stored(503), "failed"),
        (0, Reason.TOO_LARGE.stored("32 MB"), "failed"),
    ],
)
def test_what_a_failure_says_of_a_page(status: int, reason: Stored, kind: str) -> None:
    assert outcome_of_failure(status, reason) == kind


SECS = st.floats(0, 1e9)


@given(SECS, st.booleans())
def test_is_never_out_of_bounds(secs: float, changed: bool) -> None:
    assert 10 <= POLICY.after(secs, changed=changed) <= 1000


@given(st.floats(10, 1000))
def test_a_change_never_makes_it_longer_nor_its_absence_shorter(secs: float) -> None:
    assert POLICY.after(secs, changed=True) <= secs <= POLICY.after(secs, changed=False)


def test_factors() -> None:
    assert POLICY.first() == 100
    assert POLICY.after(100, changed=True) == pytest.approx(70)
    assert POLICY.after(100, changed=False) == pytest.approx(140)


@given(st.floats(20, 700), st.booleans())
def test_before_undoes_after(secs: float, changed: bool) -> None:
    after = POLICY.after(secs, changed=changed)
    assert POLICY.before(after, changed=changed) == pytest.approx(secs)


def test_comes_to_rest_where_every_other_visit_finds_a_change() -> None:
    policy, chance, found = IntervalPolicy(first_secs=1, min_secs=1e-3, max_secs=1e6), 0.02, 0
    drawn = random.Random(1)
    secs = policy.first()
    for _ in range(4000):
        # A page that changes in each second with a probability of 2 %.
        changed = drawn.random() < 1 - (1 - chance) ** secs
        found += changed
        secs = policy.after(secs, changed=changed)
    expected = math.log(1.4) / (math.log(1.4) - math.log(0.7))
    assert found / 4000 == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    "values", [{"min_secs": 2.0, "max_secs": 1.0}, {"min_secs": -1.0}, {"shorter": 1.0}]
)
def test_contradictions_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        IntervalPolicy(**values)
