"""Pairs of texts whose similarity is known."""

import csv
import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from neardup.errors import DocumentError

Similar: TypeAlias = Mapping[int, frozenset[int]]
"""The ids of all texts that count as the same, for each id."""


def read_similar(
    path: str | os.PathLike[str], *, measure: str = "j5", min_similarity: float = 0.8
) -> Similar:
    """Read which texts count as the same from a CSV file of pairs.

    Args:
        path: Columns ``a`` and ``b`` hold ids, a pair a row, in either order.
        measure: The column of the similarity, 0 to 1.
        min_similarity: Pairs below it are left out.

    Raises:
        DocumentError: A column is missing or holds no number.
    """
    similar: defaultdict[int, set[int]] = defaultdict(set)
    with Path(path).open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        for number, row in enumerate(rows, start=2):
            try:
                first, second, similarity = int(row["a"]), int(row["b"]), float(row[measure])
            except (KeyError, TypeError, ValueError) as error:
                raise DocumentError(
                    f"{path}, line {number}: columns a, b and {measure} expected, got {row}"
                ) from error
            if similarity >= min_similarity:
                similar[first].add(second)
                similar[second].add(first)
    return {text: frozenset(others) for text, others in similar.items()}
