# cython: wraparound=True
"""Cut a page into blocks: runs of text that stand in one element of their own.

One pass over the tags of the page (``flat_page``). A block knows its text, what of it is links,
and the container that it stands in; containers know their parents. Features are computed from these
tables alone (``block_features``), and the chosen blocks become content again (``content_body``),
their inline elements by ``inline`` here.
"""

import re
from functools import cached_property

from libc.stdint cimport int64_t

from crawler.reading.content.block_flags import (
    TAG_BITS,
    TELLING,
    HiddenParts,
    attribute_bits,
    hides,
)
from crawler.reading.flat_page import attributes_of, in_attribute
from crawler.reading.text import BLOCKS

MAX_BLOCKS = 20_000
"""Cut at most this many blocks of a page; the rest of it is not looked at."""

cdef:
    # Elements like <b> that go on in a further block; twice as many as are written within others.
    int MAX_CARRIED = 16
    int MAX_INLINE_NESTING = 8
    # Parsed tags are kept for further pages: at most this many, in some 5 MB, and no longer ones.
    int MAX_KNOWN = 10_000
    int MAX_KNOWN_CHARACTERS = 300
    # What a tag asks for: to begin a container, to end it, or both; something of an inline element;
    # to leave out all up to the end of an element; to do that where nothing opens it.
    int BEGINS = 1
    int ENDS = 2
    int INLINE = 4
    int SKIPS = 8
    int HIDES = 16
    dict KNOWN = {}

_GUTTER = re.compile(
    r"\sclass=\"(?:[^\"]*\s)?(?:(?:[\w-]*[-_])?lines?[-_]?n(?:r|os?|um|umbers?)"
    r"|(?:blob|crayon)-nums?"
    r"|hljs-ln-n(?:umbers)?|lnt|ln|(?:rouge-)?gutter)[\s\"]|\sstyle=\"[^\"]*user-select:\s*none"
)
_OF_GUTTERS = ("line", "ln", "-num", "gutter", "user-select")

# MediaWiki puts a link to its editor into each heading.
_EDIT_LINK = 'class="mw-editsection"'

SKIPPED = frozenset(
    "head script style template svg iframe object embed audio video canvas map "
    "select datalist textarea input frameset frame applet".split()
)
"""Tags of elements that hold no block."""
RUBY = "（）"
"""Brackets around the reading of characters in what is shown; no text is judged with them."""
_QUOTES = "“”"

CONTAINERS = frozenset([*BLOCKS, "noscript"]) - {"br", "iframe", "select", "textarea", "option"}

_WRITTEN = {
    **dict.fromkeys(("b", "strong"), ("hi", '<hi rend="#b">')),
    **dict.fromkeys(("i", "em"), ("hi", '<hi rend="#i">')),
    **dict.fromkeys(("kbd", "samp", "tt", "var"), ("hi", '<hi rend="#t">')),
    **{tag: ("hi", f'<hi rend="#{tag}">') for tag in ("u", "sub", "sup")},
    **dict.fromkeys(("del", "s", "strike"), ("del", "<del>")),
    "code": ("code", "<code>"),
    "a": ("ref", None),
}
# Inline elements that content needs; of others, such as ``span``, their text alone.
_SHAPING = frozenset([*_WRITTEN, "br", "img", "source"])
_LATE_SOURCE = re.compile(r"data-(?:.*src|original|lazy|echo)")


cdef class BlockTag:
    """A tag with what it tells of blocks.

    Attributes:
        tag: Name of its element, as lxml has it.
        begins: Whether the tag begins its element.
        ends: Whether it ends the element, which is empty if the tag begins it too.
        kind: What it asks for.
        own: Flags of its element.
        name: Name and class of its element.
        shapes: Whether content keeps it as an inline element.
    """

    cdef readonly:
        str tag, name
        bint begins, ends, shapes
        int kind
        int64_t own
    cdef:
        str written, becomes, opening
        object gutter

    def __init__(self, str written):
        self.written = written
        self.begins = written[0] != "/"
        self.ends = not self.begins or written[-1] == "/"
        self.name = self.tag = tag = written.partition(" ")[0].strip("/")
        self.shapes = tag in _SHAPING
        self.becomes, self.opening = _WRITTEN.get(tag, (None, ""))
        if tag in CONTAINERS:
            self.kind = self.begins * BEGINS | self.ends * ENDS
            self.own = TAG_BITS.get(tag, 0)
        elif tag in SKIPPED or _EDIT_LINK in written:
            self.kind = 0 if self.ends else SKIPS
            return
        elif self.shapes or tag in {"rt", "q"}:
            self.kind = INLINE
        if self.begins and " " in written:
            self.read_attributes(attributes_of(written, TELLING))

    cdef read_attributes(self, dict attributes):
        may_hide = not self.ends and ("hidden" in self.written or "none" in self.written)
        if may_hide and hides(self.tag, attributes):
            self.kind = (self.kind or INLINE) | HIDES
        if bits := attribute_bits(attributes):
            self.own |= bits
            self.kind = self.kind or INLINE
        if self.tag in CONTAINERS and "class" in attributes:
            self.name = f"{self.tag}.{attributes['class']}"

    def get(self, name):
        """Return the value of an attribute."""
        return self.attributes.get(name)

    @property
    def attributes(self):
        """Its attributes."""
        return attributes_of(self.written)

    @property
    def is_gutter(self):
        """Whether its class or style says that it holds numbers of lines of code."""
        if self.gutter is None:
            # Most tags have none of these signs, which are sought in a tenth of the time.
            self.gutter = (
                self.begins
                and any([sign in self.written for sign in _OF_GUTTERS])
                and _GUTTER.search(self.written) is not None
            )
        return self.gutter

    cdef str opened(self):
        """Return the tag of what this becomes in content; empty for a link that leads nowhere."""
        if self.opening is None:
            self.opening, target = "", self.get("href")
            if target is not None:
                self.opening = f'<ref target="{in_attribute(target.strip())}">'
        return self.opening


