"""What the lab asks of a place where pages come from."""

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
        """What people call it."""

    @property
    def path(self) -> Path:
        """What was opened."""

    @property
    def folder(self) -> Path | None:
        """Of a crawl, else None."""

    @property
    def parts(self) -> Sequence[PageSource]:
        """The sources that it consists of; itself, where it is one."""

    @property
    def notes(self) -> Sequence[str]:
        """What was left out so far, and why, a line each."""

    @property
    def progress(self) -> float:
        """How much of what is there was read, 0 to 1."""

    def parameters(self) -> Parameters:
        """Those that verdicts are made with now.

        Raises:
            SourceError: It cannot be read.
        """

    def read_new(self) -> list[LabPage]:
        """What came since the last call, in crawl order; the first calls give all, in slices.

        Returns:
            At most some 10,000 pages; none where there are no more for now.

        Raises:
            SourceError: It cannot be read.
        """

    def texts(self, ids: Sequence[int]) -> Iterator[str | None]:
        """The texts of pages, in the order asked for; None for one that nobody holds.

        Raises:
            SourceError: It cannot be read.
        """

    def is_superseded(self) -> bool:
        """Whether a page that was given out is no newest capture any more: open it anew."""

    def close(self) -> None:
        """Free what it holds; closing twice is allowed."""
