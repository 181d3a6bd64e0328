"""Runs that are killed and started again make the tables of a run that was not."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup import Parameters, evidence
from neardup.batch.input_files import InputOptions, find_files
from neardup.corpus import batch_judge
from neardup.corpus.corpus_tables import RunFolder, read_about, read_files
from neardup.corpus.single_run import ROWS_PER_FILE, SingleRun, SingleTask, Status
from neardup.errors import InputError
from tests.neardup.batch.corpus import made, read_back, write_lines
from tests.neardup.command_line.running import (
    PROJECT,
    Ended,
    command,
    environment,
    neardup,
    refused,
)
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

SCRIPT = """
import os, sys
from contextlib import closing
from pathlib import Path
from neardup.batch.input_files import find_files
from neardup.command_line.main import status_of
from neardup.corpus.corpus_tables import RunFolder
from neardup.corpus.single_run import SingleTask, SingleRun

source, output = sys.argv[1], Path(sys.argv[2])
signal, batches, rows = map(int, sys.argv[3:])
seen = []

def show(status):
    seen.append(status)
    if len(seen) == batches:
        os.kill(os.getpid(), signal)

def run():
    task = SingleTask(source, find_files(source), processes=1, rows_per_file=rows)
    with closing(RunFolder(output, overwrite=False)) as folder:
        SingleRun(task, folder, show)()

