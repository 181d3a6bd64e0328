"""Odd fields of foreign archives cost no other record: of pages, an index, a WACZ, a corpus."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.maintenance.adopt.warc_corpus import read
from crawler.warc.__main__ import main
from crawler.warc.index_and_pack import finish
from crawler.warc.sources import ArchiveError, find_sources
from neardup.batch.parsing import WebPage
from tests.crawler.warc.foreign import answer, captured, record

if TYPE_CHECKING:
    from pathlib import Path

GOOD = answer("/good", b"<p>good")

NAMES = (
    "WARC_Date",
    "WARC_Target_URI",
    "WARC_Payload_Digest",
    "WARC_Record_ID",
    "WARC_Refers_To",
    "WARC_Refers_To_Date",
    "WARC_Refers_To_Target_URI",
    "WARC_Concurrent_To",
    "WARC_Truncated",
    "WARC_Type",
    "WARC_Profile",
    "WARC_Identified_Content_Language",
    "WARC_Filename",
    "WARC_Segment_Number",
    "WARC_IP_Address",
    "Content_Type",
    "Content_Length",
    "X_Crawl_Depth",
)
VALUES = (
    "",
    "never",
    "99999-01-01T00:00:00Z",
    "2026-13-41T77:00:00Z",
    "٢٠٢٦-٠١-٠١T٠٠:٠٠:٠٠Z",
    "0000-00-00T00:00:00Z",
    "1" * 5000,
    "-1",
    "http://[/x",
    "http://h.example:99999/",
    "http://a\u2028b/ c\td",
    "\x00\x1b[31m\u202e",
    "text/html; charset=" + "x" * 5000,
    "application/http; " * 500,
    "²³",
)
HEADERS = (
    "Content-Length: " + "9" * 5000,
    "Content-Length: -1",
    "Content-Encoding: gzip, br, ?, " + "deflate, " * 300,
    "Content-Type: text/html; charset=\x00",
    "Content-Range: bytes " + "9" * 5000 + "-/",
    "Transfer-Encoding: chunked",
    "Location: http://[",
    "Date: never",
    "X-Robots-Tag: " + ":" * 5000,
    "Set-Cookie: " + ";" * 5000,
    "Link: <" + "<" * 5000,
    "Last-Modified: Mon, 99 Foo 99999 99:99:99 XYZ",
    ": no name",
    "no value",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_field_that_is_none_costs_no_other_record(name: str, tmp_path: Path) -> None:
    for number, value in enumerate(VALUES):
        for kind in ("response", "resource", "conversion", "revisit", "metadata", "request"):
            if name == "WARC_Type" and kind != "response":
                continue
            block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>odd"
            fields = {"WARC_Target_URI": "http://example.org/odd", name: value}
            odd = record(kind, block, **fields)
            (tmp_path / f"{number}-{kind}.warc").write_bytes(odd + GOOD)
    found, _ = captured(tmp_path)
    assert sum(page.body == b"<p>good" for page in found) == len(list(tmp_path.glob("*.warc")))
    done = finish(tmp_path, wacz=True)
    assert done.wacz is not None


def test_a_header_that_is_none_costs_no_other_record(tmp_path: Path) -> None:
    statuses = ("200 OK", "206 Partial", "304", "301", "²00", "9" * 5000)
    html = "Content-Type: text/html"
    odd = [answer("/odd", b"<p>odd", html, each, status=status)
           for each in HEADERS for status in statuses]  # fmt: skip
    (tmp_path / "x.warc").write_bytes(b"".join(part + GOOD for part in odd))
    found, _ = captured(tmp_path)
    assert sum(page.body == b"<p>good" for page in found) == len(odd)
    assert finish(tmp_path, wacz=True).wacz is not None
    with (tmp_path / "x.warc").open("rb") as file:
        texts = [each.text for each in read(file) if isinstance(each, WebPage)]
    assert texts.count("good") == len(odd)


def test_what_cannot_be_read_gives_the_status_1(tmp_path: Path) -> None:
    (tmp_path / "x.warc").write_bytes(answer("http://[/", b"<p>") + GOOD)
    assert main([str(tmp_path)]) == 1
    (tmp_path / "x.warc").write_bytes(GOOD)
    assert main([str(tmp_path)]) == 0


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("x")
    (folder / "x.warc").write_bytes(GOOD)
    made = finish(folder, wacz=True).wacz
    assert made is not None
    return made.read_bytes()


class TestDirectoriesOfWacz:
    @settings(
        max_examples=400,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(
        changes=st.lists(st.tuples(st.integers(0, 1_500), st.integers(0, 255)), max_size=5),
        end=st.integers(0, 60) | st.just(0),
    )
    def test_any_damage_is_told_or_does_no_harm(
        self, packed: bytes, tmp_path: Path, changes: list[tuple[int, int]], end: int
    ) -> None:
        damaged = bytearray(packed[: len(packed) - end])
        for back, value in changes:
            damaged[-1 - back % len(damaged)] = value
        path = tmp_path / "y.wacz"
        path.write_bytes(damaged)
        try:
            sources = find_sources(str(path))
        except ArchiveError:
            return
        for source in sources:
            with source.open() as file:
                file.read()

    @pytest.mark.parametrize("field", ["offset", "version"])
    def test_a_member_that_is_not_where_it_should_be_is_told(
        self, packed: bytes, tmp_path: Path, field: str
    ) -> None:
        at = packed.index(b"PK\x01\x02")
        place, size = {"offset": (at + 42, "<I"), "version": (at + 6, "<H")}[field]
        damaged = bytearray(packed)
        struct.pack_into(size, damaged, place, 65_000)
        path = tmp_path / "y.wacz"
        path.write_bytes(damaged)
        with pytest.raises(ArchiveError, match=r"y\.wacz"):
            find_sources(str(path))
