"""Two pages side by side, with what differs marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nicegui import run, ui

from crawler.lab.app.crawled_text import inert_link, plain
from crawler.lab.app.lab_state import StoppedError
from crawler.lab.app.side_views import SideRows, count_changes, side_by_side
from crawler.lab.pair_details import own_shingles
from crawler.lab.sources.source import SourceError
from neardup.comparison.diff import diff
from neardup.whole import readable

if TYPE_CHECKING:
    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.side_views import Row
    from crawler.lab.pair_details import OwnShingles
    from crawler.lab.sources.source import LabPage

MAX_CHARACTERS = 400_000
"""The largest number of characters of a text that is compared, which takes a second or two."""

_MAX_TITLE = 200


@dataclass(frozen=True, slots=True)
class PairTexts:
    """The comparison of two texts, to be shown.

    Attributes:
        rows: The texts side by side.
        changes: The number of places in which they differ.
        own_of_first: Shingles that the first text alone has.
        own_of_second: Shingles that the second text alone has.
        is_cut: Whether a text goes on beyond what was compared.
    """

    rows: list[Row]
    changes: int
    own_of_first: OwnShingles
    own_of_second: OwnShingles
    is_cut: bool


def pair_texts(first: str, second: str, shingle_size: int) -> PairTexts:
    """Compare two texts word by word and shingle by shingle.

    Args:
        first: The text of the earlier page.
        second: The text of the later page.
        shingle_size: Words in a row by which similarity is counted.
    """
    first, second = readable(first), readable(second)
    ours, theirs = first[:MAX_CHARACTERS], second[:MAX_CHARACTERS]
    runs = diff(ours, theirs)
    return PairTexts(
        side_by_side(runs),
        count_changes(runs),
        *own_shingles(ours, theirs, shingle_size),
        is_cut=max(len(first), len(second)) > MAX_CHARACTERS,
    )


class PairView:
    """One pair at a time; of several that were asked for, the last one is shown in the end."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._asked = 0
        with ui.element().classes("pair-view") as self._whole:
            self._heads = ui.element().classes("sides heads")
            self._note = ui.label().classes("note")
            self._rows = SideRows()
            self._shingles = ui.element().classes("sides shingles")

    async def show(self, first: int, second: int, shingle_size: int) -> None:
        """Show two pages by their places, the earlier one on the left."""
        self._asked += 1
        asked = self._asked
        pages = self._lab.session.pages
        one, other = pages[first], pages[second]
        try:
            texts = await self._lab.texts([first, second])
        except StoppedError:
            return
        except SourceError as error:
            if asked == self._asked and not self._whole.is_deleted:
                self.clear()
                self._note.text = plain(str(error), 500)
            return
        found = None
        if texts[0] is not None and texts[1] is not None:
            # Long texts take their time, which the lab's own thread needs for others.
            found = await run.io_bound(pair_texts, texts[0], texts[1], shingle_size)
        if asked == self._asked and not self._whole.is_deleted:
            self._show(one, other, found, shingle_size)

    def clear(self) -> None:
        self._asked += 1
        for part in (self._heads, self._shingles):
            part.clear()
        self._rows.show([])
        self._note.text = ""

    def _show(
        self, one: LabPage, other: LabPage, found: PairTexts | None, shingle_size: int
    ) -> None:
        self.clear()
        with self._heads:
            _head(one)
            _head(other)
        if found is None:
            self._note.text = "The text of one of them is not held, so they cannot be compared."
            return
        self._note.text = _words_of(found)
        self._rows.show(found.rows)
        with self._shingles:
            _shingles("Only on the left", found.own_of_first, shingle_size)
            _shingles("Only on the right", found.own_of_second, shingle_size)


def _head(page: LabPage) -> None:
    with ui.element().classes("side head"):
        ui.label(plain(page.title, _MAX_TITLE) or "(no title)").classes("crawled head-title")
        inert_link(page.url).classes("mono")
        verdict = page.verdict.replace("_", " ")
        ui.label(f"{page.words:,} words{', ' + verdict if verdict else ''}").classes("soft")


def _words_of(found: PairTexts) -> str:
    places = "1 place" if found.changes == 1 else f"{found.changes:,} places"
    words = f"They differ in {places}." if found.changes else "Word for word they are the same."
    return words + (" Only the beginning of both is compared." if found.is_cut else "")


def _shingles(title: str, own: OwnShingles, size: int) -> None:
    with ui.element().classes("side"):
        words = f"{title}: {own.count:,} of {own.of:,} shingles of {size} words"
        ui.label(words).classes("title")
        with ui.element().classes("shingle-list"):
            for shingle in own.first:
                ui.label(plain(shingle, 200)).classes("crawled mono")
        more = own.count - len(own.first)
        if more > 0:
            ui.label(f"and {more:,} more").classes("soft")


async def open_pair(lab: Lab, title: str, first: int, second: int, shingle_size: int) -> None:
    """Show two pages by their places until the reader has seen them."""
    with ui.dialog(value=True) as dialog, ui.card().classes("wide"):
        with ui.element().classes("line"):
            ui.label(title).classes("title")
            ui.element().classes("spacer")
            ui.button("Close", on_click=dialog.close, color=None).props("flat").classes("plain")
        with ui.element().classes("scrolled"):
            view = PairView(lab)
    dialog.on("hide", dialog.delete)
    await view.show(first, second, shingle_size)
