"""The clock and the durations of an answer are set aside; times that are content are not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.volatile.answers import MAX_EARLY_SECS, MAX_LATE_SECS, Volatile, set_aside

MADE = datetime(2026, 11, 29, 16, 40, 12, tzinfo=UTC)
FORMATS = (
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%SZ",
    "%a, %d %b %Y %H:%M:%S GMT",
    "%a %b %d %H:%M:%S %Y",
    "%d.%m.%Y %H:%M:%S",
    "%m/%d/%Y, %I:%M:%S %p",
    "%H:%M:%S",
)


def masked(text: str, language: str | None = None) -> str:
    return set_aside(text, MADE.timestamp(), language)[0]


@pytest.mark.parametrize(
    ("said", "mark"),
    [
        ("at 2026-11-29 16:40:12 +0000.", "at ⟨now +0000⟩."),
        ("at 2026-11-29T11:40:10.123-05:00.", "at ⟨now -0500⟩."),
        ("Generated: Sun, 29 Nov 2026 16:40:11 GMT", "Generated: ⟨now +0000⟩"),
        ("Erstellt am Sonntag, 29. November 2026, 17:40 Uhr", "Erstellt am ⟨now +0100⟩"),
        ("Généré le dimanche 29 novembre 2026 à 17h40", "Généré le ⟨now +0100⟩"),
        ("domingo, 29 de noviembre de 2026 17:40", "⟨now +0100⟩"),
        ("It is 11/29/2026 4:40 PM", "It is ⟨now +0000⟩"),
        ("as of 16:40, 29 November 2026", "as of ⟨now +0000⟩"),
        ("nov 30 2026, 06:40:12", "⟨now +1400⟩"),
        ("rendered 22:10:12", "rendered ⟨now +0530⟩"),
        ("t=1795970412, 1795970410123 ms", "t=⟨now⟩, ⟨now⟩ ms"),
        ("Sun Nov 29 16:40:12 UTC 2026", "⟨now +0000⟩"),
        ("took 12.119ms", "⟨duration⟩"),
        ("Served in 0.03 seconds, 5 queries in 0.4s", "Served ⟨duration⟩, ⟨duration⟩"),
    ],
)
def test_what_an_answer_owes_to_its_time_is_set_aside(said: str, mark: str) -> None:
    assert masked(said) == mark


@pytest.mark.parametrize(
    "said",
    [
        "departs 16:40 and 17:55",
        "29 Nov 2026 16:38",
        "29 Nov 2026 16:41",
        "2026-11-28 16:40:12",
        "29. Dezember 2026 16:40:12",
        "2026-11-29 16:40:12 +0100",
        "16:40:30",
        "on 29 Nov 2026",
        "in 5 queries",
        "1795970512",
        "21795970412",
        "a race of 9.58 seconds",
        "version 16.40.12",
    ],
)
def test_other_times_and_numbers_stay(said: str) -> None:
    assert masked(said) == said


@pytest.mark.parametrize(
    ("said", "mark"),
    [
        ("Berlin 29 Nov 2026 16:40:12", "Berlin ⟨now +0000⟩"),
        ("Monday 29 Nov 2026 16:40:12", "Monday ⟨now +0000⟩"),
        ("Room 29 16:40:12", "Room 29 ⟨now +0000⟩"),
        ("16:40:12 east", "⟨now +0000⟩ east"),
        ("16:40:12, room 29", "⟨now +0000⟩, room 29"),
    ],
)
def test_words_beside_a_clock_stay(said: str, mark: str) -> None:
    assert masked(said) == mark


def test_clocks_of_other_zones_are_other_clocks() -> None:
    assert masked("now 16:40:12") != masked("now 17:40:12")


def test_a_place_that_is_content_is_not_set_aside() -> None:
    said = "Passed 16:40:12, page made at 16:40:12"
    _, (first, second) = set_aside(said, MADE.timestamp())
    assert (first.said, second.said) == ("16:40:12", "16:40:12")
    text, found = set_aside(said, MADE.timestamp(), fixed=(first.slot,))
    assert (text, found) == ("Passed 16:40:12, page made at ⟨now +0000⟩", (second,))


def test_a_place_has_the_same_slot_on_all_pages_of_a_template() -> None:
    def slot(text: str, secs: int) -> int:
        made = MADE + timedelta(seconds=secs)
        _, (found,) = set_aside(f"{text}\nmade at {made:%H:%M:%S}", made.timestamp())
        return found.slot

    assert slot("One page", 0) == slot("Another page of 12 words", 3_000)


def test_a_clock_without_seconds_moves_after_a_minute() -> None:
    _, (coarse,) = set_aside("29 Nov 2026 16:40", MADE.timestamp())
    _, (fine,) = set_aside("29 Nov 2026 16:40:12", MADE.timestamp())
    assert coarse.moves_after_secs > 60 > fine.moves_after_secs
    assert Volatile(*coarse) == coarse


class TestSetAsideProperties:
    @given(
        st.integers(-15 * 60 // 2 + 1, 15 * 60 // 2 - 1),
        st.sampled_from(FORMATS),
        st.text(max_size=40),
    )
    def test_a_time_is_set_aside_only_near_that_of_the_answer(
        self, secs: int, form: str, beside: str
    ) -> None:
        said = (MADE + timedelta(seconds=secs)).strftime(form)
        is_near = -MAX_EARLY_SECS <= secs <= MAX_LATE_SECS
        assert (masked(f"x\n{said}\ny") == f"x\n{said}\ny") != is_near
        text = f"{beside}\n{said}\n"
        assert masked(text) == masked(masked(text))

    @given(st.integers(1, 3_000), st.integers(1, 3_000), st.sampled_from(FORMATS))
    def test_texts_that_differ_by_times_of_the_past_stay_apart(
        self, first: int, second: int, form: str
    ) -> None:
        one, other = (
            (MADE - timedelta(days=1, seconds=secs)).strftime(f"Event of {form} here")
            for secs in (first, second)
        )
        if "%d" in form:
            assert (masked(one) == masked(other)) == (one == other)

    @given(st.text())
    def test_texts_without_digits_are_not_changed(self, text: str) -> None:
        said = "".join(letter for letter in text if not letter.isdigit())
        assert set_aside(said, MADE.timestamp()) == (said, ())
