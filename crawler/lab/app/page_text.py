"""The two texts of a page, judged and shown, and the switch between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import run, ui

from crawler.lab.app.crawled_text import plain
from crawler.lab.crawl_source import SourceError
from crawler.lab.sides import ComparedText
from crawler.lab.words import content_words

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nicegui.events import ValueChangeEventArguments

    from crawler.lab.sides import TextSide

MAX_CHARACTERS = 20_000
"""The number of characters of a page's text that are shown beside its facts."""

_OPTIONS = {ComparedText.JUDGED.value: "Judged text", ComparedText.SHOWN.value: "Shown text"}
_MEANINGS = {
    ComparedText.JUDGED: "Verdicts rest on it.",
    ComparedText.SHOWN: "The main content, which is exported; no verdict rests on it.",
}


class TextSwitch:
    """Chooses which text of a page is looked at.

    Args:
        chosen: Called when the reader chose the other one.
    """

    def __init__(self, chosen: Callable[[], Awaitable[None]]) -> None:
        self._chosen = chosen
        with ui.element().classes("line text-switch") as self._line:
            self._toggle = ui.toggle(_OPTIONS, value=ComparedText.JUDGED.value)
            self._toggle.props("dense flat no-caps color=none toggle-color=none")
            self._toggle.on_value_change(self._changed)
            self._meaning = ui.label(_MEANINGS[ComparedText.JUDGED]).classes("soft")

    @property
    def compared(self) -> ComparedText:
        return ComparedText(self._toggle.value)

    def show(self, *, is_shown: bool) -> None:
        """Show the switch, or hide it where there is no text."""
        self._line.set_visibility(is_shown)

    def _changed(self, _: ValueChangeEventArguments[Any]) -> Awaitable[None]:
        self._meaning.text = _MEANINGS[self.compared]
        return self._chosen()


class PageText:
    """One page's text, its beginning where it is long.

    Args:
        side: The page.
    """

    def __init__(self, side: TextSide) -> None:
        self._side = side
        with ui.element().classes("stack page-text"):
            ui.label(plain(content_words(side.content))).classes("soft").props("data-content")
            self._switch = TextSwitch(self.show)
            self._text = ui.label().classes("crawled text side-rows")
            self._note = ui.label().classes("note")

    async def show(self) -> None:
        """Show the text that is chosen."""
        compared = self._switch.compared
        try:
            # A content of many elements takes seconds to write.
            words = await run.io_bound(self._side.words_of, compared) or ""
        except SourceError as error:
            words, self._note.text = "", plain(str(error), 500)
        else:
            more = len(words) - MAX_CHARACTERS
            self._note.text = f"and {more:,} characters more" if more > 0 else ""
        if compared is self._switch.compared and not self._text.is_deleted:
            self._text.text = plain(words[:MAX_CHARACTERS], keeps_lines=True)
