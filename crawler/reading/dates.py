"""Read the day that a text names."""

from __future__ import annotations

import re
from datetime import date
from email.utils import parsedate

# A date before the web or in the far future is a template's placeholder.
_EARLIEST, _LATEST = 1980, 2100
_NUMERIC = re.compile(r"\s*(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})(?!\d)")
_MONTHS = {
    name: number
    for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}
_DAY_FIRST = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\.?\s+([a-z]{3})[a-z]*\.?,?\s+(\d{4})\b")
_MONTH_FIRST = re.compile(r"\b([a-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b")
_MAX_DATE_CHARACTERS = 100


def iso_date(text: str | None) -> str | None:
    """Return the day that a text names as ``YYYY-MM-DD``, or None if it is uncertain.

    Reads ISO 8601 (also without dashes), the dates of mail and HTTP, and English ones with the
    month in letters. ``03/04/2024`` is ambiguous: its month is unknown.
    """
    if not text or len(text) > _MAX_DATE_CHARACTERS:
        return None
    numeric = _NUMERIC.match(text)
    if numeric:
        return _day(*map(int, numeric.groups()))
    lower = text.lower()
    if found := _DAY_FIRST.search(lower):
        return _day(int(found[3]), _MONTHS.get(found[2], 0), int(found[1]))
    if found := _MONTH_FIRST.search(lower):
        return _day(int(found[3]), _MONTHS.get(found[1], 0), int(found[2]))
    mailed = parsedate(text)
    return _day(*mailed[:3]) if mailed else None


def _day(year: int, month: int, day: int) -> str | None:
    if not _EARLIEST <= year <= _LATEST:
        return None
    try:
        return date(year, month, day).isoformat()
    except (ValueError, OverflowError):
        return None
