"""Read PDFs that Chromium printed by their marks, of which the text page of pdfium knows none.

Chromium writes the glyphs of a line from left to right, with the text of a cluster as
``ActualText`` (ISO 32000-1, 14.9.4), with ``ReversedChars`` around words from right to left
(14.8.2.3.3), with its spaces but for those at the ends of lines, and with a tree of headings,
lists and tables (14.7).
"""

from __future__ import annotations

import logging
import re
import time
import unicodedata
from dataclasses import dataclass
from itertools import count, islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import playa
from playa.content import TextObject, XObjectObject
from playa.page import TEXT_OPERATORS
from playa.structure import ContentItem, ContentObject, Element
from playa.utils import decode_text

from crawler.reading.content.blocks import RUBY
from crawler.reading.documents.document_text import HEADINGS, ITEM, PARAGRAPH, ROW
from crawler.reading.documents.pdf_layout import Line, between, is_right_to_left, turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playa.content import MarkedContent

_Content = tuple[Any, int | None]  # the number of the page or form, and that of a marked content

# What it warns of is in foreign documents.
logging.getLogger("playa").setLevel(logging.CRITICAL)

_MAX_ELEMENTS = 1_000_000
_MAX_PIECES, _MAX_CHARACTERS, _MAX_FORMS = 50_000, 1_000_000, 30
"""Leave a page to pdfium, which is faster, that has more, or forms within more forms."""

_SAME_LINE = 0.5
_NEXT_BELOW = 1.3
_WIDE_GAP = 1.0
# Letters are drawn twice for a shadow, which stands nearer than the next of the same letters.
_SHADOW = 0.2

_ROLES = dict(zip(("H1", "H2", "H3", "H4", "H5", "H6"), HEADINGS, strict=True))
_ROLES |= {"Title": "h1", "H": "h2", "LI": ITEM, "TR": ROW}
_ROLES |= dict.fromkeys(("P", "Caption", "Note", "TOCI"), PARAGRAPH)

_CLOSING = frozenset(".,:;!?)»،؛؟")
# Runs of pieces by their directions: within a line from right to left, and from left to right.
_TO_RIGHT = re.compile("L(?:[LN ]*[LN])?|N+|.")
_TO_LEFT = re.compile("R(?:[RN ]*R)?|.")


class _Place(NamedTuple):
    """A place in the tree of a document, of a marked content.

    Attributes:
        order: When it is read.
        block: The number of its heading, paragraph, item or row; 0 for none.
        kind: The kind of that.
        cell: The number of its cell in a row.
        is_reading: Whether it is the reading of characters before it.
    """

    order: int = -1
    block: int = 0
    kind: str = ""
    cell: int = 0
    is_reading: bool = False


class _Piece(NamedTuple):
    """Glyphs in a row, or a cluster of them; coordinates as those of a ``Line``.

    Attributes:
        direction: ``R`` for right to left, ``L`` for letters from left to right, ``N`` for
            numbers, a space for signs.
        end: Where the next piece may stand below, as in vertical lines; None for nowhere.
    """

    text: str
    content: _Content
    left: float
    right: float
    bottom: float
    height: float
    direction: str
    end: float | None


@dataclass(slots=True)
class _Part:
    """The pieces of a line, or those of them that are of one marked content."""

    place: _Place
    pieces: list[_Piece]
    text: str

    def joint(self, part: _Part) -> str | None:
        """Return what stands between this and a part of the same line; None for one of another."""
        last, piece = self.pieces[-1], part.pieces[0]
        if part.place.is_reading:
            return ""
        if part.place.block != self.place.block:
            return None
        if part.place.cell != self.place.cell:
            return "\t" * (part.place.cell - self.place.cell)
        if _is_on_line(last, piece):
            return "" if _is_beside(last, piece) else " "
        return between(self.text, part.text) if self.place.kind == ROW else None

    def line(self, number: int) -> Line:
        """Return the line of a page."""
        highest = max(self.pieces, key=lambda piece: piece.height)
        left, right = (min(p.left for p in self.pieces), max(p.right for p in self.pieces))
        height = max(highest.height, 0.1)
        block, kind = self.place.block, self.place.kind
        return Line(self.text, number, left, right, highest.bottom, height, block, kind)


