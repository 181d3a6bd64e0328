"""Crawled text made visible and harmless: nothing in it acts on what stands around it."""

from __future__ import annotations

import unicodedata

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
