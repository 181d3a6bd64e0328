"""Measure a ``Deduplicator`` on texts that are half alike, and on texts that are not.

    python benchmarks/judging.py [--texts N] [--words N] [--ordinary]

Half alike: one part of the words is common to all, and the other part is the same sentences in an
order of their own, so that all fingerprints lie within some bits and no text repeats another. Each
text has as many candidates as there are texts before it.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from typing import TYPE_CHECKING

from neardup import Deduplicator, Parameters, analyse, prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neardup import Document

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


def main() -> None:
    """Judge all texts and print what that took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=int, default=20_000, metavar="N")
    parser.add_argument("--words", type=int, default=1_000, metavar="N")
    parser.add_argument("--ordinary", action="store_true", help="texts that are not half alike")
    arguments = parser.parse_args()
    prepare()
    make = ordinary if arguments.ordinary else half_alike
    documents = [analyse(text) for text in make(arguments.texts, arguments.words)]
    judge_all(documents)


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
