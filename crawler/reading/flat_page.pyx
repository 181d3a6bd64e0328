"""Write a page as a flat list of its tags and texts.

Python sees an element of lxml through an object that is made for it, at some ten microseconds each
with all that is asked of it. C writes the page as XML, and what is between its signs is a text.
"""

from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8, PyUnicode_FindChar
from libc.string cimport memchr

from lxml.etree import tostring

MAX_LINK_TEXT = 100
"""Keep this many characters of the text of a link."""

_UNSEEN = frozenset(("script", "style", "template"))
_OF_LINKS = frozenset(("href", "xlink:href", "rel", "alt"))
_ALT = frozenset(("alt",))

# Of an anchor around half a page the beginning will do: elements, and tags to the end of one.
cdef int MAX_PARTS = 32, MAX_TAGS = 2000
cdef:
    # References that libxml2 writes; newer versions write U+FFFD for what XML cannot hold.
    dict CHARACTERS = {
        "lt;": "<",
        "gt;": ">",
        "quot;": '"',
        "#9;": "\t",
        "#10;": "\n",
        "#13;": "\r",
        "#xFFFD;": "\ufffd",
        "amp;": "&",
    }
    int LONGEST = max(map(len, CHARACTERS))
    dict REFERENCES = {character: f"&{written}" for written, character in CHARACTERS.items()}


cdef class FlatPage:
    """The tags of a page in their order, and the text behind each.

    Attributes:
        tags: What stands between ``<`` and ``>``: ``p class="x"`` begins an element, ``/p`` ends
            it, and ``br/`` does both. The root's are the first and the last.
        texts: Text from each tag to the next one.
        distinct: The distinct tags, each behind a ``<``, which tell soon what it has none of.
    """

    cdef readonly:
        list tags, texts
        str distinct

    def __init__(self, list tags, list texts):
        self.tags, self.texts = tags, texts
        self.distinct = "<".join(["", *dict.fromkeys(tags)])

    def attributes(self, names):
        """Return the attributes of some names, each with its order, its name, its tag, its value.

        A tag that a page repeats counts once. Style sheets count as attributes ``style``.

        Complexity: O(characters).
        """
        cdef dict found = {name: [] for name in names}
        cdef set known = set()
        cdef Py_ssize_t at, order = 0
        cdef str tag
        for at in range(len(self.tags)):
            tag = self.tags[at]
            if tag not in known and " " in tag:
                known.add(tag)
                for name, value in attributes_of(tag, found).items():
                    found[name].append((order, name, tag, value))
                    order += 1
            if tag.startswith("style") and "style" in found and tag.partition(" ")[0] == "style":
                found["style"].append((order, "style", tag, self.texts[at]))
        return {name: several for name, several in found.items() if several}

    def note_links(self, dict followed, dict not_followed):
        """Note the references of anchors and areas with their texts, of several the first text.

        Args:
            followed: Where they are noted.
            not_followed: Where those are noted that are ``nofollow``.

        Complexity: O(characters).
        """
        cdef Py_ssize_t at
        cdef dict told, noted
        cdef str tag
        for at in range(len(self.tags)):
            tag = self.tags[at]
            if not tag.startswith(("a ", "area ")):
                continue
            told = attributes_of(tag, _OF_LINKS)
            noted = not_followed if "nofollow" in told.get("rel", "").lower() else followed
            for href, places in ((told.get("href"), noted), (told.get("xlink:href"), followed)):
                if href is not None and not places.get(href):
                    places[href] = self.link_text(at, told.get("alt", ""))

    cdef str link_text(self, Py_ssize_t at, str alt):
        """Return what an anchor shows on one line: its text, or what stands for its image."""
        cdef list parts = [self.texts[at]]
        cdef str tag = self.tags[at], text
        # Elements around, that which is not seen, and that whose further elements are left out.
        cdef Py_ssize_t place, depth = 0, unseen = 0, left = 0, elements = 0
        cdef bint is_empty = tag.endswith("/")
        for place in range(at + 1, at if is_empty else min(len(self.tags), at + MAX_TAGS)):
            tag, text = self.tags[place], self.texts[place]
            is_empty = tag.endswith("/")
            if tag.startswith("/"):
                depth -= 1
                if depth < 0:
                    break
                unseen = 0 if unseen > depth else unseen
                left = 0 if left > depth else left
            elif left or elements == MAX_PARTS:
                if not depth:
                    break
                left = left or depth
                depth += not is_empty
            else:
                elements += 1
                alt = "" if elements == 1 else alt
                if not alt and ' alt="' in tag:
                    alt = attributes_of(tag, _ALT).get("alt", "")
                depth += not is_empty
                if not (unseen or is_empty) and tag.partition(" ")[0] in _UNSEEN:
                    unseen = depth
            if not unseen and not left:
                parts.append(text)
        text = "".join(parts) if not self.tags[at].endswith("/") else ""
        if not text or (elements and text.isspace()):
            text = alt
        return " ".join(text[: 4 * MAX_LINK_TEXT].split())[:MAX_LINK_TEXT].rstrip()

    def end_of(self, Py_ssize_t at):
        """Return the index of the tag that ends the element that another one begins."""
        cdef str tag, name = (<str>self.tags[at]).partition(" ")[0], closing = f"/{name}"
        cdef Py_ssize_t end, depth = 1, last = len(self.tags) - 1
        for end in range(at + 1, last + 1):
            tag = self.tags[end]
            if tag == closing:
                depth -= 1
                if not depth:
                    return end
            elif tag.startswith(name) and not tag.endswith("/"):
                depth += tag.partition(" ")[0] == name
        return last


