"""Adds entries to an index and prints what it promises, until it is killed.

Run by test_crash.py as ``python -m tests.neardup.indexes.files.flushing <path> <seed>``.
"""

import random
import sys

from neardup import HammingIndex


def fingerprint_of(number: int) -> int:
    """Return a fingerprint far from those of all other numbers."""
    return (number + 1) * 0x9E3779B97F4A7C15 % 2**64


def main(path: str, seed: int) -> None:
    """Add and flush; each printed number of entries is durable."""
    chance = random.Random(seed)
    with HammingIndex(path, buffer_size=chance.choice([3, 17, 200])) as index:
        while True:
            count = len(index)
            if chance.random() < 0.3:
                more = range(count, count + chance.randrange(1, 60))
                index.add_many([fingerprint_of(number) for number in more], list(more))
            else:
                index.add(fingerprint_of(count), count)
            if chance.random() < 0.5:
                index.flush()
                print(len(index), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
