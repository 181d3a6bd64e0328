"""Tell by their names whether two near texts are different things.

Two products on one template, two sections of a statute and two classes of one manual have nearly
the same words. What tells them apart is what they are called: the title, the headings, the first
lines of a text that comes without a heading, and identifiers such as an ISBN or a SKU.

Where the names leave a doubt, both texts are kept: a copy that is kept costs a row, a text that is
dropped is lost.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from neardup.checks import checked_text
from neardup.errors import ParameterError
from neardup.titles import (
    Words,
    are_other_titles,
    contains,
    names_segment,
    segments,
    words_of,
)
from neardup.whole import part_of

MAX_NAME_CHARACTERS = 300
"""The number of characters of a title, a heading or the first lines that count."""

_HEAD_CHARACTERS = (MAX_NAME_CHARACTERS + 30, 2 * MAX_NAME_CHARACTERS)
"""The beginnings of a line in which its first words are looked for before all of it."""

MAX_NAMING_WORDS = 15
"""The number of words of the first line beyond which it is no name but a sentence."""

MAX_NUMBERED_CHARACTERS = 20_000
"""The number of characters at the beginning of a text in which labelled numbers are looked for."""

_WORD = re.compile(r"\w")
_MARK = re.compile(
    r"(?<=\S)(?<!\s[A-Z])(?<!^[A-Z])[\#¶](?=\s|$) | (?<=\S)\n[\#¶]$", re.MULTILINE | re.VERBOSE
)
"""A permalink mark behind a heading or alone in the next line; neither a comment nor C#."""

_MARKS = ("#", "¶")
_CANONICAL = "canonical"
_JOINTS = re.compile(r"[\s_.-]+")

_LABEL = re.compile("SKU|ISBN|GTIN|EAN|MPN|Art|Item|Model")
"""The beginnings of the labels below, which take a fifth of their time to look for."""

_LABELLED = re.compile(
    r"""
    \b (?: (?P<sku> SKU | Art(?:ikel|icle)?[.-]{0,2}\s?(?:Nr|No|number)? | Item\s(?:no|number|\#) )
        | (?P<isbn> ISBN (?:-1[03])? )
        | (?P<gtin> GTIN (?:-?\d\d?)? | EAN (?:-?13)? )
        | (?P<mpn> MPN | Model\s(?:no|number) ) )
    \b [.:\#\s]* (?P<value> (?=[\w-]{0,40}\d{3}) \w[\w-]{3,99} )
    """,
    re.VERBOSE,
)

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

