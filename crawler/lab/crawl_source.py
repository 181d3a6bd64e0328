"""The pages of a crawl directory, finished or running, and of several as one."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import zstandard

from crawler.pages.boilerplate import HostBoilerplate
from crawler.pages.export import ALL, PageSelection, texts_after
from crawler.pages.live_parameters import newest
from crawler.pages.page_row import columns_of, highest_id, keys_after, to_unsigned
from crawler.pages.stored_texts import text_of_page, unpack_judged
from crawler.pages.wall_clusters import host_of
from crawler.rendering.rendered_pages import Pictures
from crawler.storage.database import FILE_NAME, open_for_reading
from crawler.storage.errors import JobError
from crawler.suggestions import UserError
from neardup.parameters import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from crawler.reading.content.content_xml import PackedContent
    from neardup import Parameters

    Blocks = frozenset[int] | None
    PageBoilerplate = Callable[["LabPage"], Blocks]


class SourceError(UserError):
    """A source cannot be read, or not written to; one line that says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabPage:
    """A page of a crawl, without its text.

    Attributes:
        id: The id, unique among the pages that are looked at.
        url: The URL, as requested.
        title: The title; empty where there is none.
        words: The number of words of the judged text.
        text_digest: The digest of the judged text, 16 bytes; it names the text.
        visible_digest: The digest of all that the page shows, 16 bytes; it counts where the text is
            short or not main. None where it is not known.
        payload_digest: The digest of the body, 16 bytes; None where it is not known.
        fingerprint: The fingerprint, by the features of the source; None: too short, not main,
            unknown.
        is_main: Whether a fingerprint may stand for the text.
        body_bytes: The size of the answer's body, in bytes.
        verdict: The verdict of the crawl.
        duplicate_of: The id of the page that this one repeats, by that verdict.
        distance: The distance of the two in bits, by that verdict.
        similarity: The similarity of the two, by that verdict.
        name: What the page is called, as ``neardup.names.Name.packed`` returns it; empty: nothing
            is known.
        resembles: The id of the page of another name that this one is nearly equal to, by that
            verdict; distance and similarity are those of the two.
    """

    id: int
    url: str
    title: str
    words: int
    text_digest: bytes
    visible_digest: bytes | None
    payload_digest: bytes | None
    fingerprint: int | None
    is_main: bool
    body_bytes: int
    verdict: str
    duplicate_of: int | None = None
    distance: int | None = None
    similarity: float | None = None
    name: str = ""
    resembles: int | None = None


_SLICE = 10_000

_COLUMNS = ("key", "parameters", *(field.name for field in fields(LabPage)))


def directory_of(path: Path) -> Path | None:
    """Return the crawl directory that a path names; None: there is no crawl in it."""
    if (path / FILE_NAME).is_file():
        return path
    return path.parent if path.name == FILE_NAME and path.is_file() else None


class CrawlSource:
    """The newest captures that say something, in the order in which they were captured.

    It may be used from any thread, by one at a time. Every call opens ``crawl.db`` and closes it:
    what is held open would keep the process that crawls from shortening its log.

    Args:
        folder: The crawl directory.
        selection: The pages that are looked at.
        made_of: The file or folder that a temporary crawl was made from; None: it was crawled.

    Attributes:
        path: The path of the directory, or of its source.
        name: The name of the source, for people.
        is_temporary: Whether the directory is removed when it was looked at.

    Raises:
        SourceError: There is no crawl in it. All that reads raises it where it cannot.
    """

    def __init__(
        self, folder: Path, selection: PageSelection = ALL, made_of: Path | None = None
    ) -> None:
        self.folder, self.path = folder, made_of or folder
        self.name, self.is_temporary = str(self.path), made_of is not None
        self._condition = selection.condition()
        self._pictures = Pictures(folder)
        self._last = 0
        self._ids: dict[bytes, int] = {}
        self._is_superseded = False
        self._first: sqlite3.Row | None = None
        with opened(self.folder) as connection:
            self._looked_at = self._highest = highest_id(connection.execute)

    @property
    def progress(self) -> float:
        """The share of the source that was read, 0 to 1."""
        return min(1.0, self._last / self._highest) if self._highest else 1.0

    def parameters(self) -> Parameters:
        """Return the parameters that verdicts are made with now."""
        with opened(self.folder) as connection:
            tuned = newest(connection.execute)
        return DEFAULTS if tuned is None else tuned.parameters

    def read_new(self) -> list[LabPage]:
        """Return the pages that came since the last call, in crawl order.

        Returns:
            At most some 10,000 pages; none where there are no more for now. The first calls return
            all pages of the source, slice by slice.
        """
        with opened(self.folder) as connection:
            # In this order: what is committed in between is found by the next call.
            self._highest = highest_id(connection.execute)
            rows = texts_after(connection, self._last, _COLUMNS, self._condition, _SLICE)
        self._last = max(self._last, self._highest)
        if rows:
            self._last = rows[-1]["id"]
            self._first = self._first or rows[0]
        for row in rows:
            self._note(row["key"], row["id"])
        return [_page_of(row) for row in rows]

    def texts(self, ids: Sequence[int]) -> Iterator[str | None]:
        """Yield the texts of pages, in the order asked for; None for one that is not stored."""
        with opened(self.folder) as connection:
            for number in ids:
                stored = text_of_page(connection.execute, number)
                yield None if stored is None else self._unpacked(number, stored.text)

    def content(self, number: int) -> PackedContent | None:
        """Return the content that is shown of a page; None where it is not stored."""
        with opened(self.folder) as connection:
            stored = text_of_page(connection.execute, number)
        return None if stored is None else stored.shown

    def picture(self, number: int) -> bytes | None:
        """Return the picture of a page as WebP; None where none is kept."""
        with opened(self.folder) as connection:
            row = columns_of(connection.execute, number, "key")
        file = None if row is None else self._pictures.find(row[0])
        try:
            return None if file is None else file.read_bytes()
        except OSError as error:
            raise SourceError(f"{file}: {error.strerror}") from None

    def boilerplate(self) -> PageBoilerplate:
        """Return what gives the hashes of the blocks that are boilerplate at the host of a page.

        It gives those that are counted by now, and None for a host with too few pages.
        """
        known: dict[int, Blocks] = {}

        def blocks(page: LabPage) -> Blocks:
            host = host_of(page.url)
            if host not in known:
                with opened(self.folder) as connection:
                    counts = HostBoilerplate(connection.execute).blocks(host)
                known[host] = None if counts is None else frozenset(counts.boilerplate)
            return known[host]

        return blocks

    def is_superseded(self) -> bool:
        """Whether a returned page has a newer capture, so that the source is to be reopened."""
        if not self._is_superseded:
            with opened(self.folder) as connection:
                newer = keys_after(connection.execute, self._looked_at)
                first = self._first
                self._is_superseded = first is not None and is_judged_again(
                    connection, first["id"], first["parameters"]
                )
            for number, key in newer:
                self._looked_at = number
                self._is_superseded |= self._ids.get(key, number) != number
        return self._is_superseded

    def _unpacked(self, number: int, packed: bytes) -> str:
        try:
            return unpack_judged(packed)
        except (zstandard.ZstdError, UnicodeDecodeError):
            raise SourceError(
                f"{self.folder}: the text of page {number} is damaged; "
                f"crawl-once verify {self.folder} says more"
            ) from None

    def _note(self, key: bytes, number: int) -> None:
        self._is_superseded |= key in self._ids
        self._ids[key] = number


