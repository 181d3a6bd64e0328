"""Clocks, dates, ages and counters are left out; other numbers are not."""

from __future__ import annotations

import pytest

from neardup.volatile.phrases import masked


@pytest.mark.parametrize(
    ("old", "new", "language"),
    [
        ("Time now: 10:15:33", "Time now: 23:01:02", "en"),
        ("It is Saturday, 28 November 2026, 10:15 pm", "It is Sunday, 29 May 2027, 1:05 am", "en"),
        ("Updated Nov 3, 2026", "Updated Dec 14, 2026", "en"),
        ("Built 2026-11-28T10:11:12Z", "Built 2027-01-02T03:04:05Z", None),
        ("As of 11/28/2026", "As of 1/2/2027", None),
        ("3 hours ago by Ann", "2 days ago by Ann", "en"),
        ("1,234 views", "1,240 views", "en"),
        ("Views: 12.3K | Home", "Views: 13K | Home", "en"),
        ("12 people are watching this", "1,300 people are watching this", "en"),
        ("Samstag, 28. November 2026 um 14:05 Uhr", "Montag, 2. März 2027 um 9.30 Uhr", "de-AT"),
        ("Zuletzt vor 3 Stunden", "Zuletzt vor 1 Tag", "de"),
        ("1.234 Aufrufe insgesamt", "1.301 Aufrufe insgesamt", "de"),
        ("Publié le 3 mars 2026", "Publié le 14 août 2026", "fr"),
        ("1 234 vues", "12 000 vues", "fr"),
        ("28 ноября 2026 г.", "4 октября 2027 г.", "ru"),
        ("5 минут назад", "21 минуту назад", "ru"),
        ("更新于2026年11月28日", "更新于2027年1月2日", "zh"),
    ],
)
def test_what_always_changes_is_the_same(old: str, new: str, language: str | None) -> None:
    assert masked(old, language) == masked(new, language)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Price: 12 EUR", "Price: 14 EUR"),
        ("Price: 14.50 EUR", "Price: 12.30 EUR"),
        ("Version 3.11.2", "Version 3.12.0"),
        ("Widget 3000", "Widget 4000"),
        ("The tank holds 12 m of water", "The tank holds 14 m of water"),
        ("Article 12, section 3", "Article 12, section 4"),
        ("You may enter", "You must enter"),
        ("Open on Saturday", "Open on Sunday"),
    ],
)
def test_what_says_something_differs(old: str, new: str) -> None:
    assert masked(old, "en") != masked(new, "en")


def test_case_and_white_space_do_not_count() -> None:
    assert masked("The  Harbour\t10:15:00 ") == masked("the harbour 11:16:01")


def test_a_language_that_there_is_not_is_read_as_english() -> None:
    assert masked("On 3 March 2026", "xx-nonsense") == masked("On 4 May 2027", "")


def test_a_number_of_a_million_digits_is_read_once() -> None:
    assert masked("7" * 1_000_000 + " of them") == "7" * 1_000_000 + " of them"
