"""Judging many texts in crawl order, each against those that were kept before it."""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.evaluation.judging import (
    CANDIDATE,
    CHANGED,
    MINHASH,
    NEW,
    PAYLOAD,
    SIMHASH,
    TEXT,
    TOO_SHORT,
    Bounds,
    Columns,
    Kept,
    Near,
    Verdicts,
)
from neardup.evaluation.kernel_types import (
    BOOLS,
    BOUNDS,
    COLUMNS,
    INTS64,
    KEPT,
    NEAR,
    VERDICTS,
    Int,
)
from neardup.evaluation.near_arrays import MAX_COUNT, NONE
from neardup.evaluation.search_kernels import (
    FOUND,
    START,
    Repeated,
    Start,
    is_confirmed,
    near_kept,
    note_kept,
    search,
)


class Walked(NamedTuple):
    """The place that a list finds; where that is not enough, a search goes on behind ``start``."""

    found: Repeated
    goes_on: bool
    start: Start


_typed: Any = types
WALKED = _typed.NamedTuple((FOUND, types.boolean, START), Walked)
REPEATED = _typed.Tuple((FOUND, INTS64))


@compiled(KEPT(types.int64, types.int64))
def _nothing_kept(places: Int, classes: Int) -> Kept:
    return Kept(
        np.zeros(2, np.int64),
        np.empty(classes, np.int32),
        np.empty(classes, np.uint64),
        np.full(classes, NONE, np.int32),
        np.full(classes, NONE, np.int32),
        np.full(places, NONE, np.int32),
        np.zeros(classes, np.bool_),
        np.zeros(classes, np.int32),
        np.full(classes, -1, np.int64),
    )


@compiled(WALKED(NEAR, KEPT, BOOLS, BOUNDS, types.int64))
def _walk(near: Near, kept: Kept, is_kept: NDArray[np.bool_], bounds: Bounds, place: Int) -> Walked:
    lists, classes = near.lists, near.members.classes
    seen, unknown, bits, before = 0, 0, np.int64(0), np.int64(-1)
    for pair in range(lists.starts[place], lists.starts[place + 1]):
        bits, earlier = np.int64(lists.distance[pair]), np.int64(lists.earlier[pair])
        if bits > bounds.radius:
            return Walked(Repeated(-1, -1, -1.0, unknown), False, Start(0, 0, 0))
        if kept.is_odd[classes[earlier]] and not bounds.by_minhash:
            # What is kept of its class stands in no list.
            return Walked(Repeated(-1, -1, -1.0, unknown), True, Start(bits, earlier - 1, seen))
        before = earlier
        if not is_kept[earlier]:
            continue
        if seen >= MAX_COUNT and bounds.verify:
            return Walked(Repeated(-1, -1, -1.0, unknown), False, Start(0, 0, 0))
        seen += 1
        similarity = lists.similarity[pair]
        if is_confirmed(bounds, similarity):
            return Walked(Repeated(earlier, bits, similarity, unknown), False, Start(0, 0, 0))
        unknown += int(similarity < 0.0)
    goes_on = bool(lists.is_cut[place])
    return Walked(Repeated(-1, -1, -1.0, unknown), goes_on, Start(bits, before, seen))


@compiled(REPEATED(NEAR, KEPT, BOOLS, BOUNDS, INTS64, types.int64))
def _repeated(
    near: Near,
    kept: Kept,
    is_kept: NDArray[np.bool_],
    bounds: Bounds,
    pool: NDArray[np.int64],
    place: Int,
) -> tuple[Repeated, NDArray[np.int64]]:
    """Return the place that a place repeats by its fingerprint, and the pool, which may grow."""
    walked = _walk(near, kept, is_kept, bounds, place)
    if not walked.goes_on:
        return walked.found, pool
    pool = near_kept(near, kept, pool, near.members.classes[place])
    found = search(near, kept, pool, bounds, place, walked.start)
    unknown = walked.found.unknown + found.unknown
    return Repeated(found.place, found.distance, found.similarity, unknown), pool


@compiled(types.void(VERDICTS, types.int64, types.int64, FOUND))
def _drop(verdicts: Verdicts, place: Int, layer: Int, found: Repeated) -> None:
    verdicts.kept[place], verdicts.layer[place] = False, layer
    verdicts.original[place], verdicts.distance[place] = found.place, found.distance
    verdicts.similarity[place] = found.similarity if found.similarity >= 0.0 else np.nan


@compiled(types.void(VERDICTS, types.int64, types.int64))
def _keep(verdicts: Verdicts, place: Int, layer: Int) -> None:
    verdicts.kept[place], verdicts.layer[place] = True, layer
    verdicts.original[place], verdicts.distance[place] = -1, -1
    verdicts.similarity[place] = np.nan


@compiled(types.int64(BOUNDS, types.int64))
def _layer(bounds: Bounds, distance: Int) -> Int:
    if bounds.by_minhash:
        return MINHASH
    return SIMHASH if distance <= bounds.max_distance else CANDIDATE


@compiled(types.void(INTS64, types.int64, types.int64))
def _note(firsts: NDArray[np.int64], number: Int, place: Int) -> None:
    if number >= 0 and firsts[number] < 0:
        firsts[number] = place


@compiled(types.int64(COLUMNS, NEAR, BOUNDS, VERDICTS))
def judge(columns: Columns, near: Near, bounds: Bounds, verdicts: Verdicts) -> Int:
    """Write the verdicts on all places, each as that of a ``Deduplicator``.

    Returns:
        How many places could not be compared with one that is kept, since a text is not stored.
    """
    places, not_compared = len(columns.texts), 0
    payloads = np.full(places + 1, -1, np.int64)
    texts = np.full(columns.texts.max() + 2 if places else 1, -1, np.int64)
    is_kept = np.zeros(places, np.bool_)
    kept = _nothing_kept(places, len(near.fingerprints))
    pool = np.empty(1024, np.int64)
    for place in range(places):
        # An unknown number is -1, the last place of the array, where nothing is ever kept.
        payload, text = columns.payloads[place], columns.texts[place]
        is_long = columns.words[place] >= bounds.min_words
        is_compared = is_long and near.members.classes[place] >= 0 and bounds.radius >= 0
        found = Repeated(-1, -1, -1.0, 0)
        if payloads[payload] >= 0:
            _drop(verdicts, place, PAYLOAD, Repeated(payloads[payload], 0, 1.0, 0))
        elif texts[text] >= 0:
            _drop(verdicts, place, TEXT, Repeated(texts[text], 0, 1.0, 0))
        else:
            if is_compared:
                found, pool = _repeated(near, kept, is_kept, bounds, pool, place)
            if found.place >= 0:
                _drop(verdicts, place, _layer(bounds, found.distance), found)
            elif columns.is_changed[place]:
                _keep(verdicts, place, CHANGED)
            else:
                _keep(verdicts, place, NEW if is_long else TOO_SHORT)
        not_compared += int(found.unknown > 0)
        if verdicts.kept[place]:
            _note(payloads, payload, place)
            _note(texts, text, place)
            if is_compared:
                is_kept[place] = True
                note_kept(near, kept, place)
    return not_compared
