"""Words as they were written, for people to read."""

import re

import numpy as np

from neardup.features.folding import fold
from neardup.features.scripts import MARK, SINGLE, kinds_of

_WORD = re.compile(r"(\S+)(\s*)")


def written_words(text: str) -> list[str]:
    """Cut a text into words with what stands on them, each with the white space behind it.

    Punctuation stays with its word; in scripts without spaces every character is a word. White
    space becomes one space, or one line break where it holds one, so that the words put together
    are the text as a person sees it.
    """
    words: list[str] = []
    for word, space in _WORD.findall(text):
        pieces = [word] if word.isascii() else _pieces(word)
        if space:
            pieces[-1] += "\n" if "\n" in space else " "
        words += pieces
    return words


def folded_word(word: str) -> str:
    """Return that by which words are compared, so that case and encoding form do not count."""
    return word.strip().lower() if word.isascii() else fold(word)


def _pieces(word: str) -> list[str]:
    """Cut before and behind each character of a script without spaces; marks stay with it."""
    kinds = kinds_of(np.frombuffer(word.encode("utf-32-le", "surrogatepass"), "<u4"))
    if not (kinds == SINGLE).any():
        return [word]
    pieces: list[str] = []
    follows_single = False
    for character, kind in zip(word, kinds.tolist(), strict=True):
        if kind == MARK and pieces:
            pieces[-1] += character
            continue
        if not pieces or kind == SINGLE or follows_single:
            pieces.append(character)
        else:
            pieces[-1] += character
        follows_single = kind == SINGLE
    return pieces
