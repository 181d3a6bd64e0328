"""Labels: whether two texts are duplicates, as a person said."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.lab.lab_page import LabPage

DUPLICATE, DIFFERENT = NAMES = ("duplicate", "different")
"""The written names of the two labels."""


class LabelError(ValueError):
    """Something that is no label, in one line."""


@dataclass(frozen=True, slots=True)
class Label:
    """A person's decision whether two texts say the same.

    Attributes:
        first: The smaller of the two text digests, 16 bytes.
        second: The larger text digest, 16 bytes.
        is_duplicate: Whether the two texts are duplicates.
        first_url: The URL of a page with the first text.
        second_url: The URL of a page with the second text.
        labelled_at: The time of the label, in seconds since 1970.
    """

    first: bytes
    second: bytes
    is_duplicate: bool
    first_url: str
    second_url: str
    labelled_at: float

    @property
    def pair(self) -> tuple[bytes, bytes]:
        """The key of the label: both digests."""
        return self.first, self.second

    @property
    def name(self) -> str:
        """The written name of the label."""
        return DUPLICATE if self.is_duplicate else DIFFERENT


def label_of(one: LabPage, other: LabPage, *, is_duplicate: bool) -> Label:
    """Label two pages, in either order, now.

    Raises:
        LabelError: Their texts are equal, so that no label is needed.
    """
    if one.text_digest == other.text_digest:
        raise LabelError(f"{one.url} and {other.url} say the same, word for word")
    first, second = sorted((one, other), key=lambda page: page.text_digest)
    return Label(
        first.text_digest, second.text_digest, is_duplicate, first.url, second.url, time.time()
    )


def pair_of(one: bytes, other: bytes) -> tuple[bytes, bytes]:
    """Return two text digests in the order in which labels name them."""
    return min(one, other), max(one, other)
