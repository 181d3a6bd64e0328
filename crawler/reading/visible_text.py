"""Read the texts of a page that its visitors see, and what they see by attributes.

All is read from one list of tags and texts (``flat_page.py``). Each tag has a kind, a sum of flags,
and what is hidden, linked or a control is a span of that list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.reading.flat_page import Tag
from crawler.reading.shown_attributes import SHOWN_BY_ATTRIBUTES, lines_of
from crawler.reading.text import BLOCKS, tidy
from neardup.whole import with_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.reading.flat_page import FlatPage

_BREAK, _EMPTY, _END, _HIDDEN, _LINKED, _CONTROL, _SHOWN, _FRAME = (1 << bit for bit in range(8))
_PLAIN = _BREAK | _EMPTY | _END

_RAW = frozenset(("script", "style", "template"))
_BESIDE = frozenset(("a", "nav", "iframe", "select", "textarea", "button", "label"))

_KINDS = dict.fromkeys(BLOCKS, _BREAK)
for _names, _flag in (
    # Not shown by browsers that run scripts.
    (("head", "script", "style", "noscript", "template"), _HIDDEN),
    (("a", "nav"), _LINKED),
    (("button", "select", "label"), _CONTROL),
    (("form", *SHOWN_BY_ATTRIBUTES), _SHOWN),
    (("frame",), _FRAME),
):
    _KINDS |= {_name: _KINDS.get(_name, 0) | _flag for _name in _names}
_KINDS |= {f"/{_name}": _kind & ~_SHOWN | _END for _name, _kind in _KINDS.items()}
_KINDS["/form"] |= _SHOWN


class Visible(NamedTuple):
    """Texts of a page, white space as it came.

    Attributes:
        text: All visible text.
        unlinked: Visible text outside links, navigation and controls.
        is_frameset: Whether other pages are shown in it, whose URLs stand at the end of the text.
        controls: Text of options, labels and buttons outside links and navigation.
        by_attributes: Lines that stand for pictures and the like, as ``shown_attributes`` has them.
        unscripted: Text that browsers without scripts show, on one line. Content may be taken from
            it, so that pages of equal text differ by it.
        unscripted_unlinked: The same outside links, navigation and controls.
    """

    text: str
    unlinked: str
    is_frameset: bool = False
    controls: str = ""
    by_attributes: str = ""
    unscripted: str = ""
    unscripted_unlinked: str = ""

    def whole(self) -> str:
        """Return all visible text, if there is any with what else tells the page from others."""
        if not self.text.strip():
            return with_whole(self.text, "")
        return with_whole(self.text, "\n".join(filter(None, (self.by_attributes, self.unscripted))))


class _Kinds(dict[str, int]):
    """The kinds of the tags of a page; most tags occur more than once."""

    def __missing__(self, tag: str) -> int:
        kind = _KINDS.get(tag.partition(" ")[0].removesuffix("/"), 0)
        if kind and tag[-1] == "/":
            # A form without anything in it is not read.
            kind = kind | _EMPTY if tag[:4] != "form" else _BREAK | _EMPTY
        self[tag] = kind
        return kind


def read_visible(page: FlatPage) -> Visible:
    """Return the visible text of a page.

    A frameset shows its frames, so their URLs stand for them: otherwise all framesets of a site
    would have one text, the notice for browsers without frames.

    Complexity: O(length), 1 ms for a page of 2,700 tags.
    """
    tags, texts = page.tags, page.texts.copy()
    kinds = list(map(_Kinds(_KINDS).__getitem__, tags))
    kinds[0] = kinds[-1] = 0  # the root is shown, whatever it is
    places = [at for at, kind in enumerate(kinds) if kind > _PLAIN]
    frames = _frames(tags, kinds, places)
    hidden = list(_outer(_spans(kinds, places, _HIDDEN)))
    unscripted = _unscripted(tags, texts, hidden, _RAW)
    beside = unscripted and _unscripted(tags, texts, hidden, _RAW | _BESIDE)
    _hide(texts, kinds, hidden)
    pieces = [
        f"\n{text}" if kind & _BREAK and (kind & _EMPTY or not text[:1].isspace()) else text
        for kind, text in zip(kinds, texts, strict=True)
    ]
    text = "\n".join(["".join(pieces), *frames])
    lines = lines_of(tags, [at for at in places if kinds[at] & _SHOWN])
    for start, end in _outer(_spans(kinds, places, _LINKED)):
        _strip(pieces, texts, start, end)
        kinds[start : end + 1] = [0] * (end + 1 - start)
    # Of controls within each other the outer one has the text of all, once.
    controls = list(_outer(_spans(kinds, places, _CONTROL)))
    chosen = "\n".join(["".join(pieces[start:end]) for start, end in controls])
    for start, end in controls:
        _strip(pieces, texts, start, end)
    by_attributes = tidy("\n".join(lines))
    return Visible(text, "".join(pieces), bool(frames), chosen, by_attributes, unscripted, beside)


def _frames(tags: list[str], kinds: list[int], places: list[int]) -> list[str]:
    found = (Tag(tags[at]).get("src") for at in places if kinds[at] & _FRAME)
    return [url for url in found if url is not None]


def _spans(kinds: list[int], places: list[int], flag: int) -> list[tuple[int, int]]:
    """Return where elements of a kind begin and end, in the order of their beginnings."""
    starts, ends, inside = list[int](), list[int](), list[int]()
    for at in places:
        kind = kinds[at]
        if not kind & flag:
            continue
        if kind & _END:
            ends[inside.pop()] = at
            continue
        if not kind & _EMPTY:
            inside.append(len(starts))
        starts.append(at)
        ends.append(at)
    return list(zip(starts, ends, strict=True))


def _outer(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    last = -1
    for start, end in spans:
        if start > last:
            yield start, end
            last = end


def _unscripted(
    tags: list[str], texts: list[str], hidden: list[tuple[int, int]], without: frozenset[str]
) -> str:
    """Return the text of ``noscript`` elements outside the head, without that of some elements."""
    found = list[str]()
    for start, end in hidden:
        if tags[start].partition(" ")[0] == "noscript":
            raw: str | None = None
            for tag, text in zip(tags[start:end], texts[start:end], strict=True):
                name = tag.partition(" ")[0]
                if raw is None and name in without and tag[-1] != "/":
                    raw = name
                elif raw is not None and name == f"/{raw}":
                    raw = None
                if raw is None:
                    found.append(text)
    return " ".join(" ".join(found).split())


def _hide(texts: list[str], kinds: list[int], hidden: list[tuple[int, int]]) -> None:
    """Leave out what is not shown; the text behind it belongs to the tag before it."""
    owner = last = -1
    for start, end in hidden:
        if start - 1 != last:
            owner = start - 1
        last = end
        texts[start:end] = [""] * (end - start)
        kinds[start : end + 1] = [0] * (end + 1 - start)
        if not texts[owner]:
            texts[owner], texts[end] = texts[end], ""


def _strip(pieces: list[str], texts: list[str], start: int, end: int) -> None:
    """Leave out an element with the line that begins in it, but not the text behind it."""
    if start < end:
        pieces[start:end] = [""] * (end - start)
    elif texts[end][:1].isspace():
        pieces[end] = texts[end]
