"""Loops over near texts: what pairs of them share, and verdicts in crawl order.

A class holds the arrays of the named tuple of its name, so that functions without the interpreter's
lock can share them.
"""

import numpy as np

from libc.math cimport NAN
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t

from neardup.evaluation import near_arrays

cdef:
    int32_t NONE = near_arrays.NONE
    double UNKNOWN = -1.0


cdef class SetArrays:
    cdef const uint64_t[::1] hashes
    cdef const int64_t[::1] starts, whole_starts
    cdef const int32_t[::1] sizes, whole_sizes

    def __cinit__(self, arrays):
        self.hashes, self.starts, self.sizes, self.whole_starts, self.whole_sizes = arrays


cdef class Lists:
    """Near lists; ``rests`` are what the texts of a pair share outside boilerplate, if known."""

    cdef const int64_t[::1] starts
    cdef const int32_t[::1] earlier
    cdef const uint8_t[::1] distance, is_other, is_candidate
    cdef const double[::1] similarity, rests

    def __cinit__(self, arrays, rests):
        self.starts, self.earlier, self.distance, *measures = arrays
        self.similarity, self.is_other, self.is_candidate = measures
        self.rests = rests


cdef int64_t common(
    const uint64_t[::1] hashes, int64_t first, int64_t ours, int64_t second, int64_t theirs
) except -1 nogil:
    """Return how many values are in both of two ascending sets, given by their starts and sizes."""
    cdef int64_t first_end = first + ours, second_end = second + theirs, found = 0
    cdef uint64_t one, other
    while first < first_end and second < second_end:
        one, other = hashes[first], hashes[second]
        # Without a branch, which would be guessed wrongly every second time.
        found += one == other
        first += one <= other
        second += other <= one
    return found


cdef double jaccard(
    const uint64_t[::1] hashes, int64_t first, int64_t ours, int64_t second, int64_t theirs
) except -2 nogil:
    """Return the Jaccard similarity of two sets, each given by its start and its size."""
    cdef int64_t both = common(hashes, first, ours, second, theirs)
    cdef int64_t in_either = ours + theirs - both
    return both / <double>in_either if in_either else 1.0


cdef double similarity_of(SetArrays sets, int64_t one, int64_t other) except -2 nogil:
    """Return the Jaccard similarity of two texts' sets; -1 where one of them is not held.

    It is the least of the texts and of the wholes that they were taken from, as
    ``neardup.verification.compared_with`` has it.
    """
    cdef int64_t ours = sets.sizes[one], theirs = sets.sizes[other]
    cdef int64_t first = sets.starts[one], second = sets.starts[other]
    cdef double found
    if ours < 0 or theirs < 0:
        return UNKNOWN
    found = jaccard(sets.hashes, first, ours, second, theirs)
    if sets.whole_sizes[one] < 0 and sets.whole_sizes[other] < 0:
        return found
    if sets.whole_sizes[one] >= 0:
        first, ours = sets.whole_starts[one], sets.whole_sizes[one]
    if sets.whole_sizes[other] >= 0:
        second, theirs = sets.whole_starts[other], sets.whole_sizes[other]
    return min(found, jaccard(sets.hashes, first, ours, second, theirs))


def similarities(sets, const int64_t[::1] ones, const int64_t[::1] others):
    """Return the Jaccard similarity of each pair of texts, given by their numbers: float64.

    It is -1 where the set of one of them is not held.

    Complexity: O(shingles of the pairs).
    """
    cdef SetArrays of = SetArrays(sets)
    cdef Py_ssize_t pair
    array = np.empty(ones.shape[0])
    cdef double[::1] found = array
    with nogil:
        for pair in range(ones.shape[0]):
            found[pair] = similarity_of(of, ones[pair], others[pair])
    return array


def shared_shares(sets, const int64_t[::1] ones, const int64_t[::1] others):
    """Return the share of the smaller set that stands in the other one, for each pair of texts.

    Returns:
        float64, (pairs,): 1.0 where one of them has no set, 0.0 where just one of the sets is
        empty.

    Complexity: O(shingles of the pairs).
    """
    cdef SetArrays of = SetArrays(sets)
    cdef Py_ssize_t pair
    cdef int64_t one, other, ours, theirs, both
    array = np.ones(ones.shape[0])
    cdef double[::1] shares = array
    with nogil:
        for pair in range(ones.shape[0]):
            one, other = ones[pair], others[pair]
            ours, theirs = of.sizes[one], of.sizes[other]
            if one != other and ours > 0 and theirs > 0:
                both = common(of.hashes, of.starts[one], ours, of.starts[other], theirs)
                shares[pair] = both / <double>min(ours, theirs)
            elif ours + theirs > 0 and min(ours, theirs) == 0:
                shares[pair] = 0.0
    return array


