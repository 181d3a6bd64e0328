"""A source of pages, and the pages that it gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.parameters import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from crawler.reading.content.content_xml import PackedContent
    from neardup import Parameters

    Blocks = frozenset[int] | None
    PageBoilerplate = Callable[["LabPage"], Blocks]


class SourceError(Exception):
    """A source cannot be read, or not written to; one line that says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
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


class PageSource(ABC):
    """Pages in crawl order, their texts on demand.

    It may be used from any thread, by one at a time. All that reads raises ``SourceError`` where it
    cannot.

    Args:
        path: The path that was opened.

    Attributes:
        name: The name of the source, for people.
        folder: The folder of a crawl; None for any other source.
    """

    folder: Path | None = None

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    @property
    def notes(self) -> Sequence[str]:
        """The pages left out so far, a line for each reason."""
        return ()

    @property
    @abstractmethod
    def progress(self) -> float:
        """The share of the source that was read, 0 to 1."""

    def parameters(self) -> Parameters:
        """Return the parameters that verdicts are made with now."""
        return DEFAULTS

    @abstractmethod
    def read_new(self) -> list[LabPage]:
        """Return the pages that came since the last call, in crawl order.

        Returns:
            At most some 10,000 pages; none where there are no more for now. The first calls return
            all pages of the source, slice by slice.
        """

    @abstractmethod
    def texts(self, ids: Sequence[int]) -> Iterator[str | None]:
        """Yield the texts of pages, in the order asked for; None for one that is not stored."""

    @abstractmethod
    def contents(self, ids: Sequence[int]) -> Iterator[PackedContent | None]:
        """Yield the contents that are shown of pages, in the order asked for.

        None for one that is not stored, and for a text that came without a page.
        """

    def picture(self, number: int) -> bytes | None:  # of the sources that have any
        """Return the picture of a page as WebP; None where none is kept."""
        return None

    def boilerplate(self) -> PageBoilerplate | None:
        """Return what gives the hashes of the blocks that are boilerplate at the host of a page.

        It gives those that are counted by now, and None for a host with too few pages.
        None: nothing is counted here.
        """
        return None

    def is_superseded(self) -> bool:
        """Whether a returned page has a newer capture, so that the source is to be reopened."""
        return False

    def close(self) -> None:  # noqa: B027  (a crawl directory is not kept open)
        """Free what it holds; closing twice is allowed."""
