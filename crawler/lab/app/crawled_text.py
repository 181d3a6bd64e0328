"""Crawled text made visible and harmless: nothing in it acts on what stands around it."""

from __future__ import annotations

import unicodedata
from urllib.parse import urlsplit

from nicegui import ui

_PICTURES = 0x2400
_DELETE = 0x7F
_JOINERS = "\u200c\u200d"
"""The joiners, which Persian, Indic scripts and emoji need in words; they change no order."""

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


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
    if character in _JOINERS or unicodedata.category(character) not in _UNSEEN:
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
            ui.button("Close", on_click=dialog.close, color=None).props("flat").classes("plain")
            if is_web(url):
                _outward(url)
            else:
                ui.label("Neither http nor https: not opened from here.").classes("soft")
    dialog.on("hide", dialog.delete)


def _outward(url: str) -> None:
    link = ui.element("a").classes("q-btn main outward")
    link.props["href"] = url
    link.props["target"] = "_blank"
    link.props["rel"] = "noreferrer noopener"
    with link:
        ui.label("Open in a new window")


def is_web(url: str) -> bool:
    """Whether a URL is one of http or https, and holds nothing that is not seen."""
    try:
        scheme = urlsplit(url).scheme
    except ValueError:
        return False
    return scheme in ("http", "https") and url.isprintable()