cdef BlockTag known(str written):
    """Return a parsed tag; the pages of a site have most in common."""
    tag = KNOWN.get(written)
    if tag is None:
        tag = BlockTag(written)
        if len(written) <= MAX_KNOWN_CHARACTERS:
            if len(KNOWN) >= MAX_KNOWN:
                KNOWN.clear()
            KNOWN[written] = tag
    return tag


class PageBlocks:
    """The blocks of a page and their containers, as columns of one row each.

    Attributes:
        containers: Tags that begin the containers, the root's at first.
        parents: Index of each container's parent; the root's is 0.
        tags: Tag of each container.
        own: Flags of each container.
        inherited: Flags of each container and all its ancestors.
        depths: Number of ancestors that are containers.
        paths: Hash of the tags and classes of a container and its two next ancestors.
        ends: Index after the last container below each container.
        homes: Index of the container of each block.
        spans: Place of each block among the tags of its page: the index of the tag of a container
            that its text stands behind, that of the next such tag, and inline elements that are
            open before it, the innermost last.
        texts: Text of each block, one space between words.
        linked: Number of characters of each block that are links.
        links: Number of links of each block.
        inline: Flags of the inline elements of each block.
        images: Images without text: the index of the next block, their container, their place.
        hidden: Elements that are left out, since they are not seen.
        is_cut: Whether the page had more blocks than ``MAX_BLOCKS``.
        page: The tags and texts of the page.
        pieces: Returns the text of a block with the inline elements that content keeps.
    """

    def __init__(self, Cutter cutter):
        cdef Py_ssize_t at, parent
        cdef int64_t flags
        self.page, self.pieces = cutter.page, cutter.pieces
        self.containers, self.parents = cutter.containers, cutter.parents
        self.tags = [(<BlockTag>one).tag for one in cutter.containers]
        self.own = [(<BlockTag>one).own for one in cutter.containers]
        cdef list own = self.own, tags = self.tags, parents = self.parents
        cdef list inherited = own[:1], depths = [0]
        for at in range(1, len(own)):
            parent = parents[at]
            flags = own[at]
            inherited.append(flags | <int64_t>inherited[parent])
            depths.append(<Py_ssize_t>depths[parent] + 1)
        self.inherited, self.depths = inherited, depths
        self.paths = [
            hash(((<BlockTag>one).name, tags[up], own[up], own[parents[up]]))
            for one, up in zip(cutter.containers, parents)
        ]
        cdef list ends = list(range(1, len(parents) + 1))
        for at in range(len(ends) - 1, 0, -1):
            parent = parents[at]
            if <Py_ssize_t>ends[parent] < <Py_ssize_t>ends[at]:
                ends[parent] = ends[at]
        self.ends = ends
        self.homes, self.spans, self.texts = cutter.homes, cutter.spans, cutter.texts
        self.linked, self.links, self.inline = cutter.linked, cutter.links, cutter.inline
        self.images = cutter.images
        self.hidden, self.is_cut = cutter.hidden, cutter.is_cut

    @cached_property
    def sizes(self):
        """The characters of the texts in each container and all within it."""
        return self.sizes_of(range(len(self.homes)))

    def sizes_of(self, chosen):
        """Return the characters of some blocks in each container and all within it."""
        cdef list sizes = [0] * len(self.tags), homes = self.homes, texts = self.texts
        cdef list parents = self.parents
        cdef Py_ssize_t at, place
        for at in chosen:
            place = homes[at]
            sizes[place] = <Py_ssize_t>sizes[place] + len(<str>texts[at])
        for at in range(len(sizes) - 1, 0, -1):
            place = parents[at]
            sizes[place] = <Py_ssize_t>sizes[place] + <Py_ssize_t>sizes[at]
        return sizes


