"""Candidates: texts that are within reach of each other, found without comparing all with all.

Each text gets a row for each table of a scheme; rows are sorted by key, and what stands under one
key is compared. A key that many texts share, as a boilerplate page makes it, must not make the
square of them: a text is compared with the first ``MAX_COMPARED`` texts of its key and with the
last ones before it, and ``MAX_FOUND`` candidates are taken of each of both. The first ones of a
key are those that are kept, the last ones those that were written at the same time. What stands
between them is not looked at, so at worst a duplicate is kept; no page is lost to it.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
from numba import types
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from neardup.batch.schemes import Blocks, Scheme
from neardup.batch.sketches import WORDS
from neardup.compiled import compiled
from neardup.instructions import part, set_bits

MAX_COMPARED = 1 << 16
MAX_FOUND = 32

_TOLD = ("fingerprint", *WORDS)
_KEYED = "key long, id long" + "".join(f", {name} long" for name in _TOLD)
_CANDIDATES = "first long, second long, distance short"
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
        first_new: The smallest id to search for; texts with smaller ids are only found.
        max_compared: The number of texts of a key that one is compared with from each end: the
            first ones, and the last ones before it.
        max_found: The number of candidates that are taken from each end.
    """

    radius: int
    unequal: int
    first_new: int
    max_compared: int
    max_found: int


_array: Any = types.Array
_named: Any = types.NamedTuple
_uniform: Any = types.NamedUniTuple
_WORDS, _INTS = _array(types.uint64, 1, "C"), _array(types.int64, 1, "C")
_ROWS = _named((_WORDS, _INTS, _WORDS, _WORDS, _WORDS), JoinRows)
_LOWER = np.uint64(0x5555555555555555)
"""The mask of the first bit of each two."""
_LIMITS = _uniform(types.int64, 5, Limits)


def candidates(
    texts: DataFrame, scheme: Scheme, radius: int, max_unequal: int, first_new: int
) -> DataFrame:
    """Return ``first``, ``second``, ``distance`` of texts that are near by fingerprint and sketch.

    Args:
        texts: ``id``, ``fingerprint``, the words of the sketch, and ``signature`` for bands.
        scheme: The scheme of the keys by which they meet.
        radius: The largest distance between fingerprints, in bits.
        max_unequal: The largest number of values of sketches that may differ; 64 compares no
            sketches.
        first_new: The smallest id of this run: pairs of two older texts are left out.
    """
    is_exact = isinstance(scheme, Blocks)
    columns = ["id", *_TOLD, *(() if is_exact else ("signature",))]
    limits = Limits(radius, max_unequal, first_new, MAX_COMPARED, MAX_FOUND)
    keyed = texts.select(columns).mapInArrow(_keyed(scheme), _KEYED)
    sorted_rows = keyed.repartition("key").sortWithinPartitions("key", "id")
    found = sorted_rows.mapInArrow(_compared(scheme.masks, limits), _CANDIDATES)
    # Bands do not tell in which of them a pair meets first.
    return found if is_exact else found.distinct()


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
            names = ("first", "second", "distance")
            yield pa.RecordBatch.from_arrays([pa.array(column) for column in found], names)

    return run


def _rows(batch: Any) -> JoinRows:
    ids = batch["id"].to_numpy(zero_copy_only=False)
    return JoinRows._make([words(batch["key"]), ids, *(words(batch[name]) for name in _TOLD)])


@part
def _unequal(different: np.uint64) -> int:
    """Return how many of 32 values of two bits differ."""
    return int(set_bits((different | different >> np.uint64(1)) & _LOWER))


@part
def _is_near(rows: JoinRows, one: int, other: int, limits: Limits) -> bool:
    if set_bits(rows.fingerprints[one] ^ rows.fingerprints[other]) > limits.radius:
        return False
    unequal = _unequal(rows.sketch0[one] ^ rows.sketch0[other])
    unequal += _unequal(rows.sketch1[one] ^ rows.sketch1[other])
    return unequal <= limits.unequal


