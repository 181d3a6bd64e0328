"""MinHash and LSH beside datasketch and rensa, in one run.

    python benchmarks/minhash.py [--documents 100000] [--json]

CPU time of one core, medians. The texts are made of 8,000 words drawn after Zipf. All sides make
128 values of the set of word 3-shingles, from the text on: the peers get the cheapest words that
there are, ``text.lower().split()``, where ours folds and parts every script. Peers that are not
installed are named and left out (pip install datasketch rensa).

For LSH the stored documents are sets of 45 words; each query shares 40 of 50 with one of them,
drawn at random, so that J = .8 exactly. Each is asked once: asked again, it is in the cache, and
rensa answers in 0.4 us.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from neardup.fingerprints.minhash import minhash, minhash_many
from neardup.indexes.lsh import LshIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Table = dict[str, dict[str, float]]

WORDS = (200, 1000, 5000)
QUERIES = 10_000
SHARED, OWN = 40, 5
ROUNDS = 7
PERMUTATIONS = 128
PAGE_BYTES = 4096


def installed(name: str) -> Any:
    """Return the module, or None and say so."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed: left out")
        return None


def made_texts(words: int, count: int) -> list[str]:
    """Texts of so many words."""
    source = random.Random(words)
    known = ["".join(source.choices("etaoinshrdlucmfwyp", k=n % 8 + 2)) for n in range(8000)]
    weights = [1 / (rank + 3) for rank in range(len(known))]
    return [" ".join(source.choices(known, weights, k=words)) for _ in range(count)]


def shingles(text: str) -> list[str]:
    """The word 3-shingles that a peer is given."""
    words = text.lower().split()
    return [" ".join(three) for three in zip(words, words[1:], words[2:], strict=False)]


