"""Readers that leave, and people who stop it."""

import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.neardup.command_line.running import PROJECT, ROWS, command, environment, json_lines
from tests.neardup.texts import prose

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
]


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    pages = tmp_path / "pages.jsonl"
    rows = [{"url": "x" * 1000, "text": prose(number)} for number in range(300)]
    pages.write_bytes(json_lines(rows))
    with subprocess.Popen(
        command(pages, "--all"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=PROJECT,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(timeout=60) == 141


def test_a_closed_standard_error_takes_nothing_of_the_results(tmp_path: Path) -> None:
    pages = tmp_path / "pages.jsonl"
    pages.write_bytes(json_lines([{"url": "/a", "text": "two words"}]))
    line = " ".join(["exec", *command(pages, "--all"), "2>&-"])
    done = subprocess.run(
        line, shell=True, cwd=PROJECT, env=environment(), check=True, stdout=subprocess.PIPE
    )
    assert done.stdout == b'{"kept": "/a", "duplicates": []}\n'


@pytest.mark.parametrize(
    ("number", "status", "message"),
    [(signal.SIGINT, 130, b"neardup: interrupted\n"), (signal.SIGTERM, 143, b"")],
)
def test_who_stops_it_finds_no_files_left(
    tmp_path: Path, number: signal.Signals, status: int, message: bytes
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    with subprocess.Popen(
        command("-"),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=PROJECT,
        env=environment(TMPDIR=str(folder)),
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(json_lines(ROWS))
        process.stdin.flush()
        # It waits for more as soon as its copy is there.
        while not list(folder.glob("neardup-*/stdin.jsonl")):
            assert process.poll() is None
        # Python notes a signal that comes just before a read, and reads all the same.
        for _ in range(60):
            process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1)
                break
        assert process.returncode == status
        assert process.stderr.read() == message
    assert list(folder.iterdir()) == []
    assert list(tmp_path.iterdir()) == [folder]
