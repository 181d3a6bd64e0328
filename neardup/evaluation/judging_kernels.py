"""Judging many texts in crawl order, each against those that were kept before it."""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.evaluation.judging import (
    CANDIDATE,
    CHANGED,
    CONTAINED,
    NEW,
    PAYLOAD,
    SAME_TEMPLATE,
    SIMHASH,
    TEXT,
    TOO_SHORT,
    Bounds,
    Columns,
    Near,
    Verdicts,
)
from neardup.evaluation.kernel_types import (
    BOUNDS,
    COLUMNS,
    INTS32,
    INTS64,
    NEAR,
    VERDICTS,
    Int,
)
from neardup.evaluation.near_arrays import NONE


class Found(NamedTuple):
    """A kept place with its distance and similarity to another; the place is -1 for none."""

    place: Int
    distance: Int
    similarity: float


class Walked(NamedTuple):
    """The columns of a list.

    Attributes:
        same: The first kept place that is confirmed.
        rest: The first one that is confirmed and says something else outside boilerplate.
        other: The first one that is confirmed and has another name.
        unknown: The number of kept places that could not be compared.
    """

    same: Found
    rest: Found
    other: Found
    unknown: Int


_typed: Any = types
FOUND = _typed.NamedTuple((types.int64, types.int64, types.float64), Found)
WALKED = _typed.NamedTuple((FOUND, FOUND, FOUND, types.int64), Walked)

_NOTHING = Found(-1, -1, -1.0)


@compiled(types.boolean(BOUNDS, types.float64))
def _is_confirmed(bounds: Bounds, similarity: float) -> bool:
    """Whether a near place is a duplicate; one of unknown similarity (-1) is not confirmed."""
    return not bounds.verify or (similarity >= 0.0 and similarity >= bounds.min_similarity)


@compiled(types.boolean(FOUND, types.int64, types.int64))
def _is_before(found: Found, bits: Int, place: Int) -> bool:
    """Whether what was found comes before a kept place: it is nearer, or as near and earlier."""
    return found.place >= 0 and (found.distance, found.place) < (bits, place)


@compiled(WALKED(NEAR, INTS32, BOUNDS, types.int64, types.boolean))
def _walk(
    near: Near, kept: NDArray[np.int32], bounds: Bounds, place: Int, are_candidates: bool
) -> Walked:
    """Look for kept places in a list of a place, nearest first, then by place.

    ``kept`` is the kept place of each item, which need not be the one that the list names. The
    list is that of the candidates, or else that of the near fingerprints.
    """
    items, max_bits = near.members.items, bounds.max_distance
    lists, rests = near.lists, near.list_rests
    if are_candidates:
        lists, rests, max_bits = near.candidates, near.candidate_rests, 64
    has_rests = bounds.ignore_boilerplate and len(rests) > 0
    same, rest, other, unknown = _NOTHING, _NOTHING, _NOTHING, 0
    for pair in range(lists.starts[place], lists.starts[place + 1]):
        bits = np.int64(lists.distance[pair])
        if bits > max_bits or (same.place >= 0 and bits > same.distance):
            break
        earlier = np.int64(kept[items[lists.earlier[pair]]])
        if earlier == NONE:
            continue
        similarity = lists.similarity[pair]
        unknown += int(bounds.verify and similarity < 0.0)
        if not _is_confirmed(bounds, similarity):
            continue
        found = Found(earlier, bits, similarity)
        if bounds.compare_names and lists.is_other[pair]:
            if not _is_before(other, bits, earlier):
                other = found
        elif has_rests and rests[pair] < bounds.min_similarity:
            if not _is_before(rest, bits, earlier):
                rest = found
        elif not _is_before(same, bits, earlier):
            same = found
    return Walked(same, rest, other, unknown)


@compiled(FOUND(FOUND, FOUND))
def _first(found: Found, otherwise: Found) -> Found:
    return found if found.place >= 0 else otherwise


