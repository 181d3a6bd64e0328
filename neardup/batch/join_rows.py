"""What the join compares, and how far it looks."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Rows(NamedTuple):
    """Rows of a join, by key and then by id.

    Attributes:
        keys: uint64, (rows,); the upper 16 bits are the number of the table.
        ids: int64, (rows,).
        fingerprints: uint64, (rows,).
        sketch0: uint64, (rows,): the first word of the sketches; the others follow.
    """

    keys: NDArray[np.uint64]
    ids: NDArray[np.int64]
    fingerprints: NDArray[np.uint64]
    sketch0: NDArray[np.uint64]
    sketch1: NDArray[np.uint64]
    sketch2: NDArray[np.uint64]
    sketch3: NDArray[np.uint64]


class Limits(NamedTuple):
    """What makes two texts candidates, and how many of a key are looked at.

    Attributes:
        radius: Bits between fingerprints.
        unequal: Values of sketches that differ.
        first_new: The least id that is asked; others are only answers.
        most_compared: Texts of a key that one is compared with from each end: the first ones, and
            the last ones before it.
        most_found: Candidates that are taken of each of these.
    """

    radius: int
    unequal: int
    first_new: int
    most_compared: int
    most_found: int
