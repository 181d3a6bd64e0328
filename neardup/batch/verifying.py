"""Candidates become pairs: their texts are fetched and compared as a deduplicator does it.

The candidates of a text are compared in one place. Each text that they name travels there once,
however many of them name it, and is cut into shingles once there.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame

from neardup.batch.analysing import schema_of
from neardup.batch.output_tables import PAIRS
from neardup.batch.spark_session import held
from neardup.candidates import MAX_SET_BYTES, Held
from neardup.features.hashing import Hashes
from neardup.names import Name, difference, name_of
from neardup.parameters import Parameters
from neardup.verification import JaccardComparison, JaccardVerifier
from neardup.whole import split_whole

_SCHEMA = schema_of(PAIRS)
_TEXTS_OF_PLACE = 512
"""The texts whose candidates are compared in one place, on average; a task has one in memory."""


def verified(
    candidates: DataFrame, texts: DataFrame, parameters: Parameters, count: int
) -> DataFrame:
    """Return the candidates whose similarity confirms them, with ``similarity`` and ``is_other``.

    The one is null where distances decide; the other says whether the names of the two tell that
    they are different things.

    Args:
        candidates: ``first``, ``second``, ``distance``.
        texts: ``id``, ``text``, ``title`` of those, and of others.
        parameters: The parameters that decide which texts are the same.
        count: The number of candidates.
    """
    near = candidates.select("first", "second", "distance")
    if not parameters.verify and not parameters.compare_names:
        return near.selectExpr("*", "CAST(NULL AS double) AS similarity", "false AS is_other")
    places = count // _TEXTS_OF_PLACE + 1
    near = near.selectExpr("*", f"pmod(xxhash64(second), {places}) AS place")
    sides = (near.selectExpr(f"{side} AS id", "place") for side in ("first", "second"))
    wanted = next(sides).unionByName(next(sides)).repartition("id").distinct()
    moved = texts.select("id", "text", "title").join(held(wanted, 2 * count), "id")
    rows = moved.selectExpr("place", "id AS first", "CAST(NULL AS long) AS second", "text", "title")
    rows = rows.unionByName(near, allowMissingColumns=True).repartition("place")
    order = ("place", "second", "first")  # texts come first: of them the second is null
    columns = ("place", "first", "second", "distance", "text", "title")
    in_order = rows.select(*columns).sortWithinPartitions(*order)
    return in_order.mapInArrow(_compared(parameters), PAIRS)


def _compared(parameters: Parameters) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        place: int | None = None
        texts = _Texts(parameters)
        for batch in batches:
            found = []
            for row in _rows(batch):
                if row.place != place:
                    place, texts = row.place, _Texts(parameters)
                if row.second is None:
                    texts.add(row.first, row.text or "", row.title)
                else:
                    pair = texts.compared(row.first, row.second)
                    if pair is not None:
                        found.append((row.first, row.second, row.distance, *pair))
            columns = zip(*found, strict=True) if found else [()] * len(_SCHEMA)
            arrays = [
                pa.array(list(values), kind)
                for values, kind in zip(columns, _SCHEMA.types, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)

    return run


class _Row(NamedTuple):
    """A text, where ``second`` is None, or two texts to compare."""

    place: int
    first: int
    second: int | None
    distance: int | None
    text: str | None
    title: str | None


def _rows(batch: Any) -> Iterator[_Row]:
    # Texts one by one: a batch has those of thousands.
    short = [batch[name].to_pylist() for name in _Row._fields[:4]]
    long = [(value.as_py() for value in batch[name]) for name in _Row._fields[4:]]
    return map(_Row._make, zip(*short, *long, strict=True))


class _Texts:
    """The texts of a place, which keeps what it computed of them for their next pairs."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._verifier = JaccardVerifier(parameters.verify_shingle_size)
        self._texts: dict[int, tuple[str, str | None]] = {}
        self._names: dict[int, Name] = {}
        self._sets = tuple(Held[Hashes](MAX_SET_BYTES, lambda one: one.nbytes) for _ in range(2))
        self._second: int | None = None
        self._comparisons: list[JaccardComparison | None] = [None, None]

    def add(self, number: int, text: str, title: str | None) -> None:
        self._texts[number] = (text, title)

    def compared(self, first: int, second: int) -> tuple[float | None, bool] | None:
        """Return the similarity of two texts and whether their names differ; None: too different.

        Where one of them stands with the whole that it was taken from, it is the least similarity
        of both parts, as ``neardup.verification.compared_with`` has it.
        """
        similarity = None
        if self._parameters.verify:
            similarity = self._similarity(first, second)
            if similarity < self._parameters.min_similarity:
                return None
        is_other = self._parameters.compare_names and bool(
            difference(self._name(first), self._name(second))
        )
        return similarity, is_other

    def _similarity(self, first: int, second: int) -> float:
        if second != self._second:
            self._second, self._comparisons = second, [None, None]
        of_parts = self._of_side(0, first, second)
        are_parts_only = all(part is whole for part, whole in map(self._sides, (first, second)))
        if of_parts < self._parameters.min_similarity or are_parts_only:
            return of_parts
        return min(of_parts, self._of_side(1, first, second))

    def _of_side(self, side: int, first: int, second: int) -> float:
        comparison = self._comparisons[side]
        if comparison is None:
            comparison = self._verifier.compared_with(self._sides(second)[side])
            self._comparisons[side] = comparison
            self._sets[side].add(second, comparison.shingles)
        theirs = self._sets[side].get(first)
        if theirs is None:
            theirs = comparison.shingles_of(self._sides(first)[side])
            self._sets[side].add(first, theirs)
        return comparison.with_set(theirs)

    def _sides(self, number: int) -> tuple[str, str]:
        return split_whole(self._texts[number][0])

    def _name(self, number: int) -> Name:
        name = self._names.get(number)
        if name is None:
            text, title = self._texts[number]
            name = self._names[number] = name_of(split_whole(text)[0], title=title or "")
        return name
