"""Rows of packed files that are damaged: what comes before the damage is read, and it is told."""

from __future__ import annotations

import gzip
import json
import struct
from typing import TYPE_CHECKING

import pytest
import zstandard

from neardup.batch.input_files import find_files, parts_of
from neardup.batch.parsing import Fields, LeftOut, read_part

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 40
JSON_LINES = b"".join(
    json.dumps({"url": f"u{number}", "text": f"text {number}"}).encode() + b"\n"
    for number in range(ROWS)
)
CSV = b"url,text\n" + b"".join(b"u%d,text %d\n" % (number, number) for number in range(ROWS))
GZIP, ZSTD = gzip.compress, zstandard.compress
SKIPPED = struct.pack("<II", 0x184D2A50, 4) + b"pzst"
"""A frame of zstd that is no data, as pzstd writes it."""


def read(path: Path, data: bytes) -> tuple[list[str], list[str]]:
    """The names of the pages in a file, and why others are left out."""
    path.write_bytes(data)
    (part,) = parts_of(find_files(str(path)), 0)
    found = list(read_part(part, Fields()))
    reasons = [one.reason for one in found if isinstance(one, LeftOut)]
    return [one.name for one in found if not isinstance(one, LeftOut)], reasons


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl.gz", GZIP(JSON_LINES)),
        ("a.jsonl.gz", GZIP(JSON_LINES[:500]) + GZIP(JSON_LINES[500:]) + b"\0\0"),
        ("a.jsonl.zst", SKIPPED + ZSTD(JSON_LINES[:500]) + ZSTD(JSON_LINES[500:])),
        ("a.csv.gz", GZIP(CSV)),
        ("a.csv.zst", ZSTD(CSV)),
    ],
)
def test_whole_files_are_read(tmp_path: Path, name: str, data: bytes) -> None:
    assert read(tmp_path / name, data) == ([f"u{number}" for number in range(ROWS)], [])


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.jsonl.gz", GZIP(JSON_LINES) + b"no gzip", "damaged: Not a gzipped file (b'no')"),
        ("a.jsonl.gz", GZIP(JSON_LINES)[:-4], "damaged: Compressed file ended before"),
        ("a.csv.gz", GZIP(CSV) + b"no gzip", "damaged: Not a gzipped file (b'no')"),
        ("a.jsonl.zst", ZSTD(JSON_LINES) + b"no zstd", "damaged: zstd decompress"),
        ("a.jsonl.zst", ZSTD(JSON_LINES) + ZSTD(CSV)[:-6], "damaged: a frame breaks off"),
    ],
)
def test_rows_before_damage_are_read(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    names, reasons = read(tmp_path / name, data)
    assert names == [f"u{number}" for number in range(ROWS)]
    (told,) = reasons
    assert told.startswith(reason)