class PrintedPages:
    """The pages of a PDF that Chromium printed.

    Args:
        body: The document.
        deadline: When it is given up, by ``time.process_time``.

    Raises:
        TimeoutError: Its tree takes longer.
    """

    def __init__(self, body: bytes, deadline: float) -> None:
        self._document = playa.parse(body, space="default")
        self._places = _places(self._document, deadline)

    def lines(self, number: int, deadline: float) -> list[Line] | None:
        """Return the lines of a page in the order of the tree, None where it cannot be read.

        Args:
            number: The number of the page, from 0.
            deadline: When it is given up, by ``time.process_time``.
        """
        try:
            pieces = _pieces(self._document.pages[number], deadline)
            parts = sorted(self._parts(pieces), key=lambda part: part.place.order)
        except Exception:  # whatever it is, pdfium reads the page too
            return None
        found = list[_Part]()
        for part in parts:
            if part.place.is_reading:
                part.text = part.text.strip().join(RUBY)
            joint = found[-1].joint(part) if found else None
            if joint is None:
                part.text = "\t" * (part.place.cell - 1) + part.text
                found.append(part)
                continue
            last = found[-1]
            last.text += joint + part.text
            if not part.place.is_reading:
                last.place, last.pieces = part.place, last.pieces + part.pieces
        return [part.line(number) for part in found]

    def _parts(self, pieces: list[_Piece]) -> Iterator[_Part]:
        """Yield the parts of lines in the order in which they are drawn."""
        is_turned = is_right_to_left("".join(piece.text for piece in pieces))
        groups = _groups(pieces)
        places = [self._places.get(group[0].content) for group in groups]
        # Quotation marks and other words of a style are of the sentence beside which they stand.
        for at, (last, group) in enumerate(pairwise(groups), 1):
            if places[at] is None and _is_beside(last[-1], group[0]):
                places[at] = places[at - 1]
        following, first = _Place(_MAX_ELEMENTS), None
        for at, group in reversed(list(enumerate(groups))):
            is_beside = first is not None and _is_beside(group[-1], first)
            following = places[at] or (following if is_beside else _Place(following.order))
            places[at], first = following, group[0]
        for place, group in zip(places, groups, strict=True):
            yield _Part(place or _Place(), group, _text(group, is_turned=is_turned))


def _places(document: playa.Document, deadline: float) -> dict[_Content, _Place]:
    """Return the places of the marked contents that the tree of a document knows."""
    places, numbers, room = dict[_Content, _Place](), count(1), _MAX_ELEMENTS
    left: list[tuple[Any, _Place]] = [(document.structure or (), _Place())]
    while left and room > 0:
        if time.process_time() > deadline:
            raise TimeoutError
        element, place = left.pop()
        if isinstance(element, ContentItem):
            page, form = element.page, element.stream
            tree = form.get("StructParents") if form else page and page.parent_key
            places.setdefault((tree, element.mcid), place._replace(order=len(places)))
        elif not isinstance(element, ContentObject):
            parts = list(enumerate(islice(element, room), 1))
            room -= 1 + len(parts)
            for at, child in reversed(parts):
                is_part = isinstance(child, Element)
                left.append((child, _within(place, child.role, numbers, at) if is_part else place))
    return places


def _within(outer: _Place, role: str, numbers: Iterator[int], at: int) -> _Place:
    """Return the place of the child of an element, by its role and its number there."""
    kind = _ROLES.get(role)
    if role == "RT":
        return outer._replace(is_reading=True)
    if outer.kind == ROW:
        return outer._replace(cell=at) if role in {"TD", "TH"} else outer
    if kind is None or (kind == PARAGRAPH and outer.kind == ITEM):
        return outer
    return _Place(block=next(numbers), kind=kind)


def _texts(
    part: playa.Page | XObjectObject, deadline: float, depth: int = 0
) -> Iterator[TextObject]:
    """Yield the texts of a page or a form, and of the forms within it.

    Raises:
        ValueError: There is no time left, or forms are nested too deep.
    """
    for one in part.interp({TextObject, XObjectObject}, TEXT_OPERATORS):
        if time.process_time() > deadline or depth > _MAX_FORMS:
            raise ValueError("a page that takes too long")
        if isinstance(one, XObjectObject):
            yield from _texts(one, deadline, depth + 1)
        elif isinstance(one, TextObject):
            yield one


