"""Open the source of pages that a path names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.lab.sources.crawl_directory import CrawlSource
from crawler.lab.sources.json_lines import JsonLinesSource
from crawler.lab.sources.several import Sources
from crawler.lab.sources.source import SourceError
from crawler.storage.database import FILE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from crawler.lab.sources.source import PageSource

_JSON_LINES = (".jsonl", ".ndjson", ".jl", ".jsonl.gz", ".ndjson.gz", ".jl.gz")
_ARCHIVES = (".warc", ".warc.gz", ".warc.gz.open", ".wacz")

_EXPECTED = "a crawl directory, a .jsonl or .jsonl.gz file, or WARC files"


def open_source(path: Path) -> PageSource:
    """Open a crawl directory, a file of texts, an archive, or a folder of archives.

    Raises:
        SourceError: It is none of these, or cannot be opened.
    """
    if not path.exists():
        raise SourceError(f"{path}: no such file or directory")
    name = path.name.lower()
    if (path / FILE_NAME).is_file():
        return CrawlSource(path)
    if path.name == FILE_NAME:
        return CrawlSource(path.parent)
    if path.is_dir():
        return _of_folder(path)
    if name.endswith(_JSON_LINES):
        return JsonLinesSource(path)
    if name.endswith(_ARCHIVES):
        return _archive(path)
    raise SourceError(f"{path}: its ending says no format; {_EXPECTED} expected")


def open_sources(paths: Iterable[Path]) -> Sources:
    """Open several as one.

    Raises:
        SourceError: One of them cannot be opened, or they do not go together.
    """
    opened: list[PageSource] = []
    try:
        for path in paths:
            opened.append(open_source(path))  # noqa: PERF401  (what was opened is to be closed)
        return Sources(opened)
    except BaseException:
        for source in opened:
            source.close()
        raise


def _of_folder(folder: Path) -> PageSource:
    if any(file.name.lower().endswith(_ARCHIVES) for file in folder.iterdir()):
        return _archive(folder)
    raise SourceError(
        f"{folder}: no crawl in it (no {FILE_NAME}), and no WARC files; {_EXPECTED} expected"
    )


def _archive(path: Path) -> PageSource:
    # warcio takes a tenth of a second, and is rarely needed.
    from crawler.lab.sources.warc_pages import WarcSource  # noqa: PLC0415

    return WarcSource(path)
