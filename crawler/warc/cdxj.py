"""Write a CDXJ index, by which pywb and other players find the capture of a URL.

A line is ``KEY TIMESTAMP JSON``, sorted by bytes; the key is the URL in SURT form
(``org,example)/path?query``), which players make in the same way, with the package ``surt``.
"""

from __future__ import annotations

import heapq
import json
import logging
import os
import re
import tempfile
from contextlib import ExitStack
from http import HTTPStatus
from itertools import islice
from typing import IO, TYPE_CHECKING

import surt

from crawler.warc.record_reading import read_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from crawler.warc.record_reading import WholeRecord
    from crawler.warc.sources import WarcFile

RUN_LINES = 100_000
"""Sort this many lines in memory at a time; of CDXJ, some 60 MB."""

MAX_RUNS = 200
"""Merge at most this many files at a time."""

FILE_NAME = "index.cdxj"

_INDEXED = frozenset({"response", "revisit"})
_END_OF_TYPE = re.compile(r"[;\s]")
_NO_DIGIT = re.compile(r"\D")
_SECONDS = 14

logger = logging.getLogger(__name__)


def sorted_lines(
    lines: Iterable[bytes], folder: Path, run_lines: int = RUN_LINES
) -> Iterator[bytes]:
    """Sort lines by their bytes, and drop repeated ones.

    Args:
        lines: Lines with their line feeds.
        folder: Folder of temporary files; they have no name, and vanish with the process.
        run_lines: Number of lines that are held in memory at a time.
    """
    rest = iter(lines)
    with ExitStack() as stack:
        runs: list[IO[bytes]] = []
        while run := sorted(islice(rest, run_lines)):
            runs.append(_written(run, folder, stack))
            if len(runs) == MAX_RUNS:
                runs = [_written(heapq.merge(*runs), folder, stack)]
        before = None
        for line in heapq.merge(*runs):
            if line != before:
                yield line
            before = line


def _written(lines: Iterable[bytes], folder: Path, stack: ExitStack) -> IO[bytes]:
    file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - the stack closes it
    stack.enter_context(file)
    file.writelines(lines)
    file.seek(0)
    return file


def write_cdxj(sources: Iterable[WarcFile], path: Path) -> int:
    """Write the index of WARC files; return its number of captures.

    A "not modified" answer has no line: players would show it as the empty answer that it was, and
    without it they show the earlier page.

    Complexity: O(n log n) in time, memory bounded (``RUN_LINES``).
    """
    count = 0
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        for line in sorted_lines(_lines(sources), path.parent):
            file.write(line)
            count += 1
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    return count


def _lines(sources: Iterable[WarcFile]) -> Iterator[bytes]:
    for source in sources:

        def complain(what: str, name: str = source.name) -> None:
            logger.warning("%s: %s", name, what)

        with source.open() as file:
            for found in read_records(file, complain):
                if found.kind in _INDEXED and found.status != HTTPStatus.NOT_MODIFIED:
                    yield line_of(found, source.path.name)


def line_of(found: WholeRecord, filename: str) -> bytes:
    """Return the line of one record."""
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
    """Return the URL in SURT form, or unchanged if it has none."""
    try:
        return str(surt.surt(url))
    except Exception:  # whatever it raises of URLs that hostile pages made up
        return url


def timestamp(found: WholeRecord) -> str:
    """Return the time of capture, 14 digits."""
    return _NO_DIGIT.sub("", found.field("WARC-Date") or "")[:_SECONDS].ljust(_SECONDS, "0")


def _media_type(found: WholeRecord) -> str | None:
    if found.kind == "revisit":
        return "warc/revisit"
    declared = found.header("Content-Type")
    return None if declared is None else _END_OF_TYPE.split(declared.strip(), 1)[0]
