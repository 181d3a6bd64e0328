"""One page, as the lab looks at it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LabPage:
    """A page of a crawl or a file, without its text.

    Attributes:
        id: The id, unique within its source and ascending in crawl order.
        url: The URL, as requested.
        title: The title; empty where there is none.
        words: The number of words of the judged text.
        text_digest: The digest of the judged text, 16 bytes; it names the text.
        visible_digest: The digest of all that the page shows, 16 bytes; it counts where the text is
            short or not main. None for a text without a page.
        payload_digest: The digest of the body, 16 bytes; None where it is not known.
        fingerprint: The fingerprint, by the features of the source; None: too short, not main,
            unknown.
        is_main: Whether a fingerprint may stand for the text.
        verdict: The verdict of the crawl; empty where there was none.
        duplicate_of: The id of the page that this one repeats, by that verdict.
        distance: The distance of the two in bits, by that verdict.
        similarity: The similarity of the two, by that verdict.
        fetched_at: The time of the fetch in seconds since 1970; 0.0: not known.
        body_bytes: The size of the answer's body, in bytes.
        parameters: The id of the parameters that the verdict was made with.
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
    verdict: str
    duplicate_of: int | None
    distance: int | None
    similarity: float | None
    fetched_at: float
    body_bytes: int
    parameters: int | None
