"""At which TF-IDF cosine do texts resemble each other as Jaccard says, and what does it cost?

    python benchmarks/semantic.py [--data ../shared/data] [--json]

Over all pairs of distinct texts of at least 50 words, beside their exact Jaccard similarity of
word 5-shingles. Times are CPU time of one core, medians of interleaved rounds, for a comparison of
two texts of which nothing is known yet. Needs scipy (pip install scipy).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from neardup.features.idf_table import IdfTable
from neardup.semantic.tf_idf import TfIdfVerifier
from neardup.verification import JaccardVerifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup.verifier import Verifier

SIZES = {"words": 1, "pairs of words": 2, "three words": 3, "five words": 5}
MIN_WORDS, MIN_JACCARD, MIN_PRECISION = 50, 0.8, 0.99
STEPS = 2000
ROWS = 500
ROUNDS = 5
COMPARED = 500


def read_texts(data: Path) -> dict[int, str]:
    """Distinct texts of at least 50 words, by the number that the pairs name."""
    with gzip.open(data / "numpy.docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {row["g"]: row["text"] for row in rows if row.get("words", 0) >= MIN_WORDS}


def read_pairs(data: Path, texts: dict[int, str]) -> dict[tuple[int, int], float]:
    """The Jaccard similarity of every pair from .5 on."""
    with (data / "numpy.pairs.csv").open(encoding="utf-8", newline="") as lines:
        rows = [(int(row["a"]), int(row["b"]), float(row["j5"])) for row in csv.DictReader(lines)]
    return {(a, b): j5 for a, b, j5 in rows if a in texts and b in texts}


def vectors(texts: dict[int, str], verifier: TfIdfVerifier) -> sparse.csr_matrix:
    """The vectors that the verifier compares, each of length 1."""
    found = [verifier._vector(text) for text in texts.values()]
    _, columns = np.unique(np.concatenate([one.hashes for one in found]), return_inverse=True)
    values = np.concatenate([one.weights / np.sqrt(one.square) for one in found])
    bounds = np.cumsum([0, *(len(one.hashes) for one in found)])
    return sparse.csr_matrix((values, columns, bounds))


def histograms(matrix: sparse.csr_matrix, similar: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many pairs have each cosine: (2, STEPS + 1), others and similar ones."""
    counts = np.zeros((2, STEPS + 1), np.int64)
    for start in range(0, matrix.shape[0], ROWS):
        cosines = (matrix[start : start + ROWS] @ matrix.T).toarray()
        steps = np.clip(cosines * STEPS, 0, STEPS).astype(np.int64)
        later = np.arange(matrix.shape[0]) > np.arange(start, start + len(steps))[:, np.newaxis]
        kinds = similar[start : start + ROWS]
        for kind in (0, 1):
            chosen = steps[later & (kinds == kind)]
            counts[kind] += np.bincount(chosen, minlength=STEPS + 1)
    return counts


def scores(counts: NDArray[np.int64]) -> dict[str, float]:
    """The cosine with the best F1, and the least one with a precision of .99."""
    others, similar = counts[:, ::-1].cumsum(axis=1)[:, ::-1]
    precision = similar / np.maximum(similar + others, 1)
    recall = similar / similar[0]
    best = int((2 * precision * recall / np.maximum(precision + recall, 1e-9)).argmax())
    sure = int(np.flatnonzero(precision >= MIN_PRECISION)[0])
    return {
        "cosine": best / STEPS,
        "precision": float(precision[best]),
        "recall": float(recall[best]),
        "precision at .8": float(precision[int(0.8 * STEPS)]),
        "sure from": sure / STEPS,
        "recall there": float(recall[sure]),
    }


def timings(verifiers: dict[str, Verifier], pairs: list[tuple[str, str]]) -> dict[str, float]:
    """Microseconds a comparison."""
    taken: dict[str, list[float]] = {name: [] for name in verifiers}
    for _ in range(ROUNDS):
        for name, verifier in verifiers.items():
            start = time.process_time()
            for first, second in pairs:
                verifier.compared_with(first)(second)
            taken[name].append((time.process_time() - start) / len(pairs) * 1e6)
    return {name: statistics.median(times) for name, times in taken.items()}


def measured(data: Path) -> dict[str, Any]:
    """All figures."""
    texts = read_texts(data)
    pairs = read_pairs(data, texts)
    places = {number: place for place, number in enumerate(texts)}
    similar = np.zeros((len(texts), len(texts)), np.bool_)
    for (a, b), j5 in pairs.items():
        similar[places[a], places[b]] = similar[places[b], places[a]] = j5 >= MIN_JACCARD
    verifiers: dict[str, Verifier] = {"jaccard": JaccardVerifier()}
    result: dict[str, Any] = {}
    for name, size in SIZES.items():
        start = time.process_time()
        verifier = TfIdfVerifier(IdfTable.learned(texts.values(), size=size))
        learning_secs = time.process_time() - start
        found = scores(histograms(vectors(texts, verifier), similar))
        result[name] = {**found, "learning, s": learning_secs}
        verifiers[name] = verifier
    chosen = list(pairs)[:: max(1, len(pairs) // COMPARED)]
    result["us a comparison"] = timings(verifiers, [(texts[a], texts[b]) for a, b in chosen])
    return result


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[1] / "../shared/data")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    arguments = parser.parse_args()
    result = measured(arguments.data)
    if arguments.json:
        print(json.dumps(result))
        return
    for name, figures in result.items():
        print(name, *(f"  {label:16} {value:8.3f}" for label, value in figures.items()), sep="\n")


if __name__ == "__main__":
    main()
