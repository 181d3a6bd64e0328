"""Show crawled URLs; none is opened before the reader has seen the whole of it and agrees."""

from __future__ import annotations

from urllib.parse import urlsplit

from nicegui import ui

from crawler.lab.app.plain_text import plain

_MAX_SHOWN = 4_000


def inert_link(url: str, shown: str | None = None) -> ui.label:
    """Return text that looks like a link; a click shows the URL in full and asks."""
    label = ui.label(plain(shown if shown is not None else url, 300))
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
