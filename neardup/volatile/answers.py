"""Set aside in a text what its server writes again for each answer: its clock, and its durations.

::

    clock     a time near the one at which the answer was made, in any zone that is whole quarters
              of an hour from UTC: a date with a time, a time with seconds, or seconds since 1970
    date      "2026-11-29", "29.11.2026", "11/29/26", "29 Nov 2026", "Sonntag, 29. November 2026",
              "Sun Nov 29", of the same day; its words are of the text's language or a common one
    duration  what the making of a page took: "took 12.119ms", "5 queries in 0.4s"
    mark      "⟨now +0100⟩", "⟨duration⟩": what stands in the text in place of them
    slot      a hash of a mark and of the two words before it in its line, or behind it where there
              are none: the place of a template

A time that is content may be near the answer's by chance, and a duration may be that of a race.
So each has a slot: another fetch of the page tells whether what stands there moves along. Times
without seconds and without a date are never set aside, since timetables consist of them.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice, product
from typing import Any, NamedTuple

import re2
import xxhash

from neardup.languages import language_tag, locale_of

MAX_EARLY_SECS = 5
"""Take a time for that of an answer if it is at most this much before it: pages take time."""

MAX_LATE_SECS = 2
"""Take a time for that of an answer if it is at most this much behind it."""

MAX_PLACES = 64
"""Set aside at most this many places of one text, the first ones."""

_MAX_LOOKED_AT = 10_000
"""Look at this many numbers of a text: a page that consists of times is not to hold a worker."""

MINUTE_SECS = 60
_QUARTER_SECS = 15 * MINUTE_SECS  # zones of the world differ by quarters of an hour
_DAY_SECS = 86_400
_ZONES_SECS = range(-12 * 3600, 14 * 3600 + 1)  # from Baker Island to the Line Islands
_REACH = 64
_COMMON = ("en", "de", "fr", "es", "it", "pt", "nl")

_TIME = r"""
    (?P<time> (?<![\d:.,]) (?P<hour>\d{1,2}) [:h] (?P<minute>\d\d)
    (?: : (?P<second>\d\d) (?: [.,]\d{1,9} )? )?
    (?![:\d]) (?: \s? (?P<half>[ap]) \.? \s? m\b \.? )?
    (?: \s? \(? (?P<utc> UTC | GMT | Z )\b \)? )? (?: \s? (?P<zone> [+-]\d\d:?(?:\d\d)? )\b )?
    (?: \s \(? (?-i: [A-Z]{2,4}T | Uhr )\b \)? )? )
"""
_WEEKDAY = r"(?: (?<!\w) (?P<weekday> [^\W\d_]{2,13} ) [.,]{0,2} \s )?"
_DATE = r"""
    (?: (?<!\d) \d{4} [-/.] \d{1,2} [-/.] \d{1,2} (?!\d)
      | (?<!\d) \d{1,2} [-/.] \s? \d{1,2} [-/.] \s? (?: \d{4} | \d\d ) (?!\d)
      | (?<!\d) \d{1,2} (?: \. | er | st | nd | rd | th )? [\s/-] (?:de\s)? [^\W\d_]{3,12} \.?
        (?: ,? [\s/-] (?:de\s)? \d{4} \b )?
      | (?<!\w) [^\W\d_]{3,12} \.? \s{1,2} \d{1,2} (?: st | nd | rd | th )? \b (?: ,? \s \d{4} \b )?
    )