def cut_blocks(page):
    """Cut a page into blocks, in the order of the page.

    Complexity: O(elements + characters).
    """
    cutter = Cutter(page)
    cutter.cut()
    return PageBlocks(cutter)


cdef class Cutter:
    """The state of ``cut_blocks`` between two tags, with columns of ``PageBlocks``."""

    cdef:
        list containers, parents, homes, spans, texts, linked, links, inline, images
        object hidden, page
        bint is_cut, has_image
        list page_tags, page_texts, stack, strings, open, readings
        Py_ssize_t in_links, link_count, link_depth, first
        int64_t flags
        tuple carried
        # Brackets around readings and quotes, by the index of the tag that they stand for.
        dict brackets

    def __init__(self, page):
        self.page = page
        self.page_tags, self.page_texts = page.tags, page.texts
        self.hidden = HiddenParts(page)
        self.containers, self.parents, self.stack = [], [], [0]
        self.homes, self.spans, self.texts, self.images = [], [], [], []
        self.linked, self.links, self.inline = [], [], []
        self.strings, self.open, self.readings = [], [], []
        self.carried, self.brackets = (), {}

    def cut(self):
        """Walk through the page."""
        cdef Py_ssize_t at = 0, last = len(self.page_tags) - 1, most = MAX_BLOCKS
        cdef BlockTag tag
        cdef str text
        cdef int kind
        self.begin(known(self.page_tags[0]))
        self.strings.append(self.page_texts[0])
        while at + 1 < last:
            at += 1
            tag, text = known(self.page_tags[at]), self.page_texts[at]
            kind = tag.kind
            if kind >= HIDES:
                kind = SKIPS if self.leaves_out(at, tag) else kind - HIDES
            if 0 < kind < INLINE:
                if self.strings:
                    self.flush(at)
                self.first = at
                if kind & BEGINS:
                    self.begin(tag)
                if kind & ENDS:
                    self.stack.pop()
                    if len(self.homes) >= most:
                        self.is_cut = True
                        return
                if text.isspace():
                    continue
            elif kind == INLINE:
                self.add_inline(at, tag)
            elif kind == SKIPS:
                at = self.page.end_of(at)
                text = self.page_texts[at] if at < last else ""
            if text:
                self.strings.append(text)
                if self.link_depth:
                    self.in_links += len(text.strip())
        self.flush(last)

    def pieces(self, span, *, bint is_code=False):
        """Return the text of a block with the inline elements that content keeps.

        It is in pieces: ``str``, a tag where an element begins, None where one ends, at the latest
        with the block. Code has no numbers of its lines.
        """
        cdef Py_ssize_t at = span[0], end = span[1], opened = len(span[2])
        cdef list pieces = [*span[2]]
        cdef BlockTag tag
        cdef str text = self.page_texts[at]
        if text:
            pieces.append(text)
        while at + 1 < end:
            at += 1
            tag, text = known(self.page_tags[at]), self.page_texts[at]
            if tag.kind == SKIPS or at in self.hidden.begun or (
                is_code and tag.is_gutter and self.is_number(at, tag, text)
            ):
                at = self.page.end_of(at)
                text = self.page_texts[at] if at < end else ""
            elif tag.shapes:
                if tag.begins:
                    pieces.append(tag)
                    opened += 1
                if tag.ends and opened:
                    pieces.append(None)
                    opened -= 1
            elif self.brackets and at in self.brackets:
                pieces.append(self.brackets[at])
            if text:
                pieces.append(text)
        pieces += [None] * opened
        return pieces

    cdef bint is_number(self, Py_ssize_t at, BlockTag tag, str text):
        return text.strip().isdecimal() and self.page_tags[at + 1] == f"/{tag.tag}"

    cdef bint leaves_out(self, Py_ssize_t at, BlockTag tag):
        around = [(<BlockTag>self.containers[one]).name[:200] for one in self.stack[-2:]]
        return self.hidden.holds(at, tag, " ".join(around))

    cdef begin(self, BlockTag tag):
        self.parents.append(self.stack[-1])
        self.stack.append(len(self.containers))
        self.containers.append(tag)

    cdef add_inline(self, Py_ssize_t at, BlockTag tag):
        self.strings.append("")
        if tag.begins:
            self.flags |= tag.own
            if tag.tag == "a":
                self.link_count += 1
                self.link_depth += not tag.ends
            elif tag.tag == "br":
                self.strings.append("\n")
            elif tag.tag == "img":
                self.has_image = True
            if tag.shapes and not tag.ends:
                self.open.append(tag)
        elif tag.shapes:
            self.link_depth -= tag.tag == "a"
            self.open.pop()
        if tag.tag == "rt":
            self.add_reading(at, tag)
        elif tag.tag == "q" and tag.begins != tag.ends:
            self.brackets[at] = _QUOTES[tag.ends]

    cdef add_reading(self, Py_ssize_t at, BlockTag tag):
        """Put brackets around the reading of a ruby that a page brackets for no browser."""
        if tag.begins and not tag.ends:
            before = known(self.page_tags[at - 1])
            self.readings.append(not (before.tag == "rp" and before.ends))
            if self.readings[-1]:
                self.brackets[at] = RUBY[0]
        elif tag.ends and not tag.begins and self.readings.pop():
            self.brackets[at] = RUBY[1]

    cdef flush(self, Py_ssize_t at):
        """End a block; the innermost inline elements that are open go on in the next one."""
        cdef str text = " ".join("".join(self.strings).split())
        if text or self.has_image:
            span = (self.first, at, self.carried)
            if text:
                self.homes.append(self.stack[-1])
                self.spans.append(span)
                self.texts.append(text)
                self.linked.append(min(self.in_links, len(text)))
                self.links.append(self.link_count)
                self.inline.append(self.flags)
            else:
                self.images.append((len(self.homes), self.stack[-1], span))
        self.carried = tuple(self.open[-MAX_CARRIED:])
        self.strings.clear()
        self.in_links = self.flags = 0
        self.link_count = 1 if self.link_depth else 0
        self.has_image = False


