"""Candidates, texts that are within reach of each other, and the pairs that their texts confirm.

Each text gets a row for each table of a scheme; rows are sorted by key, and what stands under one
key is compared by sketches. A key that many texts share, as a template makes it, must not make the
square of them. A text is compared with the first texts of its key and with the last ones before it.
Of those that are near, the earliest that its sketch takes for similar are candidates, which are the
ones that are kept, and the nearest of the others. So at worst a duplicate is kept; no page is lost.

A text that has many candidates under all its keys is settled in rounds: it is compared with its
earliest and nearest ones first, and with the others where no kept one is among these.

Candidates become pairs where their texts are compared as a deduplicator does it. The candidates of
a text are compared in one place. Each text that they name travels there once, however many of them
name it, and is cut into shingles once there.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from neardup.batch.analysing import schema_of
from neardup.batch.near_runs import near_in_runs
from neardup.batch.output_tables import PAIRS
from neardup.batch.schemes import WORDS, Blocks, Scheme, differing_share
from neardup.batch.spark_session import held
from neardup.candidates import MAX_SET_BYTES, LruCache
from neardup.features.hashing import Hashes
from neardup.indexes.banding import CANDIDATE_PERMUTATIONS, max_unequal
from neardup.names import Name, difference, name_of
from neardup.parameters import Parameters
from neardup.verification import JaccardComparison, JaccardVerifier
from neardup.whole import split_whole

MAX_COMPARED = 1 << 13
"""Compare a text with this many texts of a band from each end, at .8 ns each."""

MAX_IN_BLOCK = 1 << 16
"""The same of a block, of which the texts are far more."""

MAX_FOUND = 16
"""Take this many of the earliest similar texts of a key, and of the nearest others."""

MAX_OF_MANY, NEAREST_OF_MANY = 4, 2
"""The same of a key with more than 64 texts before a text."""

AT_ONCE = 16
"""Compare a text with all its candidates at once where these are no more."""

FIRST_ROUND, LATER_ROUND = 0, 1
_FIRST_OF_MANY = 2
_MAX_OF_MANY = 16

_FINGERPRINT_BITS = 64
_TOLD = ("fingerprint", *WORDS)
_KEYED = "key long, id long" + "".join(f", {name} long" for name in _TOLD)
_CANDIDATES = "first long, second long, distance short, unequal short"
_ROWS_AT_ONCE = 1 << 14


class JoinRows(NamedTuple):
    """Rows of a join, by key and then by id.

    Attributes:
        keys: uint64, (rows,); the upper 16 bits are the number of the table.
        ids: int64, (rows,).
        fingerprints: uint64, (rows,).
        sketch0: uint64, (rows,): the first words of the sketches.
        sketch1: uint64, (rows,): the second words.
    """

    keys: NDArray[np.uint64]
    ids: NDArray[np.int64]
    fingerprints: NDArray[np.uint64]
    sketch0: NDArray[np.uint64]
    sketch1: NDArray[np.uint64]


class JoinLimits(NamedTuple):
    """The limits within which two texts are candidates, and of the texts looked at under a key.

    Attributes:
        radius: The largest distance of their fingerprints, in bits.
        unequal: The largest number of values in which their sketches differ.
        similar: The largest number of values, or of bits where sketches are not compared, in which
            texts differ that are taken for similar.
        first_new: The smallest id to search for; texts with smaller ids are only found.
        max_compared: The number of texts of a key that one is compared with from each end: the
            first ones, and the last ones before it.
        max_found: The number of candidates that are taken of the similar ones, and of the others.
        max_of_many: The number of similar ones under a key with more than 64 texts before a text.
        nearest_of_many: The number of others under such a key.
    """

    radius: int
    unequal: int
    similar: int
    first_new: int
    max_compared: int
    max_found: int
    max_of_many: int
    nearest_of_many: int


def candidates(
    texts: DataFrame, scheme: Scheme, parameters: Parameters, first_new: int
) -> DataFrame:
    """Return ``first``, ``second``, ``distance``, ``round`` of texts that are near.

    A text whose key was not searched whole has a row in which it is both.

    Args:
        texts: ``id``, ``fingerprint``, the words of the sketch, and ``signature`` for bands.
        scheme: The scheme of the keys by which they meet.
        parameters: The parameters that decide which texts are the same.
        first_new: The smallest id of this run: pairs of two older texts are left out.
    """
    columns = ["id", *_TOLD, *(() if isinstance(scheme, Blocks) else ("signature",))]
    keyed = texts.select(columns).mapInArrow(_keyed(scheme), _KEYED)
    sorted_rows = keyed.repartition("key").sortWithinPartitions("key", "id")
    limits = limits_of(parameters, first_new)
    found = sorted_rows.mapInArrow(_compared(scheme.masks, limits), _CANDIDATES)
    return _in_rounds(found, limits)


def limits_of(parameters: Parameters, first_new: int) -> JoinLimits:
    """Return the limits of a search by sketches, or by distance where that alone decides."""
    if not parameters.verify:
        radius = parameters.max_distance
        every = CANDIDATE_PERMUTATIONS
        return JoinLimits(radius, every, radius, first_new, MAX_IN_BLOCK, *[MAX_FOUND] * 3)
    # Similar texts share many bands, so that a few of each make enough.
    differing = differing_share(parameters.min_similarity)
    most, similar = max_unequal(differing), int(differing * CANDIDATE_PERMUTATIONS)
    found = (MAX_FOUND, MAX_OF_MANY, NEAREST_OF_MANY)
    return JoinLimits(_FINGERPRINT_BITS, most, similar, first_new, MAX_COMPARED, *found)


def _in_rounds(found: DataFrame, limits: JoinLimits) -> DataFrame:
    """Take the earliest and the nearest candidates of each text, over all its keys."""
    once = found.repartition("second").groupBy("second", "first")
    pairs = once.agg(expr("min(distance) AS distance"), expr("min(unequal) AS unequal"))
    text = "PARTITION BY second"
    is_similar = f"unequal <= {limits.similar} AND first < second"
    ranked = pairs.selectExpr(
        "*",
        f"count_if(first < second) OVER ({text}) AS size",
        f"count_if({is_similar}) OVER ({text}) AS similar",
        f"row_number() OVER ({text} ORDER BY {is_similar} DESC, first) AS by_time",
        f"row_number() OVER ({text} ORDER BY first = second, unequal, first) AS by_nearness",
    )
    are_first = f"by_time <= {_FIRST_OF_MANY} OR (similar < {_FIRST_OF_MANY}"
    are_first += f" AND by_nearness <= {_FIRST_OF_MANY})"
    are_later = f"by_time <= {_MAX_OF_MANY} OR by_nearness <= {_MAX_OF_MANY}"
    number = (
        f"CASE WHEN size <= {AT_ONCE} OR first = second OR {are_first} THEN {FIRST_ROUND}"
        f" WHEN {are_later} THEN {LATER_ROUND} END AS round"
    )
    chosen = ranked.selectExpr("first", "second", "distance", number)
    return chosen.where("round IS NOT NULL")


def with_distance(pairs: DataFrame, texts: DataFrame) -> DataFrame:
    """Return pairs with the ``distance`` of their fingerprints.

    Args:
        pairs: ``first``, ``second``.
        texts: ``id``, ``fingerprint``.
    """
    one = texts.selectExpr("id AS first", "fingerprint AS ours")
    other = texts.selectExpr("id AS second", "fingerprint AS theirs")
    both = pairs.join(one, "first").join(other, "second")
    return both.selectExpr("first", "second", "CAST(bit_count(ours ^ theirs) AS short) AS distance")


def _keyed(scheme: Scheme) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            # So that its rows, a hundred times as many, do not fill memory.
            step = max(1, _ROWS_AT_ONCE // scheme.tables)
            for start in range(0, batch.num_rows, step):
                part = batch.slice(start, step)
                keys = scheme.keys(words(part["fingerprint"]), _signatures(part))
                columns = {"key": pa.array(keys.ravel().view(np.int64))}
                for name in ("id", *_TOLD):
                    values = part[name].to_numpy(zero_copy_only=False)
                    columns[name] = pa.array(np.repeat(values, scheme.tables))
                yield pa.RecordBatch.from_pydict(columns)

    return run


def _signatures(batch: Any) -> NDArray[np.uint32] | None:
    if "signature" not in batch.schema.names:
        return None
    joined = b"".join(batch["signature"].to_pylist())
    return np.frombuffer(joined, np.uint32).reshape(batch.num_rows, -1)


def words(column: Any) -> NDArray[np.uint64]:
    """Return a column of signed numbers as the 64 bits that they are."""
    return cast("NDArray[np.uint64]", column.to_numpy(zero_copy_only=False).view(np.uint64))


def _compared(
    masks: NDArray[np.uint64], limits: JoinLimits
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for found in _pairs(map(_rows, batches), masks, limits):
            names = ("first", "second", "distance", "unequal")
            yield pa.RecordBatch.from_arrays([pa.array(column) for column in found], names)

    return run


def _rows(batch: Any) -> JoinRows:
    ids = batch["id"].to_numpy(zero_copy_only=False)
    return JoinRows._make([words(batch["key"]), ids, *(words(batch[name]) for name in _TOLD)])


def _pairs(
    batches: Iterator[JoinRows], masks: NDArray[np.uint64], limits: JoinLimits
) -> Iterator[tuple[NDArray[Any], ...]]:
    """Yield ids, distances and differences of pairs; a run of rows may go on in the next batch."""
    open_run: JoinRows | None = None
    for batch in batches:
        for start in range(0, len(batch.keys), _ROWS_AT_ONCE):
            new = JoinRows._make(column[start : start + _ROWS_AT_ONCE] for column in batch)
            begin = 0 if open_run is None else len(open_run.keys)
            both = new if open_run is None else _joined(open_run, new)
            pairs = np.empty(((2 * limits.max_found + 1) * len(new.keys), 3), np.int64)
            count = near_in_runs(both, begin, masks, limits, pairs)
            if count:
                one, other, unequal = pairs[:count].T
                different = both.fingerprints[one] ^ both.fingerprints[other]
                distances = np.bitwise_count(different).astype(np.int16)
                yield both.ids[one], both.ids[other], distances, unequal.astype(np.int16)
            open_run = _last_run(both, limits.max_compared)


def _joined(first: JoinRows, second: JoinRows) -> JoinRows:
    return JoinRows._make(np.concatenate(pair) for pair in zip(first, second, strict=True))


def _last_run(rows: JoinRows, most: int) -> JoinRows:
    """Return the rows of the last key that those to come can be compared with."""
    start = int(np.searchsorted(rows.keys.view(np.int64), rows.keys.view(np.int64)[-1]))
    if len(rows.keys) - start <= 2 * most + 1:
        return JoinRows._make(column[start:] for column in rows)
    # One more than are compared tells that some are left out.
    ends = (slice(start, start + most), slice(-most - 1, None))
    return JoinRows._make(np.concatenate([column[end] for end in ends]) for column in rows)


_PAIRS_SCHEMA = schema_of(PAIRS)
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
    return in_order.mapInArrow(_confirmed(parameters), PAIRS)


def _confirmed(parameters: Parameters) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        place: int | None = None
        texts = _Texts(parameters)
        for batch in batches:
            found = []
            for row in _texts_and_pairs(batch):
                if row.place != place:
                    place, texts = row.place, _Texts(parameters)
                if row.second is None:
                    texts.add(row.first, row.text or "", row.title)
                else:
                    pair = texts.compared(row.first, row.second)
                    if pair is not None:
                        found.append((row.first, row.second, row.distance, *pair))
            columns = zip(*found, strict=True) if found else [()] * len(_PAIRS_SCHEMA)
            arrays = [
                pa.array(list(values), kind)
                for values, kind in zip(columns, _PAIRS_SCHEMA.types, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=_PAIRS_SCHEMA)

    return run


class _Row(NamedTuple):
    """A text, where ``second`` is None, or two texts to compare."""

    place: int
    first: int
    second: int | None
    distance: int | None
    text: str | None
    title: str | None


def _texts_and_pairs(batch: Any) -> Iterator[_Row]:
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
        self._sets = tuple(
            LruCache[Hashes](MAX_SET_BYTES, lambda one: one.nbytes) for _ in range(2)
        )
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
