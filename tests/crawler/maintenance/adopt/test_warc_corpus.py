"""Pages of archives as a run on Spark gets them."""

from __future__ import annotations

import gzip
import io
from typing import TYPE_CHECKING, Any

import pytest
import zstandard
from trafilatura import extract
from warcio.warcwriter import WARCWriter

from crawler.maintenance.adopt.warc_corpus import read
from crawler.reading.protocol import ReadingOptions
from neardup.batch.parsing import WebPage, reader_of
from neardup.batch.rows import LeftOut
from neardup.whole import part_of
from tests.crawler.reading.pages import read_page
from tests.crawler.warc.exchanges import exchange, record_all
from tests.crawler.warc.foreign import answer, asked, record
from tests.neardup.texts import prose

if TYPE_CHECKING:
    from pathlib import Path

NOINDEX = "they ask not to be kept (noindex)"


def html(text: str, head: str = "") -> bytes:
    body = f"<main><article><p>{text}</p></article></main>"
    return f"<html><head><title>A title</title>{head}</head><body>{body}</body></html>".encode()


def of_folder(folder: Path) -> list[WebPage | LeftOut]:
    (file,) = folder.glob("*.warc.gz")
    with file.open("rb") as opened:
        return list(read(opened))


def test_pages_are_read_as_a_crawl_reads_them(tmp_path: Path) -> None:
    bodies = {f"/{number}": html(prose(number, 100)) for number in range(3)}
    bodies["/index"] = html("<a href=/1>one</a> " * 40 + "short")
    asked = [exchange(path, body, secs=n) for n, (path, body) in enumerate(bodies.items())]
    record_all(tmp_path, *asked)
    found = of_folder(tmp_path)
    assert len(found) == len(bodies)
    for page, (path, body) in zip(found, bodies.items(), strict=True):
        assert isinstance(page, WebPage)
        wanted = read_page(f"http://example.org{path}", body, "text/html", ReadingOptions())
        assert wanted.extract is not None
        assert (page.name, page.title) == (wanted.url, "A title")
        assert (page.text, page.is_main) == (wanted.extract.judged_text, wanted.extract.is_main)
        assert page.visible_digest == wanted.visible_digest
        assert (page.date or "").startswith("2026-05-01T12:00:0")
    positions = [page.position for page in found if isinstance(page, WebPage)]
    assert positions == sorted(set(positions))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"status": 404}, "HTTP errors and redirects"),
        ({"status": 301}, "HTTP errors and redirects"),
        ({"body": b"%PDF-1.7"}, "no HTML"),
        ({"body": html("text", '<meta name="robots" content="noindex">')}, NOINDEX),
        ({"headers": ((b"Content-Type", b"text/html"), (b"X-Robots-Tag", b"none"))}, NOINDEX),
        (
            {"headers": ((b"Content-Type", b"text/html"), (b"Content-Encoding", b"gzip")),
             "body": b"\x1f\x8b\x08nonsense"},
            "bodies that cannot be decompressed",
        ),
    ],
)  # fmt: skip
def test_what_is_no_page_is_left_out_with_a_word(
    tmp_path: Path, fields: dict[str, Any], reason: str
) -> None:
    record_all(tmp_path, exchange("/a", **{"body": html("text"), **fields}))
    assert of_folder(tmp_path) == [LeftOut(reason)]


def test_scheme_in_capitals_is_read_and_what_is_no_web_page_left_out_without_a_word() -> None:
    file = io.BytesIO()
    writer = WARCWriter(file, gzip=True)
    for url in ("HTTP://Example.org/a", "dns:example.org", "httpsomething:b"):
        answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + html(prose(1, 100))
        payload, kind = io.BytesIO(answer), "application/http; msgtype=response"
        writer.write_record(
            writer.create_warc_record(
                url, "response", payload=payload, length=len(answer), warc_content_type=kind
            )
        )
    (page,) = read(file)
    assert isinstance(page, WebPage)
    assert page.name == "HTTP://Example.org/a"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_what_other_programs_record_is_read_or_left_out_with_a_word(pack: Any) -> None:
    named = {"WARC_Target_URI": "http://example.org/r", "Content_Type": "text/html"}
    parts = [
        answer("http://[/x", html("odd")),
        record("resource", html(prose(1, 100)), **named),
        record("resource", b"RIFF", WARC_Target_URI="urn:view:http://example.org/r"),
        answer("/f", html("posted"), WARC_Record_ID="<urn:uuid:7>"),
        asked("/f", "POST", WARC_Concurrent_To="<urn:uuid:7>"),
        answer("/g", b"", status="304 Not Modified"),
        answer("/h", html(prose(2, 100)), "Content-Encoding: br", "Content-Type: text/html"),
        answer("/i", b"<p>", status="206 Partial Content"),
    ]
    found = list(read(io.BytesIO(pack(b"".join(parts)))))
    pages = [one.name for one in found if isinstance(one, WebPage)]
    assert pages == ["http://example.org/r", "http://example.org/h"]
    assert sorted(one.reason for one in found if isinstance(one, LeftOut)) == [
        "HTTP errors and redirects",
        "answers to HEAD, POST or another method than GET",
        "damaged records",
        "parts of an answer (206)",
    ]


