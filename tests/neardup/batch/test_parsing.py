"""Rows of packed files that are damaged: what comes before the damage is read, and it is told."""

from __future__ import annotations

import gzip
import json
import struct
from typing import TYPE_CHECKING

import pytest
import zstandard

from neardup.batch.input_files import Fields, InputOptions, find_files, parts_of
from neardup.batch.parsing import LeftOut, read_part

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
    found = list(read_part(part, InputOptions()))
    reasons = [one.reason for one in found if isinstance(one, LeftOut)]
    return [one.name for one in found if not isinstance(one, LeftOut)], reasons


def test_rows_of_other_languages_are_told_and_those_of_none_are_read(tmp_path: Path) -> None:
    declared = ["en", "de-AT", "fr", "eng_Latn", "zh-Hans-CN", "und", "english", None, 7, "fr, en"]
    rows = [{"url": f"u{n}", "text": "x", "code": code} for n, code in enumerate(declared)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (part,) = parts_of(find_files(str(tmp_path / "a.jsonl")), 0)
    chosen = InputOptions(Fields(language="code"), languages=("en", "de"))
    found = list(read_part(part, chosen))
    read = [one.language for one in found if not isinstance(one, LeftOut)]
    assert read == ["en", "de-AT", "eng_Latn", "und", "english", None, None, "fr, en"]
    assert [one for one in found if isinstance(one, LeftOut)] == [
        LeftOut("in another language: fr"),
        LeftOut("in another language: zh-hans"),
    ]


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
