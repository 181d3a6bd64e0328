"""What a check says: a rule that does not hold, in plain words."""

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
        rule: Its short name, the same in every version; what a repair goes by.
        what: What was found, and how many.
        count: How many.
        examples: Some of them.
        remedy: What ``--repair`` does about it; empty where it can do nothing.
        advice: What the user can do where no repair can.
        is_leftover: What a stopped process leaves, and the next crawl takes up by itself.
        ids: All of them, by ``pages.id``, where they are pages.
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
    """Pages that break a rule, gathered one by one."""

    ids: list[int] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)

    def add(self, page_id: int, example: str) -> None:
        """Note a page."""
        self.ids.append(page_id)
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(example)

    def add_all(self, rows: Iterable[tuple[int, str]]) -> None:
        """Note the pages of a query for ids and URLs."""
        for page_id, url in rows:
            self.add(page_id, url)

    def finding(self, rule: str, what: str, remedy: str = "", advice: str = "") -> Finding:
        """A finding of them; ``what`` says what they are."""
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
    """Who is told how far a check is."""

    def begin(self, what: str, total: int) -> None:
        """Something begins that has so many steps."""

    def advance(self, steps: int = 1) -> None:
        """So many steps are done."""


class NoWatch:
    """Nobody is told."""

    def begin(self, what: str, total: int) -> None:
        """Nothing."""

    def advance(self, steps: int = 1) -> None:
        """Nothing."""