@compiled(WALKED(NEAR, INTS32, BOUNDS, types.int64))
def _look(near: Near, kept: NDArray[np.int32], bounds: Bounds, place: Int) -> Walked:
    """Look among the near fingerprints, and where similarity confirms, among the candidates.

    ``other`` of the result is the page that the place resembles: a crawl reads texts of other names
    only where it found nothing else.
    """
    walked = _walk(near, kept, bounds, place, False)
    if walked.same.place < 0 and bounds.verify:
        farther = _walk(near, kept, bounds, place, True)
        rest, other = _first(walked.rest, farther.rest), _first(walked.other, farther.other)
        walked = Walked(farther.same, rest, other, walked.unknown + farther.unknown)
    return Walked(walked.same, walked.rest, _first(walked.rest, walked.other), walked.unknown)


@compiled(types.int64(NEAR, INTS32, BOUNDS, types.int64))
def _container(near: Near, kept: NDArray[np.int32], bounds: Bounds, place: Int) -> Int:
    """Return the first kept place of no other name that a place is a part of; -1: there is none."""
    containers = near.containers
    if not (bounds.drop_contained and bounds.verify and len(containers.starts) > 0):
        return -1
    for pair in range(containers.starts[place], containers.starts[place + 1]):
        item = near.members.items[containers.earlier[pair]]
        is_other = bounds.compare_names and containers.is_other[pair]
        if item >= 0 and kept[item] != NONE and not is_other:
            return np.int64(kept[item])
    return -1


@compiled(types.void(VERDICTS, types.int64, types.int64, FOUND))
def _drop(verdicts: Verdicts, place: Int, layer: Int, found: Found) -> None:
    verdicts.kept[place], verdicts.layer[place] = False, layer
    verdicts.original[place], verdicts.resembles[place] = found.place, -1
    verdicts.distance[place] = found.distance
    verdicts.similarity[place] = found.similarity if found.similarity >= 0.0 else np.nan


@compiled(types.void(VERDICTS, types.int64, types.int64, FOUND))
def _keep(verdicts: Verdicts, place: Int, layer: Int, resembled: Found) -> None:
    verdicts.kept[place], verdicts.layer[place] = True, layer
    verdicts.original[place], verdicts.resembles[place] = -1, resembled.place
    verdicts.distance[place] = resembled.distance
    verdicts.similarity[place] = resembled.similarity if resembled.similarity >= 0.0 else np.nan


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
    kept = np.full(len(near.members.first_of_item), NONE, np.int32)
    for place in range(places):
        # An unknown number is -1, the last place of the array, where nothing is ever kept.
        payload, text = columns.payloads[place], columns.texts[place]
        is_long = columns.words[place] >= bounds.min_words
        is_compared = is_long and near.members.classes[place] >= 0 and bounds.max_distance >= 0
        walked, container = Walked(_NOTHING, _NOTHING, _NOTHING, 0), np.int64(-1)
        if payloads[payload] >= 0:
            _drop(verdicts, place, PAYLOAD, Found(payloads[payload], 0, 1.0))
        elif texts[text] >= 0:
            _drop(verdicts, place, TEXT, Found(texts[text], 0, 1.0))
        else:
            if is_compared:
                walked = _look(near, kept, bounds, place)
                container = _container(near, kept, bounds, place)
            if walked.same.place >= 0:
                is_near = walked.same.distance <= bounds.max_distance
                _drop(verdicts, place, SIMHASH if is_near else CANDIDATE, walked.same)
            elif container >= 0:
                _drop(verdicts, place, CONTAINED, Found(container, -1, -1.0))
            elif columns.is_changed[place]:
                _keep(verdicts, place, CHANGED, _NOTHING)
            elif walked.other.place >= 0:
                _keep(verdicts, place, SAME_TEMPLATE, walked.other)
            else:
                _keep(verdicts, place, NEW if is_long else TOO_SHORT, _NOTHING)
        not_compared += int(walked.unknown > 0)
        if verdicts.kept[place]:
            _note(payloads, payload, place)
            _note(texts, text, place)
            if is_compared:
                kept[near.members.items[place]] = place
    return not_compared
