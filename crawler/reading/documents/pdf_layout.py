"""Join the lines of a PDF into paragraphs, without what stands on every page.

A PDF says where each line stands, and not what belongs together. Lines are joined where the
next word would not have fitted on the line before, as in text that a program has wrapped.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from itertools import pairwise
from statistics import median_low
from typing import TYPE_CHECKING, NamedTuple

from crawler.reading.documents.document_text import HEADINGS, PARAGRAPH, ROW

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD = re.compile(r"\w+")
_BULLET = re.compile(r"[•◦▪‣●○■□–—*·-]\s|[([]?(?:\d{1,3}|[a-z])[.)\]]\s")
_ENDS = frozenset(".!?:;…。！？：；؟۔।")
_HYPHENS = "-\u2010\u00ad\ufffe\x02"
_SOFT = "\u00ad"
_NUMBER = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"\W*(?:\w{1,6}\.?\W+)?(\d{1,5})(?:\W+(?:\w{1,4}\W+)?\d{1,5})?\W*")
# Chinese, Japanese, Thai, Lao, Burmese and Khmer have no spaces between words.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u31a0-\u9fff\uf900-\ufaff\uff01-\uff60"
    "\U00020000-\U0003ffff]"
)
_RIGHT_TO_LEFT = frozenset({"R", "AL"})

_SAME_HEIGHT = 0.12
_INDENT = 0.7
_HEADING = 1.15
_MAX_HEADING_CHARACTERS = 200
_MAX_GAP = 1.3
_SAME_ROW = 0.33
_SAME_PLACE = 3.0
_MIN_PAGES = 3
_OUTERMOST = 3
_APART = 1.6
# Points: an indented first line begins no other column.
_COLUMN = 36
# More than a word has; only so much of a long paragraph is read for each hyphen.
_TAIL_CHARACTERS = 200
# Right-to-left text is joined as its image in a mirror.
_MIRROR = 10_000.0


class Line(NamedTuple):
    """A line of a page; coordinates in points from the lower left corner.

    Attributes:
        block: The number of the heading, paragraph, item or row that it is of, where it is known.
        kind: The kind of that.
    """

    text: str
    page: int
    left: float
    right: float
    bottom: float
    height: float
    block: int = 0
    kind: str = ""


def paragraphs(lines: list[Line]) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each paragraph.

    Args:
        lines: The lines of all pages in reading order.
    """
    lines = without_frame(lines)
    if not lines:
        return
    if is_right_to_left("".join(line.text[:50] for line in lines[:200])):
        lines = [_mirrored(line) for line in lines]
    joiner = _Joiner(lines)
    heights = Counter[float]()
    for line in lines:
        heights[round(line.height, 1)] += len(line.text)
    body = heights.most_common(1)[0][0]
    larger = sorted((h for h in heights if h > body * _HEADING), reverse=True)
    levels = {height: HEADINGS[min(at, 5)] for at, height in enumerate(larger)}
    for group in joiner.groups():
        text = joiner.joined(group)
        kind = group[0].kind or PARAGRAPH
        kind = levels.get(round(group[0].height, 1), kind) if kind == PARAGRAPH else kind
        is_long = kind in HEADINGS and len(text) > _MAX_HEADING_CHARACTERS
        yield (PARAGRAPH if is_long else kind), text


def without_frame(lines: list[Line]) -> list[Line]:
    """Return lines without page numbers, and without headers and footers of all pages."""
    pages = defaultdict[int, list[Line]](list)
    for line in lines:
        pages[line.page].append(line)
    if len(pages) < _MIN_PAGES:
        return lines
    usual = median_low([line.height for line in lines])
    edges: dict[int, list[Line]] = {}
    for number, page in pages.items():
        by_place = sorted(page, key=lambda line: line.bottom)
        outer = _set_apart(by_place) + _set_apart(by_place[::-1])
        edges[number] = [line for line in outer if line.height <= usual * _HEADING]
    left_out = {id(line) for line in _page_numbers(edges)}
    left_out |= {id(line) for line in _repeated(edges)}
    return [line for line in lines if id(line) not in left_out]


def _set_apart(lines: list[Line]) -> list[Line]:
    """Return the first lines of some from an edge of the page inwards, if a gap follows them."""
    for at, (outer, inner) in enumerate(pairwise(lines[: _OUTERMOST + 1]), 1):
        gap = abs(inner.bottom - outer.bottom)
        if gap > _APART * max(outer.height, inner.height):
            return lines[:at]
    return []


def _page_numbers(edges: dict[int, list[Line]]) -> Iterator[Line]:
    """Yield the outermost lines that count the pages."""
    counted = defaultdict[tuple[int, int], list[Line]](list)
    for number, lines in edges.items():
        for line in lines:
            if found := _PAGE_NUMBER.fullmatch(line.text):
                place = round(line.bottom / _SAME_PLACE)
                counted[int(found[1]) - number, place].append(line)
    for lines in counted.values():
        if len({line.page for line in lines}) >= _MIN_PAGES:
            yield from lines


def _repeated(edges: dict[int, list[Line]]) -> Iterator[Line]:
    """Yield the outermost lines that all pages have, or all left and all right ones.

    The first page may lack them.
    """
    for numbers in (list(edges), list(edges)[::2], list(edges)[1::2]):
        found = defaultdict[tuple[str, int], list[Line]](list)
        for number in numbers:
            for line in edges[number]:
                key = _NUMBER.sub("0", line.text), round(line.bottom / _SAME_PLACE)
                found[key].append(line)
        for lines in found.values():
            on = {line.page for line in lines}
            missing = set(numbers) - on
            if len(on) >= _MIN_PAGES and missing <= {min(edges)} and _counts_pages(lines):
                yield from lines


