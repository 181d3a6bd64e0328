"""Several sources as one."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from crawler.lab.crawl_source import CrawlSource, SourceError, directory_of
from crawler.lab.session import Session
from crawler.pages.export import ALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from crawler.lab.crawl_source import LabPage, PageBoilerplate
    from crawler.pages.export import PageSelection
    from crawler.reading.content.content_xml import PackedContent
    from neardup import Parameters

    Watch = Callable[[float, str], None]

T = TypeVar("T")


class Sources:
    """Pages of one source after the other; what is new comes in the order in which it is read.

    Ids count from 0 over all of them. Verdicts name originals by these ids too.

    Args:
        parts: At least one.

    Raises:
        SourceError: Their fingerprints are of different features.
    """

    def __init__(self, parts: Sequence[CrawlSource]) -> None:
        self.parts = parts
        self._check_features()
        self._part = array("H")
        self._number = array("q")
        self._ids: list[dict[int, int]] = [{} for _ in parts]

    @property
    def name(self) -> str:
        return ", ".join(part.name for part in self.parts)

    @property
    def paths(self) -> list[Path]:
        """The paths that a user named, at which labels are kept."""
        return [part.path for part in self.parts]

    @property
    def progress(self) -> float:
        return sum(part.progress for part in self.parts) / len(self.parts)

    def parameters(self) -> Parameters:
        return self.parts[0].parameters()

    def read_new(self) -> list[LabPage]:
        for place, part in enumerate(self.parts):
            pages = part.read_new()
            if pages:
                return [self._numbered(place, page) for page in pages]
        return []

    def texts(self, ids: Sequence[int]) -> Iterator[str | None]:
        return self._of_parts(ids, lambda part, wanted: part.texts(wanted))

    def contents(self, ids: Sequence[int]) -> Iterator[PackedContent | None]:
        return self._of_parts(ids, lambda part, wanted: part.contents(wanted))

    def _of_parts(
        self, ids: Sequence[int], read: Callable[[CrawlSource, list[int]], Iterator[T]]
    ) -> Iterator[T]:
        """Ask each part for what is its own, and yield all in the order asked for."""
        wanted: list[list[int]] = [[] for _ in self.parts]
        for number in ids:
            wanted[self._part[number]].append(self._number[number])
        found = [read(part, of) for part, of in zip(self.parts, wanted, strict=True)]
        return (next(found[self._part[number]]) for number in ids)

    def picture(self, number: int) -> bytes | None:
        return self.parts[self._part[number]].picture(self._number[number])

    def boilerplate(self) -> PageBoilerplate:
        """Return what gives the boilerplate at the host of a page."""
        parts = [part.boilerplate() for part in self.parts]
        return lambda page: parts[self._part[page.id]](page)

    def is_superseded(self) -> bool:
        # Each of them is to look.
        return any([part.is_superseded() for part in self.parts])  # noqa: C419

    def _numbered(self, place: int, page: LabPage) -> LabPage:
        ids = self._ids[place]
        number = ids[page.id] = len(self._part)
        self._part.append(place)
        self._number.append(page.id)
        original = None if page.duplicate_of is None else ids.get(page.duplicate_of)
        resembled = None if page.resembles is None else ids.get(page.resembles)
        return replace(page, id=number, duplicate_of=original, resembles=resembled)

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


def open_sources(
    paths: Iterable[Path],
    selection: PageSelection = ALL,
    made: Mapping[Path, Path] = MappingProxyType({}),
) -> Sources:
    """Open several crawl directories as one.

    Args:
        paths: Crawl directories, and files of which crawls were made.
        selection: The pages that are looked at.
        made: The crawl directories of these files.

    Raises:
        SourceError: One of them cannot be opened, or they do not go together.
    """
    parts = [
        CrawlSource(made[path], selection, made_of=path)
        if path in made
        else CrawlSource(directory_of(path) or path, selection)
        for path in paths
    ]
    return Sources(parts)


_TRIES = 3


@dataclass(frozen=True)
class Loaded:
    """Sources that were read to their end, and the session that took their pages."""

    sources: Sources
    session: Session


def loaded(
    paths: Sequence[Path],
    watch: Watch,
    selection: PageSelection = ALL,
    made: Mapping[Path, Path] = MappingProxyType({}),
) -> Loaded:
    """Open crawl directories and read them.

    Args:
        paths: As ``open_sources`` takes them.
        watch: Called with the share that is done, 0 to 1, and words for what is being done.
        selection: The pages that are read.
        made: As ``open_sources`` takes it.

    Raises:
        SourceError: One cannot be read, or there is no page in any.
    """
    for last in (False,) * (_TRIES - 1) + (True,):
        sources = open_sources(paths, selection, made)
        session = _read(sources, watch, selection)
        # A crawl that fetches pages again replaced some of them meanwhile.
        if last or not sources.is_superseded():
            break
    return Loaded(sources, session)


def _read(sources: Sources, watch: Watch, selection: PageSelection) -> Session:
    session = Session(sources.texts, sources.parameters(), sources.boilerplate)
    while pages := sources.read_new():
        session.extend(pages)
        watch(sources.progress, f"{len(session):,} pages read")
    if not len(session):
        which = "page with a text" if selection == ALL else "chosen page with a text"
        raise SourceError(f"{sources.name}: no {which} in it")
    return session
