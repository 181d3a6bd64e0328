"""Archives: WARC in every packing, WACZ, the index of an archive, files for a replay."""

from __future__ import annotations

import gzip
import itertools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard

from crawler.maintenance.adopt.warc_corpus import _tell
from crawler.spiders.file_pages import PageFiles, page_files
from crawler.urls.canonical import Canonicalizer, MalformedUrl
from crawler.warc.captures import Captures
from crawler.warc.index_and_pack import finish, line_of, losses
from crawler.warc.record_reading import read_records
from crawler.warc.sources import ArchiveError, find_sources
from crawler.warc.warc_files import mend
from neardup.errors import InputError
from tests.crawler.warc.foreign import answer, asked, record
from tests.crawler.warc.test_foreign_archives import RECORDS, WHOLE, bgzip, pzstd, with_dictionary
from tests.crawler.warc.test_hostile_fields import HEADERS
from tests.fuzzing.target import Target, together

if TYPE_CHECKING:
    from tests.fuzzing.target import Read

_MAX_BYTES = 1 << 20
_ENDINGS = (".warc", ".warc.gz", ".warc.zst", ".warc.gz.open")
_REVISIT = record(
    "revisit",
    b"HTTP/1.1 304 Not Modified\r\n\r\n",
    WARC_Target_URI="http://example.org/1",
    WARC_Refers_To_Target_URI="http://example.org/0",
    WARC_Refers_To_Date="2026-01-01T00:00:00Z",
    WARC_Profile="http://netpreserve.org/warc/1.0/revisit/server-not-modified",
)
_ODD = b"".join(
    [
        answer("/odd", b"<p>odd", "Content-Type: text/html", header)
        for header in HEADERS
        if len(header) < 200
    ]
    + [
        answer("/chunked", b"3\r\nabc\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
        asked("/0", "POST"),
        _REVISIT,
        record(
            "resource", b"<p>r", WARC_Target_URI="http://example.org/r", Content_Type="text/html"
        ),
        record("metadata", b"refused: robots\r\n", WARC_Target_URI="http://example.org/m"),
        record("conversion", b"text", WARC_Target_URI="http://example.org/c"),
    ]
)


def _archives() -> list[bytes]:
    members = [gzip.compress(each, mtime=0) for each in RECORDS]
    bodies = {
        0: [WHOLE[:2000], _ODD, b"\r\n\r\n" + WHOLE[:1500]],
        1: [b"".join(members), gzip.compress(WHOLE, mtime=0), bgzip(WHOLE[:2000])],
        2: [b"".join(map(zstandard.compress, RECORDS)), pzstd(WHOLE[:2000]), _dictionaried()],
        3: [b"".join(members[:2])],
    }
    return [bytes([number]) + body for number, some in bodies.items() for body in some]


def _dictionaried() -> bytes:
    return with_dictionary(zstandard.compress)


def _begin_archives(folder: Path) -> Read:
    """Read an archive as a replay does, as ``crawl-once`` indexes it, and as a corpus."""
    complaints: list[str] = []

    def read(data: bytes) -> None:
        for old in folder.iterdir():
            old.unlink()
        number, body = (data[:1] or b"\0")[0] % len(_ENDINGS), data[1:]
        path = folder / f"x{_ENDINGS[number]}"
        path.write_bytes(body)
        sources = find_sources(str(path))
        captures = Captures(sources, _MAX_BYTES)
        try:
            for _ in captures.look_through():
                pass
            for _ in captures.pages(lambda _: 0):
                pass
        finally:
            captures.close()
        for source in sources:
            with source.open() as file:
                for found in read_records(file, complaints.append, max_bytes=_MAX_BYTES):
                    line_of(found, "x")
                    _tell(found)
        complaints.clear()

    return read


def _begin_finishing(folder: Path) -> Read:
    """Mend the files of a folder, index and pack them, and look for losses."""

    def read(data: bytes) -> None:
        for old in folder.iterdir():
            old.unlink()
        number, body = (data[:1] or b"\0")[0] % len(_ENDINGS), data[1:]
        (folder / f"x{_ENDINGS[number]}").write_bytes(body)
        mend(folder)
        if any(folder.iterdir()):
            finish(folder, wacz=True)
            for _ in losses(folder, deep=True):
                pass

    return read


def _wacz(folder: Path) -> bytes:
    (folder / "a.warc").write_bytes(WHOLE[:1000])
    made = finish(folder, wacz=True).wacz
    assert made is not None
    return made.read_bytes()


def _packed() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        return [_wacz(Path(folder))]


def _begin_wacz(folder: Path) -> Read:
    path = folder / "x.wacz"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        for source in find_sources(str(path)):
            with source.open() as file:
                for _ in read_records(file, lambda _: None, max_bytes=_MAX_BYTES):
                    pass

    return read


def _begin_index(folder: Path) -> Read:
    """Look for lost files by an index that another program may have written."""
    (folder / "a.warc").write_bytes(WHOLE)

    def read(data: bytes) -> None:
        (folder / "index.cdxj").write_bytes(data)
        list(itertools.islice(losses(folder, deep=False), 1_000))

    return read


def _indexes() -> list[bytes]:
    line = b'org,example)/ 20260101000000 {"url": "http://example.org/", "filename": "a.warc", '
    return [line + b'"offset": "0", "length": "99"}\n' + line + b'"offset": 7, "length": []}\n']


def _begin_replay(folder: Path) -> Read:
    """Read lines of JSON as pages; URLs of any form are names."""
    canonical = Canonicalizer()

    def key_of(url: str) -> bytes:
        try:
            return canonical.key(url)
        except MalformedUrl:
            return url.encode("utf-8", "surrogatepass")

    def read(data: bytes) -> None:
        path = folder / ("x.jsonl.gz" if data.startswith(b"\x1f\x8b") else "x.jsonl")
        path.write_bytes(data)
        for page in PageFiles(page_files(str(path)), _MAX_BYTES, key_of).pages(lambda _: 0):
            page.url.encode("utf-8", "surrogatepass")

    return read


def _lines() -> list[bytes]:
    lines = (
        b'{"url": "http://a.example/", "html": "<p>page", "title": "T"}\n'
        b'{"url": null, "text": "words \\ud800", "full_title": "F"}\n\n{"text": "x", "url": "a"}\n'
    )
    return [lines, gzip.compress(lines, mtime=0), b"[" + lines.replace(b"\n", b",")[:-2] + b"]"]


TARGETS = (
    Target("warc", _archives, _begin_archives, (ArchiveError,)),
    Target("warc-finishing", _archives, _begin_finishing, (ArchiveError,)),
    together(
        "wacz-and-cdxj",
        Target("wacz", _packed, _begin_wacz, (ArchiveError,), 8192),
        Target("cdxj", _indexes, _begin_index, max_bytes=4096),
    ),
    Target("replayed-lines", _lines, _begin_replay, (InputError,), 8192),
)
