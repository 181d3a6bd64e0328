"""Show pairs to a person, one after the other, and store the labels."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.console.compare_text import pair_diff, pair_lines
from crawler.console.escaping import say
from crawler.lab.labels import remove_label, store_labels
from crawler.lab.pair_details import details_of
from crawler.lab.pair_label import NAMES, label_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crawler.lab.border_pairs import NearPair
    from crawler.lab.loading import Loaded

KEYS = "d = duplicate, n = not, s = skip, b = back, r = remove the label, q = quit"

_CONTEXT = 10
_MAX_LINES = 30


@dataclass
class Labelling:
    """One walk through pairs.

    Args:
        found: The pages.
        pairs: In the order in which they are shown.
        print_line: Takes what the person is to see.
        is_coloured: Whether marks may be red and green.
    """

    found: Loaded
    pairs: Sequence[NearPair]
    print_line: Callable[[str], None]
    is_coloured: bool = False
    said: dict[int, str] = field(default_factory=dict)

    def walk(self, keys: Iterator[str]) -> None:
        """Show pairs until there are no more, or no more keys; each label is kept at once.

        Args:
            keys: What the person answers, one a line.

        Raises:
            SourceError: A text cannot be read, or a label not be kept.
        """
        self.print_line(KEYS)
        place = 0
        while place < len(self.pairs):
            self._show(place)
            step = self._answer(place, keys)
            if step is None:
                return
            place = max(0, place + step)

    def summary(self) -> str:
        """Return a line with the number of pairs that were labelled."""
        counts = Counter(self.said.values())
        parts = ", ".join(f"{counts[name]:,} {name}" for name in NAMES)
        return f"labelled: {len(self.said):,} of {len(self.pairs):,} pairs ({parts})"

    def _show(self, place: int) -> None:
        details = details_of(self.found, self.pairs[place])
        self.print_line("")
        for line in pair_lines(details, place + 1):
            self.print_line(line)
        self.print_line("")
        lines = pair_diff(details, _CONTEXT, coloured=self.is_coloured).splitlines()
        for line in lines[:_MAX_LINES]:
            self.print_line(line)
        if len(lines) > _MAX_LINES:
            self.print_line(f"... and {len(lines) - _MAX_LINES:,} lines more")
        if place in self.said:
            self.print_line(f"      labelled {self.said[place]}")

    def _answer(self, place: int, keys: Iterator[str]) -> int | None:
        """Act on the next valid key; return how many pairs to move on, None to stop."""
        for key in keys:
            match key.strip().lower():
                case "d" | "n" as said:
                    self._store(place, is_duplicate=said == "d")
                    return 1
                case "s" | "":
                    return 1
                case "b":
                    return -1
                case "r":
                    self._remove(place)
                    return 1
                case "q":
                    return None
                case _:
                    self.print_line(KEYS)
        return None

    def _store(self, place: int, *, is_duplicate: bool) -> None:
        pair = self.pairs[place]
        pages = self.found.session.pages
        label = label_of(pages[pair.first], pages[pair.second], is_duplicate=is_duplicate)
        store_labels(self.found.sources, [label])
        self.said[place] = label.name

    def _remove(self, place: int) -> None:
        pair, pages = self.pairs[place], self.found.session.pages
        first, second = pages[pair.first].text_digest, pages[pair.second].text_digest
        remove_label(self.found.sources, first, second)
        self.said.pop(place, None)


def typed_keys(prompt: str) -> Iterator[str]:
    """Yield lines of standard input, with a prompt where it is a terminal."""
    is_asked = sys.stdin is not None and sys.stdin.isatty()
    while sys.stdin is not None:
        if is_asked:
            say(prompt, to_stderr=True, end="")
        line = sys.stdin.readline()
        if not line:
            return
        yield line
