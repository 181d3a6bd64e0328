"""LshIndex beside rensa's and datasketch's indexes of signatures, in one run.

    python benchmarks/lsh.py [--documents 100000 1000000] [--repeat 5] [--json] [--write]

CPU time of one core, medians of rounds in which all take turns, each with an index of its own. The
stored documents are sets of 45 words; each query shares 40 of 50 with one of them, drawn at random,
so that J = .8 exactly. A round asks each query once: asked again, it is in the cache. Each side has
its own signatures of 128 values, made beforehand. Then the same with as many copies of one page of
boilerplate stored besides, which no query asks for. Peers that are not installed are named and left
out (pip install datasketch rensa). Nothing is written unless --write is given.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import random
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from crawl_peers.tables import machine, rewrite

from neardup import LshIndex
from neardup.fingerprints.minhash import minhash_many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- written by benchmarks/lsh.py -->", "<!-- end of benchmarks/lsh.py -->"

QUERIES = 10_000
SHARED, OWN = 40, 5
PERMUTATIONS = 128
RENSA_BANDS = 16
"""Of those that divide 128 values the fewest to find about .95 of the pairs."""

AT_ONCE = 20_000
PAGE_BYTES = 4096
PLATE = -1

ADD, QUERY, ADD_MANY, QUERY_MANY = "us an add", "us a query", "us of add_many", "us of query_many"
BYTES, RECALL = "bytes a document", "recall at J = .8"
COLUMNS = (ADD, QUERY, ADD_MANY, QUERY_MANY, BYTES, RECALL)

Row = dict[str, float]


class Peer(NamedTuple):
    """How one library does it.

    Attributes:
        name: Of the library.
        sign: Makes its signatures of sets of words.
        new_index: Makes an empty index of its.
        add: Adds one signature with an id.
        query: Returns the candidates of one.
        ids: Of what that returns.
        add_many: Adds many, with ids from 0.
        query_many: Returns all candidates of many, in any form.
    """

    name: str
    sign: Callable[[list[list[str]]], Any]
    new_index: Callable[[], Any]
    add: Callable[[Any, Any, int], Any]
    query: Callable[[Any, Any], Any]
    ids: Callable[[Any], Sequence[int]]
    add_many: Callable[[Any, Any], Any] | None
    query_many: Callable[[Any, Any], Any] | None


class Case(NamedTuple):
    """What a library stores and is asked for, signed, and which of the stored is wanted."""

    stored: Any
    asked: Any
    wanted: list[int]


def ours() -> Peer:
    """Our own index."""

    def sign(sets: list[list[str]]) -> Any:
        return minhash_many([" ".join(words) for words in sets], shingle_size=1)

    return Peer(
        "neardup",
        sign,
        lambda: LshIndex(0.8),
        lambda index, signature, number: index.add(signature, number),
        lambda index, signature: index.query(signature),
        lambda found: [one.id for one in found],
        lambda index, signatures: index.add_many(signatures, np.arange(len(signatures))),
        lambda index, signatures: index.query_many(signatures),
    )


def rensa_peer(rensa: Any) -> Peer:
    """Its index of Rust."""
    return Peer(
        "rensa",
        lambda sets: rensa.RMinHash.from_token_sets(sets, PERMUTATIONS, 42),
        lambda: rensa.RMinHashLSH(0.8, PERMUTATIONS, RENSA_BANDS),
        lambda index, signature, number: index.insert(number, signature),
        lambda index, signature: index.query(signature),
        list,
        lambda index, signatures: index.insert_many(signatures),
        lambda index, signatures: index.query_all(signatures),
    )


def datasketch_peer(datasketch: Any) -> Peer:
    """Its index as it comes."""

    def sign(sets: list[list[str]]) -> Any:
        encoded = [[word.encode() for word in words] for words in sets]
        return datasketch.MinHash.bulk(encoded, num_perm=PERMUTATIONS)

    return Peer(
        "datasketch",
        sign,
        lambda: datasketch.MinHashLSH(threshold=0.8, num_perm=PERMUTATIONS),
        lambda index, signature, number: index.insert(number, signature, check_duplication=False),
        lambda index, signature: index.query(signature),
        list,
        None,
        None,
    )


def peers() -> Iterator[Peer]:
    """All that are installed."""
    yield ours()
    for name, peer in (("rensa", rensa_peer), ("datasketch", datasketch_peer)):
        try:
            yield peer(importlib.import_module(name))
        except ImportError:
            print(f"{name} is not installed: left out", file=sys.stderr)


def stored_set(number: int) -> list[str]:
    """The words of a stored document."""
    return [f"w{number}x{place}" for place in range(SHARED + OWN)]


def asked_set(number: int) -> list[str]:
    """The words of a query that is J = .8 to a stored document."""
    return stored_set(number)[:SHARED] + [f"q{number}x{place}" for place in range(OWN)]


def signed(peer: Peer, numbers: Iterable[int], words: Callable[[int], list[str]]) -> Any:
    """Signatures, made piece by piece, since the words of a million documents are 4 GB."""
    left = list(numbers)
    spans = [left[start : start + AT_ONCE] for start in range(0, len(left), AT_ONCE)]
    parts = [peer.sign([words(one) for one in span]) for span in spans]
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return [signature for part in parts for signature in part]


def case_of(peer: Peer, documents: int, *, skewed: bool) -> Case:
    """The documents and queries of a run; skewed: half of the documents are one page."""
    wanted = random.Random(1).sample(range(documents), min(QUERIES, documents))
    numbers = range(documents)
    stored = signed(peer, numbers, stored_set)
    if skewed:
        plates = [peer.sign([stored_set(PLATE)])[0]] * documents
        stored = np.array([*stored, *plates]) if isinstance(stored, np.ndarray) else stored + plates
    return Case(stored, signed(peer, wanted, asked_set), wanted)


def cpu_us(deed: Callable[[], Any], count: int) -> float:
    """CPU microseconds of a deed for each of ``count``, all threads counted."""
    started = time.process_time()
    deed()
    return (time.process_time() - started) / count * 1e6


def fill(peer: Peer, index: Any, stored: list[Any]) -> None:
    """Add everything, one by one."""
    add = peer.add
    for number, signature in enumerate(stored):
        add(index, signature, number)


def measured(peer: Peer, case: Case) -> Row:
    """One round of one library."""
    index, row, stored, asked = peer.new_index(), {}, list(case.stored), list(case.asked)
    row[ADD] = cpu_us(lambda: fill(peer, index, stored), len(stored))
    answers: list[Any] = []
    query = peer.query
    row[QUERY] = cpu_us(lambda: answers.extend([query(index, one) for one in asked]), len(asked))
    pairs = zip(case.wanted, answers, strict=True)
    found = sum(one in peer.ids(answer) for one, answer in pairs)
    row[RECALL] = found / len(answers)
    if peer.add_many and peer.query_many:
        add_many, query_many, index = peer.add_many, peer.query_many, peer.new_index()
        row[ADD_MANY] = cpu_us(lambda: add_many(index, case.stored), len(case.stored))
        row[QUERY_MANY] = cpu_us(lambda: query_many(index, case.asked), len(case.asked))
    return row


def bytes_a_document(peer: Peer, case: Case) -> float:
    """Growth of resident memory, in a process of its own, since nothing is used again there."""
    reader, writer = os.pipe()
    if not os.fork():
        stored = list(case.stored)
        gc.freeze()
        before = resident_bytes()
        index = peer.new_index()
        fill(peer, index, stored)
        os.write(writer, str((resident_bytes() - before) / len(case.stored)).encode())
        os._exit(0)
    os.close(writer)
    os.wait()
    with os.fdopen(reader) as answer:
        return float(answer.read())


def resident_bytes() -> int:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


def compared(documents: int, repeat: int, *, skewed: bool) -> dict[str, Row]:
    """All libraries by turns: the medians of each."""
    cases = {peer: case_of(peer, documents, skewed=skewed) for peer in peers()}
    rounds: dict[str, list[Row]] = defaultdict(list)
    for peer, case in cases.items():
        peer.query(peer.new_index(), case.asked[0])  # what it loads, before the clock runs
        rounds[peer.name].append({BYTES: bytes_a_document(peer, case)})
    for _ in range(repeat):
        for peer, case in cases.items():
            gc.collect()
            rounds[peer.name].append(measured(peer, case))
    return {name: medians(rows) for name, rows in rounds.items()}


def medians(rows: list[Row]) -> Row:
    """The median of each figure."""
    figures = {column: [row[column] for row in rows if column in row] for column in COLUMNS}
    return {column: statistics.median(values) for column, values in figures.items() if values}


def table(title: str, rows: dict[str, Row]) -> str:
    """The figures, a line for each library, and how many times better ours are."""
    lines = ["| " + " | ".join([title, *COLUMNS]) + " |", "|---|" + "--:|" * len(COLUMNS)]
    for name, row in rows.items():
        lines.append(line(name, [figure(row.get(column)) for column in COLUMNS]))
    for name, row in rows.items():
        if name != "neardup":
            cells = [row[c] / rows["neardup"][c] if c in row else None for c in COLUMNS[:-1]]
            lines.append(line(f"{name} / neardup", [*map(figure, cells), ""]))
    return "\n".join(lines)


def line(name: str, cells: Sequence[str]) -> str:
    """A line of a table."""
    return "| " + " | ".join([name, *cells]) + " |"


def figure(value: float | None) -> str:
    """A number as the table has it."""
    return "" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    """Measure all that is installed and print it."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".splitlines()[0])
    parser.add_argument("--documents", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="default 5")
    parser.add_argument("--json", action="store_true", help="figures as JSON, no tables")
    parser.add_argument("--write", action="store_true", help=f"renew {DOCUMENT.name}")
    arguments = parser.parse_args()
    results = {}
    for documents in arguments.documents:
        for skewed in (False, True):
            title = f"{documents:,} documents" + (" and as many copies of one" if skewed else "")
            print(title, file=sys.stderr)
            results[title] = compared(documents, arguments.repeat, skewed=skewed)
    if arguments.json:
        print(json.dumps(results, indent=2))
        return
    day = time.strftime("%Y-%m-%d", time.gmtime())
    text = [f"Measured {day} on {machine()}; medians of {arguments.repeat}."]
    text += [table(title, rows) for title, rows in results.items()]
    print("\n\n".join(text))
    if arguments.write:
        rewrite(DOCUMENT, "\n\n".join([BEGIN, *text, END]))


if __name__ == "__main__":
    main()