def test_damage_costs_the_records_that_it_hits(tmp_path: Path) -> None:
    record_all(tmp_path, *(exchange(f"/{n}", html(prose(n, 100)), secs=n) for n in range(5)))
    (file,) = tmp_path.glob("*.warc.gz")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    found = list(read(io.BytesIO(data)))
    pages = [one for one in found if isinstance(one, WebPage)]
    assert 3 <= len(pages) <= 4
    assert LeftOut("damaged records") in found


class FailingFile(io.BytesIO):
    """A file whose disk fails behind so many bytes."""

    def __init__(self, data: bytes, readable: int) -> None:
        super().__init__(data)
        self._readable = readable

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() >= self._readable:
            raise OSError("Input/output error")
        return super().read(size)


def test_what_was_read_before_a_disk_failed_is_not_lost(tmp_path: Path) -> None:
    count = 40
    record_all(tmp_path, *(exchange(f"/{n}", html(prose(n, 100)), secs=n) for n in range(count)))
    (file,) = tmp_path.glob("*.warc.gz")
    data = file.read_bytes()
    found: list[WebPage | LeftOut] = []
    with pytest.raises(OSError, match="Input/output error"):
        found.extend(read(FailingFile(data, len(data) // 2)))
    pages = [one.name for one in found if isinstance(one, WebPage)]
    assert 1 < len(pages) < count
    assert pages == [f"http://example.org/{n}" for n in range(len(pages))]


def test_texts_of_wet_files_are_taken_as_they_are() -> None:
    file = io.BytesIO()
    writer = WARCWriter(file, gzip=True)
    for number in range(3):
        record = writer.create_warc_record(
            f"https://example.org/{number}",
            "conversion",
            payload=io.BytesIO(f"Grüße {number}".encode()),
            length=len(f"Grüße {number}".encode()),
            warc_content_type="text/plain",
            warc_headers_dict={
                "WARC-Date": "2026-05-01T12:00:00Z",
                "WARC-Identified-Content-Language": "deu,eng",
            },
        )
        writer.write_record(record)
    found = list(read(file))
    assert [(one.name, one.text, one.date) for one in found if isinstance(one, WebPage)] == [
        (f"https://example.org/{number}", f"Grüße {number}", "2026-05-01T12:00:00Z")
        for number in range(3)
    ]
    assert {one.language for one in found if isinstance(one, WebPage)} == {"deu,eng"}


def test_the_languages_that_pages_declare_are_read(tmp_path: Path) -> None:
    german = ((b"Content-Type", b"text/html"), (b"Content-Language", b"de"))
    record_all(
        tmp_path,
        exchange("/a", html(prose(1, 100)).replace(b"<html", b"<html lang=fr"), secs=1),
        exchange("/b", html(prose(2, 100)), secs=2, headers=german),
        exchange("/c", html(prose(3, 100)), secs=3),
    )
    found = [one.language for one in of_folder(tmp_path) if isinstance(one, WebPage)]
    assert found == ["fr", "de", None]


def test_an_extractor_finds_the_main_text_and_what_it_leaves_out_tells_pages_apart(
    tmp_path: Path,
) -> None:
    # trafilatura leaves out a note that is no part of the article.
    text, notes = prose(1, 300), ("a price of 7", "a price of 8")
    bodies = [
        html(text).replace(b"</body>", f"<footer><p>{note}</p></footer></body>".encode())
        for note in notes
    ]
    record_all(tmp_path, *(exchange(f"/{n}", body, secs=n) for n, body in enumerate(bodies)))
    (file,) = tmp_path.glob("*.warc.gz")
    with file.open("rb") as opened:
        pages = [one for one in read(opened, "trafilatura") if isinstance(one, WebPage)]
    assert [part_of(page.text) for page in pages] == [extract(body.decode()) for body in bodies]
    assert len({part_of(page.text) for page in pages}) == 1
    for page, note in zip(pages, notes, strict=True):
        assert page.is_main
        assert note in page.text


def test_the_library_finds_the_reader() -> None:
    assert reader_of("warc") is read
