"""Adds and deletes entries and prints what the index promises, until it is killed.

Run by test_crash_steps.py as ``python -m tests.neardup.indexes.flushing <path> <seed>``.
"""

import random
import sys

from neardup import HammingIndex


def fingerprint_of(number: int) -> int:
    """Return a fingerprint far from those of all other numbers."""
    return (number + 1) * 0x9E3779B97F4A7C15 % 2**64


def is_deleted(number: int) -> bool:
    """Return whether an entry is deleted before the next flush."""
    return number % 7 == 3


def main(path: str, seed: int) -> None:
    """Add, delete and flush; all below each printed number is durable."""
    chance = random.Random(seed)
    with HammingIndex(path, buffer_size=chance.choice([3, 17, 200])) as index:
        first = index.max_id + 1
        for number in filter(is_deleted, range(max(0, first - 60), first)):
            index.delete(number)  # which the process before this one had no time to do
        while True:
            end = first + chance.choice([1, 1, chance.randrange(1, 60)])
            index.add_many([fingerprint_of(n) for n in range(first, end)], range(first, end))
            # The one before may be in a segment by now, or in the log.
            for number in filter(is_deleted, range(max(0, first - 1), end - 1)):
                index.delete(number)
            first = end
            if chance.random() < 0.5:
                index.flush()
                print(first - 1, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
