"""What a user can get wrong ends in one line and status 2."""

import gzip
from pathlib import Path

import pytest

from tests.neardup.command_line.running import ROWS, json_lines, neardup, refused

GOOD = json_lines(ROWS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "{}: empty, no text in it"),
        (GOOD + b'{"url": "/c", \n', "{}, line 8: no JSON: Expecting property name"),
        (b'{"url": 1}\xff\n', "{}, line 1: no JSON: 'utf-8' codec can't decode"),
        (GOOD + b"[" * 100_000, "{}, line 8: no JSON: maximum recursion depth"),
        (b"[1]\n", "{}, line 1: one object a line expected, got a list"),
        (b'{"id": 1, "text": "a"}', '{}, line 1: no field "url"; there are id, text; choose with'),
        (b'{"url": 1, "body": "a"}', '{}, line 1: no field "text"; there are url, body; choose'),
        (GOOD + b'{"text": "a"}', '{}, line 8: no field "url"; there are text; choose with --id'),
        (b'{"url": null, "text": ""}', '{}, line 1: field "url" must be a text or a whole number,'),
        (b'{"url": "a", "text": 3}', '{}, line 1: field "text" must be a text, got a number'),
        (gzip.compress(GOOD)[:-20], "{}: damaged gzip: "),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(content)
    assert refused(path).startswith(message.format(path))


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
    assert refused(path).startswith(message.format(path))


def test_bad_parquet_is_named(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "pages.parquet"
    path.write_bytes(b"nothing of the kind")
    assert refused(path).startswith(f"{path}: no parquet: ")
    parquet.write_table(pa.table({"id": ["/a"], "text": ["a"]}), path)
    assert refused(path).startswith(f'{path}: no column "url"; there are id, text')
    parquet.write_table(pa.table({"url": ["/a"], "text": [1]}), path)
    assert refused(path) == f'{path}, row 1: field "text" must be a text, got a number'


def test_a_missing_pyarrow_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    path.write_bytes(b"PAR1")
    # A module of that name that cannot be imported stands where pyarrow is not installed.
    (tmp_path / "pyarrow.py").write_text("raise ModuleNotFoundError('pyarrow')")
    ended = neardup(path, cwd=tmp_path)
    assert (ended.status, ended.err) == (2, "neardup: parquet needs pyarrow: pip install pyarrow\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.jsonl"], "missing.jsonl: No such file or directory"),
        (["."], ".: its ending says no format; choose with --format jsonl, csv, parquet"),
        ([".", "--format", "csv"], ".: Is a directory"),
        (["-", "--format", "parquet"], "parquet is read from its end, so not from standard input"),
        ([], "the following arguments are required: FILE; python -m neardup --help lists"),
        (["a.jsonl", "--max-distnce", "3"], "unknown option --max-distnce, is it --max-distance?"),
        (["a.jsonl", "b.jsonl"], 'one argument too many: "b.jsonl"'),
        (["a.jsonl", ""], 'one argument too many: ""'),
        (["--", "a.jsonl", "--all"], 'one argument too many: "--all"'),
        (["a.jsonl", "--max-distance", "64"], "max_distance must be 0..8, got 64"),
        (["a.jsonl", "--max-distance", "x"], "argument --max-distance: invalid int value: 'x'"),
        (["a.jsonl", "--min-similarity", "nan"], "min_similarity must be 0..1, got nan"),
        (["a.jsonl", "--no-verify", "--min-similarity", "1"], "--no-verify and --min-similarity"),
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


def test_a_text_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc \xff")
    assert refused("compare", path, path) == f"{path}, byte 4: not UTF-8: invalid start byte"
