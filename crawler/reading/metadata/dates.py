"""Read the day that a text names, its month in figures or in words of many languages.

The names of months and the order of figures are those of CLDR, by way of Babel.
"""

from __future__ import annotations

import re
from datetime import date
from email.utils import parsedate
from functools import lru_cache

from neardup.languages import language_tag, locale_of
from neardup.volatile.answers import months_by_name

# A date before the web or in the far future is a template's placeholder.
_EARLIEST, _LATEST = 1980, 2100
_BUDDHIST_YEARS = 543  # Thailand counts 2567 where others count 2024
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "民國": 1911, "民国": 1911}
"""Years before the first one of an era of Japan or Taiwan, which CLDR's calendar has not."""
_THAI = re.compile("[\u0e00-\u0e7f]")
_MIN_ABBREVIATION = 3
_MAX_DATE_CHARACTERS = 100

# Their months are known on every page, besides those of its own language. Of two that begin alike
# in two languages the first one here has the short form.
_LANGUAGES = tuple(
    "en de fr es it pt nl sv pl cs ru uk tr hu el fi id ar he hi th da ro vi sl et lt lv bn ms eu "
    "hr ca sk bg".split()
)
# Both orders are usual in English of no country, and in the Spanish of the United States.
_OF_BOTH_ORDERS = ("en", "es-us")
_IN_HEBREW = "\u05d1"  # "in", which is written together with the month
_OF_IN_BASQUE = ("ren", "k")  # of a month, whose name ends in "a"


@lru_cache(64)
def _months(languages: tuple[str, ...]) -> dict[str, int]:
    """Return the number of each month by its names and by their beginnings.

    It is 0 where languages differ: ``listopad`` is October and November.
    """
    named = months_by_name(languages)
    found = {name: min(numbers) if len(numbers) == 1 else 0 for name, numbers in named.items()}
    for name in named:
        of_name = [name + ending for ending in _OF_IN_BASQUE if name.endswith("a")]
        for written in (name, _IN_HEBREW + name, *of_name):
            for end in range(_MIN_ABBREVIATION, len(written) + 1):
                found.setdefault(written[:end], found[name])
    return found


@lru_cache(64)
def _order(language: str) -> str:
    """Return what a language writes first in figures: ``d``, ``M`` or ``y``.

    It is ``yd`` or ``yM`` where the year is last in words, and empty where it is not known.
    """
    locale = None if language in _OF_BOTH_ORDERS else locale_of(language)
    if locale is None:
        return ""
    short, long = (locale.date_formats[name].pattern[0] for name in ("short", "long"))
    return f"{short}{long}" if short == "y" != long else str(short)


_NUMERIC = re.compile(r"(?<![\d.])(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})(?!\d)")
_YEAR_FIRST = re.compile(
    r"(?:(?<!\d)(\d{4})|(令和|平成|昭和|民[國国])\s?(\d{1,3}|元))\s?[-/.年년]\s?(\d{1,2})\s?[-/.月월]\s?"
    r"(\d{1,2})(?!\d)"
)
_YEAR_LAST = re.compile(
    r"(?<![\d./-])(?:(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4})|(\d\d)([./])(\d\d)\6(\d\d))(?![\d./]*\d)"
)
# In Vietnamese a month is a word and its number; Thai shortens with points within a word.
_MONTH = r"(?P<month>(?:tháng|thg)\s\d{1,2}|[^\W\d_](?:[^\s\d,،./()-]|\.(?=[^\W\d_])){1,17})"
_DAY_FIRST = re.compile(
    r"(?<!\d)(?<!\d[:.])(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|°)?\.?[\s-]{1,3}(?:de\s|of\s|d['’])?"
    rf"{_MONTH}\.?[,،]?[\s-]{{1,3}}(?:(?:del?|năm|พ\.ศ\.|ค\.ศ\.)\s)?"
    r"(?P<year>\d{4}|(?:(?<=-)|['’])\d\d)(?!\d)"
)
_MONTH_FIRST = re.compile(
    rf"{_MONTH}\.?\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s"
    r"(?:\d\d?:\d\d(?::\d\d)?\s(?:[a-z]{2,5}\s|[+-]\d{4}\s)?)?(?P<year>\d{4}|['’]\d\d)(?!\d)"
)
# What Basque, Bulgarian, Lithuanian and Latvian put behind the year.
_YEAR = r"(?<!\d)(?P<year>\d{4})(?:(?:\(?e\)?)?ko|\.|\s[mгж]\.|\.?\sgada)?\s"
_YEAR_MONTH_DAY = re.compile(rf"{_YEAR}{_MONTH}\s(?P<day>\d{{1,2}})(?!\d)")
_YEAR_DAY_MONTH = re.compile(rf"{_YEAR}(?P<day>\d{{1,2}})\.?\s{_MONTH}")


