"""The prose of the demo site: one text file an article, in a folder a chapter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class Text:
    """A title and the paragraphs under it, as plain text."""

    title: str
    paragraphs: tuple[str, ...]

    def edited(self, old: str, new: str) -> Text:
        """The same text with one passage replaced.

        Raises:
            ValueError: The passage does not stand in the text exactly once.
        """
        found = sum(paragraph.count(old) for paragraph in self.paragraphs)
        if found != 1:
            raise ValueError(f"{self.title}: {old!r} stands there {found} times, wanted once")
        return replace(self, paragraphs=tuple(p.replace(old, new) for p in self.paragraphs))


@cache
def read_text(folder: str, name: str) -> Text:
    """Read one text of the package.

    The first line is the title; an empty line parts paragraphs, whose line ends are spaces.
    """
    source = resources.files(__package__).joinpath("texts", folder, f"{name}.txt")
    title, *blocks = source.read_text(encoding="utf-8").split("\n\n")
    return Text(title.strip(), tuple(" ".join(block.split()) for block in blocks))
