"""SimHash beside gaoya, simhash and trafilatura, in one run.

    python benchmarks/simhash.py [--json] [--write]

Texts are of English sentences, drawn at random. Ours and gaoya's are of the set of word
3-shingles; the package simhash is taken as it comes (counts of character 4-grams), and so is
trafilatura's (words). gaoya makes a fingerprint only where it adds it or asks for it, so it asks
an empty index. Peers that are not installed are named and left out (the extra "bench").
"""

from __future__ import annotations

import argparse
import json
import statistics
from typing import TYPE_CHECKING

from measuring import (
    first_call,
    installed,
    made_texts,
    named,
    rates,
    rounds,
    table,
    with_wanted,
    write,
)

from neardup.features.features import Features
from neardup.fingerprints.simhash import simhash, simhash_many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OURS = "simhash"
WANTED = {"gaoya": 3.0, "simhash": 100.0}
FEATURES = (
    "word-3-set",
    "word-3-count",
    "word-1-log_count",
    "character-4-set",
    "character-4-count",
)
FIRST_CALL = "neardup.simhash('a text of some words')"
FIRST_CALL_BEYOND_ASCII = "neardup.simhash('ein Wörterbuch der Häfen')"


def makers() -> dict[str, Callable[[Sequence[str]], object]]:
    """Each way from texts to fingerprints."""
    ways: dict[str, Callable[[Sequence[str]], object]] = {
        OURS: lambda texts: [simhash(text) for text in texts],
        "simhash_many": simhash_many,
    }
    if gaoya := installed("gaoya.simhash"):
        index = gaoya.SimHashStringIndex(analyzer="word", lowercase=True, ngram_range=(3, 3))
        ways[named("gaoya")] = lambda texts: [index.query(text) for text in texts]
    if package := installed("simhash"):
        ways[named("simhash")] = lambda texts: [package.Simhash(text).value for text in texts]
    if trafilatura := installed("trafilatura.deduplication"):
        ways[named("trafilatura")] = lambda texts: [
            trafilatura.Simhash(text).hash for text in texts
        ]
    return ways


def maker_of(features: Features) -> Callable[[Sequence[str]], object]:
    """The way to fingerprints of such features."""
    return lambda texts: simhash_many(texts, features)


def languages(words: int) -> dict[str, list[str]]:
    """Texts of so many words, or characters where there are no words."""
    english = made_texts(words, 100)
    return {
        "English": english,
        "with ’ and “”": [text.replace("'", "’").replace(". ", ".” “") for text in english],
        "French": made_texts(words, 100, ("fr",)),
        "Chinese": [f"{text * 9}"[:words] for text in made_texts(words // 9, 100, ("zh",))],
    }


def microseconds(words: int) -> dict[str, dict[str, float]]:
    """Microseconds a text of each choice of features, for texts of several languages."""
    found: dict[str, dict[str, float]] = {name: {} for name in FEATURES}
    ways = {name: maker_of(Features.parsed(name)) for name in FEATURES}
    for language, texts in languages(words).items():
        for name, each in rounds(ways, texts).items():
            found[name][language] = statistics.median(each) / len(texts) * 1e6
    return found


def main() -> None:
    """Measure all that is installed, print it, and write it if asked to."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".splitlines()[0])
    parser.add_argument("--json", action="store_true", help="figures as JSON, no tables")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md")
    arguments = parser.parse_args()
    found, ratios = rates(makers(), OURS)
    by_features = microseconds(1000)
    first = {
        name: first_call(statement)
        for name, statement in (("ASCII", FIRST_CALL), ("beyond", FIRST_CALL_BEYOND_ASCII))
    }
    if arguments.json:
        figures = {"docs/s": found, "ratios": ratios, "us": by_features, "first calls": first}
        print(json.dumps(figures, indent=2))
        return
    tables = [table(found, "documents a second")]
    if compared := with_wanted(ratios, WANTED):
        tables.append(table(compared, f"{OURS}, times as fast as"))
    tables += [
        table(by_features, "us a text of 1,000 words or characters"),
        table(first, "a new process"),
    ]
    print("\n\n".join(tables))
    if arguments.write:
        write("simhash.py", tables)


if __name__ == "__main__":
    main()