sys.exit(status_of("neardup", run))
"""
"""Run a corpus, write after some rows, and send a signal to oneself behind some batches."""

TABLES = ("documents", "signatures", "pairs", "clusters", "kept", "near_texts", "left_out")


def signalled(source: Path, output: Path, number: int, batches: int, rows: int = 1) -> int:
    words = [str(source), str(output), str(number), str(batches), str(rows)]
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *words],
        cwd=PROJECT,
        env=environment(),
        capture_output=True,
        timeout=300,
        check=False,
    ).returncode


def test_a_run_goes_on_behind_kills_and_ctrl_c(tmp_path: Path) -> None:
    source, whole, output = tmp_path / "in", tmp_path / "whole", tmp_path / "out"
    source.mkdir()
    texts = made(3, 200)
    for number in range(10):
        write_lines(source / f"{number}.jsonl", texts[20 * number : 20 * number + 20], 20 * number)
        with (source / f"{number}.jsonl").open("a") as file:
            file.write("no JSON\n" * (number % 3))
    assert neardup(source, whole, "--processes", "1").status == 0
    assert signalled(source, output, signal.SIGKILL, 3) == -signal.SIGKILL
    assert signalled(source, output, signal.SIGKILL, 1) == -signal.SIGKILL
    assert signalled(source, output, signal.SIGINT, 4, ROWS_PER_FILE) == 128 + signal.SIGINT
    assert not output.exists()
    written = tmp_path / "out.unfinished-run" / "documents"
    # A kill may leave files that do not count yet.
    shutil.copy(min(written.iterdir()), written / "000099.parquet")
    ended = neardup(source, output, "--processes", "1")
    assert ended.status == 0
    assert "goes on behind" in ended.err
    ours, theirs = (read_back(read_about(folder), folder) for folder in (output, whole))
    for name in TABLES:
        assert sorted(map(str, ours[name])) == sorted(map(str, theirs[name])), name
    assert ours.about.counts == theirs.about.counts
    assert {path.name for path in tmp_path.iterdir()} == {"in", "whole", "out"}


def interrupted(folder: Path) -> tuple[Path, Path]:
    """Interrupt a run over three files; return the folders of its input and its output."""
    source, output = folder / "in", folder / "out"
    source.mkdir()
    for number in range(3):
        write_lines(source / f"{number}.jsonl", made(number, 20))
    assert signalled(source, output, signal.SIGINT, 2) == 128 + signal.SIGINT
    return source, output


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 128 + signal.SIGINT), (signal.SIGTERM, 128 + 15)]
)
def test_what_was_judged_is_written_behind_ctrl_c(tmp_path: Path, number: int, status: int) -> None:
    source, output = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for file in range(3):
        write_lines(source / f"{file}.jsonl", made(file, 20))
    assert signalled(source, output, number, 2, ROWS_PER_FILE) == status
    ended = neardup(source, output, "--processes", "1")
    judged = len(made(0, 20)) + len(made(1, 20))
    assert f"goes on behind {judged} documents of an interrupted run" in ended.err
    assert read_about(output).counts["documents"] == judged + len(made(2, 20))


def test_an_interrupted_run_that_was_read_otherwise_is_refused_and_stays(tmp_path: Path) -> None:
    source, output = interrupted(tmp_path)
    unfinished = tmp_path / "out.unfinished-run"
    said = refused(source, output, "--processes", "1", "--language", "en")
    assert said == (
        f"{unfinished} (interrupted; to begin anew remove it): made with --language any, now it is "
        "en; use the same, or begin anew"
    )
    ended = neardup(source, output, "--processes", "1")
    assert "goes on behind" in ended.err
    assert read_about(output).counts["documents"] == sum(len(made(n, 20)) for n in range(3))


def test_an_interrupted_run_of_another_input_is_begun_anew(tmp_path: Path) -> None:
    source, output = interrupted(tmp_path)
    assert (tmp_path / "out.unfinished-run" / "progress.json").exists()
    for number in range(3):
        (source / f"{number}.jsonl").unlink()
    write_lines(source / "other.jsonl", made(5, 30))
    ended = neardup(source, output, "--processes", "1")
    assert ended.status == 0
    assert "begins anew: the interrupted run had other files or parameters" in ended.err
    assert "goes on" not in ended.err
    assert read_about(output).counts["documents"] == len(made(5, 30))


class InterruptionError(Exception):
    """Ends a run."""


def end_behind(batches: int) -> Callable[[Status], None]:
    """What a run shows itself to, and is ended by behind so many batches."""
    shown: list[Status] = []

    def show(status: Status) -> None:
        shown.append(status)
        if len(shown) == batches:
            raise InterruptionError

    return show


def verdicts_of(source: Path, output: Path, show: Callable[[Status], None]) -> list[dict[str, Any]]:
    """The verdicts of a run that writes after each batch."""
    parameters = Parameters(max_distance=8)
    task = SingleTask(
        str(source), find_files(str(source)), parameters, processes=1, rows_per_file=1
    )
    with closing(RunFolder(output, overwrite=False)) as folder:
        SingleRun(task, folder, show)()
    columns = ["id", "verdict", "duplicate_of", "distance", "similarity", "resembles"]
    tables = read_files(output, "documents", columns)
    return [row for table in tables for row in table.to_pylist()]


@pytest.mark.parametrize("seed", [1, 26])
def test_texts_are_looked_up_by_names_behind_an_interruption_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """A run that goes on with more texts than names are read of at first reads them all the same.

    For these seeds verdicts are others where it does not, since the run before began to look
    texts up by names when there were few.
    """
    monkeypatch.setattr(evidence, "MAX_CANDIDATES", 1)
    for module in (batch_judge, evidence):
        monkeypatch.setattr(module, "MAX_NAMED", 20)
    source = tmp_path / "in"
    source.mkdir()
    texts = made(seed, 160)
    for number in range(8):
        write_lines(source / f"{number}.jsonl", texts[20 * number : 20 * number + 20], 20 * number)
    whole = verdicts_of(source, tmp_path / "whole", lambda _: None)
    with pytest.raises(InterruptionError):
        verdicts_of(source, tmp_path / "out", end_behind(5))
    assert verdicts_of(source, tmp_path / "out", lambda _: None) == whole


def test_a_file_that_could_not_be_read_before_does_not_shift_the_parts_behind_it(
    tmp_path: Path,
) -> None:
    """Documents would be judged twice, and others never."""
    source = tmp_path / "in"
    source.mkdir()
    texts = made(1, 80)
    table = pa.table({"text": texts[:40]})
    pq.write_table(table, source / "a.parquet", row_group_size=10)
    whole = (source / "a.parquet").read_bytes()
    (source / "a.parquet").write_bytes(whole[:-1] + b"?")
    for number in range(2):
        write_lines(source / f"b{number}.jsonl", texts[40 + 20 * number : 60 + 20 * number])
    with pytest.raises(InterruptionError):
        verdicts_of(source, tmp_path / "out", end_behind(2))
    (source / "a.parquet").write_bytes(whole)
    with pytest.raises(InputError, match="are cut into 3 parts, now into 6; one of them cannot"):
        verdicts_of(source, tmp_path / "out", lambda _: None)
    (source / "a.parquet").write_bytes(whole[:-1] + b"?")
    assert len(verdicts_of(source, tmp_path / "out", lambda _: None)) == 40


def test_the_same_choice_in_other_words_goes_on(tmp_path: Path) -> None:
    source, output = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for number in range(2):
        write_lines(source / f"{number}.jsonl", made(number, 20))
    found = find_files(str(source))
    tasks = [
        SingleTask(
            str(source),
            found,
            options=InputOptions(languages=languages),
            processes=1,
            rows_per_file=1,
        )
        for languages in (("eng", "de"), ("de", "en"))
    ]
    with pytest.raises(InterruptionError), closing(RunFolder(output, overwrite=False)) as folder:
        SingleRun(tasks[0], folder, end_behind(2))()
    with closing(RunFolder(output, overwrite=False)) as folder:
        run = SingleRun(tasks[1], folder, lambda _: None)
        assert (run.is_continued, run.has_discarded) == (True, False)


def importing_server(parent: int) -> int | None:
    """The process that imports for the others of a run, once it has imported numpy."""
    for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        process = Path("/proc", child)
        if b"neardup.forking" in (process / "cmdline").read_bytes():
            is_importing = "_multiarray_umath" in (process / "maps").read_text()
            return int(child) if is_importing else None
    return None


def signalled_at_start(folder: Path, number: int, *, is_group: bool) -> Ended:
    """What a run leaves whose group, or whose importing process, gets a signal."""
    source = folder / "in"
    source.mkdir()
    write_lines(source / "a.jsonl", made(1, 20))
    with subprocess.Popen(
        command(source, folder / "out"),
        cwd=PROJECT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        server = wait_until(lambda: importing_server(run.pid), run)
        assert server is not None
        if is_group:
            os.killpg(run.pid, number)
        else:
            os.kill(server, number)
        return Ended(run.wait(), *run.communicate())


def test_ctrl_c_while_processes_are_started_is_told_in_a_line(tmp_path: Path) -> None:
    ended = signalled_at_start(tmp_path, signal.SIGINT, is_group=True)
    assert ended.status == 128 + signal.SIGINT
    assert ended.err.splitlines()[-1] == "neardup: interrupted"
    assert "Traceback" not in ended.err


def test_a_process_that_ends_before_it_reads_is_told_in_a_line(tmp_path: Path) -> None:
    ended = signalled_at_start(tmp_path, signal.SIGKILL, is_group=False)
    assert (ended.status, ended.err) == (
        2,
        "neardup: a process that reads and analyses texts was ended, perhaps for want of memory\n",
    )
