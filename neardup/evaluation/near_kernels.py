"""Lists of near texts, made from near fingerprints."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from neardup.compiled import compiled
from neardup.evaluation.kernel_types import (
    FLOATS64,
    INTS32,
    INTS64,
    LISTS,
    MEMBERS,
    NEAR_CLASSES,
    SETS,
    WORDS64,
    Int,
)
from neardup.evaluation.near_arrays import (
    FEW_TEXTS,
    MANY_PAIRS,
    MAX_COUNT,
    NONE,
    Lists,
    Members,
    NearClasses,
)
from neardup.evaluation.shingle_sets import SetArrays

UNKNOWN = -1.0


@compiled(types.int64(WORDS64, WORDS64))
def intersection_size(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> int:
    """Return the number of values that are in both of two sets, which ascend."""
    common, ours, theirs = 0, 0, 0
    while ours < len(first) and theirs < len(second):
        one, other = first[ours], second[theirs]
        # Without a branch, which would be guessed wrongly every second time.
        common += int(one == other)
        ours += int(one <= other)
        theirs += int(other <= one)
    return common


@compiled(types.float64(WORDS64, types.int64, types.int64, types.int64, types.int64))
def _jaccard(hashes: NDArray[np.uint64], first: Int, ours: Int, second: Int, theirs: Int) -> float:
    """Return the Jaccard similarity of two sets, each given by its start and its size."""
    both = intersection_size(hashes[first : first + ours], hashes[second : second + theirs])
    union = ours + theirs - both
    return float(both / union) if union else 1.0


@compiled(types.float64(SETS, types.int64, types.int64))
def similarity_of(sets: SetArrays, one: Int, other: Int) -> float:
    """Return the Jaccard similarity of two texts' sets; -1 where one of them is not held.

    It is the least of the texts and of the wholes that they were taken from, as
    ``neardup.verification.compared_with`` has it.
    """
    ours, theirs = sets.sizes[one], sets.sizes[other]
    if ours < 0 or theirs < 0:
        return UNKNOWN
    found = _jaccard(sets.hashes, sets.starts[one], ours, sets.starts[other], theirs)
    if sets.whole_sizes[one] < 0 and sets.whole_sizes[other] < 0:
        return found
    first, second = sets.starts[one], sets.starts[other]
    if sets.whole_sizes[one] >= 0:
        first, ours = sets.whole_starts[one], sets.whole_sizes[one]
    if sets.whole_sizes[other] >= 0:
        second, theirs = sets.whole_starts[other], sets.whole_sizes[other]
    return min(found, _jaccard(sets.hashes, first, ours, second, theirs))


@compiled(FLOATS64(SETS, INTS64, INTS64))
def similarities(
    sets: SetArrays, ones: NDArray[np.int64], others: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the similarity of each pair of texts, given by their numbers."""
    found = np.empty(len(ones), np.float64)
    for pair in range(len(ones)):
        found[pair] = similarity_of(sets, ones[pair], others[pair])
    return found


@compiled(types.void(MEMBERS, INTS32, INTS32, types.int64))
def link(members: Members, last: NDArray[np.int32], sizes: NDArray[np.int32], first: Int) -> None:
    """Put the places from ``first`` on into the chains of their classes.

    ``last`` and ``sizes`` are the last place and the length of each chain.
    """
    for place in range(first, len(members.classes)):
        number, text = members.classes[place], members.texts[place]
        if number < 0 or members.first_of_item[members.items[place]] != place:
            continue
        members.first_of_text[text] = min(place, members.first_of_text[text])
        if last[number] == NONE:
            members.first_of_class[number] = place
        else:
            members.next_of_class[last[number]] = place
        last[number] = place
        sizes[number] += 1


@compiled(types.float64(MEMBERS, SETS, types.int64, types.int64))
def _pair_similarity(members: Members, sets: SetArrays, earlier: Int, later: Int) -> float:
    """Return the similarity of two places; where a text is not held, what was stored of them."""
    found = similarity_of(sets, members.texts[earlier], members.texts[later])
    if found < 0.0 and members.original[later] == earlier:
        return float(members.stored[later])
    return found


