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
_DIGIT, _UPPER, _COMMA, _STOP = 1, 1 << 10, 1 << 20, 1 << 30
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
    counts, letters, unspaced = _counts(starts)
    shown = np.array([len(start) for start in starts], np.float64)
    digits = counts % _UPPER
    # Prices and rights are told of by so few words that most pages have none of them.
    whole = _BETWEEN.join(starts)
    signs = _held(_PRICE_SIGNS, whole)
    whole = whole.lower()
    words = _held(_LEGAL_WORDS, whole)
    lowered = whole.split(_BETWEEN) if words else starts
    rows = [
        (
            len(text),
            text.count(" ") + 1,
            text[-1] in _SENTENCE_ENDS,
            bool(signs) and _names_price(text, signs),
            bool(words) and len(text) < _LOOKED_AT and any(word in low for word in words),
            text[:3].lower() in _ACTION_STARTS
            and len(text) < _SHORT
            and _ACTION.match(text) is not None,
            len(text) < _SHORT
            and (numerals > 0 or "ago" in text)
            and _DATE.search(text) is not None,
            size > _MIN_IN_TITLE
            and len(text) < min(_MAX_IN_TITLE, len(title) + 1)
            and text.lower() in title,
        )
        for text, low, numerals, size in zip(
            texts, lowered, digits.tolist(), letters.tolist(), strict=True
        )
    ]
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 8)
    chars = table[:, 0]
    sizes = (letters * chars / shown, table[:, 1] + unspaced * chars / shown, letters / shown)
    commas = (counts // _COMMA) * chars / shown
    columns = (digits / shown, counts // _UPPER % _UPPER / shown, commas)
    return dict(zip(_NAMES, (*sizes, *columns, *table.T[2:]), strict=True))


def _held(words: Iterable[str], text: str) -> list[str]:
    return [word for word in words if word in text]


def _names_price(text: str, signs: list[str]) -> bool:
    return (
        len(text) < _MAX_PRICE
        and any(sign in text for sign in signs)
        and _PRICE.search(text) is not None
    )


def _counts(starts: list[str]) -> tuple[Column, Column, Column]:
    """Return for each text its digits, capitals and commas, in ten bits each, int64.

    Beside them the letters that its characters count for, and its words without spaces.
    """
    parts = [_some_counts(starts[at : at + _TEXTS]) for at in range(0, len(starts), _TEXTS)]
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
    counts, letters, unspaced = (np.concatenate(column) for column in zip(*parts, strict=True))
    return counts, letters, unspaced


def _some_counts(starts: list[str]) -> tuple[Column, Column, Column]:
    joined = _BETWEEN.join(starts)
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), "<u4")
    values = _values().take(codes, mode="clip")
    stops = np.flatnonzero(values == _STOP)
    values[stops] = 0
    stops = stops[:-1] if len(stops) and stops[-1] == len(codes) - 1 else stops
    values[stops[codes[stops + 1] == ord(" ")]] = _COMMA
    sizes = np.array([len(start) for start in starts])
    places = np.cumsum(sizes + len(_BETWEEN)) - sizes - len(_BETWEEN)
    counts = np.add.reduceat(values, places).astype(np.int64)
    if codes.max() < _FIRST_DENSE:
        return counts, sizes, np.zeros(len(starts))
    scripts = _SCRIPTS[np.searchsorted(_SCRIPTS[:, 0], codes, "right") - 1]
    letters = np.add.reduceat(scripts[:, 1], places)
    letters[:-1] -= 1  # what stands between two texts
    return counts, letters, np.add.reduceat(scripts[:, 2], places) / _FIFTHS


@cache
def _values() -> Any:
    """Return what each character counts, int32, (_LAST_DIGIT + 2,); all later ones nothing."""
    values = np.zeros(_LAST_DIGIT + 2, np.int32)
    everything = "".join(map(chr, range(_LAST_DIGIT + 1)))
    values[[found.start() for found in re.finditer(r"\d", everything)]] = _DIGIT
    values[ord("A") : ord("Z") + 1] = _UPPER
    values[[ord(character) for character in _COMMAS]] = _COMMA
    values[[ord(character) for character in _STOPS]] = _STOP
    return values
