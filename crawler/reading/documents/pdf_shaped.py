"""Read the lines of a PDF's page whose script is shaped: Arabic, Hindi, Thai and their like.

Browsers write each glyph of such a script by itself: what it stands for in ``ActualText``, those of
words from right to left in the order in which they are seen, as ``ReversedChars``. pdfium's own
text of such a page has words turned round, gaps within them and doubled letters. Here the glyphs
are put in the order of their places, and turned by the rules of bidirectional text (UAX 9, L2).
"""

from __future__ import annotations

import unicodedata
from ctypes import byref, c_float, c_ubyte, c_ulong, c_ushort, c_void_p, cast
from functools import partial
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from pypdfium2 import raw

from crawler.reading.documents.pdf_layout import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pypdfium2 import PdfPage, PdfTextPage

_RIGHT_TO_LEFT = frozenset({"R", "AL"})
_DIGITS = frozenset({"EN", "AN"})
_FIRST_SHAPED = "\u0590"
_MAX_OBJECTS, _MAX_STEPS = 100_000, 500_000_000
"""Leave a page with more objects to pdfium, or with more steps: each object looks at each character
of the page."""

_MAX_MARKS = 10
_MAX_BYTES = 200
_SAME_LINE = 0.3
"""Glyphs stand on one line whose baselines differ by less than this share of their size."""

_SPACE, _SHAPED_SPACE, _APART = 0.15, 0.25, 0.4
"""Sizes between two glyphs with a space between them, where the first one is shaped, and between
two of which none has one."""

_COLUMN = 2.5
"""Sizes between two glyphs of which the second begins another cell or column."""


class _Glyphs(NamedTuple):
    """What stands for some characters together; coordinates in points from the lower left corner.

    Attributes:
        text: The characters as they are read.
        place: Where the pen begins.
        left: Where its ink begins.
        right: Where its ink ends.
        baseline: Its baseline.
        size: Size of its font.
        is_named: Whether the document says what it stands for, and not its font alone.
        has_space: Whether a space may stand before or behind it.
        content: What it is a part of, such as a paragraph or a cell; None: that is not known.
    """

    text: str
    place: float
    left: float
    right: float
    baseline: float
    size: float
    is_named: bool
    has_space: bool
    content: int | None


class _Marks(NamedTuple):
    """What a document says of some glyphs.

    Attributes:
        is_reversed: Whether they stand in the order in which they are seen.
        span: The address of the span that says what they stand for; None: none does.
        actual: What they stand for.
        content: The address of the outermost mark; None: they have none.
    """

    is_reversed: bool
    span: int | None = None
    actual: str = ""
    content: int | None = None


def shaped_lines(page: PdfPage, text_page: PdfTextPage, number: int) -> list[Line] | None:
    """Return the lines of a page in a shaped script; None where it has none, or holds forms.

    Args:
        page: The page.
        text_page: Its text.
        number: Its number, for the lines.

    Complexity: O(objects · characters), of which pdfium takes a nanosecond each.
    """
    count = raw.FPDFPage_CountObjects(page.raw)
    if count > _MAX_OBJECTS or count * text_page.count_chars() > _MAX_STEPS:
        return None
    objects, is_shaped = list[tuple[Any, _Marks]](), False
    for at in range(count):
        shown = raw.FPDFPage_GetObject(page.raw, at)
        kind = raw.FPDFPageObj_GetType(shown)
        if kind == raw.FPDF_PAGEOBJ_FORM:
            return None
        if kind == raw.FPDF_PAGEOBJ_TEXT:
            marks = _marks(shown)
            objects.append((shown, marks))
            is_shaped |= marks.is_reversed or any(one >= _FIRST_SHAPED for one in marks.actual)
    if not is_shaped:
        return None
    glyphs, last = list[_Glyphs](), None
    for shown, marks in objects:
        made = _glyphs(shown, text_page, marks)
        if marks.span is not None and marks.span == last:  # of several glyphs
            glyphs[-1] = glyphs[-1]._replace(right=max(glyphs[-1].right, made.right))
        else:
            glyphs.append(made)
        last = marks.span
    return [line for group in _on_lines(glyphs) if (line := _line(group, number)).text]


def _marks(shown: Any) -> _Marks:
    found, size = _Marks(False), c_ulong(0)
    for at in range(min(raw.FPDFPageObj_CountMarks(shown), _MAX_MARKS)):
        mark = raw.FPDFPageObj_GetMark(shown, at)
        address = cast(mark, c_void_p).value
        name = _utf_16(partial(_named, mark))
        if at == 0:
            found = found._replace(content=address)
        if name == "ReversedChars":
            found = found._replace(is_reversed=True)
        if name != "Span":
            continue
        buffer = (c_ubyte * _MAX_BYTES)()
        is_there = raw.FPDFPageObjMark_GetParamBlobValue(
            mark, b"ActualText", buffer, _MAX_BYTES, byref(size)
        )
        written = bytes(buffer)[: size.value] if is_there else b""
        if written.startswith(b"\xfe\xff") and size.value <= _MAX_BYTES:
            said = written[2:].decode("utf-16-be", "replace")
            return found._replace(span=address, actual=said)
    return found


def _named(mark: Any, buffer: Any, room: int) -> int:
    size = c_ulong(0)
    raw.FPDFPageObjMark_GetName(mark, buffer, room, byref(size))
    return size.value