def _counts_pages(lines: list[Line]) -> bool:
    """Return whether the numbers in a repeated line are the same, or go up with the pages."""
    rows = [[int(digits[:9]) for digits in _NUMBER.findall(line.text)] for line in lines]
    for column in zip(*rows, strict=True):
        offsets = {value - line.page for value, line in zip(column, lines, strict=True)}
        if len(set(column)) > 1 and len(offsets) > 1:
            return False
    return True


class _Joiner:
    """Joins the lines of one document.

    Args:
        lines: Its lines in reading order.
    """

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._words = Counter(word for line in lines for word in _WORD.findall(line.text.lower()))
        self._text_edges = defaultdict[tuple[int, int], float](float)
        for line in lines:
            self._text_edges[_column(line)] = max(self._text_edges[_column(line)], line.right)
        gaps = [
            (a.bottom - b.bottom) / a.height
            for a, b in pairwise(lines)
            if a.page == b.page and a.height > 0 and 0.8 < (a.bottom - b.bottom) / a.height < 2.5
        ]
        self._gap = median_low(gaps) if gaps else 1.2

    def groups(self) -> Iterator[list[Line]]:
        """Yield the lines of each paragraph."""
        group: list[Line] = []
        for line in self._lines:
            if group and not self._belongs(group, line):
                yield group
                group = []
            group.append(line)
        if group:
            yield group

    def joined(self, group: list[Line]) -> str:
        """Return the text of a paragraph, words joined that were divided at the ends of lines."""
        parts, text = [""], group[0].text
        for line in group[1:]:
            if len(text) > 2 * _TAIL_CHARACTERS:
                parts.append(text[:-_TAIL_CHARACTERS])
                text = text[-_TAIL_CHARACTERS:]
            if text[-1:] in _HYPHENS and len(text) > 1:
                text = self._undivided(text, line.text)
            else:
                text += between(text, line.text) + line.text
        return "".join(parts) + text

    def _undivided(self, text: str, following: str) -> str:
        """Join a word that was divided, or keep a hyphen that belongs to it."""
        before, after = _WORD.findall(text[:-1])[-1:], _WORD.match(following)
        bare = text.rstrip(_HYPHENS)
        if not before or not text[-2].isalpha() or after is None or not following[0].islower():
            return text + ("" if text[-2].isalnum() else " ") + following
        first, second = before[0].lower(), after[0].lower()
        if text[-1] == _SOFT or self._words[first + second]:
            return bare + following
        # "well-known" has two words that stand alone elsewhere, "infor-mation" has none.
        is_compound = self._words[first] > 1 and self._words[second] > 1
        return f"{bare}-{following}" if is_compound else bare + following

    def _belongs(self, group: list[Line], line: Line) -> bool:
        last = group[-1]
        if last.block or line.block:
            return last.block == line.block
        return ROW not in {last.kind, line.kind} and self._goes_on(group, line)

    def _goes_on(self, group: list[Line], line: Line) -> bool:
        last = group[-1]
        height = max(last.height, line.height)
        if abs(last.height - line.height) > _SAME_HEIGHT * height or _BULLET.match(line.text):
            return False
        down = (last.bottom - line.bottom) / height
        if last.page != line.page or down < -1:
            return self._goes_on_elsewhere(last, line)
        if abs(down) < _SAME_ROW:
            return True
        if down > self._gap * _MAX_GAP:
            return False
        inwards = (line.left - last.left) / height
        # A first line may be indented, or those below a bullet; no other line is.
        is_second = len(group) == 1
        may_be_inwards = is_second and _BULLET.match(last.text)
        if (inwards > _INDENT and not may_be_inwards) or (inwards < -_INDENT and not is_second):
            return False
        return not self._had_room(last, line)

    def _goes_on_elsewhere(self, last: Line, line: Line) -> bool:
        """Return whether a paragraph surely goes on in the next column or on the next page."""
        text = last.text
        if text[-1:] in _ENDS or self._had_room(last, line):
            return False
        return line.text[:1].islower() or bool(_UNSPACED.match(text[-1:]))

    def _had_room(self, last: Line, line: Line) -> bool:
        """Return whether the first word of a line would have fitted on the line before."""
        first = line.text.split(None, 1)[0]
        if _UNSPACED.match(first):
            first = first[0]
        width = (line.right - line.left) * len(first) / len(line.text)
        return self._edge(last) - last.right > width + last.height * 0.6

    def _edge(self, line: Line) -> float:
        """Return where the lines end that begin about where a line does."""
        page, column = _column(line)
        return max(self._text_edges.get((page, column + step), 0.0) for step in (-1, 0, 1))


def _column(line: Line) -> tuple[int, int]:
    return line.page, int(line.left // _COLUMN)


def _mirrored(line: Line) -> Line:
    return line._replace(left=_MIRROR - line.right, right=_MIRROR - line.left)


def is_right_to_left(text: str) -> bool:
    """Return whether most letters of a text are written from right to left."""
    letters = [letter for letter in text if letter.isalpha()]
    return sum(map(turns, letters)) * 2 > len(letters)


def turns(char: str) -> bool:
    """Return whether a character is written from right to left."""
    return unicodedata.bidirectional(char) in _RIGHT_TO_LEFT


def between(before: str, after: str) -> str:
    """Return what stands between two lines of a sentence: a space, unless its script has none."""
    return "" if _UNSPACED.match(before[-1:]) and _UNSPACED.match(after) else " "
