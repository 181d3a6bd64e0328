"""What a user can get wrong ends in one line and status 2."""

import gzip
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from neardup.installing import install_command
from tests.neardup.command_line.running import ROWS, json_lines, neardup, refused, stopped

GOOD = json_lines(ROWS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "{}: empty, no text in it"),
        (b'{"url": 1}\xff\n', "{}, line 1: no JSON: 'utf-8' codec can't decode"),
        (b"[1]\n", "{}, line 1: one object a line expected, got a list"),
        (b'{"n": 1, "text": "a"}', '{}, line 1: no field "url" or "id"; there are n, text; choose'),
        (b'{"url": 1, "body": "a"}', '{}, line 1: no field "text"; there are url, body; choose'),
        (b'{"url": null, "text": ""}', '{}, line 1: field "url" must be a text or a whole number,'),
        (b'{"url": "a", "text": 3}', '{}, line 1: field "text" must be a text, got a number'),
        (gzip.compress(GOOD, mtime=0)[:30], "{}: damaged gzip: "),
    ],
)
def test_a_bad_first_line_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(content)
    assert refused(path).startswith(message.format(path))


BAD_LINES = [
    (b'{"url": "/c", \n', "{}, line 8: no JSON: Expecting property name"),
    (b"[" * 100_000 + b"\n", "{}, line 8: no JSON: maximum recursion depth"),
    (b'{"text": "a"}\n', '{}, line 8: no field "url"; there are text; choose with --id-field'),
    (b'{"url": "/c", "text": 1}\n', '{}, line 8: field "text" must be a text, got a number'),
    (b'{"url": "\xff"}\n', "{}, line 8: no JSON: 'utf-8' codec can't decode"),
]


