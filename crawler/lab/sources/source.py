"""The contract of a source of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from crawler.lab.lab_page import LabPage
    from neardup import Parameters


class SourceError(Exception):
    """A source cannot be read, or not written to; one line that says why and what to do."""


class PageSource(Protocol):
    """Pages in crawl order, their texts on demand.

    It may be used from any thread, by one at a time.
    """

    @property
    def name(self) -> str:
        """The name of the source, for people."""

    @property
    def path(self) -> Path:
        """The path that was opened."""

    @property
    def folder(self) -> Path | None:
        """The folder of a crawl; None for any other source."""

    @property
    def parts(self) -> Sequence[PageSource]:
        """The sources that it consists of; itself, where it is one."""

    @property
    def notes(self) -> Sequence[str]:
        """The pages left out so far, a line for each reason."""

    @property
    def progress(self) -> float:
        """The share of the source that was read, 0 to 1."""

    def parameters(self) -> Parameters:
        """Return the parameters that verdicts are made with now.

        Raises:
            SourceError: It cannot be read.
        """

    def read_new(self) -> list[LabPage]:
        """Return the pages that came since the last call, in crawl order.

        Returns:
            At most some 10,000 pages; none where there are no more for now. The first calls return
            all pages of the source, slice by slice.

        Raises:
            SourceError: It cannot be read.
        """

    def texts(self, ids: Sequence[int]) -> Iterator[str | None]:
        """Yield the texts of pages, in the order asked for; None for one that is not stored.

        Raises:
            SourceError: It cannot be read.
        """

    def is_superseded(self) -> bool:
        """Whether a returned page has a newer capture, so that the source is to be reopened."""

    def close(self) -> None:
        """Free what it holds; closing twice is allowed."""
