"""A corpus on this machine, by ``python -m neardup`` and on Spark, beside two MinHashes.

    python benchmarks/corpus.py [--documents 100000] [--pages 5000] [--peer PYTHON]
                                [--text-dedup PYTHON] [--without-spark] [--json] [--write]
    python benchmarks/corpus.py --only skewed [--json] [--write]

Documents are made of real texts (``corpus_peers/made.py``): those of ../shared/data, and Debian's
documentation where NEARDUP_SITES names it. All read the same parquet files, and WARC files of
``--pages`` pages, and write what they keep, on all cores, one after the other. ``--peer`` names a
Python that has datatrove, orjson, regex, tokenizers and xxhash<4, for WARC trafilatura, warcio,
faust-cchardet and python-magic too; ``--text-dedup`` one that has text-dedup, which reads no WARC.
Found is the share of the repetitions that were planted and are dropped; wrongly are pages dropped
that repeat none. Files lie in ``--folder``, 12 GB for a million documents.
``--only skewed`` measures corpora of uneven groups, and the start (``corpus_peers/skewed.py``).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus_peers import made, skewed
from crawl_peers.tables import machine, rewrite
from process_watch import ProcessWatch
from pyarrow import dataset

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- written by benchmarks/corpus.py -->", "<!-- end of benchmarks/corpus.py -->"
SKEWED = BEGIN.replace(".py", ".py --only skewed"), END.replace(".py", ".py --only skewed")
PEERS = {
    "datatrove": Path(__file__).parent / "corpus_peers" / "datatrove_minhash.py",
    "text-dedup": Path(__file__).parent / "corpus_peers" / "text_dedup_minhash.py",
}
SINGLE, SPARK = "neardup", "neardup.spark"
SIZES, PAGES = (100_000,), 5_000

Row = dict[str, Any]


def measured(command: Sequence[str | Path], log: Path) -> dict[str, float]:
    """Wall and CPU seconds of a command and all that it starts.

    Raises:
        RuntimeError: It failed; its output is in the log.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = time.monotonic()
    with log.open("wb") as file, ProcessWatch() as watch:
        status = subprocess.call(command, env=environment, stdout=file, stderr=subprocess.STDOUT)
        secs = time.monotonic() - started
    if status:
        raise RuntimeError(f"{command[0]} failed: {log.read_text()[-2000:]}")
    return {"wall s": secs, "CPU s": watch.cpu_secs}


def ours(program: str, source: Path, folder: Path) -> tuple[dict[str, float], set[str], Row]:
    """Run a program of ours; what it took, the names of what it kept, and what it says."""
    target = folder / "ours"
    shutil.rmtree(target, ignore_errors=True)
    options = ["--memory", "4g"]
    took = measured([sys.executable, "-m", program, source, target, *options], folder / "ours.log")
    about = json.loads(dataset.dataset(str(target / "about")).to_table()["about"][0].as_py())
    kept = dataset.dataset(str(target / about["tables"] / "kept"))
    names = kept.to_table(columns=["name"])["name"].to_pylist()
    said: Row = {**about["counts"]}
    if program == SPARK:
        said["steps"] = steps(folder / "ours.log")[:-1]  # the last one names a folder
    said["bytes"] = sum(file.stat().st_size for file in target.rglob("*.parquet"))
    shutil.rmtree(target)
    return took, set(names), said


