"""A ``Deduplicator`` from the text on, beside the MinHash pipelines of rensa and gaoya.

    python benchmarks/judging.py [--texts N] [--words N] [--rounds N] [--write]
    python benchmarks/judging.py --half-alike [--texts N] [--words N]

Each pipeline is given one text after the other, on one core: it drops the text, or keeps it and
compares later ones with it. The peers make signatures of the same word shingles from the cheapest
words there are: of as many values as ours in as many bands, and of 128 values, as is usual. They
drop a text that shares a band (rensa), or whose estimate reaches .8 too (gaoya): neither compares
the texts. Ours counts the shingles that both texts have, and looks for texts that are parts of
others. Peers that are not installed are named and left out (the extra "bench"). Nothing is written
unless --write is given.

Half alike: one part of the words is common to all, and the other part is the same sentences in an
order of their own, so that all fingerprints lie within some bits and no text repeats another. Each
text has as many candidates as there are texts before it.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from measuring import first_call, installed, made_texts, named, rounds, table, write

from neardup import Deduplicator, Parameters, analyse
from neardup.features.shingles import JACCARD_SIZE
from neardup.indexes.banding import CANDIDATE_BANDING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from neardup import Document

OURS = "neardup"
FIRST_TEXTS = 30
"""The number of texts that a newcomer's first crawl has, about; a third of them are copies."""

FIRST_CALL = f"""
with neardup.Deduplicator() as deduplicator:
    for number in range({FIRST_TEXTS}):
        words = [f"{{number - number % 3 // 2}}w{{place}}" for place in range(250)]
        deduplicator.judge(number, " ".join([*words, str(number)]))
"""

USUAL_BANDS = (16, 8)
"""The bands and rows of the 128 values that peers make where nothing else is said: of those that
divide 128 evenly the fewest to find about .95 of the pairs at .8."""

SENTENCE_WORDS = 8
COMMON_SHARE = 0.6
"""Share of a text's words that are the same in all texts."""

CHANGED_SHARE = 0.005
"""Share of a text's words that no other text has."""


def half_alike(texts: int, words: int) -> Iterator[str]:
    """Yield texts of which any two share about half of their shingles."""
    source = random.Random(7)
    vocabulary = made_words(source, 5_000)
    all_words = source.choices(vocabulary, k=words)
    common, rest = all_words[: int(words * COMMON_SHARE)], all_words[int(words * COMMON_SHARE) :]
    sentences = [rest[at : at + SENTENCE_WORDS] for at in range(0, len(rest), SENTENCE_WORDS)]
    for _ in range(texts):
        source.shuffle(sentences)
        page = [*common, *(word for sentence in sentences for word in sentence)]
        for place in source.sample(range(len(page)), int(len(page) * CHANGED_SHARE)):
            page[place] = source.choice(vocabulary)
        yield " ".join(page)


def ordinary(texts: int, words: int) -> Iterator[str]:
    """Yield texts of which each third one repeats an earlier one but for two words."""
    source = random.Random(8)
    vocabulary = made_words(source, 20_000)
    kept: list[list[str]] = []
    for number in range(texts):
        if number % 3 == 2:
            page = list(source.choice(kept))
            for place in source.sample(range(words), 2):
                page[place] = source.choice(vocabulary)
        else:
            page = source.choices(vocabulary, k=words)
            kept.append(page)
        yield " ".join(page)


