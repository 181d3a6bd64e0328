"""Archives of other programs: how they compress, what they record as a page, and odd records."""

from __future__ import annotations

import gzip
import struct
import zlib
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from tests.crawler.warc.foreign import answer, asked, captured, pages, record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COUNT = 5
BODIES = [f"<p>page {number} ".encode() * 40 for number in range(COUNT)]
RECORDS = [
    record("warcinfo", b"software: other\r\n", Content_Type="application/warc-fields"),
    *(answer(f"/{number}", body) for number, body in enumerate(BODIES)),
]
WHOLE = b"".join(RECORDS)
ZSTD = zstandard.ZstdCompressor()
SKIPPED = struct.pack("<II", 0x184D2A50, 4) + b"1234"


def bgzip(data: bytes, block_bytes: int = 300) -> bytes:
    """Pack as bgzip does: each member has so many bytes, wherever a record begins."""
    packed = b""
    for at in range(0, len(data), block_bytes):
        block = data[at : at + block_bytes]
        stream = zlib.compressobj(6, zlib.DEFLATED, -15)
        inner = stream.compress(block) + stream.flush()
        head = b"\x1f\x8b\x08\x04" + bytes(5) + b"\xff\x06\x00BC\x02\x00"
        packed += head + struct.pack("<H", len(inner) + 25) + inner
        packed += struct.pack("<II", zlib.crc32(block), len(block))
    return packed


def with_dictionary(pack: Callable[[bytes], bytes]) -> bytes:
    """Pack as wget-at does: the dictionary is in a frame that other programs skip."""
    words = (b"<p>words of page %d" % number * 20 for number in range(500))
    samples: list[Any] = [answer(f"/{number}", body) for number, body in enumerate(words)]
    dictionary = zstandard.train_dictionary(4096, samples)
    frames = zstandard.ZstdCompressor(dict_data=dictionary)
    told = pack(dictionary.as_bytes())
    packed = b"".join(frames.compress(each) for each in RECORDS)
    return struct.pack("<II", 0x184D2A5D, len(told)) + told + packed


def pzstd(data: bytes) -> bytes:
    parts = (data[at : at + 700] for at in range(0, len(data), 700))
    return b"".join(SKIPPED + ZSTD.compress(part) for part in parts)


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(WHOLE, id="plain"),
        pytest.param(b"".join(map(gzip.compress, RECORDS)), id="gzip"),
        pytest.param(gzip.compress(WHOLE), id="gzip of the whole"),
        pytest.param(b"".join(map(gzip.compress, (WHOLE[:900], WHOLE[900:]))), id="gzip of parts"),
        pytest.param(
            b"".join(gzip.compress(b"".join(part)) for part in (RECORDS[:3], RECORDS[3:])),
            id="two files of gzip",
        ),
        pytest.param(bgzip(WHOLE), id="bgzip"),
        pytest.param(b"".join(map(ZSTD.compress, RECORDS)), id="zstd"),
        pytest.param(ZSTD.compress(WHOLE), id="zstd of the whole"),
        pytest.param(pzstd(WHOLE), id="pzstd"),
        pytest.param(with_dictionary(bytes), id="zstd with a dictionary"),
        pytest.param(with_dictionary(ZSTD.compress), id="zstd with a packed dictionary"),
    ],
)
class TestEveryCompression:
    def test_gives_all_pages(self, tmp_path: Path, packed: bytes) -> None:
        (tmp_path / "x.warc.zst").write_bytes(packed)
        found, captures = captured(tmp_path)
        assert [page.body for page in found] == BODIES
        assert not captures.skipped

    def test_begins_where_an_earlier_process_ended(self, tmp_path: Path, packed: bytes) -> None:
        (tmp_path / "x.warc").write_bytes(packed)
        end = pages(tmp_path)[2].end
        assert [page.body for page in pages(tmp_path, start=end)] == BODIES[3:]

    def test_says_that_it_breaks_off(self, tmp_path: Path, packed: bytes) -> None:
        (tmp_path / "x.warc.gz").write_bytes(packed[:-40])
        found, captures = captured(tmp_path)
        assert [page.body for page in found] == BODIES[: len(found)]
        assert len(found) < COUNT
        assert captures.skipped


def test_a_window_that_needs_too_much_memory_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wide = zstandard.ZstdCompressionParameters(window_log=31)
    packer = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    (tmp_path / "x.warc.zst").write_bytes(packer.compress(WHOLE) + packer.flush())
    assert captured(tmp_path)[1].skipped
    assert "too much memory" in caplog.text