@part
def _is_first(rows: JoinRows, one: int, other: int, masks: NDArray[np.uint64]) -> bool:
    """Whether two do not meet in an earlier table."""
    different = rows.fingerprints[one] ^ rows.fingerprints[other]
    own = int(rows.keys[one] >> np.uint64(48))
    for table in range(min(len(masks), own)):  # noqa: SIM110  (numba has no all)
        if not different & masks[table]:
            return False
    return True


@compiled(types.int64(_ROWS, types.int64, _WORDS, _LIMITS, _INTS, _INTS))
def near_in_runs(
    rows: JoinRows,
    begin: int,
    masks: NDArray[np.uint64],
    limits: Limits,
    earlier: NDArray[np.int64],
    later: NDArray[np.int64],
) -> int:
    """Compare each row from ``begin`` on with those of its key before it; return how many are near.

    Args:
        rows: The rows, sorted by key, then by id.
        begin: The first row that was not compared yet.
        masks: The masks of the tables; only the first table in which a pair meets finds it.
        limits: The limits of the search.
        earlier: int64: takes the smaller place of each pair that is found.
        later: int64: takes the larger one; both have room for 2 * max_found a row.

    Complexity: O(min(length of run, 2 * max_compared)) a row.
    """
    found, start = 0, 0
    for row in range(len(rows.keys)):
        if row and rows.keys[row] != rows.keys[row - 1]:
            start = row
        if row < begin or rows.ids[row] < limits.first_new:
            continue
        other, taken = start, 0
        stop = min(row, start + limits.max_compared)
        while other < stop and taken < limits.max_found:
            if _is_near(rows, other, row, limits) and _is_first(rows, other, row, masks):
                earlier[found], later[found] = other, row
                found += 1
                taken += 1
            other += 1
        least, taken = max(other, row - limits.max_compared), 0
        other = row - 1
        while other >= least and taken < limits.max_found:
            if _is_near(rows, other, row, limits) and _is_first(rows, other, row, masks):
                earlier[found], later[found] = other, row
                found += 1
                taken += 1
            other -= 1
    return found


def _pairs(
    batches: Iterator[JoinRows], masks: NDArray[np.uint64], limits: Limits
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int16]]]:
    """Yield pairs; a run of rows may go on in the next batch."""
    open_run: JoinRows | None = None
    for batch in batches:
        for start in range(0, len(batch.keys), _ROWS_AT_ONCE):
            new = JoinRows._make(column[start : start + _ROWS_AT_ONCE] for column in batch)
            begin = 0 if open_run is None else len(open_run.keys)
            both = new if open_run is None else _joined(open_run, new)
            room = 2 * limits.max_found * len(new.keys)
            earlier, later = np.empty(room, np.int64), np.empty(room, np.int64)
            rows = JoinRows._make(np.require(column, requirements=["C", "W"]) for column in both)
            count = near_in_runs(rows, begin, masks, limits, earlier, later)
            if count:
                one, other = earlier[:count], later[:count]
                different = both.fingerprints[one] ^ both.fingerprints[other]
                distances = np.bitwise_count(different).astype(np.int16)
                yield both.ids[one], both.ids[other], distances
            open_run = _last_run(both, limits.max_compared)


def _joined(first: JoinRows, second: JoinRows) -> JoinRows:
    return JoinRows._make(np.concatenate(pair) for pair in zip(first, second, strict=True))


def _last_run(rows: JoinRows, most: int) -> JoinRows:
    """Return the rows of the last key that those to come can be compared with."""
    start = int(np.searchsorted(rows.keys.view(np.int64), rows.keys.view(np.int64)[-1]))
    if len(rows.keys) - start <= 2 * most:
        return JoinRows._make(column[start:] for column in rows)
    ends = (slice(start, start + most), slice(-most, None))
    return JoinRows._make(np.concatenate([column[end] for end in ends]) for column in rows)