cdef int NEW, TOO_SHORT, CHANGED, SAME_TEMPLATE, PAYLOAD, TEXT, SIMHASH, CANDIDATE, CONTAINED
NEW, TOO_SHORT, CHANGED, SAME_TEMPLATE, PAYLOAD, TEXT, SIMHASH, CANDIDATE, CONTAINED = range(
    len(near_arrays.LAYERS)
)


cdef struct Bounds:
    int64_t max_distance
    int64_t min_words
    bint verify
    double min_similarity
    bint compare_names
    bint ignore_boilerplate
    bint drop_contained


cdef struct Found:
    # A kept place with its distance and similarity to another; the place is -1 for none.
    int64_t place
    int64_t distance
    double similarity


cdef struct Walked:
    # Of a list: the first kept place that is confirmed, the first of these that says something
    # else outside boilerplate, and the first that has another name.
    Found same
    Found rest
    Found other


cdef Found NOTHING = Found(-1, -1, UNKNOWN)


cdef Found nearer(Found found, Found new) noexcept nogil:
    """Return which of two comes first: the nearer one, of those as near the earlier place."""
    if found.place < 0 or found.distance > new.distance:
        return new
    return new if found.distance == new.distance and found.place >= new.place else found


cdef int walk(
    const int32_t[::1] items, Lists lists, int32_t[::1] kept, Bounds bounds, bint are_candidates,
    int64_t place, Walked *walked,
) except -1 nogil:
    """Look for kept places among those near a place, nearest first, then by place.

    They are those within ``max_distance``, or the candidates at any distance. ``kept`` is the kept
    place of each item, which need not be the one that the list names.
    """
    cdef bint has_rests = bounds.ignore_boilerplate and lists.rests.shape[0] > 0
    cdef int64_t pair, bits, earlier
    cdef double similarity
    cdef bint is_asked
    cdef Found found
    walked.same = walked.rest = walked.other = NOTHING
    for pair in range(lists.starts[place], lists.starts[place + 1]):
        bits = lists.distance[pair]
        if walked.same.place >= 0 and bits > walked.same.distance:
            break
        is_asked = lists.is_candidate[pair] if are_candidates else bits <= bounds.max_distance
        if not is_asked:
            continue
        earlier = kept[items[lists.earlier[pair]]]
        if earlier == NONE:
            continue
        similarity = lists.similarity[pair]
        if bounds.verify and not (similarity >= 0.0 and similarity >= bounds.min_similarity):
            continue
        found = Found(earlier, bits, similarity)
        if bounds.compare_names and lists.is_other[pair]:
            walked.other = nearer(walked.other, found)
        elif has_rests and lists.rests[pair] < bounds.min_similarity:
            walked.rest = nearer(walked.rest, found)
        else:
            walked.same = nearer(walked.same, found)
    return 0


cdef Found either(Found found, Found otherwise) noexcept nogil:
    return found if found.place >= 0 else otherwise


cdef int look(
    const int32_t[::1] items, Lists lists, int32_t[::1] kept, Bounds bounds, int64_t place,
    Walked *walked,
) except -1 nogil:
    """Look among the near fingerprints, and where similarity confirms, among the candidates.

    ``other`` of the result is the page that the place resembles: a crawl reads texts of other names
    only where it found nothing else.
    """
    cdef Walked farther
    walk(items, lists, kept, bounds, False, place, walked)
    if walked.same.place < 0 and bounds.verify:
        walk(items, lists, kept, bounds, True, place, &farther)
        walked.same = farther.same
        walked.rest = either(walked.rest, farther.rest)
        walked.other = either(walked.other, farther.other)
    walked.other = either(walked.rest, walked.other)
    return 0


