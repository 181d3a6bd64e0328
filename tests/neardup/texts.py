"""Texts for tests: the same for the same arguments, in every process."""

import random

VOCABULARY = [f"{first}{second}" for first in "bcdfghklmnprst" for second in ("a", "elo", "irun")]


def prose(seed: int, count: int = 120) -> str:
    """Return a text of so many words; texts of two seeds have next to nothing in common."""
    source = random.Random(seed)
    return " ".join(source.choices(VOCABULARY, k=count))


def changed(text: str, seed: int, count: int = 1) -> str:
    """Return the text with so many of its words replaced."""
    source, words = random.Random(seed), text.split()
    for place in source.sample(range(len(words)), count):
        words[place] = f"changed{seed}"
    return " ".join(words)


PAGE = prose(1, 1000)
NEAR = changed(PAGE, 1)
FAR = prose(2, 1000)
SHORT = prose(3, 49)
