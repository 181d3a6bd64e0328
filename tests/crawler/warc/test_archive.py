"""What is recorded comes back; what is held already is named and not written again."""

from __future__ import annotations

import asyncio
import gzip
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.warc.archive import Archive
from crawler.warc.index_and_pack import finish, losses
from crawler.warc.record_reading import read_records
from crawler.warc.record_writing import (
    DEPTH_FIELD,
    IDENTICAL_PAYLOAD,
    KIND_FIELD,
    NOT_MODIFIED,
    payload_digest,
    warc_date,
)
from crawler.warc.sources import ArchiveError
from tests.crawler.warc.exchanges import (
    HTML,
    START,
    exchange,
    kinds,
    read_all,
    record_all,
)

PROJECT = Path(__file__).parents[3]
TOKEN = st.text("abcXYZ-09", min_size=1, max_size=8).map(str.encode)
VALUE = st.binary(max_size=20).filter(
    lambda value: not {10, 13} & set(value) and value == value.strip(b" \t\0\x0b\x0c")
)
HEADERS = st.lists(st.tuples(TOKEN.map(lambda name: b"X-" + name), VALUE), max_size=6).map(tuple)


class TestRecordProperties:
    @settings(max_examples=60, deadline=None)
    @given(
        headers=HEADERS,
        body=st.binary(max_size=300),
        status=st.integers(200, 599).filter(lambda status: status != 304),
        depth=st.integers(0, 99),
    )
    def test_what_is_recorded_comes_back(
        self, headers: tuple[tuple[bytes, bytes], ...], body: bytes, status: int, depth: int
    ) -> None:
        made = exchange("/p?q=1", body, headers=headers, status=status, depth=depth)
        with tempfile.TemporaryDirectory() as name:
            record_all(Path(name), made)
            info, answer, asked = read_all(Path(name))
        assert (info.kind, answer.kind, asked.kind) == ("warcinfo", "response", "request")
        assert answer.http is not None
        told = [name.encode() for name, _ in answer.http.headers]
        assert told == [name for name, _ in headers]
        assert (answer.payload, answer.status, answer.url) == (body, status, made.url)
        assert answer.field("WARC-Payload-Digest") == payload_digest(body)
        assert answer.field("WARC-Date") == warc_date(made.at)
        assert answer.field(DEPTH_FIELD) == str(depth)
        assert answer.field(KIND_FIELD) == "page"
        assert asked.field("WARC-Concurrent-To") == answer.field("WARC-Record-ID")


async def test_large_body_is_recorded_while_others_are(tmp_path: Path) -> None:
    """It is read from its file; no record comes into the midst of another, nor twice."""
    body = random.Random(1).randbytes(2**22)
    file = tmp_path / "body"
    file.write_bytes(body)
    folder = tmp_path / "warc"
    archive = Archive(folder, "test")

    async def record(path: str) -> None:
        with file.open("rb", buffering=0) as stream:
            await archive.record_large(exchange(path, body[:9], headers=HTML, file=stream))

    large = asyncio.create_task(record("/large"))
    count = 0
    while not large.done():
        archive.record(exchange(f"/{count}", b"%d" % count))
        archive.flush()
        count += 1
        await asyncio.sleep(0)
    assert count > 1, "the loop goes on meanwhile"
    await large
    await record("/same")
    archive.close()
    found = {one.url: one for one in read_all(folder) if one.kind in {"response", "revisit"}}
    assert found["http://example.org/large"].payload == body
    assert found["http://example.org/large"].field("WARC-Payload-Digest") == payload_digest(body)
    assert found["http://example.org/same"].kind == "revisit"
    assert found["http://example.org/0"].payload == b"0"
    assert {path.suffix for path in folder.iterdir()} == {".db", ".gz", ""}


