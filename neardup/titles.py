r"""Split a title into its segments, and tell which differences of titles are the site's.

::

    title    segment { separator segment } [ " (" segment ")" ]
    token    a word: letters and digits with their combining marks; or a sign: "++", "★★", the
             minus of "-5" and "A-", the mark between the digits of "3.5" and "3-5"; no tokens are
             quotes, brackets, other dashes and the permalink marks "#" and "¶" behind a heading
    volatile the number in "(3 new)" in front; behind another segment a clock with its date
    version  in a segment behind the name: "Clang 14.0.6 documentation", "NumPy v2.0 Manual"; with a
             heading that tells the name also "Clang 14 documentation"

Everything else belongs to the name, above all its other numbers: ``Widget 3000 | Shop`` is another
thing than ``Widget 4000 | Shop``, ``Act | § 187.5`` another one than ``Act | § 187.6``, and
``Drill | 3.5 mm`` another one than ``Drill | 4.5 mm``. A segment that one title lacks is no
addition of the site: ``Lamp | Red`` is another thing than ``Lamp``.
"""

import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

from neardup.volatile.phrases import is_clock, without_waiting

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

_MANUAL = re.compile(
    r"""
    \W* (?: [^\W\d][\w.+-]* \s+ ){1,4}?
    (?: (?P<version> v?\d+(?:\.\d+)+[\w.+-]* | v\d+ ) \s+
        (?: (?:api|developer|language|library|reference|user) \s+ )?
        (?: documentation | docs | manual | reference | reference\ guide | handbook )
      | (?P<number> \d+ ) \s+ (?: documentation | docs ) ) \W*
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
        bare: The same without what may be the site's: the version of a manual behind the name.
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
    for part in SEPARATOR.split(without_waiting(title)):
        segment = _behind(part) if found else _plain(part)
        if segment.words:
            found.append(segment)
    return tuple(found)


@lru_cache(_MAX_TITLES)
def words_of(text: str) -> Words:
    """Return the words and signs of a heading or a line, in lower case.

    Complexity: O(length), 5 microseconds for ASCII, 20 for other scripts.
    """
    if text.isascii():
        return tuple(_TOKEN.findall(text.lower()))
    said = unicodedata.normalize("NFC", text.casefold())
    return tuple(_TOKEN.findall(_FOREIGN.sub(lambda sign: _spelling(sign[0]), said)))


def are_other_titles(first: str, second: str, heading: Words = ()) -> bool:
    """Whether two titles are of different pages.

    They are, unless they agree but for what the site adds: the version of a manual behind the name,
    which may be a plain number where the heading that both pages have tells the name.

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
    name = ours[0].words
    if name != theirs[0].words:
        return True
    is_headed = bool(heading) and (contains(heading, name) or contains(name, heading))
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


def _plain(part: str) -> TitlePart:
    words = words_of(part)
    return TitlePart(words, words)


def _behind(part: str) -> TitlePart:
    """Return a segment that another one stands before; without words for a clock."""
    if is_clock(part.strip()):
        return TitlePart((), ())
    manual = _MANUAL.fullmatch(part)
    if manual is None:
        return _plain(part)
    start, end = manual.span(manual.lastgroup or 0)
    bare = words_of(f"{part[:start]} {part[end:]}")
    return TitlePart(words_of(part), bare, is_manual=manual.lastgroup != "number")


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
