# cython: wraparound=True
"""Write chosen blocks as a body in the vocabulary of trafilatura's XML.

It is written as text, since an element of lxml takes longer than all that is written into it.
Lists, tables, quotations and code keep their shape where they are that; tables and lists that lay
out whole pages do not.
"""

import re
from html import escape
from itertools import pairwise

from crawler.reading.content.blocks import inline
from crawler.reading.content.content_shapes import (
    HEADINGS,
    STRUCTURE,
    columns_of,
    completed,
    is_gutter,
    layout_containers,
    whole_number,
)

cdef:
    int MAX_NESTING = 12
    # Empty cells that are added to a page's tables, to keep columns below each other.
    Py_ssize_t MAX_PADDING = 10_000


_LANGUAGE_NAME = re.compile(r"[A-Za-z][\w+#.-]{0,19}")
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:(?:lang(?:uage)?|highlight(?:-source|-text)?|sourceCode)-([A-Za-z][\w+#.-]{0,19})"
    r"|(?:brush:\s*|(?:sourceCode|hljs|syntaxhighlighter)\s+(?!lang))([A-Za-z][\w+#.-]{0,19})"
    r"|highlight\s+([A-Za-z][\w+#]{0,19})$)"
)
# Elements around code that may name its language; beside its numbers it stands in a table too.
_MAX_AROUND_CODE, _MAX_AROUND_CELL = 2, 6
# What highlighters call code that has none, and ends of the names of grammars.
_NO_LANGUAGE = re.compile(r"(?:default|none|undefined|notranslate|number\w+)$|-basic$")

# What a text stands in between the parts of a list or table.
cdef dict AROUND_TEXT = {"list": ("item",), "table": ("row", "cell"), "row": ("cell",)}


def build_body(blocks, chosen):
    """Return the element ``body`` as XML, with the chosen blocks in the order of the page.

    Args:
        blocks: Blocks of the page.
        chosen: Indices of the blocks, ascending.
    """
    layout = layout_containers(blocks)
    cdef Writer writer = Writer(blocks, layout)
    cdef Py_ssize_t at, last = -1
    cdef dict images = {}
    for before, home, span in blocks.images:
        images.setdefault(before, []).append((home, span))
    for at in completed(blocks, chosen, layout):
        if at == last + 1:
            for (home, span), (following, _) in pairwise([*images.get(at, ()), (0, None)]):
                # A script shows the first of two, of which the second is for browsers without any.
                if not (blocks.tags[following] == "noscript" and blocks.parents[following] == home):
                    writer.write(home, blocks.pieces(span))
        if not is_gutter(blocks, at):
            home = blocks.homes[at]
            is_code = blocks.tags[home] == "pre"
            writer.write(home, blocks.pieces(blocks.spans[at], is_code=is_code))
        last = at
    return writer.finish()


cdef class Place:
    """An element that is open.

    Attributes:
        step: The container that it stands for: its index and the element that it becomes.
        attributes: Its attributes, as they are written.
        begun: Index of its tag among the parts that are written.
        language: The language that the page names of code in it, or nothing.
        children: Number of its elements, or 1 for a text of its own.
        lines: Lines of code, which are written where it ends, behind their language.
    """

    cdef:
        tuple step
        str attributes, language
        Py_ssize_t begun, children
        list lines

    def __init__(self, tuple step, str attributes, Py_ssize_t begun, str language):
        self.step, self.attributes, self.begun = step, attributes, begun
        self.language, self.lines = language, []


cdef class Writer:
    """The state of ``build_body`` between two blocks."""

    cdef:
        object blocks, layout
        list parts, tags, parents, open
        dict steps, counted, columns
        Py_ssize_t padding

    def __init__(self, blocks, layout):
        self.parts = ["<body>"]
        self.blocks, self.tags, self.parents = blocks, blocks.tags, blocks.parents
        self.layout = layout
        self.steps = {}
        self.open = [Place((0, "body"), "", 0, "")]
        # Of a list, the container that was counted last, with its number.
        self.counted = {}
        self.columns = {}
        self.padding = MAX_PADDING

    cdef write(self, Py_ssize_t home, list pieces):
        """Add a block."""
        cdef Place place = self.place(self.steps_to(home))
        cdef str written, holder, kind = place.step[1]
        if kind == "code":
            add_code(place, pieces)
            return
        level = HEADINGS.get(self.tags[home]) or HEADINGS.get(self.tags[self.parents[home]])
        cdef tuple around = AROUND_TEXT.get(kind, ())  # what stands between items or cells
        holder = around[-1] if around else "" if place.children else kind
        written = inline(pieces)
        if holder != "cell" and (level or holder != "item"):
            attributes = f' rend="{level}"' if level else ""
            written = element("head" if level else "p", attributes, written)
        for name in reversed(around):
            written = element(name, "", written)
        if written:
            self.parts.append(written)
            place.children += 1

    cdef str finish(self):
        """Return the body."""
        while self.open:
            self.end()
        return "".join(self.parts)

    cdef tuple steps_to(self, Py_ssize_t home):
        """Return the containers above a block that give content its shape, outermost first."""
        cdef list climbed = []
        cdef Py_ssize_t at = home
        cdef str tag, kind
        while at not in self.steps and at:
            climbed.append(at)
            at = self.parents[at]
        cdef tuple steps = self.steps.get(at, ())
        for at in reversed(climbed):
            tag = self.tags[at]
            kind = STRUCTURE.get(tag)
            if steps and self.is_beside(tag, steps[-1]):
                steps = steps[:-1]
            if kind and at not in self.layout and len(steps) < MAX_NESTING:
                last = steps[-1][1] if steps else ""
                if kind == "item" and last != "list":
                    steps = (*steps, (-at, "list"))
                fits = {"row": last == "table", "cell": last == "row"}
                if fits.get(kind, last not in {"code", "table", "row"}):
                    steps = (*steps, (at, kind))
            self.steps[at] = steps
        return steps

    cdef bint is_beside(self, str tag, tuple step):
        """Return whether an element is no part of the container that it stands in.

        A caption is no row, and the parser leaves ``<dd>`` open where another one begins.
        """
        at, kind = step
        if tag == "caption":
            return kind == "table"
        return tag in {"dt", "dd"} and at >= 0 and self.tags[at] in {"dt", "dd"}

    cdef Place place(self, tuple steps):
        """Return the element for the innermost step; what is open already goes on."""
        cdef Py_ssize_t same = 1
        while same < len(self.open) and same <= len(steps):
            if (<Place>self.open[same]).step != steps[same - 1]:
                break
            same += 1
        while len(self.open) > same:
            self.end()
        for step in steps[same - 1 :]:
            self.begin(step)
        return self.open[-1]

    cdef begin(self, tuple step):
        """Begin an element for a container."""
        cdef Place around = self.open[-1]
        cdef Py_ssize_t at = step[0]
        cdef str kind = step[1], attributes = "", language = ""
        cdef list tags = self.tags, parents = self.parents
        cdef str tag = tags[at] if at >= 0 else "ul"
        if kind == "cell" and tag in {"td", "th"}:
            self.pad(around, at)
        if tag == "th" or (tag == "td" and tags[parents[parents[at]]] == "thead"):
            attributes = ' role="head"'
        elif tag in {"ol", "dl", "dt", "dd"}:
            attributes = f' rend="{tag}"'
        elif tag == "pre":
            attributes = ' rend="block"'
            inside = [at]
            for _ in range(_MAX_AROUND_CELL if tags[parents[at]] == "td" else _MAX_AROUND_CODE):
                inside.append(parents[inside[-1]])
            language = language_of([self.blocks.containers[one] for one in inside])
        elif tag == "li" and around.attributes == ' rend="ol"':
            attributes = f' n="{self.number(around.step[0], at)}"'
        around.children += 1
        self.open.append(Place(step, attributes, len(self.parts), language))
        self.parts.append(f"<{kind}{attributes}>")

    cdef end(self):
        """End the innermost element; a label that says the language of code is left out."""
        cdef Place place = self.open.pop()
        cdef list parts = self.parts
        cdef str kind = place.step[1]
        if kind == "code":
            named = f' lang="{place.language}"' if place.language else ""
            label = f"<p>{place.language}</p>".lower()
            if place.lines and parts[place.begun - 1].lower() == label:
                parts[place.begun - 1] = ""
            code = escape("\n".join(place.lines), quote=False).replace("\r", "&#13;")
            parts[place.begun] = f"<{kind}{place.attributes}{named}>{code}"
        if len(parts) == place.begun + 1 and not place.lines:
            parts[-1] = f"{parts[-1][:-1]}/>"
        else:
            parts.append(f"</{kind}>")

    cdef number(self, Py_ssize_t ordered, Py_ssize_t item):
        """Return the number of an item of an ordered list; items that are left out count."""
        cdef list tags = self.tags, parents = self.parents, containers = self.blocks.containers
        cdef Py_ssize_t one, at
        at, number = self.counted.get(ordered, (ordered, 0))
        if at == ordered:
            number = whole_number(containers[ordered].get("start"), 1) - 1
        for one in range(at + 1, item + 1):
            if tags[one] == "li" and parents[one] == parents[item]:
                number = whole_number(containers[one].get("value"), number + 1)
        self.counted[ordered] = item, number
        return number

    cdef pad(self, Place row, Py_ssize_t cell):
        """Add empty cells in front of a cell until it stands in its column."""
        if cell not in self.columns:
            self.columns |= columns_of(self.blocks, cell)
        cdef Py_ssize_t missing = self.columns.get(cell, 0)
        missing = min(missing - row.children, self.padding)
        if missing > 0:
            self.padding -= missing
            row.children += missing
            self.parts.append("<cell/>" * missing)


cdef str element(str name, str attributes, str inner):
    return f"<{name}{attributes}>{inner}</{name}>" if inner else f"<{name}{attributes}/>"


cdef str language_of(list tags):
    """Return the language that a page names of code on one of some tags, or nothing."""
    for tag in tags:
        attributes = tag.attributes
        named = attributes.get("data-lang") or attributes.get("data-language")
        found = _LANGUAGE.search(attributes.get("class", ""))
        named = _NO_LANGUAGE.sub(
            "", named or (found and "".join(filter(None, found.groups()))) or ""
        )
        if _LANGUAGE_NAME.fullmatch(named):
            return named
    return ""


cdef add_code(Place place, list pieces):
    if not place.language:
        place.language = language_of([one for one in pieces if getattr(one, "tag", "") == "code"])
    breaks = {"br": "\n"}
    verbatim = "".join([
        one if isinstance(one, str) else breaks.get(getattr(one, "tag", ""), "") for one in pieces
    ])
    verbatim = verbatim if place.lines else verbatim.strip("\n")
    if place.lines or verbatim:
        place.lines.append(verbatim)
