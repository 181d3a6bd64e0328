"""Corpora: lines and lists of JSON, CSV, parquet and Arrow, packed or not, and tables of runs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from crawler.maintenance.adopt.adopting import Corpus, adopt
from crawler.storage.errors import JobError
from crawler.urls.canonical import Canonicalizer
from neardup.batch.input_files import InputOptions, find_files, parts_of, row_parts
from neardup.batch.parsing import read_part
from neardup.errors import InputError
from tests.crawler.maintenance.adopt.outputs import write_output
from tests.fuzzing.target import Target
from tests.neardup.batch.test_parsing import CSV, JSON_LINES, LIST
from tests.neardup.texts import prose
from tests.no_watch import NoWatch

if TYPE_CHECKING:
    from tests.fuzzing.target import Read

_TEXTS = (
    *("a.jsonl", "a.json", "a.csv", "a.jsonl.gz", "a.csv.zst", "a.jsonl.bz2", "a.jsonl.xz"),
    "a.csv.gz",
)
"""Names of the files; what a list of paths may name is anything on this machine."""

_TABLES = ("a.parquet", "a.arrow")


def _reader(folder: Path, names: tuple[str, ...]) -> Read:
    """Return a reader of files, of which the first byte of an input chooses the ending."""

    def read(data: bytes) -> None:
        path = folder / names[(data[:1] or b"\0")[0] % len(names)]
        path.write_bytes(data[1:])
        for part in parts_of(find_files(str(path)), 0):
            for piece in row_parts(part):
                for _ in read_part(piece, InputOptions()):
                    pass

    return read


def _texts() -> list[bytes]:
    lines, table = JSON_LINES[:600], CSV[:300]
    bodies = (
        *(lines, LIST[:400] + b"]", table, gzip.compress(lines), zstandard.compress(table)),
        *(bz2.compress(lines), lzma.compress(lines), gzip.compress(table)),
    )
    return [bytes([number]) + body for number, body in enumerate(bodies)]


def _tables() -> list[bytes]:
    rows = pa.table(
        {
            "url": ["a", "b", None],
            "text": pa.array(["one", None, "three"]).dictionary_encode(),
            "date": pa.array([1, 2, None], pa.timestamp("us")),
            "meta": [{"language": "en", "n": [1.5]}, None, {"language": "de", "n": []}],
        }
    )
    stored = []
    for options in ({"compression": "zstd"}, {"compression": "none", "row_group_size": 1}):
        sink = io.BytesIO()
        pq.write_table(rows, sink, **options)
        stored.append(b"\0" + sink.getvalue())
    for new in (pa.ipc.new_file, pa.ipc.new_stream):
        sink = io.BytesIO()
        with new(sink, rows.schema) as writer:
            writer.write_table(rows)
        stored.append(b"\1" + sink.getvalue())
    return stored


_RUN_TABLES = ("about", "kept")


def _run(folder: Path) -> Path:
    write_output(folder / "run", {f"http://h.example/{n}": prose(n, 30) for n in range(3)})
    return folder / "run"


def _begin_runs(folder: Path) -> Read:
    """Adopt a run of which one file is what an input holds."""
    run = _run(folder)
    files = {name: next((run / name).rglob("*.parquet")) for name in _RUN_TABLES}
    whole = {name: path.read_bytes() for name, path in files.items()}

    def read(data: bytes) -> None:
        name = _RUN_TABLES[(data[:1] or b"\0")[0] % len(_RUN_TABLES)]
        files[name].write_bytes(data[1:])
        try:
            adopt(Corpus(run), folder / "job", Canonicalizer(), NoWatch())
        finally:
            files[name].write_bytes(whole[name])
            shutil.rmtree(folder / "job", ignore_errors=True)

    return read


def _run_seeds() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        run = _run(Path(folder))
        return [
            bytes([number]) + next((run / name).rglob("*.parquet")).read_bytes()
            for number, name in enumerate(_RUN_TABLES)
        ]


TARGETS = (
    Target("corpus-rows", _texts, lambda folder: _reader(folder, _TEXTS), (InputError,), 8192),
    Target("corpus-tables", _tables, lambda folder: _reader(folder, _TABLES), (InputError,)),
    Target("corpus-runs", _run_seeds, _begin_runs, (JobError, InputError)),
)
