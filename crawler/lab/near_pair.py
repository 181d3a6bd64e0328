"""Two near pages to look at, with the label that they have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class LabelLike(Protocol):
    """A label on two texts, named by their digests in any order."""

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
        first: The place of the earlier page.
        second: The place of the later page.
        distance: The distance in bits; -1 where no fingerprints are compared.
        similarity: The similarity, 0 to 1; None: a text is not stored.
        label: The label that a person gave: True, duplicates; None: no label yet.
        why: The reason to label it, in words.
    """

    first: int
    second: int
    distance: int
    similarity: float | None
    label: bool | None
    why: str
