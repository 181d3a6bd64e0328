"""``python -m neardup INPUT [OUT]``: which texts of a corpus repeat which?"""

import codecs
import csv
import json
import os
import re
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any

from neardup.batch.corpus_task import input_options_of
from neardup.batch.input_files import (
    ARROW,
    CSV,
    PARQUET,
    ROW_FORMATS,
    File,
    InputPart,
    find_files,
    kind_of,
    passed_over,
)
from neardup.batch.parsing import opened_part
from neardup.batch.rows import DAMAGE, DAMAGED, LeftOut, csv_records, read_rows, table_batches
from neardup.command_line.arguments import STANDARD_INPUT, named_input, parameters_of, print_json
from neardup.errors import BadInputError, InputError
from neardup.files.durable import replacing
from neardup.installing import install_command
from neardup.plurals import many
from neardup.verdict import NEAR_DUPLICATE, TEXT_DUPLICATE

if TYPE_CHECKING:
    from neardup.corpus.single_run import SingleTask, Status

_SIZE = re.compile(r"([1-9][0-9]*)([mgt])b?", re.IGNORECASE)
_MIN_BYTES = 1 << 30
_SECS_BETWEEN_LINES = 30.0
_SECS_BETWEEN_DRAWINGS = 0.2
_REASONS = 10
_ROWS_AT_ONCE = 1 << 10
_OF_VERDICT = ("verdict", "tier", "distance")


def find(options: Namespace) -> None:
    """Judge the texts of the input, and write tables into a folder, or lines where none is named.

    Raises:
        BadInputError: Some of the input cannot be read; the results are those of all the rest.
    """
    parameters, max_bytes = parameters_of(options), _memory_bytes(options.memory)
    try:
        import pyarrow  # noqa: F401, PLC0415  (optional)
    except ImportError:
        raise InputError(f"this needs pyarrow: {install_command('parquet')}") from None
    from neardup.corpus.corpus_tables import outside_of  # noqa: PLC0415  (needs pyarrow)
    from neardup.corpus.single_run import SingleTask  # noqa: PLC0415  (needs pyarrow)

    with (
        named_input(options.file, options.format) as source,
        TemporaryDirectory(prefix="neardup-", ignore_cleanup_errors=True) as temporary,
    ):
        target = Path(temporary, "out") if options.folder is None else Path(options.folder)
        others: list[str] = []
        files = outside_of(
            target, find_files(source, options.format, options.prefix, others.append)
        )
        if not files:
            raise InputError(f"{source}: holds nothing but {target}")
        task = SingleTask(
            source,
            files,
            parameters,
            input_options_of(options),
            None if options.against is None else Path(options.against),
            options.processes,
            max_bytes,
        )
        rows = None if options.filter is None else Path(options.filter)
        if rows is not None:
            _check_filter(rows, files, overwrite=options.overwrite)
        if others:
            print(f"neardup: {passed_over(others)}", file=sys.stderr)
        _run(options, task, target)
        if options.folder is None:
            copy = source if source != options.file else None
            for cluster in _clusters(target, copy, with_singles=options.all):
                print_json(cluster)
        if rows is not None:
            print(f"neardup: {rows}: {many(_filter(target, files, rows), 'row')}", file=sys.stderr)
        _check_read(target, options.folder or "standard output", {source: options.file})


def _run(options: Namespace, task: "SingleTask", target: Path) -> None:
    from neardup.corpus.corpus_tables import RunFolder  # noqa: PLC0415  (needs pyarrow)
    from neardup.corpus.single_run import SingleRun  # noqa: PLC0415  (needs pyarrow)

    began = time.monotonic()
    folder = RunFolder(target, overwrite=options.overwrite)
    with closing(folder), closing(_Shown()) as shown:
        run = SingleRun(task, folder, shown)
        if run.is_continued:
            shown.say(f"goes on behind {run.documents:,} documents of an interrupted run")
        elif run.has_discarded:
            shown.say("begins anew: the interrupted run had other files or parameters")
        try:
            counts = run().counts
        except KeyboardInterrupt:
            shown.close()
            if options.folder is not None:
                shown.say("the same command goes on behind what was written")
            raise
    secs = time.monotonic() - began
    equal, near = counts.get(TEXT_DUPLICATE, 0), counts.get(NEAR_DUPLICATE, 0)
    empty = counts["documents"] - counts["kept"] - equal - near
    shown.say(
        f"{options.folder or options.file}: {counts['kept']:,} of {counts['documents']:,} kept, "
        f"{equal:,} equal, {near:,} near, {f'{empty:,} empty, ' if empty else ''}in {secs:,.0f} s"
    )


