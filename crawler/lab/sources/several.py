"""Several sources as one."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.lab.sources.source import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from crawler.lab.lab_page import LabPage
    from crawler.lab.sources.source import PageSource
    from neardup import Parameters


class Sources:
    """Pages of one source after the other; what is new comes in the order in which it is read.

    Ids count from 0 over all of them. Verdicts name originals by these ids too.

    Args:
        parts: At least one.

    Raises:
        SourceError: Their fingerprints are of different features.
    """

    def __init__(self, parts: Sequence[PageSource]) -> None:
        self.parts: Sequence[PageSource] = parts
        self._check_features()
        self._part = array("H")
        self._number = array("q")
        self._ids: list[dict[int, int]] = [{} for _ in parts]

    @property
    def name(self) -> str:
        """See the protocol."""
        return ", ".join(part.name for part in self.parts)

    @property
    def path(self) -> Path:
        """The path of the first source."""
        return self.parts[0].path

    @property
    def folder(self) -> Path | None:
        """The folder of the first source."""
        return self.parts[0].folder

    @property
    def notes(self) -> Sequence[str]:
        """See the protocol."""
        is_one = len(self.parts) == 1
        return [
            note if is_one else f"{part.name}: {note}" for part in self.parts for note in part.notes
        ]

    @property
    def progress(self) -> float:
        """See the protocol."""
        return sum(part.progress for part in self.parts) / len(self.parts)

    def parameters(self) -> Parameters:
        """Return the parameters of the first source."""
        return self.parts[0].parameters()

    def read_new(self) -> list[LabPage]:
        """See the protocol."""
        for place, part in enumerate(self.parts):
            pages = part.read_new()
            if pages:
                return [self._numbered(place, page) for page in pages]
        return []

    def texts(self, ids: Sequence[int]) -> Iterator[str | None]:
        """See the protocol."""
        wanted: list[list[int]] = [[] for _ in self.parts]
        for number in ids:
            wanted[self._part[number]].append(self._number[number])
        found = [part.texts(of) for part, of in zip(self.parts, wanted, strict=True)]
        return (next(found[self._part[number]]) for number in ids)

    def of(self, number: int) -> tuple[PageSource, int]:
        """Return the source of a page, and its id there."""
        return self.parts[self._part[number]], self._number[number]

    def is_superseded(self) -> bool:
        """See the protocol."""
        # Each of them is to look.
        return any([part.is_superseded() for part in self.parts])  # noqa: C419

    def close(self) -> None:
        """See the protocol."""
        for part in self.parts:
            part.close()

    def _numbered(self, place: int, page: LabPage) -> LabPage:
        ids = self._ids[place]
        number = ids[page.id] = len(self._part)
        self._part.append(place)
        self._number.append(page.id)
        original = None if page.duplicate_of is None else ids.get(page.duplicate_of)
        return replace(page, id=number, duplicate_of=original)

    def _check_features(self) -> None:
        first = self.parts[0]
        features = str(first.parameters().fingerprint_features)
        for part in self.parts[1:]:
            others = str(part.parameters().fingerprint_features)
            if others != features:
                raise SourceError(
                    f"{part.name}: fingerprints of {others}, and of {features} in {first.name}; "
                    "look at one after the other"
                )