cpdef dict attributes_of(str written, names=None):
    """Return the values of the attributes of a tag by their names, of all or of some.

    Complexity: O(characters).
    """
    cdef dict found = {}
    cdef Py_ssize_t middle, end, size = len(written)
    cdef Py_ssize_t at = PyUnicode_FindChar(written, " ", 0, size - 1, 1)
    while at >= 0:
        # A name may hold anything but a space, and an equals sign at its begin.
        middle = sign_behind(written, at + 2 if written[at + 1] == "=" else at + 1, size)
        end = PyUnicode_FindChar(written, '"', middle + 2, size, 1) if middle > 0 else -1
        if end < 0 and written[at + 1] == "=":
            middle = sign_behind(written, at + 1, size)
            end = PyUnicode_FindChar(written, '"', middle + 2, size, 1) if middle > 0 else -1
        if end >= 0:
            name = written[at + 1 : middle]
            if names is None or name in names:
                found[name] = resolved(written[middle + 2 : end])
            at = end
        at = PyUnicode_FindChar(written, " ", at + 1, size - 1, 1)
    return found


cdef Py_ssize_t sign_behind(str written, Py_ssize_t at, Py_ssize_t size) noexcept:
    """Return the place of the sign between a name and its value in quotes, or -1."""
    cdef Py_UCS4 one
    while at + 1 < size:
        one = written[at]
        if one == "=":
            return at if written[at + 1] == '"' else -1
        if one == " ":
            return -1
        at += 1
    return -1


def flatten(root):
    """Return the tags and texts of a page.

    Args:
        root: Root of a page without comments and doctype, as ``html_parsing.parse`` returns it;
            libxml2 would write a page with the doctype of XHTML with other attributes.

    Complexity: O(characters).
    """
    # libxml2 would hold a page twice while it encodes it.
    cdef str xml = tostring(root, encoding="unicode", with_tail=False)
    cdef Py_ssize_t size
    cdef list tags = [], texts = []
    cdef const char* at = PyUnicode_AsUTF8AndSize(xml, &size)
    cdef const char* last = at + size
    cdef const char* end
    # Names end at white space, "/" and ">" in HTML, and may hold all else, "<" and quotes too.
    while at < last:
        end = <const char*>memchr(at, c">", last - at)
        if end == NULL:
            break
        tags.append(PyUnicode_DecodeUTF8(at + 1, end - at - 1, NULL))
        at = <const char*>memchr(end, c"<", last - end)
        at = last if at == NULL else at
        texts.append(resolved(PyUnicode_DecodeUTF8(end + 1, at - end - 1, NULL)))
    return FlatPage(tags, texts)


cpdef str resolved(str text):
    """Return a text with characters in place of the references that libxml2 writes."""
    if "&" not in text:
        return text
    cdef list parts = text.split("&")
    cdef Py_ssize_t place, end
    cdef str part
    for place in range(1, len(parts)):
        part = parts[place]
        end = part.find(";", 0, LONGEST) + 1
        character = CHARACTERS.get(part[:end])
        parts[place] = f"&{part}" if character is None else f"{character}{part[end:]}"
    return "".join(parts)


def in_attribute(str value):
    """Return a value as it stands between quotes."""
    cdef list parts = []
    cdef Py_ssize_t at, begun = 0
    cdef Py_UCS4 one
    for at in range(len(value)):
        one = value[at]
        if one in '<>&"\t\n\r':
            parts += value[begun:at], REFERENCES[one]
            begun = at + 1
    return "".join([*parts, value[begun:]]) if parts else value
