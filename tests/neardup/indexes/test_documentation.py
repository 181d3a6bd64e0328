"""The bytes in docs/formats.md are those that are written."""

import re
from pathlib import Path

import numpy as np

from neardup.indexes.arrays import Rows
from neardup.indexes.index_directory import EMPTY, Batch, LogHeader, open_log
from neardup.indexes.index_engine import built
from neardup.indexes.index_files import SegmentLabel, Span, stage_segment
from neardup.indexes.segment import no_rows

DOCUMENT = Path(__file__).parents[3] / "docs" / "formats.md"
IDENTITY = bytes(range(16))
BYTES = re.compile(r"^[0-9a-f]{2,3}  ((?:[0-9a-f]{2} ?)+(?: (?:[0-9a-f]{2} ?)+)?)", re.MULTILINE)


def documented(start: str) -> bytes:
    """Return the bytes of the block that begins with a magic."""
    blocks = DOCUMENT.read_text().split("```")
    (block,) = (block for block in blocks if block.startswith("\n") and start in block[:80])
    return b"".join(bytes.fromhex(line) for line in BYTES.findall(block))


def rows_of(*entries: tuple[int, int]) -> Rows:
    fingerprints, ids = zip(*entries, strict=True)
    return Rows(np.array(fingerprints, np.uint64), np.array(ids, np.int64))


def test_a_segment_is_as_documented(tmp_path: Path) -> None:
    tables = built(rows_of((0x0123456789ABCDEF, 1), (0x0123456789ABCDEE, 2)), no_rows())
    path = stage_segment(tmp_path / "1.seg", SegmentLabel(IDENTITY, Span(1, 1)), tables)
    data = documented("4e 44 55 50 53 45 47 0a")
    assert len(data) == 0x110
    assert path.read_bytes()[:0x110] == data


def test_a_log_is_as_documented(tmp_path: Path) -> None:
    path = tmp_path / "2.log"
    path.write_bytes(LogHeader(IDENTITY, 2).empty_log())
    log = open_log(path, EMPTY)
    Batch(rows_of((0, 1)), rows_of((2**64 - 1, 3))).append_to(log)
    log.close()
    assert documented("4e 44 55 50 4c 4f 47 0a") == path.read_bytes()
