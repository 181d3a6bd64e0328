"""The tables of runs on one machine: files are added, all appear at the end, and are read again."""

import json
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from neardup.batch.corpus_task import CorpusTask, ReadingChoices
from neardup.batch.input_files import File
from neardup.batch.output_tables import RUN, TABLES, About, about_of, check_task, local_path
from neardup.corpus.batch_judge import BatchJudge
from neardup.errors import InputError
from neardup.files.durable import new_file, sync_directory, write_durably

UNFINISHED = ".unfinished-run"
_PROGRESS = "progress.json"
_LOCK = "lock"
_WORK = "work-"
_ABOUT = "about"
_REPLACED = f"{_WORK}replaced"
_OURS = (*TABLES, _ABOUT, f".{_ABOUT}.crc", _PROGRESS, _LOCK)
"""The names that a run leaves in its folder, one on Spark and a killed one, too."""

_PLAIN = ["text", "digest", "signature", "name"]
"""Columns whose values are hardly ever repeated, so that a dictionary of them is of no use."""

LEFT_OUT = pa.schema([("source", pa.string()), ("left_out", pa.string()), ("count", pa.int64())])


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a run behind its last whole file of each table.

    Attributes:
        task: What the run was asked for, by which a run that goes on is told from another.
        run: The name of the run.
        files: The number of files of each table.
        parts: The number of parts that were read to their end.
        all_parts: The number of parts that the files are cut into.
        last: The id of the last document; -1: there is none.
        counts: The numbers of documents by verdict, and the like.
        looks_up_names: Whether texts were looked up by their names.
        extractor, languages: The choice of what was read, as in ``ReadingChoices``.
    """

    task: str
    run: str
    files: int = 0
    parts: int = 0
    all_parts: int = 0
    last: int = -1
    counts: dict[str, int] = field(default_factory=dict)
    looks_up_names: bool = False
    extractor: str | None = None
    languages: tuple[str, ...] = ()


class RunFolder:
    """The folder in which a run writes until it is whole.

    Files, all below ``OUT.unfinished-run`` beside ``OUT``:
        ``TABLE/NUMBER.parquet``: rows of a table.
        ``progress.json``: how many of those files count, and where the run goes on.
        ``work-*/``: files of no use to another process. A killed run may leave processes for a
            moment, which write to a folder of their own; ``work-replaced`` is the run before,
            until this one has its place.
        ``lock``: held by the process that writes.

    Args:
        target: The folder that it becomes.
        overwrite: Whether it may take the place of an earlier run.

    Raises:
        InputError: ``target`` holds something else, or another process works on it.
    """

    def __init__(self, target: Path, *, overwrite: bool) -> None:
        # Through a link, so that the link stays one.
        self.target, self._overwrite = target.resolve(), overwrite
        self._is_finished = False
        self._check_free()
        self.path = _unfinished(self.target)
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(self.path / _LOCK, timeout=0)
        try:
            self._lock.acquire()
        except Timeout:
            raise InputError(f"{target}: another process works on it; let it end first") from None
        self._remove_work()
        self.work = Path(mkdtemp(prefix=_WORK, dir=self.path))
        self._writer = ThreadPoolExecutor(1)
        self._written: Future[None] | None = None

    def read_progress(self) -> Checkpoint | None:
        """Return how far an interrupted run came; None: there is none to go on with."""
        try:
            found = Checkpoint(**json.loads((self.path / _PROGRESS).read_text()))
            return replace(found, languages=tuple(found.languages))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def discard_from(self, number: int) -> None:
        """Remove files of tables that do not count, from a number on."""
        for name in TABLES:
            for path in (self.path / name).glob("*.parquet"):
                if int(path.stem) >= number:
                    path.unlink()

    def clear(self) -> None:
        """Remove what an interrupted run wrote."""
        (self.path / _PROGRESS).unlink(missing_ok=True)
        for name in TABLES:
            shutil.rmtree(self.path / name, ignore_errors=True)

    def write(self, tables: dict[str, Any], progress: Checkpoint) -> None:
        """Write a file of each table in another thread, and then that they count.

        The files of the call before are whole when it returns.
        """
        self.wait()
        self._written = self._writer.submit(self._write, tables, progress)

    def wait(self) -> None:
        """Wait for what is written; raise OSError where it failed."""
        if self._written is not None:
            self._written.result()
            self._written = None

    def _write(self, tables: dict[str, Any], progress: Checkpoint) -> None:
        for name, table in tables.items():
            self.write_table(name, progress.files - 1, table)
        write_durably(self.path / _PROGRESS, [json.dumps(asdict(progress)).encode()])

    def write_table(self, name: str, number: int, table: Any) -> None:
        folder = self.path / name
        folder.mkdir(exist_ok=True)
        repeated = [column for column in table.column_names if column not in _PLAIN]
        path = folder / f"{number:06}.parquet"
        with new_file(path) as file:
            pq.write_table(table, file, compression="zstd", use_dictionary=repeated)
            # Before it is said to count: after a power cut it would be empty otherwise.
            file.flush()
            os.fsync(file.fileno())
        sync_directory(folder)

    def finish(self, about: About) -> None:
        """Give the folder the name of the target."""
        self.write_table(_ABOUT, 0, pa.table({"about": [about.to_json()]}))
        self.wait()
        self._check_free()
        self._remove_work()
        if self.target.exists():
            # Whole, so that a run that is killed here finds nothing half removed.
            self.target.rename(self.path / _REPLACED)
        self.path.rename(self.target)
        self._is_finished = True
        # After that: a run that is killed before goes on from it.
        shutil.rmtree(self.target / _REPLACED, ignore_errors=True)
        for name in (_PROGRESS, _LOCK):
            (self.target / name).unlink()

    def close(self) -> None:
        """Let the folder go; what another run can go on with stays."""
        self._writer.shutdown()
        # Of one that is finished the folder is another run's, if there is one.
        if not self._is_finished:
            self._remove_work()
            if not (self.path / _PROGRESS).exists():
                shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()

    def _remove_work(self) -> None:
        for left in self.path.glob(f"{_WORK}*"):
            shutil.rmtree(left, ignore_errors=True)

    def _check_free(self) -> None:
        if self.target.is_mount():
            raise InputError(f"{self.target}: is a disk of its own; name a folder in it")
        if not self.target.exists() or (self.target.is_dir() and not any(self.target.iterdir())):
            return
        if not (self.target / _ABOUT).exists():
            raise InputError(f"{self.target}: holds something else; choose another folder")
        if not self._overwrite:
            raise InputError(f"{self.target}: exists; --overwrite replaces it")
        for found in self.target.iterdir():
            if found.name not in _OURS and not found.name.startswith((_WORK, RUN)):
                raise InputError(
                    f"{found}: is of no run, and --overwrite replaces the whole folder"
                )


def _unfinished(target: Path) -> Path:
    return target.with_name(target.name + UNFINISHED)


def outside_of(target: Path, files: list[File]) -> list[File]:
    """Return files but for the tables of a run, which may lie in the folder of its input."""
    whole = target.resolve()
    places = (whole, _unfinished(whole))
    folders = {Path(file.path).parent for file in files if "://" not in file.path}
    within = {folder for folder in folders if any(map(folder.resolve().is_relative_to, places))}
    return [file for file in files if Path(file.path).parent not in within]


def read_about(folder: Path) -> About:
    """Return the description of a whole run.

    Raises:
        InputError: There is none, or it is of another version.
    """
    if not (folder / _ABOUT).exists():
        what = "no corpus run in it" if folder.exists() else "no such directory"
        raise InputError(f"{folder}: {what}")
    # A run on Spark writes it as one file.
    try:
        (row,) = _table(folder / _ABOUT, None).to_pylist()
        return about_of(row["about"])
    except (InputError, LookupError, ValueError) as error:
        raise InputError(f"{folder}: {error}") from None


def read_files(folder: Path, table: str, columns: list[str]) -> Iterator[Any]:
    """Yield each file of a table, in the order of their names."""
    for path in sorted((folder / table).glob("*.parquet")):
        yield _table(path, columns)


@dataclass(frozen=True, slots=True)
class EarlierRuns:
    """Folders of earlier runs, of Spark's too.

    Attributes:
        folders: The folders, the oldest first.
        runs: The names of the runs.
        end_file: The number of files that they have read.
        reading: The choice of what they have read.
    """

    folders: tuple[Path, ...] = ()
    runs: tuple[str, ...] = ()
    end_file: int = 0
    reading: ReadingChoices = field(default_factory=ReadingChoices)

    @property
    def tables(self) -> tuple[Path, ...]:
        """The folders of the tables; a run on Spark has them in one of its own."""
        return tuple(folder / read_about(folder).tables for folder in self.folders)


def earlier_runs(last: Path | None, task: CorpusTask) -> EarlierRuns:
    """Find the runs that a task goes on from.

    Raises:
        InputError: One is missing, or was made with other parameters, or read otherwise.
    """
    if last is None:
        return EarlierRuns()
    check_task(str(last), read_about(last), task)
    return runs_to(last)


def runs_to(last: Path) -> EarlierRuns:
    """Return a run, and before it those that it goes on from.

    Raises:
        InputError: One is missing.
    """
    about = read_about(last)
    folders = tuple(_local(place) for place in about.against)
    for folder, run in zip(folders, about.runs, strict=True):
        if not folder.exists() or read_about(folder).run != run:
            raise InputError(
                f"{last}: goes on from a run that is no longer in {folder}; move it back"
            )
    runs = (*about.runs, about.run)
    return EarlierRuns((*folders, last.resolve()), runs, about.end_file, about.reading)


def hold_run(judge: BatchJudge, folder: Path) -> Iterator[int]:
    """Hold what a run kept, by the tables in a folder.

    Yields:
        The number of kept texts that are held, behind each file.
    """
    columns = ["id", "text_id", "digest", "fingerprint", "verdict", "duplicate_of"]
    for table in read_files(folder, "documents", columns):
        judge.hold_documents(table)
        yield judge.kept
    for table in read_files(folder, "kept", ["id", "fingerprint", "title", "text"]):
        judge.hold_texts(table)
        yield judge.kept
    judge.documents.sort()
    for table in read_files(folder, "signatures", ["id", "signature"]):
        judge.hold_signatures(table)
        yield judge.kept


def _local(place: str) -> Path:
    path = local_path(place)
    if path is None:
        raise InputError(
            f"{place}: is on no disk of this machine; copy it and what goes on from it"
        )
    return path


def _table(path: Path, columns: list[str] | None) -> Any:
    try:
        return pq.read_table(path, columns=columns, partitioning=None)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: damaged: {str(error).splitlines()[0]}") from None
