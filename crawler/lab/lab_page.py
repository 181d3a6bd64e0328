"""One page, as the lab looks at it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LabPage:
    """A page of a crawl or a file, without its text.

    Attributes:
        id: Unique within its source, ascending in crawl order.
        url: As requested.
        title: Empty where there is none.
        words: Of the judged text.
        text_digest: Of the judged text, 16 bytes; by it a text is named.
        visible_digest: Of all that the page shows, 16 bytes, by which it is judged where its text
            is short or not main; None for a text without a page.
        payload_digest: Of the body, 16 bytes; None where it is not known.
        fingerprint: By the features of the source; None: too short, not main, unknown.
        is_main: Whether a fingerprint may stand for the text.
        verdict: Of the crawl; empty where there was none.
        duplicate_of: Id of the page that this one repeats, by that verdict.
        distance: Bits between the two, by that verdict.
        similarity: Of the two, by that verdict.
        fetched_at: Seconds since 1970; 0.0: not known.
        body_bytes: Of the answer's body.
        parameters: Id of the parameters that the verdict was made with.
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
