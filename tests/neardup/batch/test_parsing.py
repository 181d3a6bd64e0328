"""Rows of files in every packing and format; what comes before damage is read, and it is told."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import shutil
import struct
import subprocess
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from neardup.batch.input_files import Fields, InputOptions, find_files, parts_of, row_parts
from neardup.batch.parsing import check_fields, read_part
from neardup.batch.rows import LeftOut
from neardup.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 40
JSON_LINES = b"".join(
    json.dumps({"url": f"u{number}", "text": f"text {number}"}).encode() + b"\n"
    for number in range(ROWS)
)
CSV = b"url,text\n" + b"".join(b"u%d,text %d\n" % (number, number) for number in range(ROWS))
GZIP, ZSTD = gzip.compress, zstandard.compress
LIST = json.dumps([json.loads(line) for line in JSON_LINES.splitlines()]).encode()
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


def test_rows_that_declare_no_language_are_told_by_their_texts(tmp_path: Path) -> None:
    german = "Der Wärter schreibt in das Buch, wann die Lampe brannte und wann der Nebel kam."
    rows = "".join(json.dumps({"text": text}) + "\n" for text in (german, "404"))
    (tmp_path / "a.jsonl").write_text(rows)
    (part,) = parts_of(find_files(str(tmp_path / "a.jsonl")), 0)
    for language, left_out in (("en", [LeftOut("in another language: de")]), ("de", [])):
        found = read_part(part, InputOptions(languages=(language,)))
        assert [one for one in found if isinstance(one, LeftOut)] == left_out


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl.gz", GZIP(JSON_LINES)),
        ("a.jsonl.gz", GZIP(JSON_LINES[:500]) + GZIP(JSON_LINES[500:]) + b"\0\0"),
        ("a.jsonl.zst", SKIPPED + ZSTD(JSON_LINES[:500]) + ZSTD(JSON_LINES[500:])),
        ("a.csv.gz", GZIP(CSV)),
        ("a.csv.zst", ZSTD(CSV)),
        ("a.csv.zstd", ZSTD(CSV)),
        ("a.jsonl.bz2", bz2.compress(JSON_LINES[:500]) + bz2.compress(JSON_LINES[500:])),
        ("a.CSV.XZ", lzma.compress(CSV[:500]) + bytes(8) + lzma.compress(CSV[500:]) + bytes(4)),
        ("a.json", LIST),
        ("a.json", b"\xef\xbb\xbf\n [ " + LIST[1:].replace(b"}, ", b"}\n,\n") + b"\n"),
        ("a.jsonl.gz", GZIP(LIST)),
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
        ("a.jsonl.zst", ZSTD(JSON_LINES) + ZSTD(CSV)[:-6], "damaged: it breaks off"),
        ("a.json.xz", lzma.compress(JSON_LINES)[:-9], "damaged: it breaks off"),
        ("a.csv.bz2", bz2.compress(CSV) + b"no bz2", "damaged: Invalid data stream"),
        ("a.json", LIST[:-1] + b', {"url": "x"', "damaged: no JSON behind item 40 of a list"),
        ("a.json", LIST + b"\n[]", "damaged: more behind a list of JSON"),
    ],
)
def test_rows_before_damage_are_read(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    names, reasons = read(tmp_path / name, data)
    assert names == [f"u{number}" for number in range(ROWS)]
    (told,) = reasons
    assert told.startswith(reason)


def test_a_file_named_xz_gets_no_memory_that_only_an_older_format_asks_for(tmp_path: Path) -> None:
    older = bytes([0x3F]) + bytes([0xFF]) * 50  # of .lzma: a dictionary of 4 GB
    assert read(tmp_path / "a.jsonl.xz", older) == (
        [],
        ["damaged: Input format not supported by decoder"],
    )


@pytest.mark.skipif(not shutil.which("zstd"), reason="zstd is not installed")
@pytest.mark.parametrize("window", [27, 31])
def test_zstd_with_a_long_window_is_read(tmp_path: Path, window: int) -> None:
    """From a pipe, whose length zstd does not know: the frame wants the whole window."""
    command = ["zstd", "-c", f"--long={window}"]
    packed = subprocess.run(command, input=JSON_LINES, stdout=subprocess.PIPE, check=True).stdout
    assert zstandard.get_frame_parameters(packed).window_size == 1 << window
    assert read(tmp_path / "a.jsonl.zst", packed) == ([f"u{number}" for number in range(ROWS)], [])


def test_a_list_is_read_once_where_its_file_is_cut_into_parts(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(json.dumps(json.loads(LIST), indent=1).encode())
    parts = list(parts_of(find_files(str(tmp_path)), 0, part_bytes=100))
    found = [page for part in parts for page in read_part(part, InputOptions())]
    assert [one.position for one in found if not isinstance(one, LeftOut)] == list(range(ROWS))


def test_objects_longer_than_what_is_read_at_once_are_read(tmp_path: Path) -> None:
    texts = ["x" * length for length in (1 << 18, 1, 1 << 17)]
    items = [{"url": f"{n}", "text": text} for n, text in enumerate(texts)]
    assert read(tmp_path / "a.json", json.dumps([*items, 1]).encode()) == (
        ["0", "1", "2"],
        ["a line that is no JSON object"],
    )


@pytest.mark.parametrize("kind", ["parquet", "stream", "file"])
def test_tables_have_fields_within_fields(tmp_path: Path, kind: str) -> None:
    """As datasets writes them: save_to_disk makes a stream of Arrow beside its descriptions."""
    rows = [
        {"text": "a", "meta": {"url": "/a", "more": {"id": 1}}, "meta.id": "x"},
        {"text": "b", "meta": {"url": None, "more": None}, "meta.id": "y"},
    ]
    table = pa.Table.from_pylist(rows * 300)
    if kind == "parquet":
        pq.write_table(table, tmp_path / "a.parquet")
    else:
        make = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
        with make(tmp_path / "data-00000-of-00001.arrow", table.schema) as writer:
            writer.write_table(table, max_chunksize=500)
        (tmp_path / "state.json").write_text("{}")
        (tmp_path / "dataset_info.json").write_text("{}")
    (part,) = parts_of(find_files(str(tmp_path)), 0)
    for field, first, second in [
        ("meta.url", "/a", f"{part.path}#599"),
        ("meta.more.id", "1", f"{part.path}#599"),
        ("meta.id", "x", "y"),
    ]:
        found = list(read_part(part, InputOptions(Fields(name=field))))
        names = [one.name for one in found if not isinstance(one, LeftOut)]
        assert (names[0], names[-1], len(names)) == (first, second, 600)


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"url": "/a", "id": 1}, "/a"),
        ({"url": None, "id": 1}, "1"),
        ({"id": "x", "text": ""}, "x"),
        ({"id": 1.5}, "1.5"),
        ({"id": True}, "{}#0"),
        ({"name": "x"}, "{}#0"),
    ],
)
def test_a_row_is_named_by_its_url_or_else_its_id(
    tmp_path: Path, row: dict[str, object], name: str
) -> None:
    path = tmp_path / "a.jsonl"
    (found,), _ = read(path, json.dumps({"text": "x", **row}).encode())
    assert found == name.format(path)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (Fields(name="doc"), 'field "doc", as .* there are url, meta; choose with --id-field'),
        (Fields(title="meta.name"), 'no row has a field "meta.name", .* --title-field'),
        (Fields(name="meta.id", text="meta.x"), ""),
        (Fields(name="url"), ""),
        (Fields(), ""),
    ],
)
def test_a_field_that_no_row_of_any_file_has_is_refused(
    tmp_path: Path, fields: Fields, said: str
) -> None:
    (tmp_path / "a.jsonl").write_text('{"url": null}\n\nno JSON\n')
    (tmp_path / "b.json").write_text('[{"meta": {"id": 0}}, {"meta": {"x": "y"}, "url": ""}]')
    files = find_files(str(tmp_path))
    if said:
        with pytest.raises(InputError, match=said):
            check_fields(files, fields)
    else:
        check_fields(files, fields)


def test_files_of_no_known_format_are_told(tmp_path: Path) -> None:
    for name in ("a.jsonl.bz2", "b.jsonl.lz4", "c.txt", "d", ".hidden", "_SUCCESS", "in/e.tsv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    for word in (f"{tmp_path}", f"{tmp_path}/*"):
        others: list[str] = []
        (file,) = find_files(word, pass_over=others.append)
        assert file.path.endswith("a.jsonl.bz2")
        told = ["b.jsonl.lz4", "c.txt", "d", *([] if "*" in word else ["e.tsv"])]
        assert sorted(path.rpartition("/")[2] for path in others) == told


def test_arrow_whose_places_lead_nowhere_is_damaged(tmp_path: Path) -> None:
    """Another program may write any; to read such a text would end the process."""
    places = struct.pack("<4i", 0, 3, 1, 6)
    buffers = [None, pa.py_buffer(places), pa.py_buffer(b"abcdef")]
    table = pa.table(
        {"url": ["a", "b", "c"], "text": pa.Array.from_buffers(pa.string(), 3, buffers)}
    )
    for number, make in enumerate((pa.ipc.new_stream, pa.ipc.new_file)):
        with make(tmp_path / f"{number}.arrow", table.schema) as writer:
            writer.write_table(table)
        (part,) = parts_of(find_files(str(tmp_path / f"{number}.arrow")), 0)
        (found,) = read_part(part, InputOptions())
        assert isinstance(found, LeftOut)
        assert found.reason.startswith("damaged arrow")


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_table_with_a_column_whose_name_is_no_utf8_is_damaged(tmp_path: Path, kind: str) -> None:
    table, path = pa.table({"text": ["a"], "named": ["b"]}), tmp_path / f"a.{kind}"
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table)
    path.write_bytes(path.read_bytes().replace(b"named", b"na\xffed"))
    (part,) = parts_of(find_files(str(path)), 0)
    (piece,) = row_parts(part)
    (found,) = read_part(piece, InputOptions())
    assert isinstance(found, LeftOut)
    assert found.reason.startswith(f"damaged {kind}")