def test_headers_are_the_bytes_that_came(tmp_path: Path) -> None:
    odd = (
        *HTML,
        (b"X-Name", b"caf\xe9 \xe2\x82\xac"),
        (b"Set-Cookie", b"a=1"),
        (b"Set-Cookie", b"b"),
    )
    record_all(tmp_path, exchange(headers=odd))
    (path,) = tmp_path.glob("*.gz")
    text = gzip.decompress(path.read_bytes())
    assert b"X-Name: caf\xe9 \xe2\x82\xac\r\nSet-Cookie: a=1\r\nSet-Cookie: b\r\n\r\n" in text


@pytest.mark.parametrize("value", [b"a\r\nX-Injected: 1", b"a\nb"])
def test_no_header_can_begin_another(tmp_path: Path, value: bytes) -> None:
    record_all(tmp_path, exchange(headers=(*HTML, (b"X-Odd", value))))
    answer = read_all(tmp_path)[1]
    assert answer.http is not None
    assert [name for name, _ in answer.http.headers] == ["Content-Type", "X-Odd"]
    assert answer.payload == b"<p>page"


def test_headers_that_are_not_true_of_what_is_stored_are_renamed(tmp_path: Path) -> None:
    told = (*HTML, (b"Transfer-Encoding", b"chunked"), (b"Content-Length", b"99"))
    record_all(tmp_path, exchange(headers=told))
    answer = read_all(tmp_path)[1]
    assert answer.header("Transfer-Encoding") is None
    assert answer.header("X-Orig-Transfer-Encoding") == "chunked"
    assert answer.header("Content-Length") is None
    assert answer.header("X-Orig-Content-Length") == "99"


@pytest.mark.parametrize(
    ("told", "protocol", "written"),
    [
        (b"HTTP/1.1 200 Fine, thanks", "HTTP/1.1", "HTTP/1.1 200 Fine, thanks"),
        (b"HTTP/1.0 200", "HTTP/1.0", "HTTP/1.0 200"),
        (b"http/1.1 200 ok", "http/1.1", "HTTP/1.1 200 OK"),
        (None, "HTTP/1.0", "HTTP/1.0 200 OK"),
        (None, "h2", "HTTP/1.1 200 OK"),
    ],
)
def test_status_line_is_that_of_the_server_where_readers_take_it(
    tmp_path: Path, told: bytes | None, protocol: str, written: str
) -> None:
    record_all(tmp_path, exchange(status_line=told, protocol=protocol))
    answer = read_all(tmp_path)[1]
    assert answer.http is not None
    assert f"{answer.http.protocol} {answer.http.statusline}" == written


