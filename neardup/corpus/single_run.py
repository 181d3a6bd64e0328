"""A whole run on one machine: from files to tables, and on from where one was interrupted."""

import json
import os
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.batch.analysing import POSITION_BITS
from neardup.batch.corpus_task import CorpusTask, ReadingChoices, no_text
from neardup.batch.input_files import check_count, parts_of, row_parts
from neardup.batch.output_tables import About
from neardup.corpus.analysis_pool import Analysed, Analysis, AnalysisPool, default_processes
from neardup.corpus.batch_judge import BatchJudge
from neardup.corpus.corpus_tables import (
    LEFT_OUT,
    Checkpoint,
    RunFolder,
    earlier_runs,
    hold_run,
    read_files,
)
from neardup.errors import InputError
from neardup.fingerprints.digest import payload_digest

PART_BYTES = 16 << 20

ROWS_PER_FILE = 1 << 16
_BYTES_PER_FILE = 1 << 27
_SECS_PER_FILE = 60.0

_Edges: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SingleTask(CorpusTask):
    """The task of a run.

    Attributes:
        against: The folder of the run that this one goes on from, if any.
        processes: The number of processes that read and analyse; None: one for each core.
        max_bytes: The largest memory of the process that judges, in bytes; None: any.
        rows_per_file: The number of documents behind which tables are written.
    """

    against: Path | None = None
    processes: int | None = None
    max_bytes: int | None = None
    rows_per_file: int = ROWS_PER_FILE


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a run, to be shown.

    Attributes:
        documents: The number of documents that were judged, also before an interruption.
        kept: The number of those that are kept.
        read_share: The share of the input's bytes that was judged, 0 to 1.
    """

    documents: int
    kept: int
    read_share: float


class SingleRun:
    """Writes the tables of a task into a folder, and goes on where an interrupted run ended.

    Args:
        task: The task.
        folder: The folder.
        show: Called with the state after each batch.

    Attributes:
        has_discarded: Whether what an interrupted run of other files or parameters wrote was
            removed.
    """

    def __init__(
        self, task: SingleTask, folder: RunFolder, show: Callable[[Status], object]
    ) -> None:
        self._task, self._folder, self._show = task, folder, show
        self._earlier = earlier_runs(task.against, task)
        if folder.target.resolve() in self._earlier.folders:
            # It holds what the new run does not.
            raise InputError(f"{folder.target}: is gone on from; choose another folder for the new")
        check_count(self._earlier.end_file + len(task.files))
        self._progress = self._begun()
        # What is not written, each step with the state behind it: whole wherever Ctrl-C falls.
        self._pending: list[tuple[dict[str, Any], Checkpoint]] = []
        self._pending_bytes = 0
        self._written_at = time.monotonic()

    @property
    def is_continued(self) -> bool:
        """Whether an interrupted run is gone on with."""
        return self._progress.files > 0

    @property
    def documents(self) -> int:
        """The number of documents that were judged."""
        return self._state.counts.get("documents", 0)

    @property
    def _state(self) -> Checkpoint:
        """The state behind all that was judged, but for the number of files."""
        return self._pending[-1][1] if self._pending else self._progress

    def __call__(self) -> About:
        """Run to the end.

        Raises:
            InputError: There is no text, or no memory for more of them.
            OSError: The tables cannot be written.
        """
        task, folder = self._task, self._folder
        with closing(BatchJudge(task.parameters, folder.work)) as judge:
            for tables in (*self._earlier.tables, folder.path):
                for held in hold_run(judge, tables):
                    self._check_memory(held)
            if self._progress.looks_up_names:
                judge.source.look_up_names()
            self._judge(judge)
        if not self.documents:
            left_out = read_files(folder.path, "left_out", ["left_out"])
            why = next((str(table["left_out"][0]) for table in left_out if table.num_rows), None)
            folder.clear()
            raise no_text(task, why)
        counts = {**self._state.counts, "clusters": self._write_clusters()}
        about = About(
            run=self._progress.run,
            input=task.input,
            parameters=task.parameters,
            first_file=self._earlier.end_file,
            end_file=self._earlier.end_file + len(task.files),
            against=tuple(f"file:{path}" for path in self._earlier.folders),
            runs=self._earlier.runs,
            counts=dict(sorted(counts.items())),
            reading=task.reading.after(self._earlier.reading),
        )
        folder.finish(about)
        return about

    @property
    def _where(self) -> str:
        """The folder of an interrupted run, for messages."""
        return f"{self._folder.path} (interrupted; to begin anew remove it)"

    def _begun(self) -> Checkpoint:
        """Return where an interrupted run of the same task ended, or the beginning of a new one.

        Raises:
            InputError: It was read otherwise; what it has read so far took long.
        """
        task = self._task
        parameters = {**asdict(task.parameters), "features": None}
        parameters["features"] = str(task.parameters.fingerprint_features)
        files = [asdict(file) for file in task.files]
        # The same choice may be spelled in several ways.
        options = replace(task.options, extractor=None, languages=())
        asked = [files, parameters, asdict(options), task.reading, self._earlier.runs]
        digest = payload_digest(json.dumps(asked).encode()).hex()
        found = self._folder.read_progress()
        if found is not None:
            made = ReadingChoices(found.extractor, found.languages)
            task.reading.check_as(made, self._where)
        self.has_discarded = found is not None and found.task != digest
        if found is None or found.task != digest:
            self._folder.clear()
            return Checkpoint(digest, uuid.uuid4().hex, **task.reading._asdict())
        self._folder.discard_from(found.files)
        return found

    def _judge(self, judge: BatchJudge) -> None:
        task = self._task
        sizes = {self._earlier.end_file + n: file.size for n, file in enumerate(task.files)}
        total = max(1, sum(sizes.values()))
        parts = [
            part
            for whole in parts_of(task.files, self._earlier.end_file, PART_BYTES)
            for part in row_parts(whole)
        ]
        if self.is_continued and self._progress.all_parts != len(parts):
            # A file that cannot be read is one part, and parts are counted.
            raise InputError(
                f"{self._where}: its files are cut into {self._progress.all_parts:,} parts, now "
                f"into {len(parts):,}; one of them cannot be read now, or could not be read then"
            )
        self._progress = replace(self._progress, all_parts=len(parts))
        begun = self._progress.parts
        done = sum(part.end - part.start for part in parts[:begun])
        analysis = Analysis(self._folder.work, task.options, task.parameters)
        # One that never has a part would cost half a second of CPU to start.
        processes = min(task.processes or default_processes(), len(parts) - begun)
        try:
            with closing(AnalysisPool(analysis, processes, self._progress.last)) as pool:
                for found in pool(islice(iter(parts), begun, None)):
                    if found.rows is None:
                        self._end_part(found)
                        done += found.part.end - found.part.start
                    else:
                        self._add(judge.judge(found.rows), judge.source.looks_up_names)
                        now = done + _share(found) * (found.part.end - found.part.start)
                        kept = self._state.counts["kept"]
                        self._show(Status(self.documents, kept, now / total))
                    if self._is_due():
                        self._write_files()
        finally:
            self._write_files()
            self._folder.wait()

    def _end_part(self, found: Analysed) -> None:
        rows = [
            {"source": found.part.path, "left_out": reason, "count": count}
            for reason, count in sorted(found.left_out.items())
        ]
        tables = {"left_out": pa.Table.from_pylist(rows, LEFT_OUT)}
        counts = Counter(left_out=sum(found.left_out.values()))
        self._hold(tables, counts, parts=self._state.parts + 1)

    def _add(self, tables: dict[str, Any], looks_up_names: bool) -> None:
        documents = tables["documents"]
        counts = Counter({name: tables[name].num_rows for name in ("documents", "kept", "pairs")})
        counts["texts"] = pc.sum(pc.equal(documents["id"], documents["text_id"])).as_py() or 0
        for row in pc.value_counts(documents["verdict"]).to_pylist():
            counts[row["values"]] = row["counts"]
        last = documents["id"][-1].as_py()
        self._hold(tables, counts, last=last, looks_up_names=looks_up_names)

    def _hold(self, tables: dict[str, Any], counts: Counter[str], **state: Any) -> None:
        self._pending_bytes += sum(table.nbytes for table in tables.values())
        counts.update(self._state.counts)
        self._pending.append((tables, replace(self._state, counts=dict(counts), **state)))

    def _is_due(self) -> bool:
        pending_rows = self.documents - self._progress.counts.get("documents", 0)
        return (
            pending_rows >= self._task.rows_per_file
            or self._pending_bytes >= _BYTES_PER_FILE
            or time.monotonic() - self._written_at > _SECS_PER_FILE
        )

    def _write_files(self) -> None:
        steps, self._pending, self._pending_bytes = self._pending, [], 0
        if not steps:
            return
        pending: dict[str, list[Any]] = {}
        for tables, _ in steps:
            for name, table in tables.items():
                pending.setdefault(name, []).append(table)
        self._progress = replace(steps[-1][1], files=self._progress.files + 1)
        whole = {name: pa.concat_tables(found) for name, found in pending.items()}
        self._folder.write(whole, self._progress)
        self._written_at = time.monotonic()
        self._check_memory(self._progress.counts.get("kept", 0))

    def _check_memory(self, kept: int) -> None:
        limit = self._task.max_bytes
        if limit is None or (used := used_bytes()) <= limit:
            return
        self._folder.wait()
        raise InputError(
            f"{kept:,} kept texts take {used / 2**30:.1f} GB of memory; the same "
            "command with more --memory goes on"
        )

    def _write_clusters(self) -> int:
        columns = ["id", "text_id", "duplicate_of"]
        documents = read_files(self._folder.path, "documents", columns)
        first_id = self._earlier.end_file << POSITION_BITS
        found = _cluster_table(documents, self._earlier_clusters(), first_id)
        self._folder.write_table("clusters", 0, found)
        return pc.sum(pc.equal(found["id"], found["representative"])).as_py() or 0

    def _earlier_clusters(self) -> Iterator[Any]:
        for folder in self._earlier.tables:
            yield from read_files(folder, "clusters", ["id", "representative"])


def _cluster_table(documents: Iterable[Any], earlier: Iterable[Any], first_new: int) -> Any:
    """Return ``id``, ``representative`` of all documents in clusters that hold a new one.

    Args:
        documents: Tables of ``id``, ``text_id``, ``duplicate_of`` of the new documents.
        earlier: Tables of ``id``, ``representative``: the clusters before.
        first_new: The smallest id that a new document may have.

    Complexity: O(duplicates * log(duplicates)) for each round, of which there are few: a cluster is
    a star but where copies of one text repeat several.
    """
    found = [edges for table in documents for edges in _edges(table)]
    found += [_columns(table, "id", "representative") for table in earlier]
    edges = np.concatenate(found) if found else np.zeros((0, 2), np.int64)
    ids, places = np.unique(edges, return_inverse=True)
    roots = _roots(len(ids), places.reshape(edges.shape))
    is_new = np.zeros(len(ids), np.bool_)
    is_new[roots[ids >= first_new]] = True
    wanted = is_new[roots]
    return pa.table({"id": ids[wanted], "representative": ids[roots[wanted]]})


def _edges(documents: Any) -> Iterable[_Edges]:
    for name in ("text_id", "duplicate_of"):
        some = documents.filter(documents[name].is_valid())
        edges = _columns(some, "id", name)
        yield edges[edges[:, 0] != edges[:, 1]]


def _columns(table: Any, *names: str) -> _Edges:
    return np.stack([table[name].to_numpy() for name in names], axis=1)


def _roots(count: int, edges: _Edges) -> NDArray[np.int64]:
    """Return the smallest node that each node hangs together with."""
    roots = np.arange(count)
    while True:
        before = roots.copy()
        least = roots[edges].min(axis=1) if len(edges) else roots[:0]
        for side in range(2):
            np.minimum.at(roots, roots[edges[:, side]], least)
        while not np.array_equal(above := roots[roots], roots):
            roots = above
        if np.array_equal(roots, before):
            return roots


def _share(found: Analysed) -> float:
    """Return the share of a part that was read, as far as positions tell."""
    part = found.part
    position = int(found.rows["position"][-1].as_py())
    start, end = part.start, part.end
    if part.end_row is not None:
        start, end = part.first_row, part.end_row
    elif part.is_packed and part.format != "warc":
        return 0.0
    return min(1.0, max(0.0, (position - start) / max(1, end - start)))


def used_bytes() -> int:
    """Return the memory that this process has to itself, without files that are mapped."""
    fields = Path("/proc/self/statm").read_text().split()
    return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE")
