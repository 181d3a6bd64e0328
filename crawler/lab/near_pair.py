"""Two pages that somebody may look at, and what was said of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class LabelLike(Protocol):
    """What a person said of two texts, named by their digests in any order."""

    @property
    def first(self) -> bytes: ...

    @property
    def second(self) -> bytes: ...

    @property
    def is_duplicate(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class NearPair:
    """A pair of distinct texts.

    Attributes:
        first: Place of the earlier page.
        second: Place of the later page.
        distance: In bits; -1 where no fingerprints are compared.
        similarity: 0 to 1; None: a text is not held.
        label: What a person said: True, duplicates; None: nothing yet.
        why: What can be learned from it.
    """

    first: int
    second: int
    distance: int
    similarity: float | None
    label: bool | None
    why: str
