"""CDXJ and WACZ: sorted, complete, and every entry leads to its record."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import struct
import subprocess
import zipfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.warc.__main__ import main
from crawler.warc.archive import Archive
from crawler.warc.index_and_pack import finish, sorted_lines, url_key
from crawler.warc.record_reading import read_records
from crawler.warc.sources import find_sources
from tests.crawler.warc.exchanges import MAX_COUNT, START, exchange, read_all, record_all

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.warc.index_and_pack import Finished
    from crawler.warc.record_reading import WholeRecord

TOOLS = os.environ.get("WARC_TOOLS")
PAGES = 700


class TestSortingProperties:
    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.binary(max_size=4).map(lambda line: line.replace(b"\n", b"") + b"\n")))
    def test_equals_sorting_in_memory(self, lines: list[bytes]) -> None:
        assert list(sorted_lines(lines)) == sorted(set(lines))


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.Example.org:80/A?b=2&a=1", "org,example)/a?a=1&b=2"),
        ("http://example.org/caf%C3%A9", "org,example)/caf%c3%a9"),
        ("http://127.0.0.1:8000/", "1,0,0,127:8000)/"),
        ("http://example.org/a b", "org,example)/a%20b"),
        ("http://example.org/s%2Ft/", "org,example)/s/t"),
        ("http no URL", "http%20no%20url)/"),
    ],
)
def test_keys_are_those_of_players(url: str, key: str) -> None:
    assert url_key(url) == key


def test_urls_with_one_key_have_a_line_each(tmp_path: Path) -> None:
    """Players that ask by the key alone choose between them; others find the URL in the line."""
    paths = ["/p?x=b%26c", "/p?x=b&c", "/p?c&x=b"]
    record_all(tmp_path, *(exchange(path, path.encode()) for path in paths))
    lines = finish(tmp_path, wacz=False).cdxj.read_text().splitlines()
    assert {line.split()[0] for line in lines} == {"org,example)/p?c&x=b"}
    named = {json.loads(line.split(" ", 2)[2])["url"] for line in lines}
    assert named == {f"http://example.org{path}" for path in paths}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("indexed") / "site"
    pages = [exchange(f"/{number}", b"<p>%d" % (number % 650)) for number in range(PAGES)]
    record_all(made, *pages, exchange("/robots.txt", kind="other"), max_file_bytes=50_000)
    archive = Archive(made, "test")
    archive.record_view(pages[0].url, START, b"a picture")
    archive.close()
    return made


@pytest.fixture(scope="module")
def done(folder: Path) -> Finished:
    return finish(folder, wacz=True)


def test_every_line_leads_to_its_record(folder: Path, done: Finished) -> None:
    lines = done.cdxj.read_bytes().splitlines(keepends=True)
    assert done.captures == len(lines) == PAGES + 2, "and robots.txt and a picture"
    assert lines == sorted(lines)
    for line in lines[::20]:
        _, stamp, entry = line.split(b" ", 2)
        told = json.loads(entry)
        with (folder / told["filename"]).open("rb") as file:
            found = next(read_records(file, pytest.fail, start=int(told["offset"])))
        assert found.url == told["url"]
        assert found.length == int(told["length"])
        assert found.field("WARC-Payload-Digest") == told["digest"]
        assert stamp == b"20260501120000"
    mimes = [json.loads(line.split(b" ", 2)[2])["mime"] for line in lines]
    assert mimes.count("warc/revisit") == 50
    assert mimes.count("image/webp") == 1


def test_wacz_holds_what_it_says(folder: Path, done: Finished) -> None:
    assert done.wacz is not None
    with zipfile.ZipFile(done.wacz) as archive:
        package = json.loads(archive.read("datapackage.json"))
        digest = json.loads(archive.read("datapackage-digest.json"))
        described = hashlib.sha256(archive.read(digest["path"])).hexdigest()
        assert digest["hash"] == f"sha256:{described}"
        assert package["wacz_version"] == "1.1.1"
        for resource in package["resources"]:
            data = archive.read(resource["path"])
            assert len(data) == resource["bytes"]
            assert resource["hash"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
        stored = [info for info in archive.infolist() if info.filename.startswith("archive/")]
        assert len(stored) == len(list(folder.glob("*.warc.gz"))) > 1
        assert all(info.compress_type == zipfile.ZIP_STORED for info in stored)
        index = archive.read("indexes/index.cdx.gz")
        assert gzip.decompress(index) == done.cdxj.read_bytes()
        _, *blocks = archive.read("indexes/index.idx").decode().splitlines()
        assert len(blocks) == 3
        for block in blocks:
            prefix, _, entry = block.partition(" {")
            told = json.loads("{" + entry)
            part = index[told["offset"] : told["offset"] + told["length"]]
            assert gzip.decompress(part).startswith(prefix.encode() + b" {")
        pages = [json.loads(line) for line in archive.read("pages/pages.jsonl").splitlines()]
        assert pages[0]["format"] == "json-pages-1.0"
        assert not pages[0]["hasText"]
        assert pages[1]["ts"] == "2026-05-01T12:00:00Z"
        assert len(pages) == PAGES + 2 - 50, "a revisit alone is not known to be a page"


def test_records_are_read_out_of_a_wacz(folder: Path, done: Finished) -> None:
    inside: list[WholeRecord] = []
    for source in find_sources(str(done.wacz)):
        with source.open() as file:
            inside += read_records(file, pytest.fail, max_bytes=MAX_COUNT)
    records = read_all(folder)
    assert [found.offset for found in inside] == [found.offset for found in records]
    assert [found.payload for found in inside] == [found.payload for found in records]


def test_headers_of_parts_are_as_long_as_the_directory_says(done: Finished) -> None:
    """ReplayWeb.page takes the length of a part's header from the directory."""
    assert done.wacz is not None
    content = done.wacz.read_bytes()
    with zipfile.ZipFile(done.wacz) as packed:
        parts = packed.infolist()
    assert len(parts) > 6
    for part in parts:
        (extra,) = struct.unpack_from("<H", content, part.header_offset + 28)
        assert extra == len(part.extra) == 0, part.filename


