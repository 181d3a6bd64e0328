"""What a reader of files yields: pages, and what it left out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, TypeAlias


@dataclass(frozen=True, slots=True)
class WebPage:
    """A text of a file, with what its page says of itself.

    Attributes:
        position: Where it stands in its file; pages of a file have ascending ones.
        name: What people call it, such as its URL.
        text: The one to judge and to keep.
        is_main: Whether a fingerprint may stand for it; else only equality counts.
        visible_digest: ``text_digest`` of all that the page shows, which is what counts where no
            fingerprint stands for the text; None: the text is all there is.
        title: None where it says none.
        date: When it was fetched or published, as its source writes it; None where nobody knows.
    """

    position: int
    name: str
    text: str
    is_main: bool = True
    visible_digest: bytes | None = None
    title: str | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A record that is no page to judge, or damage; the reason in a few words, without names."""

    reason: str


Reader: TypeAlias = Callable[[BinaryIO], Iterator[WebPage | LeftOut]]
"""Reads a file, which can be sought, from its beginning to its end, in bounded memory."""
