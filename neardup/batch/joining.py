"""Candidates: texts that are within reach of each other, found without comparing all with all.

Each text gets a row for each table of a scheme; rows are sorted by key, and what stands under one
key is compared by sketches. A key that many texts share, as a template makes it, must not make the
square of them. A text is compared with the first texts of its key and with the last ones before it.
Of those that are near, the earliest that its sketch takes for similar are candidates, which are the
ones that are kept, and the nearest of the others. So at worst a duplicate is kept; no page is lost.

A text that has many candidates under all its keys is settled in rounds: it is compared with its
earliest and nearest ones first, and with the others where no kept one is among these.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from neardup.batch.near_runs import near_in_runs
from neardup.batch.schemes import Blocks, Scheme
from neardup.batch.sketches import WORDS, expected_unequal, max_unequal
from neardup.indexes.banding import CANDIDATE_PERMUTATIONS
from neardup.parameters import Parameters

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


class Limits(NamedTuple):
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


def limits_of(parameters: Parameters, first_new: int) -> Limits:
    """Return the limits of a search by sketches, or by distance where that alone decides."""
    if not parameters.verify:
        radius = parameters.max_distance
        every = CANDIDATE_PERMUTATIONS
        return Limits(radius, every, radius, first_new, MAX_IN_BLOCK, *[MAX_FOUND] * 3)
    # Similar texts share many bands, so that a few of each make enough.
    most, similar = (count(parameters.min_similarity) for count in (max_unequal, expected_unequal))
    found = (MAX_FOUND, MAX_OF_MANY, NEAREST_OF_MANY)
    return Limits(_FINGERPRINT_BITS, most, similar, first_new, MAX_COMPARED, *found)


def _in_rounds(found: DataFrame, limits: Limits) -> DataFrame:
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
    masks: NDArray[np.uint64], limits: Limits
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
    batches: Iterator[JoinRows], masks: NDArray[np.uint64], limits: Limits
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
