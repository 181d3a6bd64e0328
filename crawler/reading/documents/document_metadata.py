"""Make the metadata of a document of what its places say, and note which place each value has."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crawler.reading.metadata.dates import iso_date
from crawler.reading.metadata.metadata_record import Metadata

Places = Sequence[tuple[str, str | None]]
"""Codes of places, and what is written there."""

_MAX_CHARACTERS = 1000
_MAX_WORDS = 50
_MAX_WORD_CHARACTERS = 100
_SEPARATOR = re.compile(r"\s*[,;]\s*")


def clean(value: str | None) -> str | None:
    """Return a value of metadata in one line, None for an empty one."""
    return " ".join((value or "").split())[:_MAX_CHARACTERS] or None


@dataclass(frozen=True, slots=True)
class DocumentProperties:
    """Metadata of a document; of each field the first place that says something counts."""

    title: Places = ()
    author: Places = ()
    date: Places = ()
    modified: Places = ()
    language: Places = ()
    description: Places = ()
    tags: Places = ()

    def metadata(self) -> Metadata:
        """Return the values with their places.

        The day of the last change stands for that of publication where only it is known.
        """
        sources: dict[str, str] = {}
        changed = _first("modified", self.modified, sources, iso_date)
        day = _first("date", self.date, sources, iso_date)
        if day is None and changed is not None:
            day, sources["date"] = changed, sources["modified"]
        words = _first("tags", self.tags, sources) or ""
        return Metadata(
            title=_first("title", self.title, sources),
            author=_first("author", self.author, sources),
            date=day,
            modified=changed,
            language=_first("language", self.language, sources),
            description=_first("description", self.description, sources),
            tags=tuple(dict.fromkeys(_words(words))),
            sources=tuple(sources.items()),
        )


def _first(
    name: str,
    places: Places,
    sources: dict[str, str],
    read: Callable[[str | None], str | None] = clean,
) -> str | None:
    for code, value in places:
        if found := read(value):
            sources[name] = code
            return found
    return None


def _words(text: str) -> list[str]:
    words = _SEPARATOR.split(text)[:_MAX_WORDS]
    return [word[:_MAX_WORD_CHARACTERS] for word in words if word]
