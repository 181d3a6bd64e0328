"""Candidates become pairs: their texts are fetched and compared as a deduplicator does it."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from neardup.names import Name, difference, name_of
from neardup.parameters import Parameters
from neardup.verification import JaccardVerifier, compared_with
from neardup.whole import part_of

_PAIRS = "first long, second long, distance short, similarity double, is_other boolean"


def verified(candidates: DataFrame, texts: DataFrame, parameters: Parameters) -> DataFrame:
    """Return the candidates whose similarity confirms them, with ``similarity`` and ``is_other``.

    The one is null where distances decide; the other says whether the names of the two tell that
    they are different things. Texts are ``id``, ``text``, ``title``.
    """
    if not parameters.verify and not parameters.compare_names:
        return candidates.selectExpr("*", "CAST(NULL AS double) AS similarity", "false AS is_other")
    first = texts.selectExpr("id AS first", "text AS first_text", "title AS first_title")
    second = texts.selectExpr("id AS second", "text AS second_text", "title AS second_title")
    both = candidates.join(first, "first").join(second, "second")
    sides = ("first_text", "first_title", "second_text", "second_title")
    return both.select("first", "second", "distance", *sides).mapInArrow(
        _compared(parameters), _PAIRS
    )


def _compared(parameters: Parameters) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        similarity = _Similarity(parameters)
        for batch in batches:
            near, similarities = batch, pa.nulls(batch.num_rows, pa.float64())
            if parameters.verify:
                texts = zip(batch["first_text"], batch["second_text"], strict=True)
                found = [similarity(one.as_py(), other.as_py()) for one, other in texts]
                similarities = pa.array(found, pa.float64())
                is_near = pc.greater_equal(similarities, parameters.min_similarity)
                near, similarities = batch.filter(is_near), similarities.filter(is_near)
            columns = [near[name] for name in ("first", "second", "distance")]
            names = ["first", "second", "distance", "similarity", "is_other"]
            others = _are_others(near, parameters)
            yield pa.RecordBatch.from_arrays([*columns, similarities, others], names)

    return run


def _are_others(batch: Any, parameters: Parameters) -> Any:
    """Return for each pair whether its names differ."""
    if not parameters.compare_names:
        return pa.array([False] * batch.num_rows, pa.bool_())
    sides = ("first_text", "first_title", "second_text", "second_title")
    # One by one: a batch has the texts of thousands of pairs.
    rows = ([one.as_py() for one in row] for row in zip(*map(batch.column, sides), strict=True))
    others = [bool(difference(_name(*row[:2]), _name(*row[2:]))) for row in rows]
    return pa.array(others, pa.bool_())


# Pairs come by one of their texts.
@lru_cache(maxsize=2)
def _name(text: str, title: str | None) -> Name:
    return name_of(part_of(text), title=title or "")


class _Similarity:
    """The similarity of two texts, which keeps what it computed of a text for its next pair."""

    def __init__(self, parameters: Parameters) -> None:
        self._verifier = JaccardVerifier(parameters.verify_shingle_size)
        self._min_similarity = parameters.min_similarity
        self._text: str | None = None
        self._compared: Callable[[str], float] = lambda _: 0.0

    def __call__(self, one: str, other: str) -> float:
        if other != self._text:
            self._text = other
            self._compared = compared_with(
                self._verifier, other, min_similarity=self._min_similarity
            )
        return self._compared(one)
