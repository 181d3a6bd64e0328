"""Define the two steps in which a page is read, as data light enough for the parent to import."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.reading.reading import Reading

if TYPE_CHECKING:
    from crawler.reading.reading import Extract, Link, Metadata


class ReadingTask(NamedTuple):
    """A page to read."""

    url: str
    body: bytes
    content_type: str | None = None
    links_only: bool = False


class Parsed(NamedTuple):
    """The first step: everything but the main text."""

    links: list[Link]
    links_cut: int
    metadata: Metadata
    encoding: str
    visible_digest: bytes | None
    notes: tuple[str, ...]
    secs: float
    links_too_long: int = 0


class Extracted(NamedTuple):
    """The second step: the text.

    Attributes:
        text_zstd: Text to store, with its whole, UTF-8, compressed by zstd.
        is_main: Whether it may be judged by its fingerprint.
        html_zstd: Body, if it is to be kept.
        notes: Reasons why the main text was not found or not credible.
        secs: CPU time of the step.
        words: Number of words of a text that is too long for the parent to count them.
    """

    text_zstd: bytes
    is_main: bool
    html_zstd: bytes | None
    notes: tuple[str, ...]
    secs: float
    words: int | None = None


def to_reading(
    url: str, parsed: Parsed, extracted: Extracted | None = None, extract: Extract | None = None
) -> Reading:
    """Join the results of the steps that were taken."""
    return Reading(
        url,
        links=tuple(parsed.links),
        links_cut=parsed.links_cut,
        links_too_long=parsed.links_too_long,
        metadata=parsed.metadata,
        encoding=parsed.encoding,
        visible_digest=parsed.visible_digest,
        extract=extract,
        html_zstd=None if extracted is None else extracted.html_zstd,
        notes=parsed.notes if extracted is None else parsed.notes + extracted.notes,
        parse_secs=parsed.secs,
        extract_secs=0.0 if extracted is None else extracted.secs,
    )
