"""Leave out of a text what its wording shows to change: clocks, dates, ages and counters.

Dates and ages are those of English and of the language of the page, as the Unicode CLDR spells
them; clocks and dates in digits are those of all languages.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import timedelta
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Literal

from neardup.volatile.answers import months_by_name, spoken, weekdays_by_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MASK = "#"
"""Stands for what was left out."""

_ENGLISH = "en"

_Unit = Literal["second", "minute", "hour", "day", "week", "month", "year"]

_UNITS: tuple[tuple[_Unit, int], ...] = (
    ("second", 1),
    ("minute", 60),
    ("hour", 3_600),
    ("day", 86_400),
    ("week", 7 * 86_400),
    ("month", 30 * 86_400),
    ("year", 365 * 86_400),
)
_PLURALS = (1, 2, 5, 21)
"""Numbers with which every plural of a language is met."""

# A site may write a number of a million digits: none is begun in its middle, or read twice.
_NUMBER = r"(?<![\d.,])\d(?:[\d.,'’]|\s(?=\d{3}(?!\d)))*+(?:\s?(?:k|m|mio|tsd|万|億)\b\.?)?"
_COUNTED = (
    # English, German, French, Spanish and Portuguese, Italian, Dutch
    "views? visits? visitors? hits? readers? viewers? watching online people\\s+are\\s+\\w+ing"
    " likes? shares? downloads?"
    " followers? subscribers? plays? listeners? guests? members?\\s+online users?\\s+online"
    " aufrufe? besuche besucher(?:innen)? zugriffe? klicks? leser(?:innen)? zuschauer"
    " mal\\s+gelesen gäste downloads? abonnenten"
    " vues? visites? visiteurs? lectures? lecteurs? abonnés? téléchargements?"
    " visitas vistas lecturas visitantes descargas seguidores visualizações acessos leituras"
    " visite visualizzazioni letture visitatori"
    " weergaven bezoekers bezoeken keer\\s+bekeken"
    # Swedish, Danish, Norwegian, Polish, Czech, Turkish, Russian, Ukrainian
    " visningar besökare visninger besøgende wyświetleń wyświetlenia odsłon odwiedzin zobrazení"
    " návštěv görüntüleme ziyaretçi"
    " просмотр(?:а|ов|ы)? посетител(?:ь|я|ей|и) перегляд(?:и|ів)? відвідувач(?:і|ів)?"
    # Chinese, Japanese, Korean
    " 浏览 瀏覽 阅读 閱讀 次浏览 人在线 閲覧 回視聴 회 조회"
)
_COUNTER = "|".join(_COUNTED.split())

_ID = re.compile(
    r"""
    \b (?: php | j )? s(?:ess(?:ion)?)?[\s_-]?id \b \s*+ (?: = \s*+ | :?+ \s*+ (?=[0-9a-f-]{12}) )
        (?=[a-z-]*+\d) (?=[\d-]*+[a-z]) [0-9a-z-]{12,}+
    | (?: (?<=comments) | (?<=replies) | (?<=reviews) | (?<=answers) ) \s* \(\d+\)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CLOCK_WITH_SECONDS = re.compile(
    r"(?: \d{4}-\d\d-\d\d [T,\s]\s* )? \b \d{1,2}:\d\d:\d\d (?:[.,]\d+)? \b"
    r"(?: \s* [ap]\.?m\b\.? )?",
    re.VERBOSE | re.IGNORECASE,
)
_DURATION = re.compile(r"\d:\d\d:\d\d(?:[.,]\d+)?")
_YEARS = re.compile(
    r"(?: (?<=copyright) | © | \(c\) ) [\s\d,–-]* \d{4}", re.VERBOSE | re.IGNORECASE
)
_WAITING = re.compile(r"^\s*\(\d{1,5}\+?\snew\)(?=\s)", re.IGNORECASE)
_HAS_DIGIT = re.compile(r"\d")
_COUNT = re.compile(
    r"\W* \d[\d.,\s]* (?:new\s+|unread\s+)?"
    r"(?: visitors? | visits? | views? | hits? | messages? | notifications? | users?\s+online"
    r"  | comments? | repl(?:y|ies) | reviews? | answers? )"
    r"(?: \s+ (?: so\s+far | today | online ) )? \W*",
    re.VERBOSE | re.IGNORECASE,
)
_CLOCK = r"""
    (?<![\d:.]) \d{1,2} [:h] [0-5]\d (?: : [0-5]\d (?: [.,]\d+ )? )? (?![:\d])
    (?: \s* [ap]\.?\s?m\b\.? )? (?: \s* (?: uhr | utc | gmt | z | c?est? | [ap][ds]t ) \b
    (?: \s*[+-]\d{1,2}(?::?\d\d)? )? | [+-]\d\d:?\d\d\b )?
    | (?<![\d:.]) \d{1,2} (?: \.[0-5]\d )? \s* (?: [ap]\.?m\b\.? | uhr\b )
"""
_STAMP = r"""
    (?<!\d) (?:19|20)\d\d (?P<s>[-/.]) (?:0?[1-9]|1[0-2]) (?P=s) (?:0?[1-9]|[12]\d|3[01])
    (?: [T\s] \d\d:\d\d (?: :\d\d (?:[.,]\d+)? )? (?: Z | [+-]\d\d:?\d\d )? )? (?!\d)
    | (?<![\d.]) (?:0?[1-9]|[12]\d|3[01]) (?P<t>[-/.]) \s? (?:0?[1-9]|[12]\d|3[01]) (?P=t) \s?
    (?: (?:19|20)\d\d | \d\d (?![\d.]) ) (?!\d)
    | \d{2,4} \s? [年년] \s? \d{1,2} \s? [月월] (?: \s? \d{1,2} \s? [日일] )?
    | \d{1,2} \s? 月 \s? \d{1,2} \s? 日
"""


