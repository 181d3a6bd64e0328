"""Show pairs to a person, one after the other, and store the labels."""

from __future__ import annotations

import os
import pydoc
import re
import sys
import termios
import tty
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.cells import cell_len

from crawler.console.compare_text import pair_diff, pair_lines
from crawler.console.escaping import say
from crawler.lab.labels import remove_label, store_labels
from crawler.lab.pair_details import details_of
from crawler.lab.pair_label import NAMES, label_of
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crawler.lab.border_pairs import NearPair
    from crawler.lab.crawl_sources import Loaded

KEYS = "d = duplicate, n = not, s = skip, b = back, r = remove the label, m = all of it, q = quit"

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_CONTEXT = 10
_MAX_LINES = 30
"""Lines of a difference that are shown where no screen bounds them."""

_MIN_LINES = 3
_END_OF_INPUT = "\x04"
"""Ctrl-D, as a terminal that waits for no Enter gives it."""


@dataclass
class Labelling:
    """One walk through pairs.

    Args:
        found: The pages.
        pairs: In the order in which they are shown.
        print_line: Takes what the person is to see.
        is_coloured: Whether marks may be red and green.
        screen: Returns the columns and lines of the screen; None where there is none.
        page: Shows a long text a screen at a time.
    """

    found: Loaded
    pairs: Sequence[NearPair]
    print_line: Callable[[str], None]
    is_coloured: bool = False
    screen: Callable[[], tuple[int, int]] | None = None
    page: Callable[[str], None] | None = None
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
        return f"labelled: {len(self.said):,} of {many(len(self.pairs), 'pair')} ({parts})"

    def _show(self, place: int) -> None:
        head, lines = self._head(place), self._difference(place)
        room = self._room(head)
        shown = _first_of(lines, room, self._columns())
        for line in ["", *head, "", *lines[:shown]]:
            self.print_line(line)
        if shown < len(lines):
            hidden = len(lines) - shown
            more = "1 line more" if hidden == 1 else f"{hidden:,} lines more"
            self.print_line(f"... and {more}{' (m shows all)' if self.page else ''}")
        if place in self.said:
            self.print_line(f"      labelled {self.said[place]}")

    def _head(self, place: int) -> list[str]:
        least = self.found.session.running.min_similarity
        return list(pair_lines(details_of(self.found, self.pairs[place]), place + 1, least))

    def _difference(self, place: int) -> list[str]:
        details = details_of(self.found, self.pairs[place])
        return pair_diff(details, _CONTEXT, coloured=self.is_coloured).splitlines()

    def _columns(self) -> int:
        return self.screen()[0] if self.screen else 10_000

    def _room(self, head: list[str]) -> int:
        """Return the rows of the screen that a difference may take, below what is always shown."""
        if self.screen is None:
            return _MAX_LINES
        columns, rows = self.screen()
        # Two empty lines, the line that says what is hidden, a label, the prompt.
        return max(_MIN_LINES, rows - sum(_rows_of(line, columns) for line in head) - 5)

    def _show_all(self, place: int) -> None:
        text = "\n".join([*self._head(place), "", *self._difference(place)])
        if self.page is None:
            self.print_line(text)
        else:
            self.page(text)

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
                case "m":
                    self._show_all(place)
                    self._show(place)
                case "q":
                    return None
                case _:
                    self.print_line(KEYS)
        return None

    def _store(self, place: int, *, is_duplicate: bool) -> None:
        pair = self.pairs[place]
        pages = self.found.session.pages
        label = label_of(pages[pair.first], pages[pair.second], is_duplicate=is_duplicate)
        store_labels(self.found.sources.paths, [label])
        self.said[place] = label.name

    def _remove(self, place: int) -> None:
        pair, pages = self.pairs[place], self.found.session.pages
        first, second = pages[pair.first].text_digest, pages[pair.second].text_digest
        remove_label(self.found.sources.paths, first, second)
        self.said.pop(place, None)


def _rows_of(line: str, columns: int) -> int:
    """Return the rows that a line takes on a screen; colours take no room."""
    return max(1, -(-cell_len(_COLOURS.sub("", line)) // columns))


def _first_of(lines: Sequence[str], room: int, columns: int) -> int:
    """Return how many lines fit into rows of a screen, one at least."""
    for count, line in enumerate(lines):
        room -= _rows_of(line, columns)
        if room < 0:
            return max(1, count)
    return len(lines)


def typed_keys(prompt: str) -> Iterator[str]:
    """Yield keys of a terminal as they are pressed, or lines of other standard input."""
    if sys.stdin is None:
        return
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    while True:
        key = _pressed_key(prompt)
        say(key if key.isprintable() else "", to_stderr=True)
        if key in {"", _END_OF_INPUT}:
            return
        yield key


def page_through(text: str) -> None:
    """Show a text with colours in the pager of the user, or in less."""
    # Colours of ours are escape sequences, which less shows as text unless it is told.
    os.environ.setdefault("LESS", "-R")
    pydoc.pager(text)


def _pressed_key(prompt: str) -> str:
    """Wait for a key, without Enter; Ctrl-C interrupts as ever."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSADRAIN)  # what was typed ahead counts
    try:
        say(prompt, to_stderr=True, end="", flush=True)
        # One byte, so that further keys stay for the next pair; no key of ours has two.
        return os.read(terminal, 1).decode(errors="replace")
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