_MAX_NAMES = 16_384
"""The number of names that are held in memory, some 20 MB."""


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a text.

    Attributes:
        title: The title that its source gives it, such as ``<title>``; empty: none.
        heading: The first heading; empty: none.
        opening: The first lines of the text, where it has no heading.
        identifiers: Identifiers of the thing that the text is about, as ``kind:value``, sorted.
        subheading: What the content is headed with behind the first heading; empty: nothing.
    """

    title: str = ""
    heading: str = ""
    opening: str = ""
    identifiers: tuple[str, ...] = ()
    subheading: str = ""

    def packed(self) -> str:
        """Return the name as one line, to be stored; empty for a name that says nothing."""
        if self == NO_NAME:
            return ""
        said = [self.title, self.heading, self.opening]
        return _encode([*said, list(self.identifiers), self.subheading])


NO_NAME = Name()


@lru_cache(_MAX_NAMES)
def unpacked(line: str) -> Name:
    """Return the name that ``Name.packed`` stored.

    Raises:
        ValueError: The line is not one of ``packed``.
    """
    if not line:
        return NO_NAME
    title, heading, opening, identifiers, subheading = json.loads(line)
    return Name(title, heading, opening, tuple(identifiers), subheading)


def name_of(
    text: str,
    title: str = "",
    heading: str = "",
    identifiers: tuple[str, ...] = (),
    subheading: str = "",
) -> Name:
    """Return the name of a text.

    A heading of the source that is a segment of the title may be that of the site: the line of the
    text with a permalink mark is taken for it where the title has that. Where the
    source gives no heading, the first line that ends in a permalink mark (``#`` or ``¶``)
    is one, and the first lines are stored if that line is not among them. Numbers with a label in
    the text (``SKU: AB-1234``, ``ISBN 978-3-16-148410-0``) are identifiers: the first one of each
    kind that the source does not give.

    Args:
        text: The text; of one with a whole its part counts.
        title: The title that its source gives it.
        heading: The first heading of its source.
        identifiers: Identifiers as ``kind:value``.
        subheading: What its source is headed with behind the first heading.

    Raises:
        FingerprintError: The text is none.
        ParameterError: The title or a heading is none.

    Complexity: O(20,000 characters).
    """
    text = part_of(checked_text(text)[:MAX_NUMBERED_CHARACTERS])
    title, heading, subheading = (
        _line("title", title),
        _line("heading", heading),
        _line("subheading", subheading),
    )
    opening = ""
    if not heading and _WORD.search(text):
        opening = _storable(text)
        heading = _marked_heading(text)
        if heading and heading in opening:
            opening = ""
    elif title and names_segment(title, words_of(heading)):
        marked = _marked_heading(text)
        heading = marked if marked and contains(words_of(title), words_of(marked)) else heading
    found = {_storable(each) for each in identifiers}
    kinds = {each.partition(":")[0] for each in found}
    found.update(each for each in _labelled(text) if each.partition(":")[0] not in kinds)
    return Name(title, heading, opening, tuple(sorted(found)), subheading)


def _line(what: str, text: object) -> str:
    if not isinstance(text, str):
        raise ParameterError(f"{what} must be a text, got {text!r}")
    return _storable(text)


def _storable(text: str) -> str:
    """Return the beginning of a text with single spaces between its words, line by line.

    Halves of surrogate pairs, which UTF-8 lacks, are replaced.
    """
    if not text:
        return ""
    stored = ""
    for line in text.split("\n"):
        if words := _first_words(line):
            stored = f"{stored}\n{words}" if stored else words
            if len(stored) >= MAX_NAME_CHARACTERS:
                break
    stored = stored[:MAX_NAME_CHARACTERS].strip()
    return stored if stored.isascii() else stored.encode("utf-8", "replace").decode()


def _first_words(line: str) -> str:
    """Return the beginning of a line with single spaces between its words.

    It has all that the first ``MAX_NAME_CHARACTERS`` characters of the line so spaced need.
    """
    for head in _HEAD_CHARACTERS:
        if len(line) <= head:
            break
        # The last word may be cut.
        words = " ".join(line[:head].split()[:-1])
        if len(words) >= MAX_NAME_CHARACTERS:
            return words
    return " ".join(line.split(maxsplit=MAX_NAME_CHARACTERS)[:MAX_NAME_CHARACTERS])


def _marked_heading(text: str) -> str:
    """Return the words of a line before the first permalink mark; empty: there are none."""
    for place in sorted(place for mark in _MARKS for place in _marked_places(text, mark)):
        start = place - 1 if text[place - 1] == "\n" else place
        # From its mark alone: the pattern is tried at each character otherwise.
        if _MARK.match(text, start) is None:
            continue
        line = text[max(text.rfind("\n", 0, start) + 1, start - 200) : start]
        if 0 < _count(words_of(line)) <= MAX_NAMING_WORDS:
            return _storable(line)
    return ""


def _marked_places(text: str, mark: str) -> Iterator[int]:
    """Yield where a mark ends a line or a word, with something before it."""
    place = text.find(mark, 1)
    while place >= 0:
        before, behind = text[place - 1], text[place + 1 : place + 2]
        if (before == "\n" or not before.isspace()) and (not behind or behind.isspace()):
            yield place
        place = text.find(mark, place + 1)


def _labelled(text: str) -> list[str]:
    """Return the first identifier of each kind that stands in a text with its label."""
    found: dict[str, str] = {}
    for label in _LABEL.finditer(text):
        match = _LABELLED.match(text, label.start())
        if match is None:
            continue
        kind = next(kind for kind in ("sku", "isbn", "gtin", "mpn") if match[kind])
        found.setdefault(kind, match["value"])
    return [f"{kind}:{value}" for kind, value in found.items()]


def difference(first: Name, second: Name) -> str:
    """Return what shows that two near texts are different things; empty: nothing does.

    Headings differ by their words; titles by all but what a site adds (``neardup.titles``);
    subheadings by their words where the first headings are the same, and so perhaps the site's;
    identifiers where both have some of one kind and share none; first lines where each is short and
    stands nowhere in the first lines of the other. ``canonical`` says where a page wants to be
    found; versions of one page name several, so that it decides nothing.

    Returns:
        ``heading``, ``title``, ``subheading``, ``identifier``, ``opening``, or nothing.

    Complexity: O(1) for names of before: 1 to 3 microseconds.
    """
    heading, their_heading = words_of(first.heading), words_of(second.heading)
    if heading != their_heading and _are_other_headings(first, heading, second, their_heading):
        return "heading"
    shared = heading if heading == their_heading else ()
    if are_other_titles(first.title, second.title, shared):
        return "title"
    if heading == their_heading and _are_other_subheadings(first.subheading, second.subheading):
        return "subheading"
    if _are_other_identifiers(first.identifiers, second.identifiers):
        return "identifier"
    if _are_other_openings(first.opening, second.opening):
        return "opening"
    return ""


def _are_other_headings(first: Name, ours: Words, second: Name, theirs: Words) -> bool:
    if ours and theirs:
        # The one page may head with its name and the other one with the name of the site.
        is_of_title = names_segment(first.title, ours) and names_segment(first.title, theirs)
        return not (is_of_title and segments(first.title) == segments(second.title))
    # One that has a heading alone, and one that has a title alone.
    if ours and not first.title and second.title:
        return not names_segment(second.title, ours)
    if theirs and not second.title and first.title:
        return not names_segment(first.title, theirs)
    return False


def _are_other_subheadings(first: str, second: str) -> bool:
    ours, theirs = segments(first), segments(second)
    return bool(ours and theirs) and ours != theirs


def _are_other_identifiers(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    if first == second or not first or not second:
        return False
    ours, theirs = _by_kind(first), _by_kind(second)
    return any(ours[kind].isdisjoint(theirs[kind]) for kind in ours.keys() & theirs.keys())


@lru_cache(_MAX_NAMES)
def _by_kind(identifiers: tuple[str, ...]) -> dict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for identifier in identifiers:
        kind, _, value = identifier.partition(":")
        if value and kind != _CANONICAL:
            found[kind].add(_JOINTS.sub("", value.casefold()))
    return dict(found)


def single_identifier(identifiers: tuple[str, ...]) -> tuple[str, ...]:
    """Return kind and value of the first identifier that is the only one of its kind, or nothing.

    Names whose identifiers of one kind, as this returns them, differ are other names.
    """
    found = sorted((kind, *values) for kind, values in _by_kind(identifiers).items())
    return next((one for one in found if len(one) == 2), ())


def _are_other_openings(first: str, second: str) -> bool:
    # Words of lines are dear, and first lines that name something have others below them.
    if first == second or "\n" not in first or "\n" not in second:
        return False
    ours, theirs = _lines(first), _lines(second)
    if len(ours) < 2 or len(theirs) < 2:
        return False
    if max(_count(ours[0]), _count(theirs[0])) > MAX_NAMING_WORDS:
        return False
    return ours[0] not in theirs and theirs[0] not in ours


@lru_cache(_MAX_NAMES)
def _lines(opening: str) -> tuple[Words, ...]:
    """Return the words and signs of each line that has words."""
    return tuple(words for words in map(words_of, opening.split("\n")) if _count(words))


def _count(words: Words) -> int:
    """Return the number of words without signs."""
    return len(list(filter(_WORD.match, words)))
