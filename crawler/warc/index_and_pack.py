"""Index and pack the WARC files of a folder after the last write.

The index is CDXJ, by which pywb and other players find the capture of a URL. A line is
``KEY TIMESTAMP JSON``, sorted by bytes; the key is the URL in SURT form
(``org,example)/path?query``), which players make in the same way, with the package ``surt``.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import time
from contextlib import ExitStack, closing, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

import surt

from crawler.pages.export import KEPT_FILTER, PageFilter, export_pages
from crawler.storage.database import open_for_reading
from crawler.storage.errors import JobError
from crawler.warc.archive import lock, noted_sizes
from crawler.warc.record_reading import read_records
from crawler.warc.sources import OPEN_SUFFIX, ArchiveError, find_sources
from crawler.warc.wacz import STAMP, write_wacz
from crawler.warc.warc_files import mend
from neardup.files.durable import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from crawler.warc.record_reading import WholeRecord
    from crawler.warc.sources import WarcFile

_INDEX = "index.cdxj"
_INDEXED = frozenset({"response", "revisit", "resource"})
_END_OF_TYPE = re.compile(r"[;\s]")
_NO_DIGIT = re.compile(r"[^0-9]")
_UNKNOWN = "19700101000000"


class Finished(NamedTuple):
    """The files that were made, and the numbers of captures and of unreadable places in them."""

    cdxj: Path
    wacz: Path | None
    captures: int
    damaged: int


def finish(
    folder: Path, wacz: bool = False, *, title: str | None = None, crawl: Path | None = None
) -> Finished:
    """Mend and index the files of a folder, and pack them if wanted. Can be repeated.

    Args:
        folder: Folder with the WARC files.
        wacz: Whether to pack them in the folder, as ``NAME.wacz`` after its name.
        title: Title that players show; by default the name of the folder.
        crawl: Crawl directory from which the list of pages has titles and texts; by default the
            folder above, if it is one.

    Raises:
        JobError: The crawl cannot be read.
        ArchiveError: There are no WARC files in it, it cannot be written to, or a process still
            writes to it.
    """
    if not folder.is_dir():
        raise ArchiveError(f"{folder}: no such directory")
    taken = lock(folder)
    try:
        mend(folder)
        sources = find_sources(str(folder))
        index = folder / _INDEX
        damaged: list[str] = []
        captures = write_cdxj(sources, index, damaged.append)
        name = folder.resolve().name
        packed = folder / f"{name}.wacz" if wacz else None
        if packed is not None:
            warcs = [source.path for source in sources]
            with ExitStack() as stack:
                pages = _kept_pages(folder, crawl, stack)
                write_wacz(packed, warcs, index, title or name, pages)
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ArchiveError(f"{folder}: cannot be written: {why}") from error
    finally:
        taken.release()
    return Finished(index, packed, captures, len(damaged))


def losses(folder: Path, *, deep: bool) -> Iterator[str]:
    """Yield a line for each thing that an archive has lost.

    Args:
        folder: Folder of the WARC files.
        deep: Whether the files are read through, and not only looked for.

    Complexity: O(files), and with an index O(its lines); O(bytes of the archive) if deep.
    """
    try:
        yield from _lost_files(folder)
        if deep:
            yield from _damage(folder)
    except (ArchiveError, OSError, sqlite3.Error) as error:
        yield f"{folder}: cannot be read: {error}"


def _lost_files(folder: Path) -> Iterator[str]:
    ends = noted_sizes(folder)
    index = folder / _INDEX
    if index.is_file():
        with index.open("rb") as lines:
            for line in lines:
                with suppress(ValueError, LookupError, TypeError):  # of another program
                    entry = json.loads(line.split(b" ", 2)[2])
                    name, end = str(entry["filename"]), int(entry["offset"]) + int(entry["length"])
                    ends[name] = max(ends.get(name, 0), end)
    for name, end in sorted(ends.items()):
        paths = (folder / name, folder / f"{name}{OPEN_SUFFIX}")
        sizes = [path.stat().st_size for path in paths if path.is_file()]
        if max(sizes, default=-1) < end:
            yield f"{name}: {f'{sizes[0]:,} of {end:,} bytes' if sizes else 'gone'}"


def _damage(folder: Path) -> Iterator[str]:
    """Yield a line for each damaged place, and for each revisit whose payload is nowhere."""
    with closing(sqlite3.connect("", isolation_level=None)) as digests:
        digests.execute("CREATE TABLE held (digest TEXT PRIMARY KEY) WITHOUT ROWID")
        digests.execute("CREATE TABLE named (digest TEXT, url TEXT)")
        for source in find_sources(str(folder)):
            told: list[str] = []
            with source.open() as file:
                for found in read_records(file, told.append):
                    digest = found.field("WARC-Payload-Digest")
                    if found.kind == "response" and found.status != HTTPStatus.NOT_MODIFIED:
                        digests.execute("INSERT OR IGNORE INTO held VALUES (?)", (digest or "",))
                    elif found.kind == "revisit":
                        digests.execute("INSERT INTO named VALUES (?, ?)", (digest, found.url))
            yield from (f"{source.path.name}: {what}" for what in told)
        hollow = "SELECT url FROM named WHERE digest IS NULL OR digest NOT IN (SELECT * FROM held)"
        for (url,) in digests.execute(hollow):
            yield f"{url}: a revisit whose payload is in no record"


def _kept_pages(
    folder: Path, crawl: Path | None, stack: ExitStack
) -> Iterator[dict[str, Any]] | None:
    """Return the kept pages of the crawl; None if none is given and none is above the folder."""
    try:
        connection = open_for_reading(crawl or folder.resolve().parent)
    except JobError:
        if crawl is not None:
            raise
        return None
    stack.enter_context(closing(connection))
    return export_pages(connection, PageFilter(KEPT_FILTER))


def sorted_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Sort lines by their bytes, and drop repeated ones, in a temporary database on disk."""
    with closing(sqlite3.connect("", isolation_level=None)) as database:
        database.executescript("CREATE TABLE lines (line BLOB); BEGIN")
        database.executemany("INSERT INTO lines VALUES (?)", ((line,) for line in lines))
        for (line,) in database.execute("SELECT DISTINCT line FROM lines ORDER BY line"):
            yield line


