"""Write a page as a flat list of its tags and texts.

Python sees an element of lxml through an object that is made for it, at some ten microseconds each
with all that is asked of it. C writes the page as XML and splits that in a millisecond, and most
tags of a page are alike, so that each is parsed once.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from lxml.etree import tostring

Element = Any  # lxml has no types

# Names end at white space, "/" and ">" in HTML, and may hold all else, "<" and quotes too.
_TAG = re.compile(r"<([^>]*)>")
_ATTRIBUTE = re.compile(r' (=?[^= ]*+)="([^"]*+)"')
REFERENCES = {
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&#9;": "\t",
    "&#10;": "\n",
    "&#13;": "\r",
    "&#xFFFD;": "\ufffd",
    "&amp;": "&",
}
"""What libxml2 writes for characters; newer versions write U+FFFD for what XML cannot hold."""


class FlatPage(NamedTuple):
    """The tags of a page in their order, and the text behind each.

    Attributes:
        tags: What stands between ``<`` and ``>``: ``p class="x"`` begins an element, ``/p`` ends
            it, and ``br/`` does both. The root's are the first and the last.
        texts: Text from each tag to the next one.
    """

    tags: list[str]
    texts: list[str]

    def end_of(self, at: int) -> int:
        """Return the index of the tag that ends the element that another one begins."""
        name, depth = self.tags[at].partition(" ")[0], 1
        for end in range(at + 1, len(self.tags)):
            tag = self.tags[end]
            if tag.startswith("/"):
                depth -= tag[1:] == name
            elif tag.startswith(name) and tag[-1] != "/":
                depth += tag.partition(" ")[0] == name
            if not depth:
                return end
        return len(self.tags) - 1


class Tag:
    """A tag of a page.

    Attributes:
        tag: Name of its element, as lxml has it.
        ends: Whether the tag ends its element, which is empty if the tag begins it too.
        begins: Whether the tag begins its element.
    """

    __slots__ = ("_written", "begins", "ends", "tag")

    def __init__(self, written: str) -> None:
        self._written = written
        self.begins = written[0] != "/"
        self.ends = not self.begins or written[-1] == "/"
        self.tag = written.partition(" ")[0].strip("/")

    def get(self, name: str) -> str | None:
        """Return the value of an attribute."""
        return dict(self.items()).get(name)

    def items(self) -> list[tuple[str, str]]:
        """Return the names and values of all attributes."""
        found = _ATTRIBUTE.findall(self._written)
        if "&" not in self._written:
            return found
        return [(name, resolved(value) if "&" in value else value) for name, value in found]


def flatten(root: Element) -> FlatPage:
    """Return the tags and texts of a page.

    Args:
        root: Root of a page without comments and doctype, as ``html_parsing.parse`` returns it;
            libxml2 would write a page with the doctype of XHTML with other attributes.

    Complexity: O(characters).
    """
    parts = _TAG.split(tostring(root, encoding="unicode", with_tail=False))
    return FlatPage(parts[1::2], [resolved(one) if "&" in one else one for one in parts[2::2]])


def resolved(text: str) -> str:
    """Return a text with characters in place of the references that libxml2 writes."""
    for reference, character in REFERENCES.items():
        text = text.replace(reference, character)
    return text
