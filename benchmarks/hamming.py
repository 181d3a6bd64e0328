"""The index of fingerprints beside gaoya, pynear, faiss and simhash, in one run.

    python benchmarks/hamming.py [--sizes 1e6 1e7] [--json] [--write]

CPU time of one core, medians of rounds in which all take turns. Uniform fingerprints are random
bits. Skewed ones lean: each bit is mostly the same, so that blocks collide 400 times as often, as
those of word counts do on real pages; and a quarter of the entries, a million at most, share one
fingerprint. Queries are up to three bits from a stored one. Peers that are not installed are named
and left out (the extra "bench").
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from hamming_contenders import Built, Contender, ours, ours_one_by_one, peers
from measuring import cpu_secs, installed, named, table, write

from neardup import HammingIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Fingerprints = NDArray[np.uint64]

Rows = dict[str, dict[str, float]]

OURS = "neardup"
ONE_BY_ONE = "neardup, added one by one"
ROUNDS = 5
SINGLE = 2_000
BATCH = 100_000
FAR_BATCH = 5_000
SLOW, SLOW_SECS = 200, 2e-4
"""So many queries for whoever needs more than so long for each."""
ONE_BY_ONE_AT_MOST = 10_000_000
PEERS_AT_MOST = 20_000_000
SHARED_BY = 1_000_000
PAGE_BYTES = 4096
SINGLE_US, BATCH_RATE, BUILD, BYTES = "us a query", "batch, queries/s", "build, s", "bytes an entry"


def uniform(count: int) -> Fingerprints:
    """Random bits."""
    return np.random.default_rng(1).integers(0, 2**64, count, dtype=np.uint64)


def skewed(count: int) -> Fingerprints:
    """Bits that lean to one side, and one fingerprint that a quarter shares."""
    random = np.random.default_rng(2)
    found = np.zeros(count, np.uint64)
    leaning = random.integers(0, 2**64, dtype=np.uint64)
    for bit in range(64):
        ones = random.random(count, np.float32) < 0.16
        found |= ones.astype(np.uint64) << np.uint64(bit)
    found ^= leaning
    found[random.permutation(count)[: min(count // 4, SHARED_BY)]] = leaning
    return found


KINDS = {"uniform": uniform, "skewed": skewed}


def resident_bytes() -> int:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


def questions(stored: Fingerprints, count: int) -> tuple[NDArray[np.int64], Fingerprints]:
    """Numbers of stored fingerprints, and those with up to three bits changed."""
    random = np.random.default_rng(3)
    numbers = random.integers(0, len(stored), count)
    values = stored[numbers]
    for _ in range(3):
        flipped = np.uint64(1) << random.integers(0, 64, count, dtype=np.uint64)
        values = np.where(random.random(count) < 0.5, values ^ flipped, values)
    return numbers, values


def contenders_of(size: int, kind: str) -> list[Contender]:
    """Ours, and those that are installed and can hold so much of such a kind."""
    found = [Contender(OURS, ours)]
    if size <= ONE_BY_ONE_AT_MOST:
        found.append(Contender(ONE_BY_ONE, ours_one_by_one))
    return found + (peers(size, kind == "skewed") if size <= PEERS_AT_MOST else [])


def grown_bytes(name: str, size: int, kind: str) -> int:
    """What an index adds to the memory of a new process."""
    stored = KINDS[kind](size)
    (contender,) = (one for one in contenders_of(size, kind) if one.name == name)
    contender.build(stored[:1000], 3)
    gc.collect()
    before = resident_bytes()
    index = contender.build(stored, 3)
    gc.collect()
    grown = resident_bytes() - before
    del index
    return grown


def built(contender: Contender, stored: Fingerprints, kind: str) -> tuple[Built, dict[str, float]]:
    """Build an index; what that takes."""
    with get_context("spawn").Pool(1) as process:
        grown = process.apply(grown_bytes, (contender.name, len(stored), kind))
    index: list[Built] = []
    secs = cpu_secs(lambda: index.append(contender.build(stored, 3)))
    return index[0], {BUILD: secs, BYTES: grown / len(stored)}


def _asked_singly(index: Built, stored: Fingerprints, count: int) -> float:
    """CPU seconds a query, one after the other."""
    numbers, values = questions(stored, count)
    pairs = list(zip(numbers.tolist(), values.tolist(), strict=True))

    def ask() -> None:
        for number, value in pairs:
            index.one(number, value)

    return cpu_secs(ask) / count


def near(contenders: list[Contender], stored: Fingerprints, kind: str) -> Rows:
    """Build all, and ask within three bits, one by one and in batches, by turns."""
    indexes, rows = {}, {}
    for contender in contenders:
        indexes[contender.name], rows[contender.name] = built(contender, stored, kind)
    single: dict[str, list[float]] = {name: [] for name in indexes}
    batch: dict[str, list[float]] = {name: [] for name in indexes}
    slow = {name: _asked_singly(index, stored, 20) > SLOW_SECS for name, index in indexes.items()}
    for _ in range(ROUNDS):
        for name, index in indexes.items():
            single[name].append(_asked_singly(index, stored, SLOW if slow[name] else SINGLE))
            numbers, values = questions(stored, SLOW if slow[name] else BATCH)
            secs = cpu_secs(lambda i=index, n=numbers, v=values: i.many(n, v))  # type: ignore[misc]
            batch[name].append(secs / len(numbers))
    for name, row in rows.items():
        row[SINGLE_US] = statistics.median(single[name]) * 1e6
        row[BATCH_RATE] = 1 / statistics.median(batch[name])
    return rows


def far(contenders: list[Contender], stored: Fingerprints) -> Rows:
    """Ask within seven bits, in batches."""
    rows: Rows = {}
    for contender in contenders:
        index = contender.build(stored, 7)
        count = SLOW if contender.name != OURS else FAR_BATCH
        numbers, values = questions(stored, count)
        times = [cpu_secs(lambda: index.many(numbers, values)) for _ in range(ROUNDS)]  # noqa: B023
        rows[contender.name] = {"us a query": statistics.median(times) / count * 1e6}
    return rows


def on_disk(stored: Fingerprints) -> Rows:
    """Build with a path, open again with the files in memory, add, delete."""
    with tempfile.TemporaryDirectory() as folder:
        with HammingIndex(folder) as index:
            building = cpu_secs(lambda: index.add_many(stored, np.arange(len(stored))))
        opening = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            index = HammingIndex(folder)
            opening.append(time.perf_counter() - started)
            index.close()
        used = sum(file.stat().st_size for file in Path(folder).iterdir())
        with HammingIndex(folder) as index:
            deleting = cpu_secs(lambda: index.delete(len(stored) // 2))
    return {
        "neardup on disk": {
            "build, CPU s": building,
            "open, ms of time": statistics.median(opening) * 1e3,
            "bytes an entry": used / len(stored),
            "a deletion, ms": deleting * 1e3,
        }
    }


def simhash_bytes(count: int = 100_000) -> Rows:
    """What ``simhash.SimhashIndex`` takes, with fewer entries."""
    simhash = installed("simhash")
    if not simhash:
        return {}
    values = uniform(count).tolist()
    gc.collect()
    before = resident_bytes()
    entries = [(str(n), simhash.Simhash(value)) for n, value in enumerate(values)]
    index = simhash.SimhashIndex(entries, k=3)
    del entries
    grown = resident_bytes() - before
    secs = cpu_secs(lambda: [index.get_near_dups(simhash.Simhash(value)) for value in values[:500]])
    return {named("simhash"): {SINGLE_US: secs / 500 * 1e6, BYTES: grown / count}}


def ratios(rows: Rows) -> Rows:
    """How many times ours is as good as each peer; above 1 is better."""
    mine = rows[OURS]
    found: Rows = {}
    for name, row in rows.items():
        if name.startswith(OURS):
            continue
        found[name] = {
            "a query": row[SINGLE_US] / mine[SINGLE_US],
            "batch": mine[BATCH_RATE] / row[BATCH_RATE],
            "build": row[BUILD] / mine[BUILD],
            "bytes": row[BYTES] / mine[BYTES],
        }
    return found


def far_ratios(rows: Rows) -> Rows:
    """The same within seven bits."""
    mine = rows[OURS][SINGLE_US]
    return {
        name: {"radius 7, batch": row[SINGLE_US] / mine}
        for name, row in rows.items()
        if name != OURS
    }


def measured(size: int, kind: str) -> dict[str, Rows]:
    """All tables of one size and one kind of fingerprints."""
    stored = KINDS[kind](size)
    contenders = contenders_of(size, kind)
    rows = near(contenders, stored, kind)
    gc.collect()
    distant = [one for one in contenders if one.name == OURS or one.name.startswith("faiss")]
    far_rows = far(distant, stored)
    found = {
        "within 3 bits": rows,
        "times as good": ratios(rows),
        "within 7 bits, in a batch": far_rows,
        "times as good, within 7 bits": far_ratios(far_rows),
        "with files": on_disk(stored),
    }
    return {title: rows for title, rows in found.items() if rows}


def sections_of(found: dict[str, dict[str, Rows]]) -> list[str]:
    """Everything as headings and tables."""
    sections = []
    for title, tables in found.items():
        sections.append(f"**{title}**")
        sections += [table(rows, name) for name, rows in tables.items()]
    return sections


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".splitlines()[0])
    parser.add_argument("--sizes", nargs="+", type=float, default=[1e6, 1e7], metavar="N")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--json", action="store_true", help="everything as JSON, no tables")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md")
    arguments = parser.parse_args()
    found: dict[str, dict[str, Rows]] = {}
    if few := simhash_bytes():
        found["100,000 uniform fingerprints"] = {"within 3 bits": few}
    for size in map(int, arguments.sizes):
        for kind in arguments.kinds:
            found[f"{size:,} {kind} fingerprints"] = measured(size, kind)
            gc.collect()
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    sections = sections_of(found)
    print("\n\n".join(sections))
    if arguments.write:
        write("hamming.py", sections)


if __name__ == "__main__":
    main()