def _check_filter(target: Path, files: Sequence[File], *, overwrite: bool) -> None:
    """Raise an InputError where rows of the files cannot be written to another file."""
    kinds = {file.format for file in files}
    if len(kinds) > 1 or not kinds <= {*ROW_FORMATS}:
        named = ", ".join(sorted(kinds))
        raise InputError(f"--filter writes rows of one format ({', '.join(ROW_FORMATS)}): {named}")
    written = PARQUET if kinds == {ARROW} else kinds.pop()
    if target.suffix and kind_of(target.suffix) != written:  # one that packs, too
        raise InputError(f"--filter {target}: would be {written}; let it end in .{written}")
    if target.exists() and not overwrite:
        raise InputError(f"--filter {target}: is there; --overwrite replaces it")
    if any(target.resolve() == Path(file.path).resolve() for file in files):
        raise InputError(f"--filter {target}: is a file of the input")


def _filter(folder: Path, files: Sequence[File], target: Path) -> int:
    """Write the rows of the files whose texts a run kept, whole; return their number."""
    from neardup.corpus.corpus_tables import read_files  # noqa: PLC0415  (needs pyarrow)

    kept: dict[str, set[int]] = {file.path: set() for file in files}
    for table in read_files(folder, "kept", ["source", "position"]):
        for row in table.to_pylist():
            kept[row["source"]].add(row["position"])
    parts = [InputPart(0, file.path, file.format, 0, file.size) for file in files]
    tables = dict.fromkeys((PARQUET, ARROW), _write_tables)
    write = {CSV: _write_csv, **tables}.get(parts[0].format, _write_records)
    with replacing(target) as file:
        count = write(file, parts, kept)
        if count < (wanted := sum(map(len, kept.values()))):
            raise BadInputError(f"{target}: {count:,} of {wanted:,} rows; the input has changed")
    return count


def _write_records(file: IO[bytes], parts: list[InputPart], kept: dict[str, set[int]]) -> int:
    count = 0
    for part in parts:
        with suppress(*DAMAGE), opened_part(part) as opened:  # nothing behind it was kept
            for row in read_rows(opened, part, None):
                if not isinstance(row, LeftOut) and row.position in kept[part.path]:
                    # Half of a pair has no UTF-8; this happens to write JSON's own escape.
                    line = json.dumps(row.values, ensure_ascii=False)
                    file.write(line.encode("utf-8", "backslashreplace") + b"\n")
                    count += 1
    return count


def _write_csv(file: IO[bytes], parts: list[InputPart], kept: dict[str, set[int]]) -> int:
    # Lines end as RFC 4180 has them: within others, a line end of its own is not quoted.
    count, columns, writer = 0, None, csv.writer(codecs.getwriter("utf-8")(file))
    for part in parts:
        names = None
        with suppress(*DAMAGE), opened_part(part) as opened:
            for position, record in csv_records(opened, part):
                if record and names is None:
                    names = record
                    if columns is None:
                        columns = names
                        writer.writerow(columns)
                elif record and position in kept[part.path]:
                    if names != columns:
                        raise BadInputError(f"--filter: {part.path}: has other columns")
                    writer.writerow(record)
                    count += 1
    return count


def _write_tables(file: IO[bytes], parts: list[InputPart], kept: dict[str, set[int]]) -> int:
    import pyarrow as pa  # noqa: PLC0415  (optional)
    import pyarrow.parquet as pq  # noqa: PLC0415

    count, writer = 0, None
    with ExitStack() as stack:
        for part in parts:
            with suppress(*DAMAGE, pa.ArrowException), opened_part(part) as opened:
                for first, batch in table_batches(opened, part):
                    if writer is None:
                        writer = stack.enter_context(pq.ParquetWriter(file, batch.schema))
                    if not batch.schema.equals(writer.schema):
                        raise BadInputError(f"--filter: {part.path}: has other columns")
                    places = [at for at in range(len(batch)) if first + at in kept[part.path]]
                    writer.write_batch(batch.take(pa.array(places, pa.int64())))
                    count += len(places)
    return count