class TestBadLineFurtherDown:
    @pytest.mark.parametrize(("line", "message"), BAD_LINES)
    def test_it_is_named_and_nothing_before_it_is_lost(
        self, tmp_path: Path, line: bytes, message: str
    ) -> None:
        path = tmp_path / "pages.jsonl"
        path.write_bytes(GOOD + line + GOOD)
        ended, complaint = stopped(path)
        assert complaint.startswith(message.format(path))
        assert complaint.endswith(
            "; --skip-bad N passes over so many rows; what came before it is in standard output"
        )
        assert [cluster["kept"] for cluster in ended.lines] == ["/a", "/b"]
        assert ended.err.startswith("7 texts: 5 kept")

    def test_results_of_a_part_do_not_replace_whole_ones(self, tmp_path: Path) -> None:
        path, out = tmp_path / "pages.jsonl", tmp_path / "clusters.jsonl"
        path.write_bytes(GOOD + b"{\n")
        out.write_text("old")
        _, complaint = stopped(path, "--out", out)
        assert complaint.endswith(f"what came before it is in {out}.partial")
        assert out.read_text() == "old"
        partial = tmp_path / "clusters.jsonl.partial"
        lines = [json.loads(line) for line in partial.read_text().splitlines()]
        assert [cluster["kept"] for cluster in lines] == ["/a", "/b"]
        assert len(list(tmp_path.iterdir())) == 3

    def test_a_damaged_archive_loses_nothing_before_the_damage(self, tmp_path: Path) -> None:
        path = tmp_path / "pages.jsonl.gz"
        more = json_lines([{"url": n, "text": os.urandom(2000).hex()} for n in range(100)])
        packed = gzip.compress(GOOD + more)
        path.write_bytes(packed[: len(packed) // 2])
        ended, complaint = stopped(path)
        assert complaint.startswith(f"{path}: damaged gzip: ")
        assert [cluster["kept"] for cluster in ended.lines] == ["/a", "/b"]

    def test_so_many_as_are_allowed_are_passed_over_and_named(self, tmp_path: Path) -> None:
        path = tmp_path / "pages.jsonl"
        lines = GOOD.splitlines(keepends=True)
        path.write_bytes(b"".join([lines[0], b"{\n", *lines[1:4], b"[]\n", *lines[4:]]))
        ended = neardup(path, "--skip-bad", "2")
        assert ended.status == 0
        assert [cluster["kept"] for cluster in ended.lines] == ["/a", "/b"]
        first, second, summary = ended.err.splitlines()
        assert first.startswith(f"neardup: passed over: {path}, line 2: no JSON: ")
        assert second == (
            f"neardup: passed over: {path}, line 6: one object a line expected, got a list"
        )
        assert summary.startswith("7 texts: 5 kept")
        ended, complaint = stopped(path, "--skip-bad", "1")
        assert complaint.startswith(f"{path}, line 6: one object a line expected, got a list; --s")
        assert complaint.endswith(
            "--skip-bad 1 allows no more; what came before it is in standard output"
        )

    def test_bad_records_of_csv_are_passed_over(self, tmp_path: Path) -> None:
        path = tmp_path / "pages.csv"
        rows = [f"{row['url']},{row['text'] or ''}\n".encode() for row in ROWS]
        bad = [b"x\n", b"a,\xff\n", b'a,"b"c\n']
        path.write_bytes(b"".join([b"url,text\n", rows[0], *bad, *rows[1:], b'a,"b\n']))
        ended = neardup(path, "--skip-bad", "4")
        assert [cluster["kept"] for cluster in ended.lines] == ["/a", "/b"], ended.err
        complaints = [line.partition(f"{path}, ")[2] for line in ended.err.splitlines()[:4]]
        assert [complaint.partition(":")[0] for complaint in complaints] == [
            "line 3",
            "line 4",
            "line 5",
            "line 12",
        ]


def test_ids_of_more_than_one_text_are_named(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    more = [{"url": n, "text": str(n)} for n in [*range(12), *range(12), 0]]
    path.write_bytes(GOOD + GOOD + json_lines(more))
    ended = neardup(path)
    assert ended.status == 0
    assert ended.err.splitlines()[-1] == (
        'neardup: ids of more than one text: 19: "/a", "/b", "/a2", "/short", "/a3", "/b2", '
        '"/none", 0, 1, 2, ...'
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "{}: empty, no text in it"),
        (b"url,text\n", "{}: empty, no text in it"),
        (b"url,text\na,b\nc\n", "{}, line 3: 2 fields expected, got 1"),
        (b"url,body\na,b\n", '{}, line 2: no field "text"; there are url, body; choose with'),
        (b'url,text\na,"b\n', "{}, line 2: no CSV: unexpected end of data"),
        (b"url,text\na,\xff\n", "{}, line 2: not UTF-8: invalid start byte"),
    ],
)
def test_a_bad_record_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "pages.csv"
    path.write_bytes(content)
    assert stopped(path)[1].startswith(message.format(path))


def test_bad_parquet_is_named(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "pages.parquet"
    path.write_bytes(b"nothing of the kind")
    assert refused(path).startswith(f"{path}: no parquet: ")
    parquet.write_table(pa.table({"id": ["/a"], "text": ["a"]}), path)
    assert neardup(path).status == 0
    parquet.write_table(pa.table({"n": ["/a"], "text": ["a"]}), path)
    assert refused(path).startswith(f'{path}: no column "url" or "id"; there are n, text')
    parquet.write_table(pa.table({"url": ["/a"], "text": [1]}), path)
    assert refused(path).startswith(f'{path}, row 1: field "text" must be a text, got a number; --')
    parquet.write_table(pa.table({"url": ["/a"] * 3, "text": ["a"] * 3}), path)
    assert neardup(path).status == 0


def test_a_missing_pyarrow_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    path.write_bytes(b"PAR1")
    # A module of that name that cannot be imported stands where pyarrow is not installed.
    (tmp_path / "pyarrow.py").write_text("raise ModuleNotFoundError('pyarrow')")
    ended = neardup(path, cwd=tmp_path)
    wanted = f"neardup: parquet needs pyarrow: {install_command('parquet')}\n"
    assert (ended.status, ended.err) == (2, wanted)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.jsonl"], "missing.jsonl: No such file or directory"),
        (["."], ".: is a folder; name OUT too, a folder for tables"),
        (["a"], "a: its ending says no format; choose with --format jsonl, csv, parquet"),
        ([".", "--format", "csv"], ".: Is a directory"),
        (["-", "--format", "parquet"], "parquet is read from its end, so not from standard input"),
        ([], "the following arguments are required: INPUT; python -m neardup --help lists"),
        (["a.jsonl", "--max-distnce", "3"], "unknown option --max-distnce, is it --max-distance?"),
        (["a.jsonl", "b", "c.jsonl"], 'one argument too many: "c.jsonl"'),
        (["a.jsonl", "b", ""], 'one argument too many: ""'),
        (["--", "a.jsonl", "b", "--all"], 'one argument too many: "--all"'),
        (["a.jsonl", "--max-distance", "64"], "max_distance must be 0..8, got 64"),
        (["a.jsonl", "--max-distance", "x"], "argument --max-distance: invalid int value: 'x'"),
        (["a.jsonl", "--min-similarity", "nan"], "min_similarity must be 0..1, got nan"),
        (["a.jsonl", "--no-verify", "--min-similarity", "1"], "--no-verify and --min-similarity"),
        (["-", "--skip-bad", "-1"], "--skip-bad must be at least 0, got -1; python -m neardup -"),
        (["-", "--out", "/no/folder/x"], "/no/folder/x: No such file or directory"),
        (["compare", "a"], "the following arguments are required: B; python -m neardup compare"),
        (["compare", "a", "missing"], "a: No such file or directory"),
        (["compare", "-", "-"], "standard input can be one of the two, not both"),
        (["compare", "--text", "a", "b", "--context", "-1"], "--context must be at least 0"),
        (["evaluate", "a.jsonl", "missing.csv"], "missing.csv: No such file or directory"),
    ],
)
def test_bad_options_are_named(arguments: list[str], message: str) -> None:
    assert refused(*arguments).startswith(message)


def test_the_input_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(GOOD)
    assert refused(path, "--out", path) == f"{path}: --out is the input; choose another file"
    assert path.read_bytes() == GOOD


def test_a_database_is_not_overwritten(tmp_path: Path) -> None:
    path, out = tmp_path / "pages.jsonl", tmp_path / "crawl.db"
    path.write_bytes(GOOD)
    with closing(sqlite3.connect(out)) as database:
        database.execute("CREATE TABLE pages (url)")
    before = out.read_bytes()
    assert refused(path, "--out", out).startswith(f"{out}: is a database")
    assert out.read_bytes() == before


def test_a_text_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc \xff")
    assert refused("compare", path, path) == f"{path}, byte 4: not UTF-8: invalid start byte"
