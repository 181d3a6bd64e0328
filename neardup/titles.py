r"""Split a title into its segments, and tell which differences of titles are the site's.

::

    title    segment { separator segment } [ " (" segment ")" ]
    token    a word: letters and digits with their combining marks; or a sign: "++", "★★", the
             minus of "-5" and "A-", the mark between the digits of "3.5" and "3-5"; no tokens are
             quotes, brackets, other dashes and the permalink marks "#" and "¶" behind a heading
    volatile a session id with its label; the number in "Comments (3)"; "(3 new)" and "(3) Inbox" in
             front; behind another segment also a clock with its date, the years of a copyright, a
             count of visitors, views, messages or comments, and "print view"
    version  in a segment behind the name: "Clang 14.0.6 documentation", "NumPy v2.0 Manual",
             "Java SE 17 & JDK 17"; with a heading that tells the name also "Clang 14 documentation"

Everything else belongs to the name, above all its other numbers: ``Widget 3000 | Shop`` is another
thing than ``Widget 4000 | Shop``, ``Act | § 187.5`` another one than ``Act | § 187.6``, and
``Drill | 3.5 mm`` another one than ``Drill | 4.5 mm``. A segment that one title lacks is no
addition of the site: ``Lamp | Red`` is another thing than ``Lamp``.
"""

import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

from neardup.volatile.phrases import (
    is_clock,
    is_copyright,
    is_visitor_count,
    without_ids,
    without_waiting,
    without_years,
)

Words = tuple[str, ...]

# A run of spaces is looked at from its beginning alone, since from each of its places costs n * n.
SEPARATOR = re.compile(
    r"""
    (?<!\s) \s++ [|·•∙:»›~/—–-]++ \s++ | (?<!\s) \s*+ [»›—] \s*+ | (?<=\w) \| \s*+ (?=\w) | : \s++
    | (?<!\s) \s++ \( (?= [^()]*+ \) (?: \s*$ | \s+\W ) )
    """,
    re.VERBOSE,
)

_TOKEN = re.compile(
    r"""
    \w+ | \(\) | \[\]
    | (?<=\d) [.,:/-] (?=\d) | (?<=\d) ["'] (?!\w) | (?<!\w) - (?=\d)
    | (?<![|-]) [|-]*+ [^\w\s"'\#(),./:;\[\]`{|}-] [^\w\s"'\#(),./:;\[\]`{}]*
    | (?<=[^\s|/-]) [|/-]++ (?!\S) | (?<!-) -++ (?=\s*$)
    | (?: (?<=^\w) | (?<=\s\w) ) \# | \# (?=\w)
    """,
    re.VERBOSE,
)
"""A word or a sign of a text whose other characters are spelled by ``_spelling``."""

_FOREIGN = re.compile(r"[^\w\s\x00-\x7f]")
_SILENT = frozenset("©®™℠´")
_SPOKEN = frozenset("§†‡‰‱′″‴⁂※")
"""Symbols that say nothing, and punctuation that says something."""

_NUMBER_IN_FRONT = re.compile(r"^\s*\(\d{1,5}\+?\)(?=\s)")
_PRESENTATION = frozenset("print printable printer friendly version view page mobile amp".split())
_IS_PRESENTATION = frozenset("print printable printer mobile amp".split())