class TestRevisits:
    def test_same_payload_is_named_and_not_written(self, tmp_path: Path) -> None:
        first = exchange("/a", b"same" * 99)
        record_all(tmp_path, first, exchange("/b", b"same" * 99, secs=5))
        found = read_all(tmp_path)
        assert kinds(found) == ["warcinfo", "response", "request", "revisit", "request"]
        again = found[3]
        assert again.field("WARC-Profile") == IDENTICAL_PAYLOAD
        assert again.field("WARC-Refers-To-Target-URI") == first.url
        assert again.field("WARC-Refers-To-Date") == warc_date(first.at)
        assert again.field("WARC-Payload-Digest") == payload_digest(first.body)
        assert again.payload == b""
        assert again.status == 200

    def test_of_an_earlier_process_as_well(self, tmp_path: Path) -> None:
        record_all(tmp_path, exchange("/a"))
        record_all(tmp_path, exchange("/a", secs=9))
        assert kinds(read_all(tmp_path)).count("revisit") == 1
        assert len(list(tmp_path.glob("*.warc.gz"))) == 2

    def test_not_modified_names_what_the_url_answered_last(self, tmp_path: Path) -> None:
        changed = exchange("/a", b"second", secs=1)
        record_all(tmp_path, exchange("/a", b"first"), changed)
        told = ((b"ETag", b'"1"'), (b"X-Odd", b"caf\xe9  au lait"))
        record_all(tmp_path, exchange("/a", b"", status=304, secs=9, headers=told))
        again, _, head = read_all(tmp_path)[-3:]
        assert (again.kind, again.http, again.payload) == ("revisit", None, b"")
        assert again.field("WARC-Profile") == NOT_MODIFIED
        assert again.field("WARC-Refers-To-Target-URI") == changed.url
        assert again.field("WARC-Refers-To-Date") == warc_date(changed.at)
        assert again.field("WARC-Payload-Digest") == payload_digest(b"second")
        assert head.field("WARC-Concurrent-To") == again.field("WARC-Record-ID")
        assert (head.payload or b"").decode() == (
            "http-status-line: HTTP/1.1 304 Not Modified\r\n"
            'http-header-ETag: "1"\r\nhttp-header-X-Odd: café au lait\r\n'
        )

    def test_not_modified_without_an_original_is_no_revisit(self, tmp_path: Path) -> None:
        record_all(tmp_path, exchange("/a", b"", status=304))
        again = read_all(tmp_path)[1]
        assert (again.kind, again.status) == ("response", 304)

    @pytest.mark.parametrize("fields", [{"body": b""}, {"truncated": "disconnect"}])
    def test_nothing_stands_for_what_is_empty_or_a_part(
        self, tmp_path: Path, fields: dict[str, object]
    ) -> None:
        record_all(tmp_path, exchange("/a", **fields), exchange("/b", **fields))  # type: ignore[arg-type]
        assert "revisit" not in kinds(read_all(tmp_path))

    def test_what_was_not_flushed_is_not_named_after_a_kill(self, tmp_path: Path) -> None:
        program = (
            "import os; from pathlib import Path; from crawler.warc.archive import Archive; "
            "from tests.crawler.warc.exchanges import exchange; "
            f"archive = Archive(Path({str(tmp_path)!r}), 'test'); "
            "archive.record(exchange('/a')); archive.flush(); "
            "archive.record(exchange('/b', b'lost')); os._exit(0)"
        )
        subprocess.run([sys.executable, "-c", program], check=True, cwd=PROJECT)
        record_all(tmp_path, exchange("/c"), exchange("/d", b"lost", secs=5))
        found = [record for record in read_all(tmp_path) if record.kind != "request"]
        assert [(record.kind, record.url[-2:]) for record in found if record.url] == [
            ("response", "/a"),
            ("revisit", "/c"),
            ("response", "/d"),
        ]


class TestVersions:
    """An answer "not modified" stands for the version that was asked about alone."""

    def archive(self, folder: Path) -> Archive:
        record_all(folder, exchange("/a", headers=((b"ETag", b'"1"'), (b"Last-Modified", b"x"))))
        return Archive(folder, "again")

    @pytest.mark.parametrize(
        ("path", "version", "is_held"),
        [
            ("/a", ('"1"', "x"), True),
            ("/a", ('"2"', "x"), False),
            ("/a", ('"1"', ""), False),
            ("/b", ('"1"', "x"), False),
        ],
    )
    def test_only_that_is_held(
        self, tmp_path: Path, path: str, version: tuple[str, str], *, is_held: bool
    ) -> None:
        archive = self.archive(tmp_path)
        held = asyncio.run(archive.holds(f"http://example.org{path}", version))
        archive.close()
        assert held is is_held

    def test_it_may_be_called_otherwise_by_and_by(self, tmp_path: Path) -> None:
        archive = self.archive(tmp_path)
        archive.record(exchange("/a", b"", status=304, headers=((b"ETag", b'"9"'),)))
        assert asyncio.run(archive.holds("http://example.org/a", ('"9"', "x")))
        archive.close()


