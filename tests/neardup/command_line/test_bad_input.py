"""What a user can get wrong ends in one line and status 2."""

from pathlib import Path

import pytest

from neardup.installing import install_command
from tests.neardup.command_line.running import neardup, refused


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "{}: no text in it"),
        (b"[]", "{}: no text in it"),
        (b'{"url": 1}\xff\n', "{}: no text in it; a line that is no JSON"),
        (b'"x"\n', "{}: no text in it; a line that is no JSON object"),
        (b'{"url": "a", "text": 3}', '{}: no text in it; no text in the field "text"'),
    ],
)
def test_input_without_texts_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(content)
    assert refused(path, "--processes", "1") == message.format(path)


def test_a_missing_pyarrow_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(b"{}")
    # A module of that name that cannot be imported stands where pyarrow is not installed.
    (tmp_path / "pyarrow.py").write_text("raise ModuleNotFoundError('pyarrow')")
    ended = neardup(path, cwd=tmp_path)
    wanted = f"neardup: this needs pyarrow: {install_command('parquet')}\n"
    assert (ended.status, ended.err) == (2, wanted)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.jsonl"], "missing.jsonl: no such file or folder"),
        (["LICENSE"], "LICENSE: its ending says no format; choose with --format warc, jsonl, "),
        ([], "the following arguments are required: INPUT; python -m neardup --help lists"),
        (["a.jsonl", "--max-distnce", "3"], "unknown option --max-distnce, is it --max-distance?"),
        (["a.jsonl", "b", "c.jsonl"], 'one argument too many: "c.jsonl"'),
        (["a.jsonl", "b", ""], 'one argument too many: ""'),
        (["--", "a.jsonl", "b", "--all"], 'one argument too many: "--all"'),
        (["a.jsonl", "--max-distance", "64"], "max_distance must be 0..8, got 64"),
        (["a.jsonl", "--max-distance", "x"], "argument --max-distance: invalid int value: 'x'"),
        (["a.jsonl", "--min-similarity", "nan"], "min_similarity must be 0..1, got nan"),
        (["a.jsonl", "--no-verify", "--min-similarity", "1"], "--no-verify and --min-similarity"),
        (["a.jsonl", "--processes", "0"], "--processes must be at least 1, got 0"),
        (["compare", "a"], "the following arguments are required: B; python -m neardup compare"),
        (["compare", "a", "missing"], "a: No such file or directory"),
        (["compare", "-", "-"], "standard input can be one of the two, not both"),
        (["compare", "--text", "a", "b", "--context", "-1"], "--context must be at least 0"),
        (["evaluate", "a.jsonl", "missing.csv"], "missing.csv: No such file or directory"),
    ],
)
def test_bad_options_are_named(arguments: list[str], message: str) -> None:
    assert refused(*arguments).startswith(message)


def test_a_text_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc \xff")
    assert refused("compare", path, path) == f"{path}, byte 4: not UTF-8: invalid start byte"
