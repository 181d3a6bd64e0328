"""Candidates become pairs: their texts are fetched and compared as a deduplicator does it."""

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from neardup.parameters import Parameters
from neardup.verification import JaccardVerifier, compared_with

_PAIRS = "first long, second long, distance short, similarity double"


def verified(candidates: DataFrame, texts: DataFrame, parameters: Parameters) -> DataFrame:
    """Return the candidates whose similarity confirms them, with ``similarity``.

    That is null where distances decide. Texts are ``id``, ``text``.
    """
    if not parameters.verify:
        return candidates.selectExpr("*", "CAST(NULL AS double) AS similarity")
    first = texts.selectExpr("id AS first", "text AS first_text")
    second = texts.selectExpr("id AS second", "text AS second_text")
    both = candidates.join(first, "first").join(second, "second")
    wanted = both.select("first", "second", "distance", "first_text", "second_text")
    return wanted.mapInArrow(_compared(parameters), _PAIRS)


def _compared(parameters: Parameters) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        similarity = _Similarity(parameters)
        for batch in batches:
            texts = zip(batch["first_text"], batch["second_text"], strict=True)
            found = [similarity(one.as_py(), other.as_py()) for one, other in texts]
            similarities = pa.array(found, pa.float64())
            columns = [batch[name] for name in ("first", "second", "distance")]
            names = ["first", "second", "distance", "similarity"]
            rows = pa.RecordBatch.from_arrays([*columns, similarities], names)
            yield rows.filter(pc.greater_equal(similarities, parameters.min_similarity))

    return run


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