def without_waiting(title: str) -> str:
    """Return a title without the number of what is new in front of it: ``(3 new) Inbox``."""
    return _WAITING.sub("", title)


def is_clock(text: str) -> bool:
    """Whether a text is a time with seconds alone, or with its date, that is no duration."""
    return bool(_CLOCK_WITH_SECONDS.fullmatch(text)) and not _DURATION.fullmatch(text)


def stable(line: str) -> str:
    """Return a line of a text without what changes at every request."""
    if not _HAS_DIGIT.search(line):
        return line
    # Most lines with a number have nothing that one of the expressions could match.
    lowered = line.lower()
    if "id" in lowered or ")" in lowered:
        line = _ID.sub(" ", line)
    if ":" in line:
        line = _CLOCK_WITH_SECONDS.sub(" ", line)
    if "©" in lowered or "(c)" in lowered or "copyright" in lowered:
        line = _YEARS.sub(" ", line)
    return line


def is_visitor_count(line: str) -> bool:
    """Whether a line is a count of visitors, views or messages alone, such as ``12,345 views``."""
    return _COUNT.fullmatch(line) is not None


@lru_cache(32)
def _expression(language: str) -> re.Pattern[str]:
    """Return what matches clocks, dates, ages and counters in one language and in English."""
    languages = tuple(dict.fromkeys((_ENGLISH, language)))
    months, days = _any_of(months_by_name(languages)), _any_of(weekdays_by_name(languages))
    day = r"(?:0?[1-9]|[12]\d|3[01])(?:\.|er|º|ª|st|nd|rd|th|-го)?"
    year = r"(?:,?\s*(?:de[l]?\s+|г\.?\s*)?(?:19|20)\d\d(?:\s*г\.?)?)"
    named = rf"""
        (?:the\s+|den\s+|le\s+|el\s+)?
        (?: (?<!\d){day}\s*(?:of\s+|de\s+|d[’'])?(?:{months})(?!\w)\.?{year}?
          | (?<!\w)(?:{months})\.?\s+{day}(?!\w){year}?
          | (?<!\w)(?:{months})\.?{year} )
    """
    ages = _any_of(_ages(languages))
    counter = rf"(?<!\w)(?:{_COUNTER})(?!\w)"
    counted = (
        rf"{_NUMBER}\s*{counter} | {counter}\s*:?\s*{_NUMBER} | {counter}\s*\(\s*{_NUMBER}\s*\)"
    )
    weekday = rf"(?:\b(?:{days})\b\.?,?\s+)?"
    parts = (f"{weekday}(?:{_STAMP}|{named}|{_CLOCK})", ages, counted)
    return re.compile("|".join(f"(?:{part})" for part in parts), re.VERBOSE | re.IGNORECASE)


def _ages(languages: Iterable[str]) -> Iterator[str]:
    """Yield expressions of ``3 hours ago`` and ``in 2 days`` in each plural."""
    from babel import UnknownLocaleError  # noqa: PLC0415  # its data take a while to load
    from babel.dates import format_timedelta  # noqa: PLC0415

    for language, (unit, secs), number in product(languages, _UNITS, _PLURALS):
        for sign in (-1, 1):
            age = timedelta(seconds=sign * number * secs)
            with suppress(UnknownLocaleError, ValueError):  # a page may declare anything
                written = format_timedelta(
                    age, granularity=unit, threshold=10**9, add_direction=True, locale=language
                )
                yield re.sub(r"\d+", r"\\d{1,9}", _escaped(written))


def _escaped(word: str) -> str:
    return re.sub(r"(?:\\?\s)+", r"\\s+", re.escape(word))


def _any_of(words: Iterable[str]) -> str:
    """Return an alternative of words, the longest first; those that are numbers are left out."""
    found = {word if "\\" in word else _escaped(word.rstrip(".")) for word in words}
    found = {word for word in found if not word.isdecimal() and not re.fullmatch(r"\d+\S", word)}
    return "|".join(sorted(found, key=lambda word: (-len(word), word))) or "(?!)"


def masked(passage: str, language: str | None = None) -> str:
    """Return a passage with ``#`` for each clock, date, age and counter, as passages are compared.

    Case and white space do not count.

    Args:
        passage: A paragraph or a sentence.
        language: The language of the page, such as ``de`` or ``pt-BR``; None: it is not known.

    Complexity: O(length); the first text of a language takes some 50 ms.
    """
    said = " ".join(passage.split())
    if any(map(str.isdigit, said)):
        if is_visitor_count(said):
            return MASK
        said = _expression(spoken(language)).sub(MASK, stable(said))
    return " ".join(said.casefold().split())