@pytest.mark.skipif(TOOLS is None, reason="WARC_TOOLS names no environment with wacz in it")
def test_validator_of_wacz_is_content(done: Finished) -> None:
    command = [f"{TOOLS}/wacz", "validate", "-f", str(done.wacz)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "the passed WACZ is valid" in checked.stdout, checked.stdout + checked.stderr


@pytest.mark.skipif(TOOLS is None, reason="WARC_TOOLS names no environment with cdxj-indexer in it")
def test_index_is_that_of_cdxj_indexer(folder: Path, done: Finished) -> None:
    command = [f"{TOOLS}/cdxj-indexer", "-s", *map(str, sorted(folder.glob("*.warc.gz")))]
    made = subprocess.run(command, capture_output=True, check=True)
    assert made.stdout == done.cdxj.read_bytes()


@pytest.mark.skipif(TOOLS is None, reason="WARC_TOOLS names no environment with cdxj-indexer in it")
def test_compressed_index_is_that_of_cdxj_indexer(
    folder: Path, done: Finished, tmp_path: Path
) -> None:
    files = map(str, sorted(folder.glob("*.warc.gz")))
    fields = "url,mime,status,digest,length,offset,filename"
    command = [f"{TOOLS}/cdxj-indexer", "-s", "-d", "-c", "index.cdx.gz", "-o", "index.idx",
               "--replace-fields", fields, *files]  # fmt: skip
    subprocess.run(command, check=True, cwd=tmp_path)
    assert done.wacz is not None
    with zipfile.ZipFile(done.wacz) as archive:
        for name in ("index.cdx.gz", "index.idx"):
            assert archive.read(f"indexes/{name}") == (tmp_path / name).read_bytes(), name


class TestCommand:
    def test_crawl_that_is_named_must_be_there(
        self, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main([str(folder), "--wacz", "--crawl", str(tmp_path)]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1

    def test_indexes_and_packs(
        self, folder: Path, done: Finished, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main([str(folder), "--wacz"]) == 0
        assert f"{PAGES + 2} captures" in capsys.readouterr().out

    def test_says_in_one_line_what_is_wrong(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main([str(tmp_path / "none")]) == 2
        assert "no such directory" in capsys.readouterr().err
        assert main([str(tmp_path)]) == 2
        assert "no WARC files" in capsys.readouterr().err