def _utf_16(ask: Callable[[Any, int], int]) -> str:
    """Return what a function of pdfium writes into a buffer, of which it returns the size."""
    size = ask(None, 0)
    buffer = (c_ushort * (size // 2 + 1))()
    ask(buffer, size)
    return bytes(buffer)[: max(size - 2, 0)].decode("utf-16-le", "replace")


def _glyphs(shown: Any, text_page: PdfTextPage, marks: _Marks) -> _Glyphs:
    matrix, size = raw.FS_MATRIX(), c_float()
    raw.FPDFPageObj_GetMatrix(shown, byref(matrix))
    raw.FPDFTextObj_GetFontSize(shown, byref(size))
    left, bottom, right, top = c_float(), c_float(), c_float(), c_float()
    raw.FPDFPageObj_GetBounds(shown, byref(left), byref(bottom), byref(right), byref(top))
    said = marks.actual
    if marks.span is None:
        said = _utf_16(partial(raw.FPDFTextObj_GetText, shown, text_page.raw))
    text = said.strip() or " "
    # A space has no ink, so that an edge of the ink is the pen's place. pdfium adds spaces too,
    # behind letters alone.
    if text != " " and left.value == matrix.e:
        if said[0] == " ":
            text = f" {text}"
        elif marks.is_reversed and said[-1] == " " and _kind(text) is None:
            text = f"{text} "
    scale = abs(matrix.d) or abs(matrix.b) or 1.0
    return _Glyphs(
        text,
        matrix.e,
        left.value,
        right.value,
        matrix.f,
        max(size.value * scale, 0.1),
        marks.span is not None,
        said != said.strip(),
        marks.content,
    )


def _on_lines(glyphs: list[_Glyphs]) -> Iterator[list[_Glyphs]]:
    """Yield the glyphs of each line in the order of their places, from the left."""
    line: list[_Glyphs] = []
    for one in glyphs:
        size = max(one.size, line[-1].size) if line else 0
        # A line is written from the left; what stands left of it is another cell.
        is_left = bool(line) and one.place < line[-1].place - size
        if line and (is_left or abs(one.baseline - line[-1].baseline) > _SAME_LINE * size):
            yield from _cells(line)
            line = []
        line.append(one)
    yield from _cells(line)


def _cells(line: list[_Glyphs]) -> Iterator[list[_Glyphs]]:
    cell: list[_Glyphs] = []
    for one in sorted(line, key=lambda one: one.place):
        if cell and one.left - cell[-1].right > _COLUMN * one.size:
            yield cell
            cell = []
        cell.append(one)
    if cell:
        yield cell


def _line(glyphs: list[_Glyphs], number: int) -> Line:
    shown: list[tuple[str, bool]] = []
    for before, one in zip((None, *glyphs), glyphs, strict=False):
        if before is not None and before.text[-1] != " ":
            gap = _SHAPED_SPACE
            if before.content != one.content:
                gap = _SPACE
            elif _kind(before.text) == _kind(one.text) == 2:
                gap = _APART
            elif before.text[-1] < _FIRST_SHAPED:
                gap = _SPACE if before.has_space or one.has_space else _APART
            shown += [(" ", True)] * (one.left - before.right > gap * one.size)
        shown.append((one.text, one.is_named))
    text = " ".join(logical(shown).split())
    size = max(one.size for one in glyphs)
    right = max(one.right for one in glyphs)
    return Line(text, number, glyphs[0].left, right, glyphs[0].baseline, size)


def logical(glyphs: list[tuple[str, bool]]) -> str:
    """Return a line as it is read.

    Args:
        glyphs: What stands on it from the left, and whether that is as it is read: else a bracket
            has the shape of its place.
    """
    kinds = [_kind(text) for text, _ in glyphs]
    weights = {0: 0, 1: 0}
    for kind, (text, _) in zip(kinds, glyphs, strict=True):
        if kind in weights:
            weights[kind] += len(text)
    base = int(weights[1] > weights[0])
    levels = _levels([text for text, _ in glyphs], kinds, base)
    texts = [
        text if is_named or level % 2 == 0 else _turned(text)
        for (text, is_named), level in zip(glyphs, levels, strict=True)
    ]
    for level in (2, 1):
        at = 0
        for is_turned, group in groupby([one >= level for one in levels]):
            end = at + len(list(group))
            if is_turned:
                texts[at:end] = texts[at:end][::-1]
                levels[at:end] = levels[at:end][::-1]
            at = end
    return "".join(texts)


def _kind(text: str) -> int | None:
    """Return 1 for letters from right to left, 0 for others, 2 for digits, else None."""
    kinds = [unicodedata.bidirectional(letter) for letter in text]
    if any(kind in _RIGHT_TO_LEFT for kind in kinds):
        return 1
    if "L" in kinds:
        return 0
    return 2 if any(kind in _DIGITS for kind in kinds) else None


def _levels(texts: list[str], kinds: list[int | None], base: int) -> list[int]:
    """Return the embedding levels of a line: what is neutral has that of both its neighbours."""
    levels, known = [base] * len(kinds), [at for at, kind in enumerate(kinds) if kind is not None]
    for at in known:
        levels[at] = {0: 2 * base, 1: 1, 2: 2}[kinds[at] or 0]
    if not base:
        for place, at in enumerate(known):
            nearby = [kinds[one] for one in known[max(place - 1, 0) : place + 2]]
            if kinds[at] == 2 and 1 not in nearby:
                levels[at] = 0
    for before, after in pairwise(known):
        # A space between two numbers is one between words.
        is_between = kinds[before] == kinds[after] == 2 and not texts[before + 1].strip()
        if levels[before] == levels[after] and not is_between:
            levels[before + 1 : after] = [levels[before]] * (after - before - 1)
    return levels


_BRACKETS = str.maketrans("()[]{}<>«»‹›", ")(][}{><»«›‹")


def _turned(text: str) -> str:
    return text.translate(_BRACKETS)