LENGTH = "Content_Length"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, ZSTD.compress])
@pytest.mark.parametrize(
    "odd",
    [
        answer("http://[/x", b"<p>"),
        answer("http://h.example:99999/x", b"<p>"),
        answer("http://h.example:x/", b"<p>"),
        answer("http:///x", b"<p>"),
        answer("http://h.example\uff03@x/", b"<p>"),
        answer("", b"<p>", WARC_Target_URI=""),
        answer("/x", b"<p>", status="-1 X"),
        answer("/x", b"<p>", status=""),
        record("response", b"", WARC_Target_URI="http://example.org/x"),
        *(answer("/x", b"<p>", **{LENGTH: length}) for length in ("1" * 5000, "1" * 30, "-5", "x")),
        record("resource", b"<p>", WARC_Target_URI="http://[/x", Content_Type="text/html"),
        record("revisit", b"", WARC_Target_URI="http://[/x"),
        answer("/x", b"<p>").replace(b"Content-Length", b"X-Length"),
    ],
)
def test_an_odd_record_costs_no_other(
    tmp_path: Path, odd: bytes, pack: Callable[[bytes], bytes]
) -> None:
    packed = b"".join(pack(each) for each in (RECORDS[0], odd, *RECORDS[1:]))
    (tmp_path / "x.warc").write_bytes(packed)
    found, captures = captured(tmp_path)
    assert [page.body for page in found if not page.url.endswith("/x")] == BODIES
    assert captures.skipped or len(found) > COUNT


@pytest.mark.parametrize(
    "odd",
    [
        {"WARC_Date": "99999-01-01T00:00:00Z"},
        {"WARC_Date": f"2026-01-01T00:00:00.{'1' * 5000}Z"},
        {"WARC_Date": "never"},
        {"X_Crawl_Depth": "1" * 5000},
        {"WARC_Target_URI": "HTTP://Example.org/x"},
    ],
)
def test_an_odd_field_costs_no_page(tmp_path: Path, odd: dict[str, str]) -> None:
    (tmp_path / "x.warc").write_bytes(answer("/x", b"<p>x", **odd) + WHOLE)
    found, captures = captured(tmp_path)
    assert [page.body for page in found] == [b"<p>x", *BODIES]
    assert not captures.skipped


class TestAnswersThatAreNoPages:
    @pytest.mark.parametrize(
        ("parts", "told"),
        [
            ((answer("/f", b"<p>found", WARC_Record_ID="<urn:uuid:7>"),
              asked("/f", "POST", WARC_Concurrent_To="<urn:uuid:7>")), "HEAD, POST"),
            ((asked("/f", "HEAD", WARC_Record_ID="<urn:uuid:8>"),
              answer("/f", b"", WARC_Concurrent_To="<urn:uuid:8>")), "HEAD, POST"),
            ((answer("/f", b"", "Content-Type: text/html", "Content-Length: 700"),), "their body"),
            ((answer("/f", b"<p>", "Content-Type: text/html", "Content-Range: bytes 0-2/9",
                     status="206 Partial Content"),), "parts"),
            ((answer("/f", b"", "Content-Type: text/html", status="304 Not Modified"),),
             "not modified"),
            ((answer("/f", b"", "ETag: x", status="304 Not Modified"),), "not modified"),
        ],
    )  # fmt: skip
    def test_are_counted(self, tmp_path: Path, parts: tuple[bytes, ...], told: str) -> None:
        (tmp_path / "x.warc").write_bytes(b"".join(parts) + WHOLE)
        found, captures = captured(tmp_path)
        assert [page.body for page in found] == BODIES
        assert [count for what, count in captures.left_out.items() if told in what] == [1]
        assert not captures.skipped

    def test_take_no_other_page_of_the_url(self, tmp_path: Path) -> None:
        """All records have one identity here, as some programs write them."""
        ones = (asked("/0", "GET"), asked("/f", "POST", WARC_Concurrent_To="<urn:uuid:1>"))
        (tmp_path / "x.warc").write_bytes(b"".join(ones) + answer("/f", b"<p>") + WHOLE)
        assert [page.body for page in pages(tmp_path)] == BODIES

    def test_take_no_page_that_shares_identity_and_url(self, tmp_path: Path) -> None:
        both = asked("/f", "POST") + answer("/f", b"<p>a") + asked("/f", "GET")
        (tmp_path / "x.warc").write_bytes(both + answer("/f", b"<p>b"))
        assert [page.body for page in pages(tmp_path)] == [b"<p>a", b"<p>b"]

    def test_leave_a_cut_page_the_last_of_its_url(self, tmp_path: Path) -> None:
        cut = answer("/f", b"<p>half", WARC_Truncated="disconnect")
        later = answer("/f", b"", "ETag: x", status="304 Not Modified", WARC_Date="2025")
        (tmp_path / "x.warc").write_bytes(cut + later)
        assert [(page.body, page.is_cut) for page in pages(tmp_path)] == [(b"<p>half", True)]

    def test_are_not_ranges_with_all_bytes(self, tmp_path: Path) -> None:
        told = ("Content-Type: text/html", "Content-Range: bytes 0-2/3")
        (tmp_path / "x.warc").write_bytes(answer("/f", b"<p>", *told, status="206 Partial Content"))
        assert [page.body for page in pages(tmp_path)] == [b"<p>"]


