"""What a person said of two texts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.lab.lab_page import LabPage

DUPLICATE, DIFFERENT = NAMES = ("duplicate", "different")
"""How labels are written."""


class LabelError(ValueError):
    """Something that is no label, in one line."""


@dataclass(frozen=True, slots=True)
class Label:
    """Whether two texts say the same, for whoever looked at them.

    Attributes:
        first: Text digest, 16 bytes, the smaller one.
        second: The other one.
        is_duplicate: What was said.
        first_url: A page that says the first text.
        second_url: A page that says the second.
        labelled_at: Seconds since 1970.
    """

    first: bytes
    second: bytes
    is_duplicate: bool
    first_url: str
    second_url: str
    labelled_at: float

    @property
    def pair(self) -> tuple[bytes, bytes]:
        """By which it is known."""
        return self.first, self.second

    @property
    def name(self) -> str:
        """How it is written."""
        return DUPLICATE if self.is_duplicate else DIFFERENT


def label_of(one: LabPage, other: LabPage, *, is_duplicate: bool) -> Label:
    """Label two pages, in either order, now.

    Raises:
        LabelError: Their texts are equal, of which nothing is to be said.
    """
    if one.text_digest == other.text_digest:
        raise LabelError(f"{one.url} and {other.url} say the same, word for word")
    first, second = sorted((one, other), key=lambda page: page.text_digest)
    return Label(
        first.text_digest, second.text_digest, is_duplicate, first.url, second.url, time.time()
    )


def pair_of(one: bytes, other: bytes) -> tuple[bytes, bytes]:
    """Two text digests as labels name them."""
    return min(one, other), max(one, other)
