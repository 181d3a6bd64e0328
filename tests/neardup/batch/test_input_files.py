"""Which files a word names, and what stands in their parts."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.batch.input_files import File, InputOptions, InputPart, find_files, parts_of
from neardup.batch.parsing import WebPage, read_part
from neardup.batch.rows import LeftOut
from neardup.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [{"url": f"http://example.org/{n}", "text": "wörter " * n} for n in range(40)]


def lines(path: Path) -> Path:
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def names(files: list[File], root: Path) -> list[str]:
    return [file.path.removeprefix(f"{root}/") for file in files]


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A folder as Common Crawl has them."""
    for number in (2, 1):
        folder = tmp_path / "crawl" / f"segment{number}" / "warc"
        folder.mkdir(parents=True)
        for part in ("b.warc.gz", "a.warc.gz", "notes.txt", ".hidden.warc.gz", "_x.warc.gz"):
            (folder / part).write_bytes(b"")
    return tmp_path / "crawl"


def test_a_folder_is_all_files_below_it_in_order(crawl: Path) -> None:
    found = find_files(str(crawl))
    assert names(found, crawl) == [
        f"segment{number}/warc/{part}.warc.gz" for number in (1, 2) for part in "ab"
    ]
    assert {file.format for file in found} == {"warc"}


@pytest.mark.parametrize("pattern", ["*/warc/a.*", "segment?/warc/[a].warc.gz"])
def test_a_pattern_names_what_matches(crawl: Path, pattern: str) -> None:
    found = find_files(f"{crawl}/{pattern}")
    assert names(found, crawl) == ["segment1/warc/a.warc.gz", "segment2/warc/a.warc.gz"]


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_list_keeps_its_order(crawl: Path, is_packed: bool) -> None:
    text = b"# mine\nsegment2/warc/b.warc.gz\n\nsegment1/warc/a.warc.gz\n"
    path = crawl / ("warc.paths.gz" if is_packed else "warc.paths")
    path.write_bytes(gzip.compress(text) if is_packed else text)
    wanted = ["segment2/warc/b.warc.gz", "segment1/warc/a.warc.gz"]
    assert names(find_files(str(path)), crawl) == wanted
    moved = crawl.parent / path.name
    path.rename(moved)
    assert names(find_files(str(moved), prefix=str(crawl)), crawl) == wanted


def test_a_file_system_is_named_by_its_uri(crawl: Path) -> None:
    (found,) = find_files(f"{crawl.as_uri()}/segment1/warc/a.warc.gz")
    assert list(read_part(next(parts_of([found], 0)), InputOptions())) == []


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("nothing", "no such file or folder"),
        (
            "notes.doc",
            "its ending says no format; choose with --format warc, jsonl, parquet, csv, arrow",
        ),
        ("empty", "no files of warc, jsonl, parquet, csv, arrow in it"),
        ("list.paths", "no such file or folder"),
        ("gopher://x/y", "gopher"),
    ],
)
def test_what_names_no_files_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.doc").write_text("x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "list.paths").write_text("not/there.warc.gz\n")
    with pytest.raises(InputError, match=said):
        find_files(word)


@pytest.mark.parametrize("step", [1, 7, 64, 1_000, 1 << 20])
def test_each_line_is_in_one_part(tmp_path: Path, step: int) -> None:
    (file,) = find_files(str(lines(tmp_path / "a.jsonl")))
    found = []
    for start in range(0, file.size, step):
        part = InputPart(0, file.path, file.format, start, min(start + step, file.size))
        found += list(read_part(part, InputOptions()))
    assert [page.text for page in found if isinstance(page, WebPage)] == [
        row["text"] for row in ROWS
    ]
    positions = [page.position for page in found if isinstance(page, WebPage)]
    assert positions == sorted(set(positions))


