"""Choose the text that stands for a page: its main text if that is credible.

trafilatura finds the main text of most pages and a fragment of some: the introduction of an index,
whose lists it drops, or a notice that is on every page. Judged by such fragments, different pages
would be duplicates of each other, and be lost. So the main text counts only if it is at least a
third of the text outside links, and a fifth of all visible text. On six documentation sites with
8,534 pages, no two of them the same, it is less on 0 to 5 % of each site's pages; of the others no
two with nearly the same main text (J5 >= .8) had visible texts below J5 .81.

The text beside the main text may be the only difference between two pages: captions, asides,
prices. So a main text is stored and judged with all text outside links (``neardup.whole``): pages
are equal only if both are, and as similar as both are. A template around every page does not make
equal pages differ.

All others, those with short main texts too, are duplicates only of pages with the same visible
text. Fingerprints of all visible text will not do: the surroundings of short main texts would have
merged 522 of 1,084 short pages of openjdk-17-doc, and a site's navigation of 700 words any two
pages of 100.
"""

from __future__ import annotations

import re
from copy import copy
from typing import Any, NamedTuple

from lxml.etree import XPath, strip_elements
from trafilatura import bare_extraction

from neardup.features.folding import fold
from neardup.verification import split
from neardup.whole import with_whole

# Not shown by browsers that run scripts.
_HIDDEN = ("head", "script", "style", "noscript", "template")
# Ways to other pages, and controls.
_LINKED = ("a", "nav", "button", "select", "label")
# Elements that begin a new line or cell: their words never join with the words beside them.
BLOCKS = (
    "address article aside blockquote body br button caption center dd details dialog dir div dl "
    "dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr iframe legend "
    "li main menu nav ol option p pre section select summary table tbody td textarea tfoot th "
    "thead tr ul"
).split()

_TEXT = XPath("string()", smart_strings=False)
_FRAMES = XPath("//frame/@src", smart_strings=False)

Element = Any  # lxml has no types

# An index of links has a short text around them, a site's navigation a short one beside it.
_MIN_SHARE_OF_VISIBLE = 1 / 5
_MIN_SHARE_OF_UNLINKED = 1 / 3
_WORD = re.compile(r"\w")

MAX_COMPARED_CHARACTERS = 2_000_000
"""Compare a main text and the text outside links by equality alone beyond this many characters.

The limit is on both together: to compare two longer ones holds the main process for half a second
where they are Chinese, and for a tenth of one where they are English.
"""


class Visible(NamedTuple):
    """Texts of a page, white space as it came.

    Attributes:
        text: All visible text.
        unlinked: Visible text outside links, navigation and controls.
    """

    text: str
    unlinked: str


def read_visible(root: Element) -> Visible:
    """Return the visible text of a page.

    A frameset shows its frames, so their URLs stand for them: otherwise all framesets of a site
    would have one text, the notice for browsers without frames.

    Complexity: O(length), two copies of the tree in C: 0.6 ms for a page of 86 kB whose main text
    takes 35 ms.
    """
    shown = copy(root)
    strip_elements(shown, *_HIDDEN, with_tail=False)
    for element in shown.iter(*BLOCKS):
        if not (element.text or "")[:1].isspace():
            element.text = "\n" + (element.text or "")
        if not (element.tail or "")[:1].isspace():
            element.tail = "\n" + (element.tail or "")
    text = "\n".join([_TEXT(shown), *_FRAMES(root)])
    strip_elements(shown, *_LINKED, with_tail=False)
    return Visible(text, _TEXT(shown))


def ink(text: str) -> int:
    """Return the number of characters that are no white space, without a copy of the text."""
    return len(text) - sum(map(text.count, " \n\t\r\xa0"))


def tidy(text: str) -> str:
    """Return a text with one space between words and no empty lines, to be stored."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


class JudgedText(NamedTuple):
    """The text that the verdict on a page rests on.

    Attributes:
        text: Text to store; a main text has all text outside links with it.
        is_main: Whether the text may be judged by its fingerprint.
        notes: Reasons why the main text was not found or not credible.
        words: Number of words of a text longer than ``MAX_COMPARED_CHARACTERS``.
    """

    text: str
    is_main: bool
    notes: tuple[str, ...]
    words: int | None = None


def read_text(root: Element, visible: Visible) -> JudgedText:
    """Find the text that stands for a page.

    Args:
        root: Root of the page; not changed.
        visible: Visible text of the page.

    Raises:
        MemoryError: No memory is left; after any other error the visible text is returned.
    """
    notes: tuple[str, ...] = ()
    try:
        main = main_text(root)
    except MemoryError:
        raise
    except Exception as error:  # whatever it is, the page must not be lost
        main = ""
        notes = (f"no main text: {type(error).__name__}: {str(error)[:200]}",)
    if main and not is_credible(main, visible):
        notes += (f"main text of {ink(main)} characters not believed",)
        main = ""
    if _WORD.search(main):
        text = with_whole(main, _beyond(main, visible))
        if len(text) <= MAX_COMPARED_CHARACTERS:
            return JudgedText(text, True, notes)
        notes += (f"text of {len(text):,} characters compared by equality alone",)
    text = tidy(visible.text)
    words = len(split(text)) if len(text) > MAX_COMPARED_CHARACTERS else None
    return JudgedText(text, False, notes, words)


def judge_whole(text: str) -> JudgedText:
    """Return the text of a document, which is all main text."""
    if len(text) <= MAX_COMPARED_CHARACTERS and _WORD.search(text):
        return JudgedText(text, True, ())
    if len(text) <= MAX_COMPARED_CHARACTERS:
        return JudgedText(text, False, ())
    notes = (f"text of {len(text):,} characters compared by equality alone",)
    return JudgedText(text, False, notes, len(split(text)))


def _beyond(main: str, visible: Visible) -> str:
    """Return the text outside links, or nothing if that is the main text."""
    unlinked = tidy(visible.unlinked)
    return "" if fold(unlinked) == fold(main) else unlinked


def main_text(root: Element) -> str:
    """Return the main text of a page, the comments of its readers at the end.

    ``fast`` leaves out two rival extractors: 27 to 40 % less time, the same text on nearly all
    pages, and on lists of links (python3.11-doc contents.html) the text that the rivals lose.
    ``favor_recall`` would take less still and find more, but on 328 of 2,000 pages of
    openjdk-17-doc its result is the same footer. Comments belong to the text, as in
    ``trafilatura.extract``: the pages of a forum consist of them.

    Raises:
        Exception: An error of any type: trafilatura fails now and then.
    """
    found = bare_extraction(root, fast=True)
    if found is None or isinstance(found, dict):  # a dict only where one is asked for
        return ""
    return "\n".join(filter(None, (found.text, found.comments)))


def is_credible(main: str, visible: Visible) -> bool:
    """Return whether a main text can stand for the page, by its share of the visible text."""
    size = ink(main)
    if size < _MIN_SHARE_OF_VISIBLE * ink(visible.text):
        return False
    return size >= _MIN_SHARE_OF_UNLINKED * ink(visible.unlinked)
