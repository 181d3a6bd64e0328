"""Archives: which answers are pages, and which files an archive has."""

from __future__ import annotations

import gzip
import zipfile
from typing import TYPE_CHECKING

import pytest
import zstandard

from crawler.warc.sources import ArchiveError, find_sources
from tests.crawler.warc.exchanges import exchange, read_all, record_all
from tests.crawler.warc.foreign import answer, captured, pages, record

if TYPE_CHECKING:
    from pathlib import Path


CHUNKED = answer(
    "/c", b"4\r\n<p>c\r\n0\r\n\r\n", "Content-Type: text/html", "Transfer-Encoding: chunked"
)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzipped"])
def test_records_of_others_are_read(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    parts = [answer("/a", b"<p>a"), CHUNKED]
    (tmp_path / "x.warc.gz").write_bytes(b"".join(pack(part) for part in parts))
    assert [record.payload for record in read_all(tmp_path)] == [b"<p>a", b"<p>c"]
    assert [page.body for page in pages(tmp_path)] == [b"<p>a", b"<p>c"]


def test_a_payload_that_is_too_large_is_read_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    record_all(tmp_path, exchange("/a", b"x" * 5_000), exchange("/b", b"y" * 50))
    assert [page.url for page in pages(tmp_path, 1_000)] == ["http://example.org/b"]
    assert "larger than" in caplog.text


class TestPages:
    def test_are_what_a_crawl_judged(self, tmp_path: Path) -> None:
        record_all(
            tmp_path,
            exchange("/robots.txt", kind="other"),
            exchange("/old", b"", status=301),
            exchange("/a", b"<p>a", depth=3),
            exchange("/gone", b"<p>no", status=404),
        )
        found = [(page.url[18:], page.status, page.depth) for page in pages(tmp_path)]
        assert found == [("/a", 200, 3), ("/gone", 404, 0)]

    def test_are_html_in_archives_of_others(self, tmp_path: Path) -> None:
        parts = [
            answer("/a", b"<p>a"),
            answer("/i.png", b"\x89PNG", "Content-Type: image/png"),
            answer("/robots.txt", b"<p>", "Content-Type: text/html"),
            record("resource", b"x", WARC_Target_URI="http://example.org/r"),
        ]
        (tmp_path / "x.warc").write_bytes(b"".join(parts))
        assert [page.url for page in pages(tmp_path)] == ["http://example.org/a"]

    def test_an_error_that_was_tried_again_is_none(self, tmp_path: Path) -> None:
        record_all(
            tmp_path,
            exchange("/a", b"<p>busy", status=503),
            exchange("/a", b"<p>a", secs=1),
            exchange("/b", b"<p>busy", status=503, secs=2),
            exchange("/b", b"<p>busy", status=503, secs=3),
        )
        assert [(page.url[-1], page.status) for page in pages(tmp_path)] == [("a", 200), ("b", 503)]

    def test_revisits_have_the_payload_that_they_stand_for(self, tmp_path: Path) -> None:
        packed = gzip.compress(b"<p>a", mtime=0)
        told = ((b"Content-Type", b"text/html"), (b"Content-Encoding", b"gzip"))
        record_all(tmp_path, exchange("/a", packed, headers=told))
        record_all(
            tmp_path,
            exchange("/b", packed, headers=told, secs=1),
            exchange("/a", b"", status=304, headers=(), secs=2),
        )
        found = pages(tmp_path)
        assert [page.body for page in found] == [packed] * 3
        assert [page.status for page in found] == [200] * 3
        assert all(("Content-Encoding", "gzip") in page.headers for page in found)

    def test_a_304_whose_page_is_not_there_is_counted_and_none(self, tmp_path: Path) -> None:
        record_all(tmp_path, exchange("/a", b"", status=304), exchange("/b", b"<p>b"))
        found, captures = captured(tmp_path)
        assert [page.url for page in found] == ["http://example.org/b"]
        ((what, count),) = captures.left_out.items()
        assert ("not in the archive" in what, count) == (True, 1)

    def test_a_part_of_a_page_is_known_for_one(self, tmp_path: Path) -> None:
        record_all(tmp_path, exchange("/a", b"<p>a", truncated="disconnect"), exchange("/b"))
        assert [page.is_cut for page in pages(tmp_path)] == [True, False]


ANSWER = answer("/a", b"<p>a")
PACKED = {
    "plain": ANSWER,
    "gzip": gzip.compress(ANSWER),
    "zstd": zstandard.compress(ANSWER),
    "a frame without data": b"\x50\x2a\x4d\x18\x02\0\0\0no" + zstandard.compress(ANSWER),
    "damaged at its beginning": b"\0\0\0" + ANSWER[3:] + ANSWER,
    "damaged and packed": b"\0" + gzip.compress(ANSWER)[1:] + gzip.compress(ANSWER),
    "not written yet": b"",
    "broken off": b"WAR",
}


@pytest.mark.parametrize("content", PACKED.values(), ids=PACKED)
def test_an_archive_is_known_by_its_bytes_and_not_by_its_name(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "anything.bin"
    path.write_bytes(content)
    (source,) = find_sources(str(path))
    assert source.path == path
    if len(content) > 3:
        assert [page.body for page in pages(path)] == [b"<p>a"]


@pytest.mark.parametrize("name", ["x.warc", "x.warc.gz", "x.zip"])
@pytest.mark.parametrize("content", [b"ZIM\x04" + bytes(500), b"<p>page", "zip"])
def test_what_is_no_archive_is_refused(tmp_path: Path, name: str, content: bytes | str) -> None:
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr("m/x.warc", ANSWER)  # not below archive/
    with pytest.raises(ArchiveError, match=f"{name} is no archive: WARC, WARC in gzip or zstd"):
        find_sources(str(path))


def test_a_large_file_that_is_no_archive_is_refused_by_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "disk.img"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # without a byte on the disk; to read it all takes minutes
    with pytest.raises(ArchiveError, match=r"disk\.img is no archive"):
        find_sources(str(path))


def test_a_wacz_of_any_name_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("archive/x.warc", ANSWER)
    assert [page.body for page in pages(path)] == [b"<p>a"]


@pytest.mark.parametrize("name", ["none.warc", "empty"])
def test_a_source_that_is_none_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ArchiveError, match=name):
        find_sources(str(tmp_path / name))
