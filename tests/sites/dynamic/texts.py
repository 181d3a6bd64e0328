"""Real sentences in a new order for each page, so that no two pages are near-duplicates."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from random import Random

from crawler.demo.planted import CHAPTERS, read_text

_SHORTEST, _MAX_CHARACTERS = 6, 40  # words of a sentence that is used


@cache
def sentences() -> tuple[str, ...]:
    """Every English sentence of the handbook that the demo serves, each once."""
    found: dict[str, None] = {}
    for chapter in CHAPTERS:
        if chapter.language != "en":
            continue
        for name in chapter.articles:
            for paragraph in read_text(chapter.name, name).paragraphs:
                found |= dict.fromkeys(re.split(r"(?<=[.!?])\s+", paragraph))
    return tuple(one for one in found if _SHORTEST <= len(one.split()) <= _MAX_CHARACTERS)


@lru_cache(maxsize=8192)
def text(name: str, seed: int, words: int = 120) -> str:
    """At least so many words of prose, the same for the same arguments."""
    return drawn(Random(f"{seed} {name}"), words)


def drawn(chance: Random, words: int) -> str:
    """Sentences drawn until there are so many words."""
    parts: list[str] = []
    left = words
    while left > 0:
        parts.append(chance.choice(sentences()))
        left -= len(parts[-1].split())
    return " ".join(parts)
