"""The pages of the lab."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Blocks = frozenset[int] | None
    PageBoilerplate = Callable[["LabPage"], Blocks]


class SourceError(Exception):
    """A source cannot be read, or not written to; one line that says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabPage:
    """A page of a crawl, without its text.

    Attributes:
        id: The id, unique within its source and ascending in crawl order.
        url: The URL, as requested.
        title: The title; empty where there is none.
        words: The number of words of the judged text.
        text_digest: The digest of the judged text, 16 bytes; it names the text.
        visible_digest: The digest of all that the page shows, 16 bytes; it counts where the text is
            short or not main. None for a text that came without a page.
        payload_digest: The digest of the body, 16 bytes; None where it is not known.
        fingerprint: The fingerprint, by the features of the source; None: too short, not main,
            unknown.
        is_main: Whether a fingerprint may stand for the text.
        body_bytes: The size of the answer's body, in bytes.
        fetched_at: The time of the fetch in seconds since 1970; 0.0: not known.
        verdict: The verdict of the crawl; empty where there was none.
        duplicate_of: The id of the page that this one repeats, by that verdict.
        distance: The distance of the two in bits, by that verdict.
        similarity: The similarity of the two, by that verdict.
        name: What the page is called, as ``neardup.names.Name.packed`` returns it; empty: nothing
            is known.
        resembles: The id of the page of another name that this one is nearly equal to, by that
            verdict; distance and similarity are those of the two.
    """

    id: int
    url: str
    title: str
    words: int
    text_digest: bytes
    visible_digest: bytes | None
    payload_digest: bytes | None
    fingerprint: int | None
    is_main: bool
    body_bytes: int
    fetched_at: float = 0.0
    verdict: str = ""
    duplicate_of: int | None = None
    distance: int | None = None
    similarity: float | None = None
    name: str = ""
    resembles: int | None = None
