"""Exchanges as tests make them, and records read back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from crawler.warc.archive import Archive
from crawler.warc.record_reading import read_records
from crawler.warc.record_writing import PAGE, Exchange
from crawler.warc.sources import find_sources

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.warc.record_reading import WholeRecord

START = datetime(2026, 5, 1, 12, 0, 0, 250, tzinfo=UTC)
MAX_COUNT = 1 << 24
HTML = ((b"Content-Type", b"text/html"),)


def exchange(path: str = "/", body: bytes = b"<p>page", **fields: Any) -> Exchange:
    """An answer of example.org; ``secs`` after the start."""
    at = START + timedelta(seconds=fields.pop("secs", 0))
    wanted: dict[str, Any] = {"status": 200, "headers": HTML, "kind": PAGE, **fields}
    return Exchange(url=f"http://example.org{path}", at=at, body=body, **wanted)


def record_all(folder: Path, *exchanges: Exchange, **options: Any) -> None:
    """Record exchanges as one process does."""
    archive = Archive(folder, "test", **options)
    for each in exchanges:
        archive.record(each)
    archive.close()


def read_all(folder: Path, complaints: list[str] | None = None) -> list[WholeRecord]:
    """Every record of a folder."""
    told: list[str] = [] if complaints is None else complaints
    found: list[WholeRecord] = []
    for source in find_sources(str(folder)):
        with source.open() as file:
            found += read_records(file, told.append, max_bytes=MAX_COUNT)
    if complaints is None:
        assert told == []
    return found


def kinds(found: list[WholeRecord]) -> list[str]:
    return [record.kind for record in found]
