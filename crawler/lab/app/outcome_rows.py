"""The outcome of a choice as rows of a table: how many pages each layer decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.lab.judgement import LAYERS

if TYPE_CHECKING:
    from crawler.lab.choice import Choice
    from crawler.lab.judgement import Judgement

KEEPING = LAYERS[:3]
"""The layers that keep a page; the others drop it."""

WORDS = {
    "new": "New text",
    "too_short": "Too short to be near another",
    "changed": "Changed since the visit before",
    "payload": "Same bytes",
    "text": "Same text",
    "simhash": "Near: a match",
    "candidate": "Near: a candidate, confirmed",
    "minhash": "Near: by MinHash, confirmed",
}


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """Pages that one layer decides.

    Attributes:
        layer: The name of the layer in ``LAYERS``.
        words: The name for people.
        is_kept: Whether the layer keeps pages.
        holds: The number of pages by the parameters that hold.
        tried: The number of pages by those that are tried.
    """

    layer: str
    words: str
    is_kept: bool
    holds: int
    tried: int

    @property
    def change(self) -> int:
        """The number of pages that the tried choice adds to the layer; below 0: removes."""
        return self.tried - self.holds


def outcome_rows(tried: Judgement, holds: Judgement) -> list[OutcomeRow]:
    """Return a row for each layer, in the order in which they are asked."""
    ours, theirs = tried.counts(), holds.counts()
    return [
        OutcomeRow(layer, WORDS[layer], layer in KEEPING, theirs[layer], ours[layer])
        for layer in LAYERS
    ]


def signed(number: int) -> str:
    """Return a difference as people write it; nothing for none."""
    return f"{number:+,}".replace("-", "\u2212") if number else ""


def bytes_in_words(count: int) -> str:
    """Return a number of bytes in the largest unit that it reaches."""
    size, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:,.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"


def choice_key(choice: Choice) -> str:
    """Return a choice as one word, by which a window says what it shows."""
    parameters = choice.parameters
    features = parameters.fingerprint_features
    return "/".join(
        [
            choice.method,
            f"{features.unit}-{features.size}-{features.weight}",
            str(parameters.max_distance),
            str(parameters.candidate_distance),
            f"{parameters.min_similarity:g}",
            str(parameters.min_words),
            "verified" if parameters.verify else "alone",
        ]
    )
