"""Count what the text of each block of a page is made of, and find the words that tell its kind.

What is counted in each text is counted in all of them at once, joined into one array of character
codes; the words are looked for in a text only where the page has them at all.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

Column = Any  # a numpy array with one value for each block

_NAMES = "chars words density digits upper commas ends price legal action date in_title".split()

# Characters of a text in which its kind is looked for; their counts fit in ten bits each.
_LOOKED_AT = 600
# Texts that are counted at once: 15 MB of codes.
_TEXTS = 2048
_DIGIT, _UPPER, _COMMA, _SPACE, _STOP = 1, 1 << 10, 1 << 20, 1 << 30, 1 << 40
_LAST_DIGIT = 0x1FFFF  # no later plane of Unicode has any
_COMMAS = ",;，、。！？،؛؟।۔"
_STOPS = ".!?"
_BETWEEN = "\0"

# From the first code on so many letters of Latin say as much as one character, and it is so many
# fifths of a word beside those between spaces: Chinese, Japanese and Thai have none between words.
_SCRIPTS = np.array(
    [
        (0x0000, 1, 0),
        (0x0E00, 1, 1),  # Thai and Lao
        (0x0F00, 1, 0),
        (0x1000, 1, 1),  # Burmese
        (0x10A0, 1, 0),
        (0x1780, 1, 1),  # Khmer
        (0x1800, 1, 0),
        (0x2E80, 3, 3),  # ideographs and kana
        (0xA000, 1, 0),
        (0xAC00, 2, 0),  # Hangul
        (0xD7B0, 1, 0),
        (0xF900, 3, 3),
        (0xFB00, 1, 0),
        (0x20000, 3, 3),
        (0x40000, 1, 0),
    ]
)
_FIFTHS = 5
_SCRIPT_STEP = 16
_FIRST_DENSE = 0x0E00

_SENTENCE_ENDS = frozenset(".!?:;…。！？」』”»؟۔।\"')")
_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?:[€£₹]|kr|zł|USD|EUR)")
_PRICE_SIGNS = ("$", "€", "£", "¥", "₹", "kr", "zł", "USD", "EUR")
_LEGAL_WORDS = (
    "©",
    "(c)",
    "copyright",
    "all rights reserved",
    "cookie",
    "privacy policy",
    "terms of",
    "newsletter",
)
_ACTION = re.compile(
    r"(?:share|tweet|reply|log ?in|sign (?:in|up)|subscribe|read more|learn more|more|view all"
    r"|see all|show (?:more|all|less)|load more|add to .*|buy now|shop .*|search.*|menu|close"
    r"|skip to .*|back.*|next.*|prev.*|home|print|edit|report.*|like|follow.*|filter.*|sort.*"
    r"|comments?|leave a .*|submit|download|contact(?: us)?|click here|view .*|get started|try .*"
    r"|quote|save|copy|cancel)\W*$",
    re.IGNORECASE,
)
# Every match of the above begins with one of these, in lower case.
_ACTION_STARTS = frozenset(
    "sha twe rep log sig sub rea lea mor vie see sho loa add buy sea men clo ski bac nex pre hom "
    "pri edi lik fol fil sor com dow con cli get try quo sav cop can".split()
)
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\d\d?[:/.]\d\d|\bago\b")
_SHORT = 60
_MAX_PRICE = 200
_MIN_IN_TITLE, _MAX_IN_TITLE = 10, 300


def text_columns(texts: list[str], title: str) -> dict[str, Column]:
    """Return what the texts of blocks are made of, float64, (texts,) each.

    ``chars`` and ``words`` are numbers: a character of a script that says more with it counts as
    several letters, and as a part of a word where words have no spaces between them. ``density`` is
    the number of letters that a character counts for. ``digits`` and ``upper`` are shares,
    ``commas`` counts commas and ends of sentences; the others are 1 or 0: whether a text ends as a
    sentence does, names a price, rights, a control of the page, a date, or is part of the title.

    Args:
        texts: Texts that are not empty, with one space between words.
        title: Title of the page, in lower case.
    """
    starts = [text[:_LOOKED_AT] for text in texts]
    shown = np.array([*map(len, starts)], np.int64)
    counts, letters, unspaced = _counts(starts, shown)
    chars, spaces = shown.copy(), counts // _SPACE
    for at in np.flatnonzero(shown == _LOOKED_AT).tolist():
        chars[at] = len(texts[at])
        spaces[at] += texts[at].count(" ", _LOOKED_AT)
    digits = counts % _UPPER
    sizes = (letters * chars / shown, spaces + 1 + unspaced * chars / shown, letters / shown)
    commas = counts // _COMMA % _UPPER * chars / shown
    shares = (digits / shown, counts // _UPPER % _UPPER / shown, commas)
    whole = _BETWEEN.join(starts)
    fits = chars < min(_MAX_IN_TITLE, len(title) + 1)
    marked = (
        [at for at, text in enumerate(texts) if text[-1] in _SENTENCE_ENDS],
        _priced(texts, np.flatnonzero((digits > 0) & (chars < _MAX_PRICE)).tolist()),
        [at for at in _holding(_LEGAL_WORDS, whole.lower()) if len(texts[at]) < _LOOKED_AT],
        _actions(texts),
        _dated(texts, whole, np.flatnonzero((digits > 0) & (chars < _SHORT)).tolist()),
        _in_title(texts, title, np.flatnonzero((letters > _MIN_IN_TITLE) & fits).tolist()),
    )
    kinds = np.zeros((len(marked), len(texts)))
    for kind, found in zip(kinds, marked, strict=True):
        kind[found] = 1
    return dict(zip(_NAMES, (*sizes, *shares, *kinds), strict=True))


def _holding(words: Iterable[str], whole: str) -> set[int]:
    """Return the numbers of the texts that hold one of the words, by the texts joined.

    Most pages have none of the words, so that no text is looked at by itself.

    Complexity: O(words * characters).
    """
    found = set()
    for word in words:
        at = number = 0
        while at >= 0 and (place := whole.find(word, at)) >= 0:
            number += whole.count(_BETWEEN, at, place)
            found.add(number)
            at = whole.find(_BETWEEN, place)
    return found


def _priced(texts: list[str], numbered: list[int]) -> list[int]:
    """Return the texts with prices, of the short ones with digits."""
    short = [texts[at] for at in numbered]
    signed = _holding(_PRICE_SIGNS, _BETWEEN.join(short))
    return [numbered[at] for at in signed if _PRICE.search(short[at])]


def _actions(texts: list[str]) -> list[int]:
    return [
        at
        for at, text in enumerate(texts)
        if text[:3].lower() in _ACTION_STARTS and len(text) < _SHORT and _ACTION.match(text)
    ]


def _dated(texts: list[str], whole: str, numbered: Iterable[int]) -> list[int]:
    """Return the short texts with dates, by those with digits and those that say "ago"."""
    ago = (at for at in _holding(("ago",), whole) if len(texts[at]) < _SHORT)
    return [at for at in {*numbered, *ago} if _DATE.search(texts[at])]


def _in_title(texts: list[str], title: str, likely: list[int]) -> list[int]:
    return [at for at in likely if texts[at].lower() in title]


def _counts(starts: list[str], sizes: Column) -> tuple[Column, Column, Column]:
    """Return for each text its digits, capitals, commas and spaces, in ten bits each, int64.

    Beside them the letters that its characters count for, and its words without spaces.
    """
    counts, letters = np.zeros((2, len(starts)), np.int64)
    unspaced = np.zeros(len(starts))
    for at in range(0, len(starts), _TEXTS):
        some = slice(at, at + _TEXTS)
        counts[some], letters[some], unspaced[some] = _some_counts(starts[some], sizes[some])
    return counts, letters, unspaced


def _some_counts(starts: list[str], sizes: Column) -> tuple[Column, Column, Column]:
    joined = _BETWEEN.join(starts)
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), "<u4")
    values = _values().take(codes, mode="clip")
    stops = np.flatnonzero(values == _STOP)
    values[stops] = 0
    stops = stops[:-1] if len(stops) and stops[-1] == len(codes) - 1 else stops
    values[stops[codes[stops + 1] == ord(" ")]] = _COMMA
    places = np.cumsum(sizes + len(_BETWEEN)) - sizes - len(_BETWEEN)
    counts = np.add.reduceat(values, places)
    dense = np.flatnonzero(codes >= _FIRST_DENSE)
    if not len(dense):
        return counts, sizes, np.zeros(len(starts))
    scripts = np.zeros((2, len(codes)), np.int64)
    scripts[:, dense] = _scripts().take(codes[dense] // _SCRIPT_STEP, axis=1, mode="clip")
    more, fifths = np.add.reduceat(scripts, places, axis=1)
    return counts, sizes + more, fifths / _FIFTHS


@cache
def _scripts() -> Any:
    """Return what a character counts for beyond one letter, and its fifths of a word; (2, steps).

    A step is a run of characters of one script.
    """
    firsts = np.arange(0, _SCRIPTS[-1, 0] + 1, _SCRIPT_STEP)
    numbers = np.searchsorted(_SCRIPTS[:, 0], firsts, "right") - 1
    return _SCRIPTS[numbers, 1:].T - [[1], [0]]


@cache
def _values() -> Any:
    """Return what each character counts, int64, (_LAST_DIGIT + 2,); all later ones nothing."""
    values = np.zeros(_LAST_DIGIT + 2, np.int64)
    everything = "".join(map(chr, range(_LAST_DIGIT + 1)))
    values[[found.start() for found in re.finditer(r"\d", everything)]] = _DIGIT
    values[ord("A") : ord("Z") + 1] = _UPPER
    values[[ord(character) for character in _COMMAS]] = _COMMA
    values[[ord(character) for character in _STOPS]] = _STOP
    values[ord(" ")] = _SPACE
    return values