@compiled(FLOATS64(MEMBERS, SETS, INTS64, INTS64))
def pair_similarities(
    members: Members, sets: SetArrays, earlier: NDArray[np.int64], later: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the similarity of each pair of places, as a list has it."""
    found = np.empty(len(later), np.float64)
    for pair in range(len(later)):
        found[pair] = _pair_similarity(members, sets, earlier[pair], later[pair])
    return found


@compiled(types.void(SETS, INTS64, INTS64, FLOATS64))
def shared_shares(
    sets: SetArrays,
    ones: NDArray[np.int64],
    others: NDArray[np.int64],
    shares: NDArray[np.float64],
) -> None:
    """Write the share of the smaller set that stands in the other one, for each pair of texts.

    It is 1.0 where one of them has no set, and 0.0 where just one of the sets is empty.
    """
    for pair in range(len(ones)):
        one, other = ones[pair], others[pair]
        ours, theirs = sets.sizes[one], sets.sizes[other]
        shares[pair] = 1.0
        if one != other and ours > 0 and theirs > 0:
            first, second = sets.starts[one], sets.starts[other]
            both = intersection_size(
                sets.hashes[first : first + ours], sets.hashes[second : second + theirs]
            )
            shares[pair] = both / min(ours, theirs)
        elif ours + theirs > 0 and min(ours, theirs) == 0:
            shares[pair] = 0.0


@compiled(types.int64(INTS32, types.int64, types.int64))
def _earliest_head(heads: NDArray[np.int32], first: Int, last: Int) -> Int:
    """Return which of some chains goes on with the earliest place; the first, if all ended."""
    best = first
    for chain in range(first + 1, last):
        if heads[chain] < heads[best]:
            best = chain
    return best


@compiled(types.boolean(types.int64, types.int64))
def _is_full(listed: Int, pairs: Int) -> bool:
    """Whether a list ends, by its texts and by the pairs of all lists."""
    return bool(listed >= MAX_COUNT or (listed >= FEW_TEXTS and pairs >= MANY_PAIRS))


@compiled(types.float64(MEMBERS, LISTS, types.int64, types.int64, types.int64))
def _listed_similarity(
    members: Members, lists: Lists, place: Int, bits: Int, earlier: Int
) -> float:
    """Return the similarity that the list of the text's first place has for an earlier place."""
    model = np.int64(members.first_of_text[members.texts[place]])
    if model >= place:
        return UNKNOWN
    first, last = lists.starts[model], lists.starts[model + 1]
    end = last
    while first < last:
        middle = (first + last) >> 1
        distance = lists.distance[middle]
        if distance < bits or (distance == bits and lists.earlier[middle] < earlier):
            first = middle + 1
        else:
            last = middle
    is_listed = first < end and lists.earlier[first] == earlier
    return float(lists.similarity[first]) if is_listed else UNKNOWN


@compiled(types.void(MEMBERS, SETS, LISTS, types.int64, types.int64, types.int64))
def _append(
    members: Members, sets: SetArrays, lists: Lists, place: Int, bits: Int, earlier: Int
) -> None:
    """Write one more text to the list of a place."""
    similarity = _listed_similarity(members, lists, place, bits, earlier)
    if similarity < 0.0:
        similarity = _pair_similarity(members, sets, earlier, place)
    used = lists.starts[place + 1]
    lists.earlier[used], lists.distance[used] = earlier, bits
    lists.similarity[used] = similarity
    lists.starts[place + 1] = used + 1


@compiled(types.void(MEMBERS, NEAR_CLASSES, SETS, LISTS, types.int64))
def _fill_one(
    members: Members, near: NearClasses, sets: SetArrays, lists: Lists, place: Int
) -> None:
    """Write the list of a place: of each distance the earliest place of any class, in turn."""
    text, row = members.texts[place], near.rows[members.classes[place]]
    begin, end = near.starts[row], near.starts[row + 1]
    heads = np.empty(end - begin, np.int32)
    for chain in range(end - begin):
        heads[chain] = members.first_of_class[near.classes[begin + chain]]
    first = begin
    while first < end:
        bits, last = np.int64(near.distances[first]), first
        while last < end and near.distances[last] == bits:
            last += 1
        while True:
            chain = _earliest_head(heads, first - begin, last - begin)
            earlier = np.int64(heads[chain])
            if earlier >= place:
                break
            heads[chain] = members.next_of_class[earlier]
            if members.texts[earlier] == text:
                continue
            used = lists.starts[place + 1]
            if _is_full(used - lists.starts[place], used):
                return
            _append(members, sets, lists, place, bits, earlier)
        first = last


@compiled(types.int64(MEMBERS, NEAR_CLASSES, SETS, LISTS, types.int64))
def fill(members: Members, near: NearClasses, sets: SetArrays, lists: Lists, first: Int) -> Int:
    """Write the lists of places from ``first`` on, as long as there is room for a longest one.

    Returns:
        The first place that still has no list.
    """
    for place in range(first, len(members.classes)):
        used = lists.starts[place]
        if used + MAX_COUNT > len(lists.earlier):
            return place
        lists.starts[place + 1] = used
        if members.classes[place] >= 0:
            _fill_one(members, near, sets, lists, place)
    return len(members.classes)