"""
_DATED = re.compile(
    rf"""
    {_WEEKDAY} (?P<date> {_DATE} ) (?: T | [,\s|–-]{{1,3}} (?: (?:at|um|à|a\slas|kl\.?) \s )? )
    {_TIME} (?: \s (?P<year>\d{{4}})\b )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TIMED = re.compile(
    rf"{_TIME} (?: ,?\s (?: (?:on|am|le) \s )? {_WEEKDAY} (?P<date> {_DATE} ) )?",
    re.VERBOSE | re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+")
_HOUR_AND_MINUTE = re.compile(r"\d[:h](\d\d)")
_MAKING = "took|takes|in|within|time|duration|dauer|en"
_UNITS = "[mµμ]?s|secs?|(?:milli|micro)?seconds?|sekunden?|secondes?|segundos?"
_NUMBER_AND_UNIT = re.compile(rf"\d\s?(?:{_UNITS})(?!\w)", re.IGNORECASE)
_DURATION = re.compile(
    rf"""
    (?<!\w) (?: \d{{1,4}} \s (?:[^\W\d_]+\s)? quer(?:y|ies) [\s,.]{{1,3}} )?
    (?:{_MAKING}) \W{{1,3}} \d{{1,5}} (?: [.,]\d{{1,9}} )? \s? (?:{_UNITS}) (?!\w)
    """,
    re.VERBOSE | re.IGNORECASE,
)


class Volatile(NamedTuple):
    """A place of a text that was set aside.

    Attributes:
        slot: The slot, 63 bits; the lowest bit is set for a clock that tells no seconds.
        said: What stands there.
    """

    slot: int
    said: str

    @property
    def moves_after_secs(self) -> int:
        """Seconds after which something else stands there, if it follows the time at all."""
        return (MINUTE_SECS if self.slot & 1 else 1) + MAX_LATE_SECS


class _Span(NamedTuple):
    start: int
    end: int
    mark: str
    is_coarse: bool = False


def set_aside(
    text: str, made_at: float, language: str | None = None, fixed: Collection[int] = ()
) -> tuple[str, tuple[Volatile, ...]]:
    """Return a text with marks for clocks and durations, and what stands in their places.

    Args:
        text: The text.
        made_at: Seconds since 1970 at which the answer was made.
        language: Language of the text, such as ``de`` or ``pt-BR``; None: it is not known.
        fixed: Slots that are known to be content, which are not set aside.

    Complexity: O(length), 0.1 ms for 1,000 words.
    """
    found: list[Volatile] = []
    pieces: list[str] = []
    last = 0
    for span in islice(_spans(text, made_at, language), MAX_PLACES):
        if span.start < last:
            continue
        slot = _slot(text, span)
        if slot in fixed:
            continue
        found.append(Volatile(slot, text[span.start : span.end]))
        pieces += text[last : span.start], span.mark
        last = span.end
    return ("".join((*pieces, text[last:])), tuple(found)) if found else (text, ())


def _spans(text: str, made_at: float, language: str | None) -> list[_Span]:
    moments = (int(made_at - MAX_EARLY_SECS), int(made_at + MAX_LATE_SECS))
    minutes = frozenset(moment // MINUTE_SECS % 15 for moment in moments)
    found = [*islice(_epochs(text, made_at), _MAX_LOOKED_AT)]
    if (
        _signs(minutes).search(text) is not None
    ):  # in few texts; it takes a tenth of the time of these
        found += (*_clocks(text, minutes, made_at, language), *_durations(text))
    # Of two that overlap the one that begins first counts, as a date with its time does.
    return sorted(found)


@lru_cache(64)
def _signs(minutes: frozenset[int]) -> Any:
    """Return what finds a time whose minute may be the present one in some zone, or a duration."""
    some = "|".join(f"{minute + 15 * hour:02}" for minute in minutes for hour in range(4))
    options = re2.Options()
    options.case_sensitive = False
    duration = rf"(?:{_MAKING})[^0-9A-Za-z]{{1,3}}[\d.,]+ ?(?:{_UNITS})"
    return re2.compile(rf"\d[:h](?:{some})|{duration}", options)


def _clocks(
    text: str, minutes: Collection[int], made_at: float, language: str | None
) -> Iterator[_Span]:
    found = (match for match in _HOUR_AND_MINUTE.finditer(text) if int(match[1]) % 15 in minutes)
    for match in islice(found, _MAX_LOOKED_AT):
        span = _clock_at(text, match.start() + 1, made_at, language)
        if span is not None:
            yield span


def _clock_at(text: str, place: int, made_at: float, language: str | None) -> _Span | None:
    """Return the clock whose hour ends at a place of a text; None: no clock of the answer does."""
    start = max(text.rfind("\n", 0, place) + 1, place - _REACH)
    end = text.find("\n", place)
    end = min(end if end >= 0 else len(text), place + _REACH)
    for pattern in (_DATED, _TIMED):
        for match in pattern.finditer(text, start, end):
            if match.end("hour") != place:
                continue
            date = match["date"]
            if date is not None and _month(date, language) is None:
                if pattern is _DATED:
                    break
                date = None  # nothing but a word and a number
            return _clock_of(match, date, made_at, language)
    return None


def _clock_of(
    match: re.Match[str], date: str | None, made_at: float, language: str | None
) -> _Span | None:
    said = match.groupdict()
    hour, minute, second = (int(said[name] or 0) for name in ("hour", "minute", "second"))
    is_coarse = said["second"] is None
    if said["half"]:
        hour = hour % 12 + (12 if said["half"] in "pP" else 0)
    if hour >= 24 or minute >= MINUTE_SECS or second > MINUTE_SECS or (is_coarse and date is None):
        return None
    of_day = hour * 3600 + minute * MINUTE_SECS + second
    early_secs = MAX_EARLY_SECS + (MINUTE_SECS - 1 if is_coarse else 0)
    for zone in _zones(said, of_day, made_at):
        off = (of_day - int(made_at) - zone + _DAY_SECS // 2) % _DAY_SECS - _DAY_SECS // 2
        if not -early_secs <= off <= MAX_LATE_SECS:
            continue
        day = datetime.fromtimestamp(0, UTC) + timedelta(seconds=int(made_at) + zone + off)
        if date is None or _tells_day(f"{date} {said.get('year') or ''}", day, language):
            sign, quarters = "-" if zone < 0 else "+", abs(zone) // _QUARTER_SECS
            mark = f"⟨now {sign}{quarters // 4:02}{quarters % 4 * 15:02}⟩"
            return _Span(*_bounds(match, date, day, language), mark, is_coarse)
    return None


def _bounds(
    match: re.Match[str], date: str | None, day: datetime, language: str | None
) -> tuple[int, int]:
    """Return where a clock begins and ends, with the name of its day if it is that."""
    weekday, named = match["weekday"], weekdays_by_name(_languages(language))
    is_named = weekday is not None and day.weekday() in named.get(weekday.casefold(), ())
    if match.re is _DATED:
        return match.start() if is_named else match.start("date"), match.end()
    if date is None or (weekday is not None and not is_named):
        # The date is another thing than the time, or there is a word between them.
        return match.start(), match.end("time")
    return match.start(), match.end()


def _zones(said: dict[str, str | None], of_day: int, made_at: float) -> list[int]:
    """Return the differences to UTC in seconds by which a time may be that of an answer."""
    if said["zone"]:
        sign, digits = said["zone"][0], said["zone"][1:].replace(":", "")
        secs = int(digits[:2]) * 3600 + int(digits[2:] or 0) * MINUTE_SECS
        return [-secs if sign == "-" else secs]
    if said["utc"]:
        return [0]
    behind = of_day - int(made_at) % _DAY_SECS + _QUARTER_SECS // 2
    zone = behind // _QUARTER_SECS * _QUARTER_SECS
    zones = (zone, zone - _DAY_SECS, zone + _DAY_SECS)
    return sorted((one for one in zones if one in _ZONES_SECS), key=abs)


def _tells_day(date: str, day: datetime, language: str | None) -> bool:
    """Return whether a date is that of a day, in whatever order its numbers are."""
    numbers, month = sorted(map(int, _DIGITS.findall(date))), _month(date, language)
    if month:
        return day.month in month and numbers in ([day.day], [day.day, day.year])
    return numbers in (
        sorted((day.year, day.month, day.day)),
        sorted((day.year % 100, day.month, day.day)),
    )


def _month(date: str, language: str | None) -> Collection[int] | None:
    """Return the numbers of the month that a date names, none if by a number; None: it is none."""
    word = max(_WORD.findall(date), key=len, default="")
    if not word:
        return ()
    return months_by_name(_languages(language)).get(word.casefold())


def spoken(language: str | None) -> str:
    """Return the code of a declared language without its country: English where there is none."""
    return (language_tag((language or "").partition(",")[0]) or "en").partition("-")[0]


def _languages(language: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*_COMMON, spoken(language))))


@lru_cache(32)
def months_by_name(languages: tuple[str, ...]) -> dict[str, set[int]]:
    """Return the numbers of months by their names in some languages, in small letters."""
    from babel.dates import get_month_names  # noqa: PLC0415  # its data take a while to load

    return _by_name(get_month_names, languages)


@lru_cache(32)
def weekdays_by_name(languages: tuple[str, ...]) -> dict[str, set[int]]:
    """Return the numbers of the days of the week, Monday's being 0, by their names likewise."""
    from babel.dates import get_day_names  # noqa: PLC0415

    return _by_name(get_day_names, languages)


def _by_name(
    names_of: Callable[..., Mapping[int, str]], languages: tuple[str, ...]
) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    widths = list(product(("format", "stand-alone"), ("wide", "abbreviated")))
    for locale in filter(None, map(locale_of, languages)):
        for context, width in widths:
            for number, word in names_of(width, context, locale).items():
                found.setdefault(word.rstrip(".").casefold(), set()).add(number)
    return found


def _epochs(text: str, made_at: float) -> Iterator[_Span]:
    """Yield seconds and milliseconds since 1970 that are near the time of the answer."""
    near = range(int(made_at) - MAX_EARLY_SECS, int(made_at) + MAX_LATE_SECS + 1)
    for beginning in {str(near[0])[:9], str(near[-1])[:9]}:
        place = text.find(beginning)
        while place >= 0:
            match = _DIGITS.match(text, place)
            assert match is not None
            is_whole = place == 0 or not text[place - 1].isdecimal()
            if is_whole and len(match[0]) in {10, 13} and int(match[0][:10]) in near:
                yield _Span(place, match.end(), "⟨now⟩")
            place = text.find(beginning, match.end())


def _durations(text: str) -> Iterator[_Span]:
    for number in islice(_NUMBER_AND_UNIT.finditer(text), _MAX_LOOKED_AT):
        start = max(text.rfind("\n", 0, number.start()) + 1, number.start() - _REACH)
        for match in _DURATION.finditer(text, start, number.end()):
            if match.end() == number.end():
                yield _Span(match.start(), match.end(), "⟨duration⟩")


def _slot(text: str, span: _Span) -> int:
    start = max(text.rfind("\n", 0, span.start) + 1, span.start - _REACH)
    words = _WORD.findall(text, start, span.start)[-2:]
    if not words:
        end = text.find("\n", span.end, span.end + _REACH)
        words = _WORD.findall(text, span.end, end if end >= 0 else span.end + _REACH)[:2]
    place = " ".join((span.mark, *words)).casefold()
    hashed = xxhash.xxh3_64_intdigest(place.encode("utf-8", "surrogatepass"))
    return hashed >> 2 << 1 | span.is_coarse
