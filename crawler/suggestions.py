"""Tell a user what is wrong, and suggest the word that may have been meant."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class UserError(Exception):
    """An error that a user can correct; the message says how in one line."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint for a misspelt word, or an empty text."""
    # Dashes that all options have would make short ones look alike.
    word, names = word.lstrip("-"), {name.lstrip("-"): name for name in known}
    close = difflib.get_close_matches(word, names)
    # Letters that changed places come before others, which the ratio takes for as near.
    close.sort(key=lambda name: sorted(name) != sorted(word))
    return f"; did you mean {names[close[0]]}?" if close else ""
