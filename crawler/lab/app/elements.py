"""The elements that the tabs share, and crawled text made visible and harmless.

Nothing in crawled text acts on what stands around it.
"""

from __future__ import annotations

import unicodedata
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit

from nicegui import ui

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Item = TypeVar("Item")

_PICTURES = 0x2400
_DELETE = 0x7F
_JOINERS = "\u200c\u200d"
"""The joiners, which Persian, Indic scripts and emoji need in words; they change no order."""


def plain(text: str | None, most: int | None = None, *, keeps_lines: bool = False) -> str:
    """Show invisible characters as symbols: control characters, direction overrides and the like.

    It goes into text nodes only, so markup in it stays text without this.

    Args:
        text: The text as it was crawled; None is the empty text.
        most: Characters after which it is cut, with an ellipsis in place of the rest.
        keeps_lines: Whether line ends and tabs stay as they are.

    Complexity: O(characters kept).
    """
    shown = text or ""
    if most is not None and len(shown) > most:
        shown = shown[: most - 1] + "…"
    if shown.isascii() and shown.isprintable():
        return shown
    kept = "\n\t" if keeps_lines else ""
    return "".join(one if one in kept else _visible(one) for one in shown)


def _visible(character: str) -> str:
    is_space = unicodedata.category(character) == "Zs"
    if character.isprintable() or is_space or character in _JOINERS:
        return character
    code = ord(character)
    if code < 0x20:
        return chr(_PICTURES + code)
    if code == _DELETE:
        return "␡"
    return f"⟨U+{code:04X}⟩"


_MAX_SHOWN = 4_000


def inert_link(url: str) -> ui.label:
    """Return text that looks like a link; a click shows the URL in full and asks."""
    label = ui.label(plain(url, 300))
    label.classes("crawled inert one-line")
    label.on("click", lambda: confirm_link(url))
    return label


def confirm_link(url: str) -> None:
    """Show a URL in full, with a link that leaves no trace of where it was followed from."""
    with ui.dialog(value=True) as dialog, ui.card():
        ui.label("This address was crawled. Nobody vouches for what is there.").classes("title")
        ui.label(plain(url, _MAX_SHOWN)).classes("crawled mono")
        with ui.element().classes("line"):
            ui.element().classes("spacer")
            button("Close", dialog.close)
            if is_web(url):
                link = ui.link("Open in a new window", url, new_tab=True)
                link.classes(replace="q-btn main outward").props("rel='noreferrer noopener'")
            else:
                ui.label("Neither http nor https: not opened from here.").classes("soft")
    dialog.on("hide", dialog.delete)


def is_web(url: str) -> bool:
    """Whether a URL is one of http or https, and holds nothing that is not seen."""
    try:
        scheme = urlsplit(url).scheme
    except ValueError:
        return False
    return scheme in ("http", "https") and url.isprintable()


def button(words: str, deed: Callable[[], Any] | None = None, look: str = "plain") -> ui.button:
    """Return a button without a box of its own.

    Args:
        words: The words on it.
        deed: Called when it was clicked on.
        look: The classes that show it: ``plain``, or ``main`` for what a reader comes for.
    """
    return ui.button(words, on_click=deed, color=None).props("flat dense").classes(look)


@contextmanager
def closing_dialog(title: str, look: str = "") -> Iterator[None]:
    """Show what is made in the block, below a title, until the reader closes it."""
    with ui.dialog(value=True) as dialog, ui.card().classes(look):
        with ui.element().classes("line"):
            ui.label(title).classes("title")
            ui.element().classes("spacer")
            button("Close", dialog.close)
        yield
    dialog.on("hide", dialog.delete)


class GrowingRows(Generic[Item]):
    """Makes some rows at first, and more whenever the reader asks for them.

    Args:
        look: The classes of what holds the rows.
        make_row: Makes the row of an item.
        at_once: The number of rows that are made at a time.
        at_first: The number of rows that are made at first; None: ``at_once``.
    """

    def __init__(
        self,
        look: str,
        make_row: Callable[[Item], None],
        at_once: int,
        at_first: int | None = None,
    ) -> None:
        self._make_row = make_row
        self._at_once = at_once
        self._at_first = at_first or at_once
        self._items: Sequence[Item] = ()
        self._shown = 0
        self.body = ui.element().classes(look)
        self._more = button("", lambda: self._show_more(self._at_once))
        self._more.set_visibility(False)

    def show(self, items: Sequence[Item]) -> None:
        """Show the first of these items in place of the others."""
        self.body.clear()
        self._items, self._shown = items, 0
        self._show_more(self._at_first)

    def _show_more(self, count: int) -> None:
        more = self._items[self._shown : self._shown + count]
        with self.body:
            for item in more:
                self._make_row(item)
        self._shown += len(more)
        left = len(self._items) - self._shown
        self._more.text = f"Show {min(self._at_once, left):,} more"
        self._more.set_visibility(left > 0)