def iso_date(text: str | None, language: str | None = None) -> str | None:
    """Return the day that a text names as ``YYYY-MM-DD``, or None if it is uncertain.

    Reads ISO 8601 (also without dashes), the dates of mail and HTTP, and those with the month in
    letters. The month of ``03/04/2024`` is unknown where the language does not tell the order.
    ``03.04.2024`` is in April.
    """
    if not text or len(text) > _MAX_DATE_CHARACTERS:
        return None
    text = text.strip()
    if found := _NUMERIC.match(text):
        return _day(*map(int, found.groups()))
    if named := named_day(text, language):
        return named[0]
    mailed = parsedate(text)  # years of RSS may have two figures
    return _day(*mailed[:3]) if mailed else None


DAY_SIGN = re.compile(r"\d(?:\D*\d){2}|元")
"""What each line has that names a day: three figures, or the first year of an era."""


def named_day(text: str, language: str | None = None) -> tuple[str, int, int] | None:
    """Return the first day that a line names, and where it begins and ends there; None: none.

    Args:
        text: A line of at most some hundred characters.
        language: What the page declares, such as ``en-GB``: ``03/04/2024`` is in April there.
    """
    if not DAY_SIGN.search(text):
        return None
    tag = language_tag(language) or ""
    lower = text.lower()
    lower = lower if len(lower) == len(text) else text
    for pattern, read in _READERS:
        for found in pattern.finditer(lower):
            if day := read(found, tag):
                return day, found.start(), found.end()
    return None


def _of_year_first(found: re.Match[str], _: str) -> str | None:
    year, era, of_era, month, day = found.groups()
    if era:
        of_era = 1 if of_era == "元" else int(of_era)
        year = _ERAS[era] + of_era if of_era else 0
    return _day(int(year), int(month), int(day))


def _of_year_last(found: re.Match[str], language: str) -> str | None:
    """Return a day whose month is certain by its language, by points or by a number above 12."""
    low, sign, high, year = (found[at] or found[at + 4] for at in range(1, 5))
    order = _order(language)
    if len(year) == 2 and ("y" in order or (sign == "/" and not language)):
        return _day(_whole_year(low), int(high), int(year)) if order == "y" else None
    low, high = int(low), int(high)
    if sign == "." or low > 12 or ("d" in order and high <= 12):
        return _day(_whole_year(year), high, low)
    is_certain = high > 12 or low == high or order == "M"
    return _day(_whole_year(year), low, high) if is_certain else None


def _whole_year(written: str) -> int:
    """Return a year, also one of two digits."""
    year = int(written.lstrip("'’"))
    return year if len(written) == 4 else year + (1900 if year >= _EARLIEST % 100 else 2000)


def _of_name(found: re.Match[str], language: str) -> str | None:
    year, month = _whole_year(found["year"]), found["month"]
    word = month.casefold()
    number = _months((language,)).get(word) or _months(_LANGUAGES).get(word, 0)
    years = _BUDDHIST_YEARS if _THAI.match(month) and year > _LATEST else 0
    return _day(year - years, number, int(found["day"]))


_READERS = (
    (_YEAR_FIRST, _of_year_first),
    (_DAY_FIRST, _of_name),
    (_MONTH_FIRST, _of_name),
    (_YEAR_LAST, _of_year_last),
    (_YEAR_MONTH_DAY, _of_name),
    (_YEAR_DAY_MONTH, _of_name),
)


def _day(year: int, month: int, day: int) -> str | None:
    if not _EARLIEST <= year <= _LATEST:
        return None
    try:
        return date(year, month, day).isoformat()
    except (ValueError, OverflowError):
        return None
