"""Name the faults of a site, each with its meaning, and hold what was found of them."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappush, heapreplace
from typing import NamedTuple


class FaultKind(NamedTuple):
    """What is said of a fault.

    Attributes:
        heading: Its name for people.
        meaning: What it does to visitors, or how it is mended.
        relation: What the pages of an example are to it; empty where it has none.
        is_shared: Whether the detail of an example is what its pages have in common.
    """

    heading: str
    meaning: str
    relation: str = ""
    is_shared: bool = False


FAULTS: dict[str, FaultKind] = {
    "broken_links": FaultKind(
        "Broken links", "A link leads to no page: mend it, or take it out.", "linked on"
    ),
    "redirect_circles": FaultKind(
        "Redirects in a circle", "The URL leads back to itself: nobody sees a page.", "linked on"
    ),
    "redirect_chains": FaultKind(
        "Chains of redirects",
        "Each redirect costs a visitor a request: let the first one lead to the end.",
        "linked on",
    ),
    "redirected_links": FaultKind(
        "Links to URLs that redirect", "A link to the new URL spares a request.", "linked on"
    ),
    "canonicals": FaultKind(
        "Contradicting canonical URLs",
        "The page calls another one canonical (rel=canonical) that does not have its text.",
    ),
    "translations": FaultKind(
        "Contradicting translations",
        "The page names a translation (hreflang) that is no page, or does not name it back.",
    ),
    "orphans": FaultKind(
        "Pages without a link to them",
        "A sitemap, a feed or a guess led there: nobody comes there by following links.",
    ),
    "missing_titles": FaultKind(
        "Pages without a title", "Search results and tabs of browsers show the title."
    ),
    "repeated_titles": FaultKind(
        "Titles of several pages",
        "In a list nobody can tell these pages apart.",
        "title of",
        is_shared=True,
    ),
    "missing_descriptions": FaultKind(
        "Pages without a description",
        "Search engines show the description (meta name=description) below the title.",
    ),
    "repeated_descriptions": FaultKind(
        "Descriptions of several pages",
        "A description is to say what is on this page alone.",
        "description of",
        is_shared=True,
    ),
    "duplicates": FaultKind(
        "Pages at several URLs",
        "These URLs show one page, or nearly so: let the others redirect to it, or call it "
        "canonical.",
        "also at",
    ),
}
"""What is said of each fault, by its name."""


@dataclass(frozen=True, slots=True)
class FaultPage:
    """A page that a fault concerns.

    Attributes:
        url: Its URL.
        text: What its link shows, or how it repeats another page; empty where there is neither.
    """

    url: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class FaultExample:
    """One case of a fault.

    Attributes:
        url: The URL with the fault.
        detail: What is wrong with it, or what several pages share.
        count: How many pages it concerns: those that link to it, repeat it or share it.
        pages: Some of them.
    """

    url: str
    detail: str = ""
    count: int = 0
    pages: tuple[FaultPage, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """What was found of one fault.

    Attributes:
        name: A key of ``FAULTS``.
        count: How many cases there are.
        examples: Some of them.
    """

    name: str
    count: int
    examples: tuple[FaultExample, ...]

    @property
    def kind(self) -> FaultKind:
        return FAULTS[self.name]


class FaultExamples:
    """Collects cases of a fault, in bounded memory.

    Args:
        name: Name of the fault.
        most: Keep at most this many examples.
        largest_first: Whether those that concern the most pages are kept, else the first ones.
    """

    def __init__(self, name: str, most: int, *, largest_first: bool = False) -> None:
        self._name = name
        self._most = most
        self._largest_first = largest_first
        self._count = 0
        self._held: list[tuple[int, int, FaultExample]] = []

    def add(self, example: FaultExample) -> None:
        self._count += 1
        entry = (example.count if self._largest_first else 0, -self._count, example)
        if len(self._held) < self._most:
            heappush(self._held, entry)
        elif entry > self._held[0]:
            heapreplace(self._held, entry)

    def fault(self) -> Fault:
        """Return what was collected so far."""
        examples = tuple(example for *_, example in sorted(self._held, reverse=True))
        return Fault(self._name, self._count, examples)
