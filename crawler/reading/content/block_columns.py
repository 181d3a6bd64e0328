"""Tell of each block of a page what its features are computed from: its text and its containers."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from crawler.reading.content.block_flags import FLAGS
from crawler.reading.content.kernels import count_characters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.reading.content.blocks import PageBlocks

Column = Any  # a numpy array with one value for each block

TAGS = tuple("p li div td th dd dt pre section article button a label".split())
"""Tags of containers that blocks are told apart by."""

# Headings have their levels for numbers.
_NUMBERS = {tag: number for number, tag in enumerate((*"h1 h2 h3 h4 h5 h6".split(), *TAGS), 1)}
_LAST_HEADING = 6
_TAG_NUMBERS = np.array([_NUMBERS[tag] for tag in TAGS])[:, None]
_LEVELS = (0, 1, 2, 3, 5)


class BlockColumns:
    """Properties of the blocks of a page, one value for each block unless said otherwise.

    Attributes:
        chars, words, linked: Numbers of characters, words, characters of links.
        ends: Whether it ends as a sentence does.
        commas: Number of its commas and ends of sentences.
        heading: Level of the heading that it is, or 0.
        tags: Whether its container has each of ``TAGS``, (tags, blocks).
        flags: Flags of its container and all ancestors, (flags, blocks).
        homes: Index of its container.
        around: Index of its container and of the ancestors at ``_LEVELS``, (levels, blocks).
        groups: Number of the group of blocks in containers of one path.
        twins: Containers of the same parent and path, for each container.
        twins_above: The same for the container three levels up.
    """

    def __init__(self, blocks: PageBlocks, title: str) -> None:
        texts = text_columns(blocks.texts, title)
        self.chars, self.words = texts["chars"], texts["words"]
        self.digits, self.upper, self.commas = texts["digits"], texts["upper"], texts["commas"]
        self.ends, self.price, self.legal = texts["ends"], texts["price"], texts["legal"]
        self.action, self.date, self.in_title = texts["action"], texts["date"], texts["in_title"]
        self.linked = np.array(blocks.linked, dtype=np.float64) * texts["density"]
        self.links = np.array(blocks.links, dtype=np.float64)
        self.link_share = self.linked / np.maximum(self.chars, 1)
        self.homes = homes = np.array(blocks.homes, dtype=np.int64)
        self.parents = parents = np.array(blocks.parents, dtype=np.int64)
        above = [homes]
        for _ in range(max(_LEVELS)):
            above.append(parents[above[-1]])
        self.around = [above[level] for level in _LEVELS]
        found = map(_NUMBERS.get, blocks.tags, repeat(0))
        numbers = np.fromiter(found, np.int64, len(blocks.tags))
        levels = np.where(numbers <= _LAST_HEADING, numbers, 0)
        self.heading = np.where(levels, levels, levels[parents])[homes].astype(np.float64)
        self.tags = numbers[homes] == _TAG_NUMBERS
        self.depth = np.array(blocks.depths, dtype=np.int64)[homes]
        sizes = Counter(blocks.texts)
        self.same_text = np.array([sizes[text] for text in blocks.texts], dtype=np.int64)
        paths = np.array(blocks.paths, dtype=np.int64)
        self.groups = np.unique(paths[homes], return_inverse=True)[1]
        # Cards of a list, posts of a thread.
        self.twins = _sizes_of_groups((parents * 1_000_003) ^ paths)
        self.twins_above = self.twins[above[2]]
        own = np.array(blocks.own, dtype=np.int64)
        self.flags = _bits(np.array(blocks.inherited, dtype=np.int64)[homes])
        self.near_flags = _bits(own[homes] | own[above[1]] | own[above[2]])
        self.inline_flags = _bits(np.array(blocks.inline, dtype=np.int64))
        self._ends = np.array(blocks.ends, dtype=np.int64)

    def sums_below(self, weights: Sequence[Column]) -> Column:
        """Return the sums of weights of the blocks in and below each container.

        Args:
            weights: Numbers of each block, (weights, blocks).

        Returns:
            float64, (weights, containers).
        """
        count = len(self.parents)
        sums = np.zeros((len(weights), count + 1))
        np.cumsum(_sums(self.homes, weights, count), axis=1, out=sums[:, 1:])
        below: Column = sums.take(self._ends, axis=1) - sums[:, :-1]
        return below

    def sums_of_groups(self, weights: Sequence[Column]) -> Column:
        """Return the sums of weights of the blocks of each group, float64, (weights, groups)."""
        return _sums(self.groups, weights, int(self.groups.max(initial=-1)) + 1)


def _sums(homes: Column, weights: Sequence[Column], count: int) -> Column:
    """Return the sums of weights of the blocks of each home, (weights, homes)."""
    table = np.array(weights, np.float64)
    keys = homes + np.arange(len(table))[:, None] * count
    sums = np.bincount(keys.ravel(), table.ravel(), len(table) * count)
    return sums.reshape(len(table), count)


def _sizes_of_groups(keys: Column) -> Column:
    """Return for each row how many rows have its key."""
    _, groups, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    return sizes[groups]


def _bits(flags: Column) -> Column:
    """Return whether each flag is set, uint8, (len(FLAGS), rows)."""
    octets = flags.astype("<i8").view(np.uint8).reshape(-1, 8).T
    return np.unpackbits(octets, axis=0, count=len(FLAGS), bitorder="little")


_NAMES = "chars words density digits upper commas ends price legal action date in_title".split()

# Characters of a text in which its kind is looked for.
_LOOKED_AT = 600
_COMMAS = ",;，、。！？،؛؟।۔"
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
    counted = count_characters(starts, _COMMAS, _scripts(), _SCRIPT_STEP)
    digits, capitals, stops, spaces, more, fifths = counted
    chars, letters, unspaced = shown.copy(), shown + more, fifths / _FIFTHS
    for at in np.flatnonzero(shown == _LOOKED_AT).tolist():
        chars[at] = len(texts[at])
        spaces[at] += texts[at].count(" ", _LOOKED_AT)
    sizes = (letters * chars / shown, spaces + 1 + unspaced * chars / shown, letters / shown)
    shares = (digits / shown, capitals / shown, stops * chars / shown)
    whole = _BETWEEN.join(starts)
    fits = chars < min(_MAX_IN_TITLE, len(title) + 1)
    likely = np.flatnonzero((letters > _MIN_IN_TITLE) & fits).tolist()
    marked = (
        [at for at, text in enumerate(texts) if text[-1] in _SENTENCE_ENDS],
        _priced(texts, np.flatnonzero((digits > 0) & (chars < _MAX_PRICE)).tolist()),
        [at for at in _holding(_LEGAL_WORDS, whole.lower()) if len(texts[at]) < _LOOKED_AT],
        _actions(texts),
        _dated(texts, whole, np.flatnonzero((digits > 0) & (chars < _SHORT)).tolist()),
        [at for at in likely if texts[at].lower() in title],
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


@cache
def _scripts() -> Any:
    """Return what a character counts for beyond one letter, and its fifths of a word; (2, steps).

    A step is a run of characters of one script.
    """
    firsts = np.arange(0, _SCRIPTS[-1, 0] + 1, _SCRIPT_STEP)
    numbers = np.searchsorted(_SCRIPTS[:, 0], firsts, "right") - 1
    return _SCRIPTS[numbers, 1:].T - [[1], [0]]