_MANUAL = re.compile(
    r"""
    \W* (?: [^\W\d][\w.+-]* \s+ ){1,4}?
    (?: (?P<version> v?\d+(?:\.\d+)+[\w.+-]* | v\d+ ) \s+
        (?: (?:api|developer|language|library|reference|user) \s+ )?
        (?: documentation | docs | manual | reference | reference\ guide | handbook )
      | (?P<number> \d+ ) \s+ (?: documentation | docs ) ) \W*
    | \W* java (?:\ platform,?)? \ se \ (?P<java> \d+ (?: \s* & \s* jdk\ \d+ )? ) \W*
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A segment that names a manual between its own name and a word for a manual."""

_MAX_TITLES = 16_384
"""The number of titles whose segments are held in memory, some 10 MB."""


class TitlePart(NamedTuple):
    """A part of a title between separators.

    Attributes:
        words: Its words and signs, in lower case.
        bare: The same without what may be the site's: the version of a manual behind the name, and
            a number in brackets in front of the name.
        is_manual: Whether it has a version, which no plain number is.
    """

    words: Words
    bare: Words
    is_manual: bool = False


@lru_cache(_MAX_TITLES)
def segments(title: str) -> tuple[TitlePart, ...]:
    """Return the segments of a title that say something, without what is volatile.

    Complexity: O(length); a title that was asked for lately costs a tenth of a microsecond.
    """
    found: list[TitlePart] = []
    for part in SEPARATOR.split(without_ids(without_waiting(title))):
        segment = _behind(part) if found else TitlePart(words_of(part), _without_number(part))
        if segment.words and not (found and _is_presentation(segment.words)):
            found.append(segment)
    return tuple(found)


@lru_cache(_MAX_TITLES)
def words_of(text: str) -> Words:
    """Return the words and signs of a heading or a line, in lower case, without what is volatile.

    Complexity: O(length), 5 microseconds for ASCII, 20 for other scripts.
    """
    said = without_ids(text)
    if said.isascii():
        return tuple(_TOKEN.findall(said.lower()))
    said = unicodedata.normalize("NFC", said.casefold())
    return tuple(_TOKEN.findall(_FOREIGN.sub(lambda sign: _spelling(sign[0]), said)))


def are_other_titles(first: str, second: str, heading: Words = ()) -> bool:
    """Whether two titles are of different pages.

    They are, unless they agree but for what the site adds: the version of a manual behind the name,
    and, where the heading that both pages have tells the name, a number in brackets in front of it
    and a manual's version that is a plain number.

    Args:
        first: A title.
        second: Another title.
        heading: The words of the heading that both pages have; empty: they have none.
    """
    if first == second:
        return False
    ours, theirs = segments(first), segments(second)
    if ours == theirs or not ours or not theirs:
        return False
    if len(ours) != len(theirs):
        return True
    name, their_name = ours[0], theirs[0]
    is_named = contains(heading, name.bare)
    if name.words != their_name.words and (name.bare != their_name.bare or not is_named):
        return True
    is_headed = is_named or (bool(heading) and contains(name.bare, heading))
    return not all(
        a.words == b.words or (a.bare == b.bare and (is_headed or (a.is_manual and b.is_manual)))
        for a, b in zip(ours[1:], theirs[1:], strict=True)
    )


def names_segment(title: str, heading: Words) -> bool:
    """Whether a heading is one of the segments of a title."""
    return any(segment.words == heading for segment in segments(title))


def contains(words: Words, others: Words) -> bool:
    """Whether the one has the other as words in a row; no words are in all."""
    count = len(others)
    return any(words[at : at + count] == others for at in range(len(words) - count + 1))


def _without_number(part: str) -> Words:
    return words_of(_NUMBER_IN_FRONT.sub("", part))


def _behind(part: str) -> TitlePart:
    """Return a segment that another one stands before; without words for what is volatile."""
    told = part.strip()
    if is_visitor_count(told) or is_clock(told):
        return TitlePart((), ())
    if is_copyright(part):
        part = without_years(part)
    words, manual = words_of(part), _MANUAL.fullmatch(part)
    if manual is None:
        return TitlePart(words, words)
    start, end = manual.span(manual.lastgroup or 0)
    bare = words_of(f"{part[:start]} {part[end:]}")
    return TitlePart(words, bare, is_manual=manual.lastgroup != "number")


def _is_presentation(words: Words) -> bool:
    return _PRESENTATION.issuperset(words) and not _IS_PRESENTATION.isdisjoint(words)


@cache
def _spelling(character: str) -> str:
    r"""Return a sign as it is, a dash as "-", a mark as a letter that joins it to its word.

    ``\w`` knows letters and digits alone and would cut a word at a vowel sign.
    """
    kind = unicodedata.category(character)
    if kind == "Pd" or character == "\N{MINUS SIGN}":
        return "-"
    if character in _SPOKEN or (kind[0] == "S" and character not in _SILENT):
        return character
    if "\N{VARIATION SELECTOR-1}" <= character <= "\N{VARIATION SELECTOR-16}" or kind == "Cf":
        return ""
    return f"\N{MODIFIER LETTER GLOTTAL STOP}{ord(character):x}" if kind[0] == "M" else " "