def steps(log: Path) -> list[str]:
    """What the run said on its way."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line.partition(": ")[2] for line in lines if line.startswith("neardup.spark: ")]


def theirs(peer: str, python: str, source: Path, folder: Path) -> tuple[dict[str, float], set[str]]:
    """Run a peer; what it took and what it kept."""
    target = folder / "theirs"
    shutil.rmtree(target, ignore_errors=True)
    cores = str(len(os.sched_getaffinity(0)))
    took = measured([python, PEERS[peer], source, target, cores], folder / "theirs.log")
    kept: set[str] = set()
    for file in (target / "kept").rglob("*.jsonl"):
        with file.open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        kept.update(row.get("metadata", {}).get("url", row["id"]) for row in rows)
    shutil.rmtree(target)
    return took, kept


def quality(count: int, kept: set[str]) -> Row:
    """How much of what was planted is dropped, and what is dropped besides.

    Of a group that says the same one page is to be kept, whichever.
    """
    planted = found = wrongly = 0
    for group in groups(count):
        same = [name for name, kind in group if kind != made.OTHER]
        planted += len(same) - 1
        stays = sum(name in kept for name in same)
        found += len(same) - max(1, stays)
        wrongly += stays == 0
        wrongly += sum(name not in kept for name, kind in group if kind == made.OTHER)
    return {"found": found / max(1, planted), "wrongly": wrongly, "kept": len(kept)}


def groups(count: int) -> Iterable[list[tuple[str, str]]]:
    """Names and kinds of the documents of each group."""
    of_group = groupby(made.documents(count), key=lambda one: one.name.rpartition("/")[0])
    for _, group in of_group:
        yield [(one.name, one.kind) for one in group]


def compared(
    inputs: Sequence[tuple[str, int]],
    programs: Sequence[str],
    peers: dict[str, str],
    folder: Path,
) -> list[Row]:
    """All sides over all inputs, each a format with a number of documents."""
    rows = []
    for form, size in inputs:
        source = made.write(folder, size, form)
        about: Row = {"documents": size, "from": form}
        for program in programs:
            took, kept, said = ours(program, source, folder)
            rows.append({"who": program, **about, "said": said, **took, **quality(size, kept)})
            print(json.dumps(rows[-1]), file=sys.stderr)
        for peer, python in peers.items():
            if form == made.WARC and peer == "text-dedup":
                continue
            took, kept = theirs(peer, python, source, folder)
            rows.append({"who": version(peer, python), **about, **took, **quality(size, kept)})
            print(json.dumps(rows[-1]), file=sys.stderr)
    return rows


def version(peer: str, python: str) -> str:
    """The peer's name with its version."""
    asked = f"from importlib.metadata import version; print('{peer}', version('{peer}'))"
    return subprocess.run(
        [python, "-c", asked], capture_output=True, text=True, check=True
    ).stdout.strip()


def tables(rows: Sequence[Row]) -> list[str]:
    """The figures as Markdown."""
    lines = [
        "| documents | from | | documents/s | wall s | CPU s | ratio | kept | found | wrongly |",
        "|--:|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        rate = row["documents"] / row["wall s"]
        if row["who"] == SINGLE:
            single = row["CPU s"]
        lines.append(
            f"| {row['documents']:,} | {row['from']} | {row['who']} | {rate:,.0f} "
            f"| {row['wall s']:,.0f} | {row['CPU s']:,.0f} | {row['CPU s'] / single:.2f} "
            f"| {row['kept']:,} | {row['found']:.2%} | {row['wrongly']:,} |"
        )
    found = ["\n".join(lines)]
    for row in rows:
        if "said" in row:
            said = row["said"]
            words = "; ".join(said.get("steps", [f"{said['pairs']:,} pairs"]))
            output = f"{said['bytes'] / row['documents']:,.0f} bytes a document written"
            what = f"{row['documents']:,} from {row['from']} by {row['who']}"
            found.append(f"{what}: {words}; {output}.")
    return found


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".splitlines()[0])
    parser.add_argument("--documents", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--pages", type=int, default=PAGES, metavar="N", help="in WARC files")
    parser.add_argument("--peer", metavar="PYTHON", help="a Python that has datatrove")
    parser.add_argument("--text-dedup", metavar="PYTHON", help="a Python that has text-dedup")
    parser.add_argument("--folder", type=Path, help="where files lie (a temporary folder)")
    parser.add_argument("--json", action="store_true", help="figures as JSON, no tables")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md")
    parser.add_argument("--without-spark", action="store_true", help="leave Spark out")
    parser.add_argument("--only", choices=["skewed"], help="measure corpora of uneven groups alone")
    given = parser.parse_args()
    programs = [SINGLE] if given.without_spark else [SINGLE, SPARK]
    with tempfile.TemporaryDirectory(prefix="corpus-") as temporary:
        folder = given.folder or Path(temporary)
        if given.only:
            rows = skewed.measured(ours, programs, folder)
        else:
            inputs = [(made.PARQUET, size) for size in given.documents]
            inputs.append((made.WARC, given.pages))
            peers = {"datatrove": given.peer, "text-dedup": given.text_dedup}
            there = {peer: python for peer, python in peers.items() if python is not None}
            rows = compared(inputs, programs, there, folder)
    if given.json:
        print(json.dumps(rows, indent=2))
        return
    found = [skewed.table(rows)] if given.only else tables(rows)
    print("\n\n".join(found))
    if given.write:
        said = (
            f"Measured {datetime.now(UTC):%Y-%m-%d} on {machine()}; one run each, all cores; "
            f"passages of {len(made.passages()):,} real texts."
        )
        begin, end = SKEWED if given.only else (BEGIN, END)
        rewrite(DOCUMENT, "\n\n".join([begin, said, *found, end]))


if __name__ == "__main__":
    main()
