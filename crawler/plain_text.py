"""Text of strangers for a terminal, on which characters can be commands."""

from __future__ import annotations

import unicodedata

_PICTURES = 0x2400
_DELETE = "\x7f"


def plain(text: str, *, with_lines: bool = False) -> str:
    r"""A text in which everything that a terminal would obey, or not show, can be seen.

    Control characters become their pictures (an escape is ``␛``), those that turn the direction of
    writing, have no width or are no characters become ``\u202e`` and the like. White space
    becomes a space.

    Args:
        text: Any text.
        with_lines: Let line breaks be.
    """
    if text.isprintable():
        return text
    return "".join(_shown(character, with_lines=with_lines) for character in text)


def _shown(character: str, *, with_lines: bool) -> str:
    if character.isprintable() or (with_lines and character == "\n"):
        return character
    if character in "\t\n\r" or unicodedata.category(character) == "Zs":
        return " "
    if character < " ":
        return chr(_PICTURES + ord(character))
    if character == _DELETE:
        return "␡"
    return ascii(character)[1:-1]