@pytest.mark.parametrize("step", [7, 1_000, 1 << 20])
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_line_without_end_takes_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, step: int
) -> None:
    """A file may be one list, in one line."""
    monkeypatch.setattr("neardup.batch.rows._MAX_LINE_BYTES", 100)
    monkeypatch.setattr("neardup.batch.rows._PIECE_BYTES", 10)
    wanted = [
        row["text"] for row in ROWS if len(json.dumps(row, ensure_ascii=False).encode()) < 100
    ]
    path = lines(tmp_path / name)
    (file,) = find_files(str(path))
    found = []
    for start in range(0, file.size, step if name.endswith("jsonl") else file.size):
        part = InputPart(0, file.path, file.format, start, min(start + step, file.size))
        found += list(read_part(part, InputOptions()))
    assert [page.text for page in found if isinstance(page, WebPage)] == wanted
    assert len(found) == len(ROWS)
    assert 0 < len(wanted) < len(ROWS)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_all_formats_hold_the_same(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / name)
    else:
        lines(tmp_path / name)
    parts = list(parts_of(find_files(str(tmp_path / name)), 5))
    assert [part.number for part in parts] == [5]
    found = list(read_part(parts[0], InputOptions()))
    assert [(one.name, one.text) for one in found if isinstance(one, WebPage)] == [
        (row["url"], row["text"]) for row in ROWS
    ]


def test_what_is_no_text_is_left_out_with_a_word(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "fine"}\n{"text": 1}\n[]\n{"te\n\xff\n{"text": "\\ud800"}\n')
    (part,) = parts_of(find_files(str(path)), 0)
    found = list(read_part(part, InputOptions()))
    assert [one.reason for one in found if isinstance(one, LeftOut)] == [
        'no text in the field "text"',
        "a line that is no JSON object",
        "a line that is no JSON",
        "a line that is no JSON",
    ]
    pages = [one for one in found if isinstance(one, WebPage)]
    assert [one.name for one in pages] == [f"{path}#0", f"{path}#39"]
    assert pages[1].text == "?"


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.parquet"])
def test_damage_is_left_out_with_a_word(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("parquet"):
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    else:
        lines(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    (part,) = parts_of(find_files(str(path)), 0)
    found = list(read_part(part, InputOptions()))
    assert "damaged" in [one.reason for one in found if isinstance(one, LeftOut)][-1]
    gone = replace(part, path=f"{path}.gone")
    assert [type(one) for one in read_part(gone, InputOptions())] == [LeftOut]


def test_what_is_packed_wrongly_ends_its_file_and_not_the_run(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl.gz")
    data = bytearray(path.read_bytes())
    data[len(data) // 2 :] = b"\xff" * (len(data) - len(data) // 2)
    path.write_bytes(data)
    (part,) = parts_of(find_files(str(path)), 0)
    *_, last = read_part(part, InputOptions())
    assert isinstance(last, LeftOut)
    assert last.reason.startswith("damaged")
    (tmp_path / "list.paths.gz").write_bytes(data)
    with pytest.raises(InputError, match=r"list\.paths\.gz"):
        find_files(str(tmp_path / "list.paths.gz"))


def test_a_value_of_parquet_that_python_cannot_hold_costs_its_row_at_most(tmp_path: Path) -> None:
    letters = pa.array([b"fine", b"\xff\xfe", b"late"])
    texts = pa.Array.from_buffers(pa.string(), 3, letters.buffers())  # as others write it
    dates = pa.array([0, 0, 10**15], pa.timestamp("ms"))  # the year 33658
    table = pa.table({"url": ["a", "b", "c"], "text": texts, "date": dates})
    pq.write_table(table, tmp_path / "a.parquet")
    (part,) = parts_of(find_files(str(tmp_path / "a.parquet")), 0)
    assert list(read_part(part, InputOptions())) == [
        WebPage(0, "a", "fine", date="1970-01-01 00:00:00"),
        LeftOut('no text in the field "text"'),
        WebPage(2, "c", "late"),
    ]


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_file_whose_name_looks_like_a_pattern_is_found(tmp_path: Path, is_folder: bool) -> None:
    folder = tmp_path / "a[1]"
    folder.mkdir()
    path = lines(folder / "b[2]?.jsonl")
    assert [file.path for file in find_files(str(folder if is_folder else path))] == [str(path)]


def test_a_path_with_a_zero_byte_in_a_list_is_told(tmp_path: Path) -> None:
    (tmp_path / "all.list").write_bytes(b"/a\0b.jsonl\n")
    with pytest.raises(InputError, match="/a"):
        find_files(str(tmp_path / "all.list"))
