"""Files of killed processes: cut to the last whole record, wherever they break off."""

from __future__ import annotations

import gzip
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from crawler.warc.record_reading import read_records
from crawler.warc.sources import OPEN_SUFFIX
from crawler.warc.warc_files import mend, whole_bytes
from tests.crawler.warc.exchanges import MAX_COUNT, exchange, read_all, record_all

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def written(folder: Path) -> bytes:
    record_all(folder, exchange("/a", b"a" * 50), exchange("/b", b"b" * 50))
    (path,) = folder.glob("*.warc.gz")
    return path.read_bytes()


def test_a_file_cut_at_any_byte_keeps_every_whole_record(tmp_path: Path) -> None:
    data = written(tmp_path / "whole")
    ends = [found.offset + found.length for found in read_all(tmp_path / "whole")]
    assert ends[-1] == len(data)
    for cut in range(len(data)):
        folder = tmp_path / "cut"
        folder.mkdir()
        path = folder / f"x.warc.gz{OPEN_SUFFIX}"
        path.write_bytes(data[:cut])
        mended = mend(folder)
        whole = [end for end in ends if end <= cut]
        assert bool(mended) == bool(whole)
        assert len(read_all(folder)) == len(whole) if whole else not any(folder.iterdir())
        shutil.rmtree(folder)


def test_zeros_after_a_failure_of_the_machine_are_cut(tmp_path: Path) -> None:
    data = written(tmp_path / "whole")
    path = tmp_path / f"x.warc.gz{OPEN_SUFFIX}"
    path.write_bytes(data + bytes(5_000))
    assert whole_bytes(path) == len(data)


class TestDamage:
    def test_reader_says_where_a_file_breaks_off(self, tmp_path: Path) -> None:
        data = written(tmp_path)
        (path,) = tmp_path.glob("*.warc.gz")
        count = len(read_all(tmp_path))
        for cut in range(1, len(data)):
            path.write_bytes(data[:cut])
            complaints: list[str] = []
            with path.open("rb") as file:
                found = list(read_records(file, complaints.append, max_bytes=MAX_COUNT))
            is_whole = sum(record.length for record in found) == cut
            # Where a file ends between two records, or within a checksum, nobody can tell.
            assert len(complaints) == (0 if is_whole else 1), cut
            assert len(found) <= count

    def test_every_other_record_is_read_where_one_byte_is_wrong(self, tmp_path: Path) -> None:
        data = written(tmp_path)
        (path,) = tmp_path.glob("*.warc.gz")
        whole = read_all(tmp_path)
        for at in range(0, len(data), 7):
            path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
            complaints: list[str] = []
            found = {record.offset: record.payload for record in read_all(tmp_path, complaints)}
            others = {
                record.offset: record.payload
                for record in whole
                if not record.offset <= at < record.offset + record.length
            }
            assert others.items() <= found.items(), at
            assert len(complaints) <= 1, at

    def test_record_with_a_wrong_length_is_told_once_and_not_read(self, tmp_path: Path) -> None:
        record_all(tmp_path, exchange("/a", b"a\r\n\r\nbc"), exchange("/b", b"b" * 50))
        (path,) = tmp_path.glob("*.warc.gz")
        data, whole = path.read_bytes(), read_all(tmp_path)
        (record,) = (each for each in whole if each.payload == b"a\r\n\r\nbc")
        end = record.offset + record.length
        plain = gzip.decompress(data[record.offset : end])
        length = re.search(rb"\r\nContent-Length: (\d+)\r\n", plain)
        assert length is not None
        # As long as the line "a": what follows looks like another record.
        shorter = b"\r\nContent-Length: %d\r\n" % (int(length[1]) - len(b"\r\n\r\nbc"))
        wrong = gzip.compress(plain.replace(length[0], shorter, 1))
        path.write_bytes(data[: record.offset] + wrong + data[end:])
        complaints: list[str] = []
        found = [each.payload for each in read_all(tmp_path, complaints)]
        assert found == [each.payload for each in whole if each is not record]
        (complaint,) = complaints
        assert f"the record at byte {record.offset:,} has a wrong Content-Length" in complaint