cdef str escaped(str text):
    """Return a text as XML."""
    if "&" in text:
        text = text.replace("&", "&amp;")
    if "<" in text:
        text = text.replace("<", "&lt;")
    return text.replace(">", "&gt;") if ">" in text else text


def inline(list pieces):
    """Return a block's text as XML, with its links, emphasis and images."""
    cdef list parts = [], inside = []
    # The elements that are open, by the number of parts at their begin; -1 leaves no trace.
    cdef list opened = []
    cdef bint after_space = True
    cdef Py_ssize_t begun
    cdef BlockTag tag, source = None
    cdef str text, written
    for piece in pieces:
        if isinstance(piece, str):
            written = piece
            text = " ".join(written.split())
            if not after_space and written[0].isspace():
                text = f" {text}"
            if text and text != " " and written[-1].isspace():
                text = f"{text} "
            if text:
                parts.append(escaped(text))
                after_space = text[-1] == " "
        elif piece is None:
            begun = opened.pop() if opened else -1
            if begun >= 0:
                name = inside.pop()
                if len(parts) > begun:
                    parts.append(f"</{name}>")
                else:
                    parts.pop()
        else:
            tag = piece
            if tag.becomes is None:
                is_break = tag.tag == "br"
                written = "<lb/>" if is_break else _graphic(tag, source)
                source = tag if tag.tag == "source" else None
                opened.append(-1)
                if written:
                    parts.append(written)
                    after_space = is_break
                continue
            written = opening_of(tag, inside)
            if written:
                parts.append(written)
                inside.append(tag.becomes)
            opened.append(len(parts) if written else -1)
    without_last_space(parts)
    return "".join(parts)


cdef without_last_space(list parts):
    """Leave out the white space at the end of a text in parts."""
    cdef Py_ssize_t at
    cdef str part
    for at in range(len(parts) - 1, -1, -1):
        part = parts[at]
        if part[:1] != "<":
            part = parts[at] = part.rstrip()
        if part[:2] != "</":
            return


cdef str opening_of(BlockTag tag, list inside):
    """Return the tag of an inline element, an empty one where none is written."""
    if len(inside) >= MAX_INLINE_NESTING:
        return ""
    if inside and inside[-1] == tag.becomes and tag.becomes in {"ref", "code"}:
        return ""
    return tag.opened()


def _graphic(image, source):
    """Return a picture, if it is one; a ``source`` in front of it may hold its only address."""
    urls = (_image_url(one.attributes) for one in (image, source) if one is not None)
    url = next(filter(None, urls), None)
    if url is None or image.tag != "img":
        return ""
    alt = in_attribute((image.get("alt") or "").strip())
    said = f' alt="{alt}"' if alt else ""
    return f'<graphic src="{in_attribute(url)}"{said}/>'


def _image_url(attributes):
    """Return what a browser loads in the end: a script may put it in the place of ``src``."""
    # Some of these hold a flag or a size.
    late = (url.strip() for name, url in attributes.items() if _LATE_SOURCE.fullmatch(name))
    named = (*(url for url in late if "/" in url or "." in url), attributes.get("src", "").strip())
    sets = (url.split() for name, url in attributes.items() if name.endswith("srcset"))
    urls = (*named, *(candidates[0].rstrip(",") for candidates in sets if candidates))
    return next((url for url in urls if url and not url.startswith("data:")), None)