@contextmanager
def opened(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open a crawl for reading; what goes wrong with it is a ``SourceError``."""
    try:
        with closing(open_for_reading(folder)) as connection:
            yield connection
    except JobError as error:
        raise SourceError(str(error)) from None
    except (sqlite3.Error, zstandard.ZstdError) as error:
        raise SourceError(f"{folder}: cannot be read: {error}") from None


def is_judged_again(connection: sqlite3.Connection, number: int, parameters: int | None) -> bool:
    """Whether ``rejudge`` changed verdicts, which names its parameters in every row."""
    return columns_of(connection.execute, number, "parameters") != (parameters,)


def _page_of(row: sqlite3.Row) -> LabPage:
    """Return the page of a row, whose columns are named as its attributes are."""
    values = {
        **dict(row),
        "title": row["title"] or "",
        "words": row["words"] or 0,
        "fingerprint": to_unsigned(row["fingerprint"]),
        "is_main": bool(row["is_main"]),
        "name": row["name"] or "",
    }
    del values["key"], values["parameters"]
    return LabPage(**values)


class Sources:
    """Pages of one source after the other; what is new comes in the order in which it is read.

    An id tells the source too, and verdicts name originals by these ids. Those of one source alone
    are its own.

    Args:
        parts: At least one.

    Raises:
        SourceError: Their fingerprints are of different features.
    """

    def __init__(self, parts: Sequence[CrawlSource]) -> None:
        self.parts = parts
        self._check_features()

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
        """Ask each part for its own texts, and yield all in the order asked for."""
        wanted: list[list[int]] = [[] for _ in self.parts]
        places = [number % len(self.parts) for number in ids]
        for place, number in zip(places, ids, strict=True):
            wanted[place].append(number // len(self.parts))
        found = [part.texts(of) for part, of in zip(self.parts, wanted, strict=True)]
        return (next(found[place]) for place in places)

    def content(self, number: int) -> PackedContent | None:
        own, place = divmod(number, len(self.parts))
        return self.parts[place].content(own)

    def picture(self, number: int) -> bytes | None:
        own, place = divmod(number, len(self.parts))
        return self.parts[place].picture(own)

    def boilerplate(self) -> PageBoilerplate:
        """Return what gives the boilerplate at the host of a page."""
        parts = [part.boilerplate() for part in self.parts]
        return lambda page: parts[page.id % len(parts)](page)

    def is_superseded(self) -> bool:
        # Each of them is to look.
        return any([part.is_superseded() for part in self.parts])  # noqa: C419

    def _numbered(self, place: int, page: LabPage) -> LabPage:
        numbers = [
            None if one is None else one * len(self.parts) + place
            for one in (page.duplicate_of, page.resembles)
        ]
        number = page.id * len(self.parts) + place
        return replace(page, id=number, duplicate_of=numbers[0], resembles=numbers[1])

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
        paths: Crawl directories, and files that crawls were made from.
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
