"""The command as a user runs it, up to where Spark would begin; and what Spark's errors become."""

from __future__ import annotations

import bz2
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from neardup.batch.spark_session import in_one_line
from tests.neardup.batch.corpus import QUICK_JAVA

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[2]


def command(
    *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "neardup.spark", *arguments],
        cwd=PROJECT,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_help_names_every_option() -> None:
    done = command("--help")
    assert done.returncode == 0
    for word in ("INPUT", "OUTPUT", "--against", "--language", "--extractor", "--memory"):
        assert word in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["only"], "the following arguments are required: OUTPUT"),
        (["a", "b", "--agianst", "c"], "is it --against?"),
        (["no.jsonl", "out"], "no.jsonl: no such file or folder"),
        (["a", "out", "--max-distance", "9"], "max_distance must be 0..8"),
        (["README.md", "out", "--format", "jsonl", "--memory", "much"], "--memory takes a number"),
        (["README.md", "out", "--format", "jsonl", "--memory", "64m"], "must be at least 512m"),
        (["README.md", "out", "--format", "jsonl", "--extractor", "blocks"], "is for WARC"),
        (["README.md", "out", "--format", "jsonl", "--language", "german"], '"german" is none'),
    ],
)
def test_what_a_user_gets_wrong_is_one_line(arguments: list[str], said: str) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_missing_java_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\n')
    nowhere = {"PATH": str(tmp_path), "JAVA_HOME": ""}
    done = command(str(tmp_path / "a.jsonl"), str(tmp_path / "out"), environment=nowhere)
    assert done.returncode == 2
    assert "Spark needs Java 17, and there is none: apt-get install openjdk-17" in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_cannot_be_read_ends_with_1_behind_the_tables_of_the_rest(tmp_path: Path) -> None:
    rows = b"".join(b'{"id": %d, "text": "some words of page %d"}\n' % (n, n) for n in range(20))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl.bz2").write_bytes(bz2.compress(rows) + b"no bz2")
    (tmp_path / "in" / "b.tsv").write_bytes(b"")
    done = command(
        f"{tmp_path}/in", f"{tmp_path}/out", "--master", "local[1]", environment=QUICK_JAVA
    )
    assert done.returncode == 1, done.stderr
    assert "passed over: 1 file of no known format: .tsv" in done.stderr
    assert "20 of 20 kept" in done.stderr
    assert "1 file or record could not be read; the table left_out says why" in done.stderr
    assert (tmp_path / "out" / "about").exists()


def test_a_killed_java_is_one_line(tmp_path: Path) -> None:
    source, output = tmp_path / "a.jsonl", tmp_path / "out"
    source.write_text('{"text": "some words of a page"}\n' * 20)
    arguments = [str(source), str(output), "--master", "local[1]", "--memory", "1g"]
    with subprocess.Popen(
        [sys.executable, "-m", "neardup.spark", *arguments],
        cwd=PROJECT,
        env={**os.environ, **QUICK_JAVA},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        before: list[str] = []
        while not any("texts in 1 files" in line for line in before):
            before.append(process.stderr.readline())
            assert before[-1], before
        asked = ["pgrep", "-P", str(process.pid), "java"]
        (java,) = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
        os.kill(int(java), signal.SIGKILL)
        said = process.stderr.read()
    assert process.returncode == 2
    assert "neardup.spark: Spark's Java process has ended: it was killed" in said
    assert "--memory" in said
    assert "Traceback" not in said
    assert not (output / "about").exists()


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("java.io.IOException: No space left on device\n\tat x", "the disk is full; SPARK_LOCAL"),
        (
            "x: java.lang.OutOfMemoryError: Java heap space",
            "Java ran out of memory; give it more (--memory 8g)",
        ),
        (
            "Traceback (most recent call last):\n  File x\n"
            "neardup.errors.InputError: nobody here reads warc files\n",
            "nobody here reads warc files",
        ),
        ("Traceback:\n  File\nValueError: odd\n", "Spark gave up: ValueError: odd"),
        ("", "Spark gave up: without a reason"),
    ],
)
def test_errors_of_two_languages_become_one_line(message: str, line: str) -> None:
    assert in_one_line(message).startswith(line)
    assert "\n" not in in_one_line(message)