def made_words(source: random.Random, count: int) -> list[str]:
    """Words of 3 to 10 letters."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(source.choices(letters, k=source.randint(3, 10))) for _ in range(count)]


def judged(texts: Sequence[str]) -> int:
    """Drop texts by a deduplicator in memory and return how many."""
    with Deduplicator() as deduplicator:
        judge = deduplicator.judge
        return sum(judge(number, text).is_duplicate for number, text in enumerate(texts))


def pipelines() -> dict[str, Callable[[Sequence[str]], object]]:
    """Each pipeline that is installed, which returns how many texts it drops."""
    ways: dict[str, Callable[[Sequence[str]], object]] = {OURS: judged}
    peers = {"rensa": installed("rensa"), "gaoya": installed("gaoya.minhash")}
    for peer, module in peers.items():
        for bands, rows in (CANDIDATE_BANDING, USUAL_BANDS):
            if module is not None:
                way = partial(by_rensa if peer == "rensa" else by_gaoya, module, bands, rows)
                ways[f"{named(peer)}, {bands} bands of {rows} values"] = way
    return ways


def by_rensa(rensa: Any, bands: int, rows: int, texts: Sequence[str]) -> int:
    """Drop texts that share a band with one that was kept, and return how many."""
    values, dropped = bands * rows, 0
    index = rensa.RMinHashLSH(0.8, values, bands)
    for number, text in enumerate(texts):
        signature = rensa.RMinHash(values, 42)
        signature.update(shingles(text))
        if index.query(signature):
            dropped += 1
        else:
            index.insert(number, signature)
    return dropped


def by_gaoya(gaoya: Any, bands: int, rows: int, texts: Sequence[str]) -> int:
    """Drop texts that are estimated at .8 to one that was kept, and return how many."""
    dropped, size = 0, (JACCARD_SIZE, JACCARD_SIZE)
    index = gaoya.MinHashStringIndex(32, 0.8, bands, rows, None, "word", True, size)
    for number, text in enumerate(texts):
        if index.query(text):
            dropped += 1
        else:
            index.insert_document(number, text)
    return dropped


def shingles(text: str) -> list[str]:
    """The word shingles that a peer is given."""
    words = text.lower().split()
    return [" ".join(some) for some in zip(*(words[n:] for n in range(JACCARD_SIZE)), strict=False)]


def measure(texts: Sequence[str], count: int) -> dict[str, dict[str, float]]:
    """Texts a second of each pipeline, our ratio to it, and the texts that it drops."""
    ways = pipelines()
    spent = rounds(ways, texts, count)
    rows = {}
    for name, each in spent.items():
        ratio = statistics.median(a / b for a, b in zip(each, spent[OURS], strict=True))
        rows[name] = {
            "texts a second": len(texts) / statistics.median(each),
            "us a text": statistics.median(each) / len(texts) * 1e6,
            f"{OURS}, times as fast": ratio,
            "dropped": float(str(ways[name](texts))),
        }
    return rows


def main() -> None:
    """Measure and print, and write if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=int, default=10_000, metavar="N")
    parser.add_argument("--words", type=int, default=250, metavar="N")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--half-alike", action="store_true", help="verdicts on such texts alone")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md")
    arguments = parser.parse_args()
    count, words = arguments.texts, arguments.words
    if arguments.half_alike:
        judge_all([analyse(text) for text in half_alike(count, words)])
        return
    sets = {
        "distinct texts of English sentences": made_texts(words, count),
        "random words, a third of the texts near-duplicates": list(ordinary(count, words)),
    }
    tables = [table(measure(each, arguments.rounds), name) for name, each in sets.items()]
    first = {OURS: first_call(FIRST_CALL)}
    tables.append(table(first, f"a new process that judges {FIRST_TEXTS} texts"))
    print("\n\n".join(tables))
    if arguments.write:
        how = "CPU time of one core, all threads counted, medians of rounds in which all take turns"
        write("judging.py", tables, f"{count:,} texts of {words:,} words. {how}.")


def judge_all(documents: list[Document]) -> None:
    """Judge documents one after the other, in memory."""
    times, kinds = [], Counter[str]()
    with Deduplicator(Parameters()) as deduplicator:
        for number, document in enumerate(documents):
            started = time.process_time()
            verdict = deduplicator.judge_document(number, document)
            times.append(time.process_time() - started)
            kinds[verdict.kind] += 1
    times.sort()
    print(f"{len(times):,} texts: {dict(kinds)}")
    print(f"{sum(times):.1f} s of CPU; a verdict: {times[len(times) // 2] * 1e3:.2f} ms in the")
    print(f"median, {times[-len(times) // 100] * 1e3:.2f} at 99 %, {times[-1] * 1e3:.1f} at most")


if __name__ == "__main__":
    main()