def _pieces(page: playa.Page, deadline: float) -> list[_Piece]:
    """Return the pieces of a page in the order in which they are drawn.

    Raises:
        ValueError: There are too many, or there is no time left.
    """
    found, last, room = list[_Piece](), None, _MAX_CHARACTERS
    for one in _texts(page, deadline):
        font = one.gstate.font
        if font is None or any(map(_is_of_frame, one.mcstack)):
            continue
        if len(found) > _MAX_PIECES or room < 0:
            raise ValueError("too much text for a page")
        across, up, _, _, left, bottom = one.matrix
        aside, down = one.displacement
        right = left + aside
        marks = (mark for mark in reversed(one.mcstack) if mark.props.get("ActualText"))
        mark = next(marks, None)
        if mark is not None and mark is last:
            found[-1] = found[-1]._replace(right=max(found[-1].right, right))
            continue
        last = mark
        strings = (part for part in one.args if isinstance(part, bytes))
        glyphs = [char for string in strings for _, char in font.decode(string)]
        if mark is not None:
            glyphs = [decode_text(mark.props["ActualText"])]
        is_reversed = any(mark.tag == "ReversedChars" for mark in one.mcstack)
        text = "".join(reversed(glyphs) if is_reversed else glyphs)
        room -= len(text)
        direction = _direction(text, is_reversed=is_reversed)
        is_turned = abs(up) > abs(across)
        end = bottom + down if is_turned or len(glyphs) == 1 else None
        content = one._parentkey, one.mcid
        found.append(_Piece(text, content, left, right, bottom, one.size, direction, end))
    return found


def _is_of_frame(mark: MarkedContent) -> bool:
    """Return whether a mark is of a header or a footer; other artifacts may say something."""
    return mark.tag == "Artifact" and str(mark.props.get("Type")).strip("/'") == "Pagination"


def _direction(text: str, *, is_reversed: bool) -> str:
    if any(map(turns, text)) or (is_reversed and not text.isspace()):
        return "R"
    if any(unicodedata.bidirectional(char) == "L" for char in text):
        return "L"
    return "N" if any(map(str.isalnum, text)) else " "


def _is_on_line(last: _Piece, piece: _Piece) -> bool:
    """Return whether a piece stands on the line of the one before."""
    height = max(last.height, piece.height)
    if last.end is not None and abs(last.left - piece.left) <= _SAME_LINE * height:
        return abs(last.end - piece.bottom) < _NEXT_BELOW * height
    return abs(last.bottom - piece.bottom) <= _SAME_LINE * height


def _is_beside(last: _Piece, piece: _Piece) -> bool:
    """Return whether a piece stands on the line of the one before, and not far from it."""
    gap = max(last.left, piece.left) - min(last.right, piece.right)
    return _is_on_line(last, piece) and gap < _WIDE_GAP * max(last.height, piece.height)


def _groups(pieces: list[_Piece]) -> list[list[_Piece]]:
    """Return the pieces of each marked content in each line, without those drawn for a shadow."""
    groups = list[list[_Piece]]()
    for piece in pieces:
        group = groups[-1] if groups else []
        goes_on = group and piece.content == group[0].content and _is_beside(group[-1], piece)
        if not goes_on or _is_again(group[0], piece):
            groups.append([])
        groups[-1].append(piece)
    both = pairwise([[], *groups])
    return [group for last, group in both if not last or not all(map(_is_again, last, group))]


def _is_again(last: _Piece, piece: _Piece) -> bool:
    """Return whether a piece is drawn once more at the same place, or beside it for a shadow."""
    if (last.text, last.content) != (piece.text, piece.content):
        return False
    away = max(abs(last.left - piece.left), abs(last.bottom - piece.bottom))
    return away < _SHADOW * piece.height


def _text(part: list[_Piece], *, is_turned: bool) -> str:
    """Return what pieces in a line say.

    Args:
        part: The pieces.
        is_turned: Whether most of the page is written from right to left.
    """
    kinds = {piece.direction for piece in part}
    text = "".join(piece.text for piece in part)
    # A sentence of another script ends at the left where its paragraph is written to the left.
    if "R" in kinds or (is_turned and ("L" not in kinds or text.lstrip()[:1] in _CLOSING)):
        part = sorted(part, key=lambda piece: piece.left)
        part = _logical(part, is_turned=is_turned or is_right_to_left(text))
    return "".join(piece.text for piece in part)


def _logical(pieces: list[_Piece], *, is_turned: bool) -> list[_Piece]:
    """Return pieces that stand side by side in the order in which they are read.

    The last rule of the bidirectional algorithm (UAX 9, L2) turns runs, and is its own inverse.
    """
    kinds = "".join(piece.direction for piece in pieces)
    runs = list((_TO_RIGHT if is_turned else _TO_LEFT).finditer(kinds))
    found = list[_Piece]()
    for run in reversed(runs) if is_turned else runs:
        part = pieces[slice(*run.span())]
        is_nested = run[0][0] == "R" and not is_turned
        found += _logical(part, is_turned=True) if is_nested else part
    return found
