"""Adds entries to an index of signatures and prints what it promises, until it is killed.

Run by test_lsh_crash.py as ``python -m tests.neardup.indexes.lsh_flushing <path> <seed>``.
"""

import random
import sys

import numpy as np

from neardup import LshIndex
from neardup.indexes.arrays import Signatures

PERMUTATIONS = 24


def signature_of(number: int) -> Signatures:
    """Return a signature that shares no band with those of all other numbers."""
    return (np.arange(PERMUTATIONS) + number * PERMUTATIONS).astype(np.uint32)


def main(path: str, seed: int) -> None:
    """Add and flush; each printed number of entries is durable."""
    chance = random.Random(seed)
    with LshIndex(0.8, path=path, permutations=PERMUTATIONS) as index:
        while True:
            count = len(index)
            if chance.random() < 0.3:
                more = range(count, count + chance.randrange(1, 300))
                index.add_many(np.array([signature_of(number) for number in more]), list(more))
            else:
                index.add(signature_of(count), count)
            if chance.random() < 0.5:
                index.flush()
                print(len(index), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
