"""Pages that a reader of files yields, and records that it left out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, TypeAlias


@dataclass(frozen=True, slots=True)
class WebPage:
    """A text of a file, with what its page says of itself.

    Attributes:
        position: The place in its file; it ascends from page to page.
        name: The name for people, such as its URL.
        text: The text to judge and to store.
        is_main: Whether a fingerprint may stand for it; else only equality counts.
        visible_digest: ``text_digest`` of all that the page shows, which is what counts where no
            fingerprint stands for the text; None: the text is all there is.
        title: The title; None where the page has none.
        date: The time at which it was fetched or published, as its source writes it; None where it
            is not known.
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
"""A function that reads a seekable file from its beginning to its end, in bounded memory."""
