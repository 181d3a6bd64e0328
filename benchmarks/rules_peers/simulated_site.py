"""What a site without a network is: a function from URLs to answers, and what there is to find."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

SITE = "http://site.test"
"""The origin of the sites that are made."""


class Answer(NamedTuple):
    """A page.

    Attributes:
        content: The name of what it says; pages with one name say the same.
        links: The URLs that it links to.
    """

    content: str
    links: Sequence[str]


class SimulatedSite(Protocol):
    """A site without a network."""

    @property
    def seeds(self) -> Sequence[str]:
        """The URLs with which a crawl begins."""

    @property
    def truth(self) -> frozenset[str]:
        """The names of all contents that are to be found."""

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