class TestOtherRecordsOfPages:
    def test_resources_of_the_web_are_pages_and_those_of_browsers_are_none(
        self, tmp_path: Path
    ) -> None:
        parts = [
            record("resource", body, WARC_Target_URI=url, Content_Type=kind)
            for url, body, kind in (
                ("http://example.org/a.html", b"<p>a", "text/html; charset=utf-8"),
                ("https://example.org/i.png", b"\x89PNG", "image/png"),
                ("urn:view:http://example.org/a.html", b"RIFF", "image/webp"),
                ("urn:text:http://example.org/a.html", b"a", "text/plain"),
                ("urn:pageinfo:http://example.org/a.html", b"{}", "application/json"),
                ("file:///home/a.html", b"<p>", "text/html"),
            )
        ]
        again = record("revisit", b"", WARC_Target_URI="http://example.org/b.html",
                       WARC_Refers_To_Target_URI="http://example.org/a.html",
                       WARC_Refers_To_Date="2026-01-01T00:00:00Z")  # fmt: skip
        (tmp_path / "x.warc").write_bytes(b"".join(parts) + again)
        found, captures = captured(tmp_path)
        assert [(page.url[-6:], page.status, page.body, page.headers) for page in found] == [
            (name, 200, b"<p>a", (("Content-Type", "text/html; charset=utf-8"),))
            for name in ("a.html", "b.html")
        ]
        assert not captures.skipped

    @pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"])
    def test_a_revisit_finds_its_page_by_the_identity_of_the_record(
        self, tmp_path: Path, head: bytes
    ) -> None:
        found = answer("/a", b"<p>a", WARC_Record_ID="<urn:uuid:5>")
        again = record("revisit", head, WARC_Target_URI="http://example.org/b",
                       WARC_Refers_To="<urn:uuid:5>")  # fmt: skip
        for name, first, second in (("x", found, again), ("y", again, found)):
            place = tmp_path / f"{name}.warc"
            place.write_bytes(WHOLE + first + second)
            bodies = [page.body for page in pages(place)]
            assert bodies == [*BODIES, b"<p>a", b"<p>a"]

    def test_a_revisit_of_a_picture_is_no_page(self, tmp_path: Path) -> None:
        picture = answer("/i.png", b"\x89PNG", "Content-Type: image/png",
                         WARC_Record_ID="<urn:uuid:5>")  # fmt: skip
        again = record("revisit", b"", WARC_Target_URI="http://example.org/j.png",
                       WARC_Refers_To="<urn:uuid:5>")  # fmt: skip
        (tmp_path / "x.warc").write_bytes(picture + again)
        assert captured(tmp_path)[0] == []

    @pytest.mark.parametrize("is_revisit", [False, True])
    def test_not_modified_stands_for_the_page_before_it(
        self, tmp_path: Path, *, is_revisit: bool
    ) -> None:
        days = [f"2026-01-0{day}T00:00:00Z" for day in range(1, 5)]
        profile = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"
        named = {"WARC_Target_URI": "http://example.org/f", "WARC_Profile": profile}
        revisit = record("revisit", b"", WARC_Date=days[2], **named)
        unchanged = answer("/f", b"", "ETag: x", status="304 Not Modified", WARC_Date=days[2])
        parts = (
            answer("/f", b"<p>1", WARC_Date=days[0]),
            answer("/f", b"<p>gone", status="404 Not Found", WARC_Date=days[1]),
            revisit if is_revisit else unchanged,
            answer("/f", b"<p>4", WARC_Date=days[3]),
        )
        (tmp_path / "x.warc").write_bytes(b"".join(parts))
        assert [page.body for page in pages(tmp_path)] == [b"<p>1", b"<p>1", b"<p>4"]

    @pytest.mark.parametrize("kind", ["", "Content-Type: text/plain"])
    def test_what_is_html_by_its_body_alone_is_a_page(self, tmp_path: Path, kind: str) -> None:
        headers = (kind,) if kind else ("Server: x",)
        parts = (answer("/h", b"<html><p>h", *headers), answer("/t", b"text", *headers))
        (tmp_path / "x.warc").write_bytes(b"".join(parts))
        assert [page.body for page in pages(tmp_path)] == [b"<html><p>h"]

    def test_xhtml_that_is_declared_as_xml_is_a_page(self, tmp_path: Path) -> None:
        bodies = b'<html xmlns="http://www.w3.org/1999/xhtml"><p>h</p></html>', b"<urlset/>"
        parts = (answer(f"/{len(body)}", body, "Content-Type: text/xml") for body in bodies)
        (tmp_path / "x.warc").write_bytes(b"".join(parts))
        assert [page.body for page in pages(tmp_path)] == [bodies[0]]

    @pytest.mark.parametrize(("length", "is_cut"), [(4, False), (9, True)])
    def test_a_body_as_long_as_declared_is_whole_whatever_the_record_says(
        self, tmp_path: Path, length: int, *, is_cut: bool
    ) -> None:
        told = ("Content-Type: text/html", f"Content-Length: {length}")
        (tmp_path / "x.warc").write_bytes(answer("/f", b"<p>a", *told, WARC_Truncated="length"))
        assert [page.is_cut for page in pages(tmp_path)] == [is_cut]
