"""Several sources as one."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from crawler.lab.sources.crawl_directory import CrawlSource
from crawler.lab.sources.html_folder import HtmlFolderSource, html_files
from crawler.lab.sources.json_lines import JsonLinesSource
from crawler.lab.sources.source import SourceError
from crawler.pages.page_selection import ALL
from crawler.storage.database import FILE_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from crawler.lab.sources.source import Blocks, LabPage, PageBoilerplate, PageSource
    from crawler.pages.page_selection import PageSelection
    from crawler.reading.content.content_xml import PackedContent
    from neardup import Parameters

T = TypeVar("T")


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
        return ", ".join(part.name for part in self.parts)

    @property
    def notes(self) -> Sequence[str]:
        is_one = len(self.parts) == 1
        return [
            note if is_one else f"{part.name}: {note}" for part in self.parts for note in part.notes
        ]

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
        self, ids: Sequence[int], read: Callable[[PageSource, list[int]], Iterator[T]]
    ) -> Iterator[T]:
        """Ask each part for what is its own, and yield all in the order asked for."""
        wanted: list[list[int]] = [[] for _ in self.parts]
        for number in ids:
            wanted[self._part[number]].append(self._number[number])
        found = [read(part, of) for part, of in zip(self.parts, wanted, strict=True)]
        return (next(found[self._part[number]]) for number in ids)

    def picture(self, number: int) -> bytes | None:
        return self.parts[self._part[number]].picture(self._number[number])

    def boilerplate(self) -> PageBoilerplate | None:
        """Return what gives the boilerplate at the host of a page; None: nothing is counted."""
        parts = [part.boilerplate() for part in self.parts]
        if not any(parts):
            return None

        def blocks(page: LabPage) -> Blocks:
            of_part = parts[self._part[page.id]]
            return None if of_part is None else of_part(page)

        return blocks

    def is_superseded(self) -> bool:
        # Each of them is to look.
        return any([part.is_superseded() for part in self.parts])  # noqa: C419

    def close(self) -> None:
        for part in self.parts:
            part.close()

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


_JSON_LINES = (".jsonl", ".ndjson", ".jl", ".jsonl.gz", ".ndjson.gz", ".jl.gz")
_ARCHIVES = (".warc", ".warc.gz", ".warc.gz.open", ".wacz")

_EXPECTED = "a crawl directory, a .jsonl or .jsonl.gz file, WARC files, or a folder of HTML files"


def open_source(path: Path, selection: PageSelection = ALL) -> PageSource:
    """Open a crawl directory, a file of texts, an archive, or a folder of archives or HTML files.

    Args:
        path: Any of them.
        selection: The pages of a crawl that are looked at.

    Raises:
        SourceError: It is none of these, or cannot be opened, or no pages can be chosen in it.
    """
    if not path.exists():
        raise SourceError(f"{path}: no such file or directory")
    name = path.name.lower()
    if (path / FILE_NAME).is_file():
        return CrawlSource(path, selection)
    if path.name == FILE_NAME:
        return CrawlSource(path.parent, selection)
    if selection != ALL:
        raise SourceError(f"{path}: pages are chosen in crawl directories alone; leave that out")
    if path.is_dir():
        return _of_folder(path)
    if name.endswith(_JSON_LINES):
        return JsonLinesSource(path)
    if name.endswith(_ARCHIVES):
        return _archive(path)
    raise SourceError(f"{path}: its ending says no format; {_EXPECTED} expected")


def open_sources(paths: Iterable[Path], selection: PageSelection = ALL) -> Sources:
    """Open several as one.

    Raises:
        SourceError: One of them cannot be opened, or they do not go together.
    """
    opened: list[PageSource] = []
    try:
        for path in paths:
            opened.append(open_source(path, selection))  # noqa: PERF401  (what was opened is to be closed)
        return Sources(opened)
    except BaseException:
        for source in opened:
            source.close()
        raise


def _of_folder(folder: Path) -> PageSource:
    if any(file.name.lower().endswith(_ARCHIVES) for file in folder.iterdir()):
        return _archive(folder)
    if next(html_files(folder), None) is not None:
        return HtmlFolderSource(folder)
    raise SourceError(
        f"{folder}: no crawl in it (no {FILE_NAME}), no WARC files and no HTML files; "
        f"{_EXPECTED} expected"
    )


def _archive(path: Path) -> PageSource:
    # warcio takes a tenth of a second, and is rarely needed.
    from crawler.lab.sources.warc_pages import WarcSource  # noqa: PLC0415

    return WarcSource(path)
