"""Read the day that a text names, its month in figures or in words of the common languages."""

from __future__ import annotations

import re
from datetime import date
from email.utils import parsedate
from functools import cache

from neardup.volatile.answers import months_by_name

# A date before the web or in the far future is a template's placeholder.
_EARLIEST, _LATEST = 1980, 2100
_BUDDHIST_YEARS = 543  # Thailand counts 2567 where others count 2024
_THAI = re.compile("[\u0e00-\u0e7f]")
_MIN_ABBREVIATION = 3
_MAX_DATE_CHARACTERS = 100

# Of two months that begin alike in two languages the first one here has the short form.
_LANGUAGES = tuple("en de fr es it pt nl sv pl cs ru uk tr hu el fi id ar he hi th".split())
_IN_HEBREW = "\u05d1"  # "in", which is written together with the month


@cache
def _months() -> dict[str, int]:
    """Return the number of each month by its names and by their beginnings."""
    found: dict[str, int] = {}
    for name, numbers in months_by_name(_LANGUAGES).items():
        for written in (name, _IN_HEBREW + name):
            for end in range(_MIN_ABBREVIATION, len(written) + 1):
                found.setdefault(written[:end], min(numbers))
    return found


_NUMERIC = re.compile(r"(?<![\d.])(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})(?!\d)")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})\s?[-/.年년]\s?(\d{1,2})\s?[-/.月월]\s?(\d{1,2})(?!\d)")
_YEAR_LAST = re.compile(
    r"(?<![\d./-])(?:(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4})|(\d\d)([./])(\d\d)\6(\d\d))(?![\d./]*\d)"
)
_MONTH = r"(?P<month>[^\W\d_][^\s\d,./()-]{2,14})"
_DAY_FIRST = re.compile(
    rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|º|°)?\.?[\s-]{{1,3}}(?:de\s|of\s)?{_MONTH}"
    r"\.?,?[\s-]{1,3}(?:de\s|del\s)?(?P<year>\d{4}|(?:(?<=-)|['’])\d\d)(?!\d)"
)
_MONTH_FIRST = re.compile(
    rf"{_MONTH}\.?\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s"
    r"(?:\d\d?:\d\d(?::\d\d)?\s(?:[a-z]{2,5}\s|[+-]\d{4}\s)?)?(?P<year>\d{4}|['’]\d\d)(?!\d)"
)
_YEAR_MONTH_DAY = re.compile(rf"(?<!\d)(?P<year>\d{{4}})\.?\s{_MONTH}\s(?P<day>\d{{1,2}})(?!\d)")


def iso_date(text: str | None) -> str | None:
    """Return the day that a text names as ``YYYY-MM-DD``, or None if it is uncertain.

    Reads ISO 8601 (also without dashes), the dates of mail and HTTP, and those with the month in
    letters. ``03/04/2024`` is ambiguous: its month is unknown. ``03.04.2024`` is in April.
    """
    if not text or len(text) > _MAX_DATE_CHARACTERS:
        return None
    text = text.strip()
    if found := _NUMERIC.match(text):
        return _day(*map(int, found.groups()))
    if named := named_day(text):
        return named[0]
    mailed = parsedate(text)
    return _day(*mailed[:3]) if mailed else None


def named_day(text: str, *, is_day_first: bool = False) -> tuple[str, int, int] | None:
    """Return the first day that a line names, and where it begins and ends there; None: none.

    Args:
        text: A line of at most some hundred characters.
        is_day_first: Whether ``03/04/2024`` is in April.
    """
    lower = text.lower()
    lower = lower if len(lower) == len(text) else text
    for pattern, read in _READERS:
        for found in pattern.finditer(lower):
            if day := read(found, is_day_first):
                return day, found.start(), found.end()
    return None


def _of_year_last(found: re.Match[str], is_day_first: bool) -> str | None:
    """Return a day whose month is certain: between points it is second, else one is above 12."""
    low, sign, high, year = (found[at] or found[at + 4] for at in range(1, 5))
    low, high = int(low), int(high)
    if sign == "." or low > 12 or (is_day_first and high <= 12):
        return _day(_whole_year(year), high, low)
    return _day(_whole_year(year), low, high) if high > 12 or low == high else None


def _whole_year(written: str) -> int:
    """Return a year, also one of two digits."""
    year = int(written.lstrip("'’"))
    return year if len(written) == 4 else year + (1900 if year >= _EARLIEST % 100 else 2000)


def _of_name(found: re.Match[str], _: bool) -> str | None:
    year, month = _whole_year(found["year"]), found["month"]
    years = _BUDDHIST_YEARS if _THAI.match(month) and year > _LATEST else 0
    return _day(year - years, _months().get(month.casefold(), 0), int(found["day"]))


_READERS = (
    (_YEAR_FIRST, lambda found, _: _day(*map(int, found.groups()))),
    (_DAY_FIRST, _of_name),
    (_MONTH_FIRST, _of_name),
    (_YEAR_LAST, _of_year_last),
    (_YEAR_MONTH_DAY, _of_name),
)


def _day(year: int, month: int, day: int) -> str | None:
    if not _EARLIEST <= year <= _LATEST:
        return None
    try:
        return date(year, month, day).isoformat()
    except (ValueError, OverflowError):
        return None