def test_large_record_is_seen_to_be_cut_after_it_was_read(tmp_path: Path) -> None:
    """What was read through in this process is not read again, but its end is looked for."""
    body = random.Random(3).randbytes(2**21)
    record_all(tmp_path, exchange("/a", body))
    (file,) = tmp_path.glob("*.warc.gz")
    archive = Archive(tmp_path, "again")
    archive.record(exchange("/b", body))
    os.truncate(file, 2**20)
    archive.record(exchange("/c", body))
    archive.close()
    (again,) = tmp_path.glob("again*.warc.gz")
    with again.open("rb") as opened:
        found = kinds(list(read_records(opened, pytest.fail)))
    assert [kind for kind in found if kind in {"response", "revisit"}] == ["revisit", "response"]


def test_hollow_revisit_is_told(tmp_path: Path) -> None:
    """Of an archive that was hollowed out before, and whose ``payloads.db`` is lost too."""
    record_all(tmp_path, exchange("/a"))
    (first,) = tmp_path.glob("*.warc.gz")
    record_all(tmp_path, exchange("/b", secs=5))
    assert not list(losses(tmp_path, deep=True))
    first.unlink()
    (tmp_path / "payloads.db").unlink()
    assert not list(losses(tmp_path, deep=False))
    (line,) = losses(tmp_path, deep=True)
    assert line == "http://example.org/b: a revisit whose payload is in no record"


def test_file_that_the_index_names_is_missed(tmp_path: Path) -> None:
    record_all(tmp_path, exchange("/a"))
    finish(tmp_path)
    (tmp_path / "payloads.db").unlink()
    assert not list(losses(tmp_path, deep=False))
    (file,) = tmp_path.glob("*.warc.gz")
    os.truncate(file, 100)
    (line,) = losses(tmp_path, deep=False)
    assert line.startswith(f"{file.name}: 100 of ")


def test_note_names_its_response(tmp_path: Path) -> None:
    archive = Archive(tmp_path, "test")
    recorded = archive.record(exchange("/a"))
    archive.note(recorded, [("verdict", "near_duplicate"), ("duplicate-of", "http://x/\r\nb")])
    archive.close()
    note = read_all(tmp_path)[-1]
    assert note.kind == "metadata"
    assert note.field("WARC-Concurrent-To") == recorded.id
    assert note.field("Content-Type") == "application/warc-fields"
    assert note.payload == b"verdict: near_duplicate\r\nduplicate-of: http://x/ b\r\n"


def test_picture_of_a_page_is_a_resource_once(tmp_path: Path) -> None:
    archive = Archive(tmp_path, "test")
    for picture in (b"one", b"one", b"two"):
        archive.record_view("http://x/a?b", START, picture)
    archive.close()
    first, second = (found for found in read_all(tmp_path) if found.kind == "resource")
    assert (first.url, first.payload, second.payload) == ("urn:view:http://x/a?b", b"one", b"two")
    assert first.field("Content-Type") == "image/webp"
    assert first.field("WARC-Payload-Digest") == payload_digest(b"one")


def test_files_roll_at_their_size_and_end_whole(tmp_path: Path) -> None:
    pages = [exchange(f"/{number}", b"%d" % number * 500) for number in range(20)]
    record_all(tmp_path, *pages, max_file_bytes=2_000)
    files = sorted(tmp_path.glob("*.warc.gz"))
    assert len(files) > 3
    assert not list(tmp_path.glob("*.open"))
    assert all(file.stat().st_size < 3_000 for file in files)
    assert [found.url for found in read_all(tmp_path) if found.kind == "response"] == [
        page.url for page in pages
    ]
    assert kinds(read_all(tmp_path)).count("warcinfo") == len(files)


def test_two_processes_do_not_write_to_one_archive(tmp_path: Path) -> None:
    archive = Archive(tmp_path, "test")
    with pytest.raises(ArchiveError, match="another process"):
        Archive(tmp_path, "test")
    archive.close()
    archive.close()
    Archive(tmp_path, "test").close()
    assert not list(tmp_path.glob("*.warc*")), "a file without a record"


def test_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArchiveError, match="cannot be written"):
        Archive(tmp_path / "file" / "warc", "test")