def write_cdxj(sources: Iterable[WarcFile], path: Path, complain: Callable[[str], None]) -> int:
    """Write the index of WARC files; return its number of captures.

    What cannot be read is logged, and handed to ``complain``.

    A record with the head of a 304 has no line: other programs write some, and so did this one.
    Players would show the empty answer, and without the line they show the earlier page.

    Complexity: O(n log n) in time, memory bounded.
    """
    count = 0
    with replacing(path, f"{path.name}.new") as file:
        for line in sorted_lines(_lines(sources, complain)):
            file.write(line)
            count += 1
        file.flush()
        os.fsync(file.fileno())
    return count


def _lines(sources: Iterable[WarcFile], complain: Callable[[str], None]) -> Iterator[bytes]:
    for source in sources:

        def told(what: str, source: WarcFile = source) -> None:
            source.complain(what)
            complain(what)

        if source.unpacked is not None:
            told("not in the index: compressed as a whole; try: warcio recompress")
            continue
        with source.open() as file:
            for found in read_records(file, told):
                if found.kind in _INDEXED and found.status != HTTPStatus.NOT_MODIFIED:
                    yield line_of(found, source.path.name)


def line_of(found: WholeRecord, filename: str) -> bytes:
    entry = {
        "url": found.url,
        "mime": _media_type(found),
        "status": str(found.status) if found.status else None,
        "digest": found.field("WARC-Payload-Digest"),
        "length": str(found.length),
        "offset": str(found.offset),
        "filename": filename,
    }
    told = {name: value for name, value in entry.items() if value}
    return f"{url_key(found.url)} {timestamp(found)} {json.dumps(told)}\n".encode()


def url_key(url: str) -> str:
    """Return the URL in SURT form, or unchanged if it has none; a space would end the key."""
    try:
        key = str(surt.surt(url))
    except Exception:  # whatever it raises of URLs that hostile pages made up
        key = url
    return key.replace(" ", "%20")


def timestamp(found: WholeRecord) -> str:
    """Return the time of capture, 14 digits; the beginning of 1970 where the record has none."""
    digits = _NO_DIGIT.sub("", found.field("WARC-Date") or "")[: len(_UNKNOWN)]
    whole = digits + _UNKNOWN[len(digits) :]
    try:
        time.strptime(whole, STAMP)
    except ValueError:
        return _UNKNOWN
    return whole


def _media_type(found: WholeRecord) -> str | None:
    if found.kind == "revisit":
        return "warc/revisit"
    declared = found.content_type
    return None if declared is None else _END_OF_TYPE.split(declared.strip(), 1)[0]
