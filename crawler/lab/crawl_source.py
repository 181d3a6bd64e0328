"""The pages of a crawl directory, finished or running."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import zstandard

from crawler.pages.boilerplate import HostBoilerplate
from crawler.pages.export import ALL, PageSelection
from crawler.pages.live_parameters import newest
from crawler.pages.page_row import to_unsigned
from crawler.pages.stored_texts import HeldTexts, unpack_judged
from crawler.pages.verdicts import OF_TEXTS, listed
from crawler.pages.wall_clusters import host_of
from crawler.rendering.rendered_pages import Pictures
from crawler.storage.database import FILE_NAME, open_for_reading
from crawler.storage.errors import JobError
from neardup.parameters import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from crawler.reading.content.content_xml import PackedContent
    from neardup import Parameters

    Blocks = frozenset[int] | None
    PageBoilerplate = Callable[["LabPage"], Blocks]


class SourceError(Exception):
    """A source cannot be read, or not written to; one line that says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabPage:
    """A page of a crawl, without its text.

    Attributes:
        id: The id, unique within its source and ascending in crawl order.
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
_TEXTS_AT_ONCE = 100

# Files that repeat a file have such a verdict too, and no text.
_PAGES = f"""
SELECT key, parameters, id, url, title, words, text_digest, visible_digest, payload_digest,
       fingerprint, is_main, verdict, duplicate_of, distance, similarity, body_bytes,
       name, resembles
FROM pages WHERE id > ? AND latest = 1 AND verdict IN ({listed(OF_TEXTS)})
AND text_digest IS NOT NULL AND {{}}
ORDER BY id LIMIT {_SLICE}
"""  # noqa: S608


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
        made_of: The file or folder of which the crawl was made, for a while; None: it was crawled.

    Attributes:
        path: The path of the directory, or of what it was made of.
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
            self._looked_at = self._highest = highest_id(connection)

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
            self._highest = highest_id(connection)
            sql = _PAGES.format(self._condition.sql)
            rows = connection.execute(sql, (self._last, *self._condition.values)).fetchall()
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
            for start in range(0, len(ids), _TEXTS_AT_ONCE):
                wanted = ids[start : start + _TEXTS_AT_ONCE]
                texts = HeldTexts(connection.execute)
                for number, held in [(number, texts.of_page(number)) for number in wanted]:
                    yield None if held is None else self._unpacked(number, held.text)

    def contents(self, ids: Sequence[int]) -> Iterator[PackedContent | None]:
        """Yield the contents that are shown of pages; None for one that is not stored."""
        with opened(self.folder) as connection:
            texts = HeldTexts(connection.execute)
            for number in ids:
                yield texts.shown(number)

    def picture(self, number: int) -> bytes | None:
        """Return the picture of a page as WebP; None where none is kept."""
        with opened(self.folder) as connection:
            row = connection.execute("SELECT key FROM pages WHERE id = ?", (number,)).fetchone()
        file = None if row is None else self._pictures.find(row["key"])
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
                rows = connection.execute(
                    "SELECT id, key FROM pages WHERE id > ? AND latest = 1 ORDER BY id",
                    (self._looked_at,),
                ).fetchall()
                first = self._first
                self._is_superseded = first is not None and is_judged_again(
                    connection, first["id"], first["parameters"]
                )
            for row in rows:
                self._looked_at = row["id"]
                self._is_superseded |= self._ids.get(row["key"], row["id"]) != row["id"]
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


def highest_id(connection: sqlite3.Connection) -> int:
    """Return the id of the newest capture, 0 where there is none."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM pages").fetchone()[0])


def is_judged_again(connection: sqlite3.Connection, number: int, parameters: int | None) -> bool:
    """Whether ``rejudge`` changed verdicts, which names its parameters in every row."""
    sql = "SELECT parameters FROM pages WHERE id = ?"
    row = connection.execute(sql, (number,)).fetchone()
    return row is None or row["parameters"] != parameters


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
