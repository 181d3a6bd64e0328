"""Define the findings of checks, and the progress of a check."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that does not hold.

    Attributes:
        rule: Short name of the rule, the same in every version, by which repairs are chosen.
        what: Description with the number of violations.
        count: Number of violations.
        examples: Some of them.
        remedy: Description of the repair by ``--repair``, empty without one.
        advice: Advice to the user if there is no repair.
        is_leftover: Whether a stopped process left it, and the next crawl mends it by itself.
        ids: All of them by ``pages.id``, if they are pages.
    """

    rule: str
    what: str
    count: int = 1
    examples: tuple[str, ...] = ()
    remedy: str = ""
    advice: str = ""
    is_leftover: bool = False
    ids: tuple[int, ...] = field(default=(), repr=False)


@dataclass(slots=True)
class Culprits:
    """Pages that break a rule, collected one by one."""

    ids: list[int] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)

    def add(self, page_id: int, example: str) -> None:
        """Add a page."""
        self.ids.append(page_id)
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(example)

    def add_all(self, rows: Iterable[tuple[int, str]]) -> None:
        """Add the pages of a query for ids and URLs."""
        for page_id, url in rows:
            self.add(page_id, url)

    def finding(self, rule: str, what: str, remedy: str = "", advice: str = "") -> Finding:
        """Return a finding with these pages; ``what`` describes them."""
        return Finding(
            rule,
            f"{what}: {len(self.ids):,}",
            len(self.ids),
            tuple(self.examples),
            remedy,
            advice,
            ids=tuple(self.ids),
        )


class CheckWatch(Protocol):
    """Receives the progress of a check."""

    def begin(self, what: str, total: int) -> None:
        """Begin a phase with this number of steps."""

    def advance(self, steps: int = 1) -> None:
        """Count finished steps."""


class NoWatch:
    """Ignores progress."""

    def begin(self, what: str, total: int) -> None:
        """Do nothing."""

    def advance(self, steps: int = 1) -> None:
        """Do nothing."""
