"""A corpus on this machine, by ``python -m neardup`` and on Spark, beside datatrove's MinHash.

    python benchmarks/corpus.py [--documents 100000 1000000] [--peer PYTHON] [--without-spark]
                                [--json] [--write]
    python benchmarks/corpus.py --only skewed [--json] [--write]

Documents are made of real texts (``corpus_peers/made.py``): those of ../shared/data, and Debian's
documentation where NEARDUP_SITES names it. All read JSON lines and write what they keep, on
all cores, one after the other; ``--peer`` names a Python that has datatrove, regex, tokenizers and
xxhash<4. Found is the share of the repetitions that were planted and are dropped; wrongly are pages
dropped that repeat none. Files lie in ``--folder``, 12 GB for a million documents.
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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus_peers import made, skewed
from crawl_peers.tables import machine, rewrite
from pyarrow import dataset

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- written by benchmarks/corpus.py -->", "<!-- end of benchmarks/corpus.py -->"
SKEWED = BEGIN.replace(".py", ".py --only skewed"), END.replace(".py", ".py --only skewed")
PEER = Path(__file__).parent / "corpus_peers" / "datatrove_minhash.py"
SINGLE, SPARK = "neardup", "neardup.spark"
SIZES = (100_000, 1_000_000)
POLLED_SECS = 0.2
TICKS = os.sysconf("SC_CLK_TCK")

Row = dict[str, Any]


def measured(command: Sequence[str | Path], log: Path) -> dict[str, float]:
    """Wall and CPU seconds of a command and all that it starts.

    Raises:
        RuntimeError: It failed; its output is in the log.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started, spent = time.monotonic(), dict[int, float]()
    with (
        log.open("wb") as file,
        subprocess.Popen(
            command, env=environment, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
        ) as process,
    ):
        while process.poll() is None:
            spent |= cpu_of_session(process.pid)
            time.sleep(POLLED_SECS)
    secs = time.monotonic() - started
    if process.returncode:
        raise RuntimeError(f"{command[0]} failed: {log.read_text()[-2000:]}")
    return {"wall s": secs, "CPU s": sum(spent.values())}


def cpu_of_session(leader: int) -> dict[int, float]:
    """CPU seconds of each process of a session: nobody waits for the JVM, so nobody is told."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[3]) == leader:
            found[int(stat.parent.name)] = (int(fields[11]) + int(fields[12])) / TICKS
    return found


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


def theirs(python: str, source: Path, folder: Path) -> tuple[dict[str, float], set[str]]:
    """Run datatrove; what it took and what it kept."""
    target = folder / "theirs"
    shutil.rmtree(target, ignore_errors=True)
    cores = str(len(os.sched_getaffinity(0)))
    took = measured([python, PEER, source, target, cores], folder / "theirs.log")
    kept: set[str] = set()
    for file in (target / "kept").rglob("*.jsonl"):
        with file.open(encoding="utf-8") as lines:
            kept.update(json.loads(line)["id"] for line in lines)
    shutil.rmtree(target)
    return took, kept


def quality(source: Path, kept: set[str]) -> Row:
    """How much of what was planted is dropped, and what is dropped besides.

    Of a group that says the same one page is to be kept, whichever.
    """
    planted = found = wrongly = 0
    for group in groups(source):
        same = [name for name, kind in group if kind != made.OTHER]
        planted += len(same) - 1
        stays = sum(name in kept for name in same)
        found += len(same) - max(1, stays)
        wrongly += stays == 0
        wrongly += sum(name not in kept for name, kind in group if kind == made.OTHER)
    return {"found": found / max(1, planted), "wrongly": wrongly, "kept": len(kept)}


def groups(source: Path) -> Iterable[list[tuple[str, str]]]:
    """Names and kinds of the documents of each group."""
    group: list[tuple[str, str]] = []
    for file in sorted(source.glob("*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if group and group[0][0].rpartition("/")[0] != row["id"].rpartition("/")[0]:
                    yield group
                    group = []
                group.append((row["id"], row["kind"]))
    if group:
        yield group


def compared(
    sizes: Sequence[int], programs: Sequence[str], peer: str | None, folder: Path
) -> list[Row]:
    """All sides at all sizes."""
    rows = []
    for size in sizes:
        source = made.write(folder, size)
        for program in programs:
            took, kept, said = ours(program, source, folder)
            about = {"who": program, "documents": size, "said": said}
            rows.append({**about, **took, **quality(source, kept)})
            print(json.dumps(rows[-1]), file=sys.stderr)
        if peer is not None:
            took, kept = theirs(peer, source, folder)
            rows.append({"who": version(peer), "documents": size, **took, **quality(source, kept)})
            print(json.dumps(rows[-1]), file=sys.stderr)
    return rows


def version(python: str) -> str:
    """The peer's name with its version."""
    asked = "from importlib.metadata import version; print('datatrove', version('datatrove'))"
    return subprocess.run(
        [python, "-c", asked], capture_output=True, text=True, check=True
    ).stdout.strip()


def tables(rows: Sequence[Row]) -> list[str]:
    """The figures as Markdown."""
    lines = [
        "| documents | | documents/s | wall s | CPU s | kept | found | wrongly |",
        "|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        rate = row["documents"] / row["wall s"]
        lines.append(
            f"| {row['documents']:,} | {row['who']} | {rate:,.0f} | {row['wall s']:,.0f} "
            f"| {row['CPU s']:,.0f} | {row['kept']:,} | {row['found']:.2%} | {row['wrongly']:,} |"
        )
    found = ["\n".join(lines)]
    for row in rows:
        if "said" in row:
            said = row["said"]
            words = "; ".join(said.get("steps", [f"{said['pairs']:,} pairs"]))
            output = f"{said['bytes'] / row['documents']:,.0f} bytes a document written"
            found.append(f"{row['documents']:,} by {row['who']}: {words}; {output}.")
    return found


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".splitlines()[0])
    parser.add_argument("--documents", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--peer", metavar="PYTHON", help="a Python that has datatrove")
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
            rows = compared(given.documents, programs, given.peer, folder)
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
