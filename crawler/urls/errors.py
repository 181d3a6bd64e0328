"""The one error of this folder, and the display of a URL in its messages."""

from __future__ import annotations

_SHOWN_CHARACTERS = 100


class MalformedUrl(ValueError):  # noqa: N818  (the name other rooms were promised)
    """A text that is no http or https URL that could be asked for. One line, for the user."""


def shown(text: str) -> str:
    """Quote a text for a message: on one line, printable, and of bounded length."""
    if len(text) > _SHOWN_CHARACTERS:
        text = text[:_SHOWN_CHARACTERS] + "..."
    # ascii() where repr() would leave a lone surrogate, which no stream can print.
    return repr(text) if text.isprintable() else ascii(text)
