"""MinHash beside rensa and datasketch, in one run.

    python benchmarks/minhash.py [--json] [--write]

Texts are of English sentences, drawn at random. All sides make 128 values of the set of word
3-shingles, from the text on: the peers get the cheapest words that there are,
``text.lower().split()``, where ours folds and parts every script. Peers that are not installed are
named and left out (the extra "bench").
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from measuring import first_call, installed, named, rates, table, with_wanted, write

from neardup.fingerprints.minhash import minhash, minhash_many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OURS = "minhash"
PERMUTATIONS = 128
WANTED = {"rensa": 2.0, "datasketch": 5.0}
FIRST_CALL = "neardup.minhash('a text of some words')"

SIGNED = {"permutations": PERMUTATIONS, "shingle_size": 3}


def shingles(text: str) -> list[str]:
    """The word 3-shingles that a peer is given."""
    words = text.lower().split()
    return [" ".join(three) for three in zip(words, words[1:], words[2:], strict=False)]


def makers() -> dict[str, Callable[[Sequence[str]], object]]:
    """Each way from texts to signatures."""
    ways: dict[str, Callable[[Sequence[str]], object]] = {
        OURS: lambda texts: [minhash(text, **SIGNED) for text in texts],
        "minhash_many": lambda texts: minhash_many(texts, **SIGNED),
    }
    if rensa := installed("rensa"):

        def one(text: str) -> Any:
            signature = rensa.RMinHash(PERMUTATIONS, 42)
            signature.update(shingles(text))
            return signature.digest()

        ways[named("rensa")] = lambda texts: [one(text) for text in texts]
        ways[f"{named('rensa')}, matrix"] = lambda texts: (
            rensa.RMinHash.digest_matrix_from_token_sets(
                [shingles(text) for text in texts], PERMUTATIONS, 42
            )
        )
    if datasketch := installed("datasketch"):

        def other(text: str) -> Any:
            signature = datasketch.MinHash(PERMUTATIONS)
            signature.update_batch([shingle.encode() for shingle in shingles(text)])
            return signature

        ways[named("datasketch")] = lambda texts: [other(text) for text in texts]
    return ways


def main() -> None:
    """Measure all that is installed, print it, and write it if asked to."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".splitlines()[0])
    parser.add_argument("--json", action="store_true", help="figures as JSON, no tables")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md")
    arguments = parser.parse_args()
    found, ratios = rates(makers(), OURS)
    first = {OURS: first_call(FIRST_CALL)}
    if arguments.json:
        print(json.dumps({"docs/s": found, "ratios": ratios, "first calls": first}, indent=2))
        return
    tables = [table(found, "documents a second")]
    if compared := with_wanted(ratios, WANTED):
        tables.append(table(compared, f"{OURS}, times as fast as"))
    tables.append(table(first, "a new process"))
    print("\n\n".join(tables))
    if arguments.write:
        write("minhash.py", tables)


if __name__ == "__main__":
    main()
