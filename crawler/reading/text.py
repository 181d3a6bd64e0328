"""Choose the text that verdicts rest on: a page's main text if that is credible.

The main text is that of the blocks that are likely content (``content.main_content``). Of some
pages it is a fragment: the introduction of an index, or a notice that is on every page. Judged by
such fragments, different pages would be duplicates of each other, and be lost. So the main text
counts only if it is at least a third of the text outside links, and a fifth of all visible text. On
three documentation sites with 3,548 pages it is less on .5 % of the pages.

The text beside the main text may be the only difference between two pages: captions, asides,
prices, sizes to choose from, pictures (``shown_attributes.py``), what browsers without scripts
show. So a main text is stored and judged with all text outside links and with these
(``neardup.whole``): pages are equal only if both are, and as similar as both are. A template around
every page does not make equal pages differ.

All others, those with short main texts too, are duplicates only of pages with the same visible
text. Fingerprints of all visible text will not do: the surroundings of short main texts would have
merged 522 of 1,084 short pages of openjdk-17-doc, and a site's navigation of 700 words any two
pages of 100.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from neardup.features.tokens import folded_bytes
from neardup.whole import with_whole

# Elements that begin a new line or cell: their words never join with the words beside them.
BLOCKS = (
    "address article aside blockquote body br button caption center dd details dialog dir div dl "
    "dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr iframe legend "
    "li main menu nav ol option p pre section select summary table tbody td textarea tfoot th "
    "thead tr ul"
).split()

# An index of links has a short text around them, a site's navigation a short one beside it.
_MIN_SHARE_OF_VISIBLE = 1 / 5
_MIN_SHARE_OF_UNLINKED = 1 / 3
_WORD = re.compile(r"\w")

MAX_COMPARED_CHARACTERS = 2_000_000
"""Compare a main text and the text outside links by equality alone beyond this many characters.

The limit is on both together: to compare two longer ones holds the main process for half a second
where they are Chinese, and for a tenth of one where they are English.
"""


def ink(text: str) -> int:
    """Return the number of characters that are no white space, without a copy of the text."""
    return len(text) - sum(map(text.count, " \n\t\r\xa0"))


def tidy(text: str) -> str:
    """Return a text with one space between words and no empty lines, to be stored."""
    return "\n".join(filter(None, map(" ".join, map(str.split, text.split("\n")))))


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


class JudgedText(NamedTuple):
    """The text that the verdict on a page rests on.

    Attributes:
        text: Text to store; a main text has all text outside links with it, and any text what is
            shown by attributes.
        is_main: Whether the text may be judged by its fingerprint.
    """

    text: str
    is_main: bool


def judge_page(main: str, visible: Visible) -> JudgedText:
    """Choose the text that stands for a page.

    Args:
        main: Main text of the page, empty where none was found.
        visible: Visible text of the page.
    """
    if main and (visible.is_frameset or not is_credible(main, visible)):
        main = ""
    if _WORD.search(main):
        text = with_whole(main, _beyond(main, visible))
        if len(text) <= MAX_COMPARED_CHARACTERS:
            return JudgedText(text, True)
    return JudgedText(visible._replace(text=tidy(visible.text)).whole(), False)


def judge_whole(text: str) -> JudgedText:
    """Return the text of a document, which is all main text."""
    return JudgedText(text, len(text) <= MAX_COMPARED_CHARACTERS and bool(_WORD.search(text)))


def _beyond(main: str, visible: Visible) -> str:
    """Return all that is shown outside links, or nothing if that is the main text."""
    outside = f"{visible.unlinked}\n{visible.controls}"
    further = visible.by_attributes, visible.unscripted_unlinked
    if not any(further) and folded_bytes(outside) == folded_bytes(main):
        return ""
    return "\n".join(filter(None, (tidy(outside), *further)))


def is_credible(main: str, visible: Visible) -> bool:
    """Return whether a main text can stand for the page, by its share of the visible text."""
    size = ink(main)
    shares = (_MIN_SHARE_OF_VISIBLE, visible.text), (_MIN_SHARE_OF_UNLINKED, visible.unlinked)
    # White space is counted only where it decides.
    return all(size >= share * len(text) or size >= share * ink(text) for share, text in shares)