def seconds(deed: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Median CPU time of a deed, all threads counted."""
    spent = []
    for _ in range(rounds):
        started = time.process_time()
        deed()
        spent.append(time.process_time() - started)
    return statistics.median(spent)


def makers(datasketch: Any, rensa: Any) -> dict[str, Callable[[Sequence[str]], Any]]:
    """Each way from texts to signatures."""
    ways: dict[str, Callable[[Sequence[str]], Any]] = {
        "minhash": lambda texts: [minhash(text) for text in texts],
        "minhash_many": minhash_many,
    }
    if rensa:

        def one(text: str) -> Any:
            signature = rensa.RMinHash(PERMUTATIONS, 42)
            signature.update(shingles(text))
            return signature.digest()

        ways["rensa"] = lambda texts: [one(text) for text in texts]
        ways["rensa, matrix"] = lambda texts: rensa.RMinHash.digest_matrix_from_token_sets(
            [shingles(text) for text in texts], PERMUTATIONS, 42
        )
    if datasketch:

        def other(text: str) -> Any:
            signature = datasketch.MinHash(PERMUTATIONS)
            signature.update_batch([shingle.encode() for shingle in shingles(text)])
            return signature

        ways["datasketch"] = lambda texts: [other(text) for text in texts]
    return ways


def signing(datasketch: Any, rensa: Any) -> Table:
    """Documents a second of each way, by the length of the texts."""
    table: Table = {}
    for words in WORDS:
        texts = made_texts(words, max(10, 40_000 // words))
        for name, way in makers(datasketch, rensa).items():
            way(texts[:3])
            rate = len(texts) / seconds(lambda way=way, texts=texts: way(texts))  # type: ignore[misc]
            table.setdefault(name, {})[f"{words:,} words, docs/s"] = rate
    return table


class Sets(NamedTuple):
    """Sets to store, those to ask for, and which of the stored is J = .8 to each."""

    stored: list[list[str]]
    asked: list[list[str]]
    wanted: list[int]


def word_sets(documents: int) -> Sets:
    """Sets that have nothing in common but for each query with one of them."""
    stored = [[f"w{one}x{n}" for n in range(SHARED + OWN)] for one in range(documents)]
    wanted = random.Random(1).sample(range(documents), min(QUERIES, documents))
    asked = [stored[one][:SHARED] + [f"q{one}x{n}" for n in range(OWN)] for one in wanted]
    return Sets(stored, asked, wanted)


def resident_bytes() -> int:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


def timed(
    insert: Callable[[], Any], ask: Callable[[], Sequence[Sequence[Any]]], sets: Sets
) -> dict[str, float]:
    """Insert everything, ask everything once; each answer is a list of ids."""
    before = resident_bytes()
    inserting = seconds(insert, 1)
    grown = resident_bytes() - before
    answers: list[Sequence[Any]] = []
    asking = seconds(lambda: answers.extend(ask()), 1)
    found = sum(number in answer for number, answer in zip(sets.wanted, answers, strict=True))
    return {
        "us an insertion": inserting / len(sets.stored) * 1e6,
        "us a query": asking / len(answers) * 1e6,
        "bytes a document": grown / len(sets.stored),
        "recall at J = .8": found / len(answers),
    }


def our_lsh(sets: Sets) -> Table:
    """Our index, entry by entry and by arrays."""
    signatures = minhash_many([" ".join(words) for words in sets.stored], shingle_size=1)
    questions = minhash_many([" ".join(words) for words in sets.asked], shingle_size=1)
    one, many = LshIndex(0.8), LshIndex(0.8)

    def insert() -> None:
        for number, signature in enumerate(signatures):
            one.add(signature, number)

    def ask() -> list[list[int]]:
        return [[found.id for found in one.query(question)] for question in questions]

    def ask_many() -> list[Any]:
        found = many.query_many(questions)
        bounds = np.searchsorted(found.positions, np.arange(1, len(questions)))
        return np.split(found.ids, bounds)

    table = {"LshIndex": timed(insert, ask, sets)}
    table["LshIndex, arrays"] = timed(
        lambda: many.add_many(signatures, np.arange(len(signatures))), ask_many, sets
    )
    return table


def rensa_lsh(rensa: Any, sets: Sets) -> Table:
    """Its index, with 16 bands: of those that divide 128 values the fewest to find about .95."""
    signatures = rensa.RMinHash.from_token_sets(sets.stored, PERMUTATIONS, 42)
    questions = rensa.RMinHash.from_token_sets(sets.asked, PERMUTATIONS, 42)
    one, many = (rensa.RMinHashLSH(0.8, PERMUTATIONS, 16) for _ in range(2))

    def insert() -> None:
        for number, signature in enumerate(signatures):
            one.insert(number, signature)

    table = {"rensa": timed(insert, lambda: [one.query(question) for question in questions], sets)}
    table["rensa, lists"] = timed(
        lambda: many.insert_many(signatures), lambda: many.query_all(questions), sets
    )
    return table


def datasketch_lsh(datasketch: Any, sets: Sets) -> Table:
    """Its index as it comes."""

    def signed(some: list[list[str]]) -> list[Any]:
        encoded = [[word.encode() for word in words] for words in some]
        signatures: list[Any] = datasketch.MinHash.bulk(encoded, num_perm=PERMUTATIONS)
        return signatures

    signatures, questions = signed(sets.stored), signed(sets.asked)
    index = datasketch.MinHashLSH(threshold=0.8, num_perm=PERMUTATIONS)

    def insert() -> None:
        for number, signature in enumerate(signatures):
            index.insert(number, signature)

    def ask() -> list[Any]:
        return [index.query(question) for question in questions]

    return {"datasketch": timed(insert, ask, sets)}


def looking_up(datasketch: Any, rensa: Any, documents: int) -> Table:
    """Every index over the same sets."""
    sets = word_sets(documents)
    table = our_lsh(sets)
    if rensa:
        table |= rensa_lsh(rensa, sets)
    if datasketch:
        table |= datasketch_lsh(datasketch, sets)
    return table


def ratios(table: Table, column: str, ours: str, theirs: str) -> str:
    """How many times the first is the second; for times of an action, the other way round."""
    if theirs not in table:
        return ""
    ratio = table[ours][column] / table[theirs][column]
    if column.startswith("us "):
        ratio = 1 / ratio
    return f"{ours} / {theirs}, {column}: {ratio:.2f}"


def print_table(table: Table, pairs: Sequence[tuple[str, str]]) -> None:
    """The figures, a line for each way, and the ratios of speed below."""
    columns = list(next(iter(table.values())))
    print("\n| | " + " | ".join(columns) + " |\n|---|" + "--:|" * len(columns))
    for name, row in table.items():
        cells = [f"{row[c]:,.0f}" if row[c] > 100 else f"{row[c]:.3g}" for c in columns]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print()
    for column in columns:
        if "us " in column or "docs/s" in column:
            for ours, theirs in pairs:
                if line := ratios(table, column, ours, theirs):
                    print(line)


def main() -> None:
    """Measure all that is installed and print it."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".splitlines()[0])
    parser.add_argument("--documents", type=int, default=100_000, metavar="N")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    datasketch, rensa = installed("datasketch"), installed("rensa")
    made = signing(datasketch, rensa)
    found = looking_up(datasketch, rensa, arguments.documents)
    if arguments.json:
        print(json.dumps({"signatures": made, "lsh": found}, indent=2))
        return
    print_table(
        made,
        [
            ("minhash", "rensa"),
            ("minhash_many", "rensa, matrix"),
            ("minhash", "datasketch"),
            ("minhash_many", "datasketch"),
        ],
    )
    print_table(
        found,
        [
            ("LshIndex", "rensa"),
            ("LshIndex, arrays", "rensa, lists"),
            ("LshIndex", "datasketch"),
            ("LshIndex, arrays", "datasketch"),
        ],
    )


if __name__ == "__main__":
    main()
