"""Read the texts of a page that its visitors see, and what they see by attributes.

All is read from one list of tags and texts (``flat_page``). Each tag has a kind, a sum of flags,
and what is hidden, linked or a control is a span of that list.
"""

from cpython.unicode cimport PyUnicode_FindChar

from crawler.reading.flat_page import attributes_of
from crawler.reading.shown_attributes import SHOWN_BY_ATTRIBUTES, lines_of, may_have_background
from crawler.reading.text import BLOCKS, Visible, tidy

cdef enum:
    BREAK = 1
    EMPTY = 2
    END = 4
    HIDDEN = 8
    LINKED = 16
    CONTROL = 32
    SHOWN = 64
    FRAME = 128
    PLAIN = BREAK | EMPTY | END

_RAW = frozenset(("script", "style", "template"))
_BESIDE = frozenset(("a", "nav", "iframe", "select", "textarea", "button", "label"))

_KINDS = dict.fromkeys(BLOCKS, BREAK)
for _names, _flag in (
    # Not shown by browsers that run scripts.
    (("head", "script", "style", "noscript", "template"), HIDDEN),
    (("a", "nav"), LINKED),
    (("button", "select", "label"), CONTROL),
    (("form", *SHOWN_BY_ATTRIBUTES), SHOWN),
    (("frame",), FRAME),
):
    _KINDS |= {_name: _KINDS.get(_name, 0) | _flag for _name in _names}
_KINDS |= {f"/{_name}": _kind & ~SHOWN | END for _name, _kind in _KINDS.items()}
_KINDS["/form"] |= SHOWN

cdef dict KINDS = _KINDS


cdef int kind_of(str tag) except -1:
    """Return the kind of a tag."""
    cdef Py_ssize_t size = PyUnicode_FindChar(tag, " ", 0, len(tag), 1)
    cdef int kind = KINDS.get(tag[:size] if size > 0 else tag.removesuffix("/"), 0)
    if kind and tag.endswith("/"):
        # A form without anything in it is not read.
        kind = kind | EMPTY if not tag.startswith("form") else BREAK | EMPTY
    return kind


def read_visible(page):
    """Return the visible text of a page.

    A frameset shows its frames, so their URLs stand for them: otherwise all framesets of a site
    would have one text, the notice for browsers without frames.

    Complexity: O(length), half a millisecond for a page of 2,700 tags.
    """
    cdef list tags = page.tags, texts = page.texts.copy(), places = [], pieces = []
    cdef Py_ssize_t at, count = len(tags)
    cdef unsigned char kind
    cdef unsigned char[::1] kinds = bytearray(count)
    cdef str text
    cdef bint have_backgrounds = may_have_background(page.distinct)
    for at in range(1, count - 1):  # the root is shown, whatever it is
        kind = kind_of(tags[at])
        if have_backgrounds and may_have_background(tags[at]):
            kind |= SHOWN
        kinds[at] = kind
        if kind > PLAIN:
            places.append(at)
    frames = [attributes_of(tags[at]).get("src") for at in places if kinds[at] & FRAME]
    frames = [url for url in frames if url is not None]
    cdef list hidden = outer_spans(kinds, places, HIDDEN)
    unscripted = unscripted_text(tags, texts, hidden, _RAW)
    beside = unscripted and unscripted_text(tags, texts, hidden, _RAW | _BESIDE)
    hide(texts, kinds, hidden)
    for at in range(count):
        kind, text = kinds[at], texts[at]
        if kind & BREAK and (kind & EMPTY or not text or not text[0].isspace()):
            text = f"\n{text}"
        pieces.append(text)
    whole = "\n".join(["".join(pieces), *frames])
    lines = lines_of(tags, [at for at in places if kinds[at] & SHOWN])
    for start, end in outer_spans(kinds, places, LINKED):
        strip(pieces, texts, start, end)
        for at in range(start, end + 1):
            kinds[at] = 0
    # Of controls within each other the outer one has the text of all, once.
    controls = outer_spans(kinds, places, CONTROL)
    chosen = "\n".join(["".join(pieces[start:end]) for start, end in controls])
    for start, end in controls:
        strip(pieces, texts, start, end)
    shown = tidy("\n".join(lines))
    return Visible(whole, "".join(pieces), bool(frames), chosen, shown, unscripted, beside)


cdef list outer_spans(const unsigned char[::1] kinds, list places, int flag):
    """Return where the elements of a kind begin and end that stand in no other one, in order."""
    cdef Py_ssize_t at, start = 0, depth = 0
    cdef int kind
    cdef list spans = []
    for at in places:
        kind = kinds[at]
        if not kind & flag:
            continue
        if kind & END:
            depth -= 1
        elif not depth:
            start = at
        if not kind & (END | EMPTY):
            depth += 1
        elif not depth:
            spans.append((start, at))
    return spans


cdef str unscripted_text(list tags, list texts, list hidden, object without):
    """Return the text of ``noscript`` elements outside the head, without that of some elements."""
    cdef list found = []
    cdef Py_ssize_t at, start, end
    cdef str name, raw
    for start, end in hidden:
        if (<str>tags[start]).partition(" ")[0] != "noscript":
            continue
        raw = None
        for at in range(start, end):
            name = (<str>tags[at]).partition(" ")[0]
            if raw is None and name in without and not (<str>tags[at]).endswith("/"):
                raw = f"/{name}"
            elif name == raw:
                raw = None
            if raw is None:
                found.append(texts[at])
    return " ".join(" ".join(found).split())


cdef hide(list texts, unsigned char[::1] kinds, list hidden):
    """Leave out what is not shown; the text behind it belongs to the tag before it."""
    cdef Py_ssize_t at, start, end, owner = -1, last = -1
    for start, end in hidden:
        if start - 1 != last:
            owner = start - 1
        last = end
        for at in range(start, end):
            texts[at] = ""
            kinds[at] = 0
        kinds[end] = 0
        if not texts[owner]:
            texts[owner], texts[end] = texts[end], ""


cdef strip(list pieces, list texts, Py_ssize_t start, Py_ssize_t end):
    """Leave out an element with the line that begins in it, but not the text behind it."""
    cdef Py_ssize_t at
    for at in range(start, end):
        pieces[at] = ""
    if start == end and (<str>texts[end])[:1].isspace():
        pieces[end] = texts[end]