cdef int64_t container_of(
    const int32_t[::1] items, const int64_t[::1] starts, const int32_t[::1] containers,
    const uint8_t[::1] is_other, int32_t[::1] kept, Bounds bounds, int64_t place,
) except -2 nogil:
    """Return the first kept place of no other name that a place is a part of; -1: there is none."""
    cdef int64_t pair, item
    if not (bounds.drop_contained and bounds.verify and starts.shape[0] > 0):
        return -1
    for pair in range(starts[place], starts[place + 1]):
        item = items[containers[pair]]
        if item >= 0 and kept[item] != NONE and not (bounds.compare_names and is_other[pair]):
            return kept[item]
    return -1


cdef int64_t first_of(int64_t[::1] firsts, int32_t number) except -2 nogil:
    """Return the kept place of a text or payload; -1: none is kept, or the number is not known."""
    return firsts[number] if number >= 0 else -1


def judge(columns, near, given_bounds, verdicts):
    """Write the verdicts on all places, each as that of a ``Deduplicator``.

    Args:
        columns: ``Columns`` of the places.
        near: ``Near``.
        given_bounds: ``Bounds``.
        verdicts: ``Verdicts`` of the same length, which are written.

    Complexity: O(places + pairs).
    """
    cdef const int32_t[::1] texts = columns.texts, payloads = columns.payloads
    cdef const int32_t[::1] words = columns.words
    cdef const uint8_t[::1] is_changed = columns.is_changed, is_other = near.containers.is_other
    cdef const int32_t[::1] items = near.members.items
    cdef Lists lists = Lists(near.lists, near.rests)
    cdef const int64_t[::1] starts = near.containers.starts
    cdef const int32_t[::1] containers = near.containers.earlier
    cdef Bounds bounds = given_bounds._asdict()
    cdef uint8_t[::1] is_kept = verdicts.kept, layers = verdicts.layer
    cdef int64_t[::1] original = verdicts.original, resembles = verdicts.resembles
    cdef int16_t[::1] distance = verdicts.distance
    cdef float[::1] similarity = verdicts.similarity
    cdef int64_t[::1] of_payloads = np.full(columns.payloads.max(initial=-1) + 1, -1, np.int64)
    cdef int64_t[::1] of_texts = np.full(columns.texts.max(initial=-1) + 1, -1, np.int64)
    cdef int32_t[::1] kept = np.full(near.members.items.max(initial=-1) + 1, NONE, np.int32)
    cdef int64_t place, payload, text, container
    cdef int layer
    cdef bint is_long, is_compared
    cdef Walked walked
    cdef Found found
    with nogil:
        for place in range(texts.shape[0]):
            payload = first_of(of_payloads, payloads[place])
            text = first_of(of_texts, texts[place])
            is_long = words[place] >= bounds.min_words
            is_compared = is_long and items[place] >= 0 and bounds.max_distance >= 0
            walked, container = Walked(NOTHING, NOTHING, NOTHING), -1
            if is_compared and payload < 0 and text < 0:
                look(items, lists, kept, bounds, place, &walked)
                container = container_of(items, starts, containers, is_other, kept, bounds, place)
            found = NOTHING
            if payload >= 0:
                layer, found = PAYLOAD, Found(payload, 0, 1.0)
            elif text >= 0:
                layer, found = TEXT, Found(text, 0, 1.0)
            elif walked.same.place >= 0:
                layer = SIMHASH if walked.same.distance <= bounds.max_distance else CANDIDATE
                found = walked.same
            elif container >= 0:
                layer, found = CONTAINED, Found(container, -1, UNKNOWN)
            elif is_changed[place]:
                layer = CHANGED
            elif walked.other.place >= 0:
                layer, found = SAME_TEMPLATE, walked.other
            else:
                layer = NEW if is_long else TOO_SHORT
            is_kept[place], layers[place] = layer < PAYLOAD, <uint8_t>layer
            original[place] = -1 if is_kept[place] else found.place
            resembles[place] = found.place if is_kept[place] else -1
            distance[place] = <int16_t>found.distance
            similarity[place] = <float>(found.similarity if found.similarity >= 0.0 else NAN)
            if is_kept[place]:
                # Of what is kept, no payload and no text was kept before.
                if payloads[place] >= 0:
                    of_payloads[payloads[place]] = place
                if texts[place] >= 0:
                    of_texts[texts[place]] = place
                if is_compared:
                    kept[items[place]] = <int32_t>place