def _check_read(folder: Path, results: str, names: dict[str, str]) -> None:
    """Say what was left out, by the names of files, and raise where some could not be read."""
    from neardup.corpus.corpus_tables import read_files  # noqa: PLC0415

    reasons, firsts, damaged = Counter[str](), dict[str, str](), list[str]()
    for table in read_files(folder, "left_out", ["source", "left_out", "count"]):
        for row in table.to_pylist():
            name = names.get(row["source"], row["source"])
            if row["left_out"].startswith(DAMAGED):
                damaged.append(f"{name}: {row['left_out']}")
            else:
                reasons[row["left_out"]] += row["count"]
                firsts.setdefault(row["left_out"], name)
    for reason, count in reasons.most_common(_REASONS):
        first = f"the first in {firsts[reason]}"
        print(f"neardup: left out: {count:,}: {reason}; {first}", file=sys.stderr)
    if damaged:
        more = f" (and {len(damaged) - 1:,} more)" if damaged[1:] else ""
        raise BadInputError(f"{damaged[0]}{more}; all that could be read is in {results}")


def _clusters(folder: Path, copy: str | None, *, with_singles: bool) -> Iterator[dict[str, Any]]:
    """Yield each kept text with those that repeat it, in their order.

    Args:
        folder: The tables of a run that goes on from no other.
        copy: The temporary copy of standard input, which names texts without an id.
        with_singles: Whether kept texts come that nothing repeats.
    """
    import pyarrow as pa  # noqa: PLC0415  (optional)
    import pyarrow.compute as pc  # noqa: PLC0415

    from neardup.corpus.corpus_tables import read_files  # noqa: PLC0415

    columns = ["id", "name", "duplicate_of", "resembles", "similarity", *_OF_VERDICT]
    table = pa.concat_tables(read_files(folder, "documents", columns)).combine_chunks()
    if copy is not None:
        names = pc.replace_substring(table["name"], f"{copy}#", f"{STANDARD_INPUT}#")
        table = table.set_column(columns.index("name"), "name", names)
    kept = pc.coalesce(table["duplicate_of"], table["id"])
    resembled = table["name"].take(pc.index_in(table["resembles"], table["id"]))
    table = table.append_column("kept", kept).append_column("resembled", resembled)
    # What is kept was judged before all that repeats it.
    table = table.sort_by([("kept", "ascending"), ("id", "ascending")])
    rows = (row for batch in table.to_batches(_ROWS_AT_ONCE) for row in batch.to_pylist())
    for _, (first, *others) in groupby(rows, key=itemgetter("kept")):
        if others or with_singles:
            told = list(map(_told, others))
            cluster = {"kept": first["name"], "duplicates": told}
            named = first["resembled"]
            yield cluster if named is None else {**cluster, "resembles": named}


def _told(row: dict[str, Any]) -> dict[str, Any]:
    similarity = None if row["similarity"] is None else round(row["similarity"], 4)
    told = {name: row[name] for name in _OF_VERDICT}
    return {"id": row["name"], **told, "similarity": similarity}


def _memory_bytes(size: str | None) -> int:
    """Return what was asked for in bytes; otherwise three quarters of the machine's memory."""
    if size is None:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4 * 3
    match = _SIZE.fullmatch(size)
    if match is None:
        raise InputError(f"--memory takes a number and M, G or T, such as 8G, got {size}")
    found = int(match[1]) << {"m": 20, "g": 30, "t": 40}[match[2].lower()]
    if found < _MIN_BYTES:
        raise InputError(f"--memory must be at least 1G, got {size}")
    return found


class _Shown:
    """Says how far a run came: in a bar of a terminal, elsewhere by a line now and then."""

    def __init__(self) -> None:
        self._began = self._said_at = time.monotonic()
        self._first: Status | None = None

    def say(self, words: str) -> None:
        print(f"neardup: {words}", file=sys.stderr, flush=True)

    def __call__(self, status: "Status") -> None:
        now = time.monotonic()
        if self._first is None:
            # The speed is that behind the first batch, before which processes were started.
            self._first, self._began = status, now
        first = self._first
        is_seen = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        wait = _SECS_BETWEEN_DRAWINGS if is_seen else _SECS_BETWEEN_LINES
        if now - self._said_at < wait:
            return
        self._said_at = now
        secs = now - self._began
        line = f"{status.documents:,} documents, {status.kept:,} kept, {status.read_share:.0%}"
        if status.documents > first.documents:
            line += f", {(status.documents - first.documents) / secs:,.0f} a second"
        if status.read_share > first.read_share:
            speed = (status.read_share - first.read_share) / secs
            line += f", {_duration((1 - status.read_share) / speed)} left"
        if is_seen:
            print(f"\r\x1b[Kneardup: {line}", end="", file=sys.stderr, flush=True)
        else:
            self.say(line)

    def close(self) -> None:
        """Leave the line of a terminal to what is said next."""
        if self._first is not None and sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _duration(secs: float) -> str:
    if secs < 90:
        return f"{secs:.0f} s"
    return f"{secs / 60:.0f} min" if secs < 5400 else f"{secs / 3600:.1f} h"
