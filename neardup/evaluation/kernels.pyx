"""Loops over near texts: lists of them, the pairs of a crawl, and verdicts in crawl order.

A class holds the arrays of the named tuple of its name, so that functions without the interpreter's
lock can share them.
"""

import numpy as np

from libc.math cimport NAN
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t

from neardup.evaluation import layers as layer_names, near_arrays

cdef:
    int32_t NONE = near_arrays.NONE
    int64_t MAX_COUNT = near_arrays.MAX_COUNT
    int64_t MANY_PAIRS = near_arrays.MANY_PAIRS
    int64_t FEW_TEXTS = near_arrays.FEW_TEXTS
    double UNKNOWN = -1.0


cdef class SetArrays:
    cdef const uint64_t[::1] hashes
    cdef const int64_t[::1] starts, whole_starts
    cdef const int32_t[::1] sizes, whole_sizes

    def __cinit__(self, arrays):
        self.hashes, self.starts, self.sizes, self.whole_starts, self.whole_sizes = arrays


cdef class Lists:
    """Near lists; ``rests`` are what the texts of a pair share outside boilerplate, if known."""

    cdef int64_t[::1] starts
    cdef int32_t[::1] earlier
    cdef uint8_t[::1] distance
    cdef double[::1] similarity
    cdef const uint8_t[::1] is_other
    cdef const double[::1] rests

    def __cinit__(self, arrays, rests=()):
        self.starts, self.earlier, self.distance, self.similarity, self.is_other = arrays
        self.rests = np.asarray(rests, np.float64)


cdef class Members:
    cdef const int32_t[::1] texts, items, classes, original
    cdef const double[::1] stored
    cdef int32_t[::1] first_of_text, first_of_item, first_of_class, next_of_class

    def __cinit__(self, arrays):
        self.texts, self.items, self.classes, self.original, self.stored, *chains = arrays
        self.first_of_text, self.first_of_item, self.first_of_class, self.next_of_class = chains


cdef class NearClasses:
    cdef const int32_t[::1] rows
    cdef const int64_t[::1] starts, classes
    cdef const uint8_t[::1] distances

    def __cinit__(self, arrays):
        self.rows, self.starts, self.classes, self.distances = arrays


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


def link(members, int32_t[::1] last, int32_t[::1] sizes, Py_ssize_t first):
    """Put the places from ``first`` on into the chains of their classes.

    Args:
        members: ``Members`` of all places, whose chains end before ``first``.
        last: int32, (classes,): the last place of each chain, ``NONE`` of an empty one.
        sizes: int32, (classes,): the length of each chain.
        first: The first place that is in no chain yet.

    Complexity: O(places).
    """
    cdef Members of = Members(members)
    cdef Py_ssize_t place
    cdef int32_t number, text
    with nogil:
        for place in range(first, of.classes.shape[0]):
            number, text = of.classes[place], of.texts[place]
            if number < 0 or of.first_of_item[of.items[place]] != place:
                continue
            of.first_of_text[text] = min(<int32_t>place, of.first_of_text[text])
            if last[number] == NONE:
                of.first_of_class[number] = <int32_t>place
            else:
                of.next_of_class[last[number]] = <int32_t>place
            last[number] = <int32_t>place
            sizes[number] += 1


cdef double listed_similarity(
    Members members, Lists lists, int64_t place, int64_t bits, int64_t earlier
) except -2 nogil:
    """Return the similarity that the list of the text's first place has for an earlier place."""
    cdef int64_t model = members.first_of_text[members.texts[place]]
    cdef int64_t first, last, end, middle, distance
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
    return lists.similarity[first] if first < end and lists.earlier[first] == earlier else UNKNOWN


cdef int fill_one(
    Members members, NearClasses near, SetArrays sets, Lists lists, int64_t place,
    int32_t[::1] heads,
) except -1 nogil:
    """Write the list of a place: of each distance the earliest place of any class, in turn.

    A list ends by its texts and by the pairs of all lists. ``heads`` is room for the next place of
    each near class.
    """
    cdef int32_t text = members.texts[place], earlier
    cdef int64_t row = near.rows[members.classes[place]]
    cdef int64_t first = near.starts[row], end = near.starts[row + 1], last, chain, best, used
    cdef uint8_t bits
    cdef double similarity
    for chain in range(first, end):
        heads[chain] = members.first_of_class[near.classes[chain]]
    while first < end:
        bits, last = near.distances[first], first
        while last < end and near.distances[last] == bits:
            last += 1
        while True:
            best = first
            for chain in range(first + 1, last):
                if heads[chain] < heads[best]:
                    best = chain
            earlier = heads[best]
            if earlier >= place:
                break
            heads[best] = members.next_of_class[earlier]
            if members.texts[earlier] == text:
                continue
            used = lists.starts[place + 1]
            if used - lists.starts[place] >= (MAX_COUNT if used < MANY_PAIRS else FEW_TEXTS):
                return 0
            similarity = listed_similarity(members, lists, place, bits, earlier)
            if similarity < 0.0:
                similarity = similarity_of(sets, members.texts[earlier], text)
            if similarity < 0.0 and members.original[place] == earlier:
                similarity = members.stored[place]
            lists.earlier[used], lists.distance[used] = earlier, bits
            lists.similarity[used] = similarity
            lists.starts[place + 1] = used + 1
        first = last
    return 0


def fill(members, near, sets, lists, Py_ssize_t first):
    """Write the lists of places from ``first`` on, as long as there is room for a longest one.

    Args:
        members: ``Members`` of all places.
        near: ``NearClasses`` of the classes of the places from ``first`` on.
        sets: The ``SetArrays`` of their texts and of those near them.
        lists: The ``Lists`` of all places: ``starts`` is right up to ``first``, the columns of
            pairs have room.
        first: The first place that has no list yet.

    Returns:
        The first place that still has no list.

    Complexity: O(pairs * (classes near each + shingles of the two)).
    """
    cdef Members of = Members(members)
    cdef NearClasses classes = NearClasses(near)
    cdef SetArrays of_texts = SetArrays(sets)
    cdef Lists to = Lists(lists)
    cdef Py_ssize_t place, places = of.classes.shape[0]
    cdef int32_t[::1] heads = np.empty(classes.classes.shape[0], np.int32)
    with nogil:
        for place in range(first, places):
            if to.starts[place] + MAX_COUNT > to.earlier.shape[0]:
                break
            to.starts[place + 1] = to.starts[place]
            if of.classes[place] >= 0:
                fill_one(of, classes, of_texts, to, place, heads)
        else:
            place = places
    return place


cdef bint is_counted(
    Members members, const uint8_t[::1] is_judged, int64_t place
) except -1 nogil:
    """Whether a place is judged, and the first of its text."""
    return is_judged[place] and members.first_of_text[members.texts[place]] == place


def count_pairs(near, const uint8_t[::1] is_judged, double min_similarity):
    """Return ``distinct_pairs.PairCounts`` in one array: int64, (9, 3), a row for each distance.

    Args:
        near: ``Near``, of which the members and the near lists are read.
        is_judged: bool, (places,): the places whose pairs count.
        min_similarity: The least similarity of a similar pair.

    Complexity: O(pairs).
    """
    cdef Members members = Members(near.members)
    cdef Lists lists = Lists(near.lists)
    cdef Py_ssize_t later, pair
    cdef int kind
    array = np.zeros((near_arrays.RADIUS + 1, 3), np.int64)
    cdef int64_t[:, ::1] counts = array
    with nogil:
        for later in range(is_judged.shape[0]):
            if not is_counted(members, is_judged, later):
                continue
            for pair in range(lists.starts[later], lists.starts[later + 1]):
                if is_counted(members, is_judged, lists.earlier[pair]):
                    kind = lists.similarity[pair] >= min_similarity
                    if lists.similarity[pair] < 0.0:
                        kind = 2
                    counts[lists.distance[pair], kind] += 1
    return array


def pick_pairs(
    near,
    const uint8_t[::1] is_judged,
    const int64_t[::1] totals,
    const int64_t[::1] quotas,
    bint with_unknown,
    int64_t[:, ::1] out,
):
    """Pick pairs as ``distinct_pairs.pick`` does, and return how many.

    Args:
        near: ``Near``, of which the members and the near lists are read.
        is_judged: bool, (places,): the places whose pairs count.
        totals: int64, (9,): how many pairs of each distance there are, at least 1.
        quotas: int64, (9,): how many to pick, no more than there are.
        with_unknown: Whether pairs of unknown similarity count.
        out: int64, (sum of quotas, 2): takes the later place of each, and where in the lists it
            stands.

    Complexity: O(pairs).
    """
    cdef Members members = Members(near.members)
    cdef Lists lists = Lists(near.lists)
    cdef int64_t[::1] met = np.zeros(near_arrays.RADIUS + 1, np.int64)
    cdef Py_ssize_t later, pair, picked = 0
    cdef int64_t before
    cdef uint8_t bits
    with nogil:
        for later in range(is_judged.shape[0]):
            if not is_counted(members, is_judged, later):
                continue
            for pair in range(lists.starts[later], lists.starts[later + 1]):
                if not (with_unknown or lists.similarity[pair] >= 0.0):
                    continue
                if not is_counted(members, is_judged, lists.earlier[pair]):
                    continue
                bits = lists.distance[pair]
                before = met[bits] * quotas[bits] // totals[bits]
                met[bits] += 1
                if met[bits] * quotas[bits] // totals[bits] > before:
                    out[picked, 0], out[picked, 1] = later, pair
                    picked += 1
    return picked


cdef int32_t root(int32_t[::1] parents, int32_t place) except -1 nogil:
    """Return the earliest place known to hang together with one."""
    while parents[place] != place:
        # Path halving: every second step leads to the grandparent from now on.
        parents[place] = parents[parents[place]]
        place = parents[place]
    return place


def families(near_lists, double min_similarity):
    """Return for each place the earliest one that it hangs together with by similar pairs.

    A chain is one family, however little its ends share.

    Args:
        near_lists: ``Lists`` of the places.
        min_similarity: The least similarity of a similar pair.

    Returns:
        int32, (places,).

    Complexity: O(pairs * log(places)) at worst, O(pairs) in practice.
    """
    cdef Lists lists = Lists(near_lists)
    cdef Py_ssize_t later, pair, count = lists.starts.shape[0] - 1
    cdef int32_t one, other
    array = np.arange(count, dtype=np.int32)
    cdef int32_t[::1] parents = array
    with nogil:
        for later in range(count):
            for pair in range(lists.starts[later], lists.starts[later + 1]):
                if lists.similarity[pair] >= min_similarity:
                    one = root(parents, lists.earlier[pair])
                    other = root(parents, <int32_t>later)
                    parents[max(one, other)] = min(one, other)
        for later in range(count):
            parents[later] = root(parents, <int32_t>later)
    return array


cdef int NEW, TOO_SHORT, CHANGED, SAME_TEMPLATE, PAYLOAD, TEXT, SIMHASH, CANDIDATE, CONTAINED
NEW, TOO_SHORT, CHANGED, SAME_TEMPLATE, PAYLOAD, TEXT, SIMHASH, CANDIDATE, CONTAINED = range(
    len(layer_names.LAYERS)
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
    # else outside boilerplate, the first that has another name, and the number of kept places that
    # could not be compared.
    Found same
    Found rest
    Found other
    int64_t unknown


cdef Found NOTHING = Found(-1, -1, UNKNOWN)


cdef Found nearer(Found found, Found new) noexcept nogil:
    """Return which of two comes first: the nearer one, of those as near the earlier place."""
    if found.place < 0 or found.distance > new.distance:
        return new
    return new if found.distance == new.distance and found.place >= new.place else found


cdef int walk(
    Members members, Lists lists, int32_t[::1] kept, Bounds bounds, int64_t max_bits,
    int64_t place, Walked *walked,
) except -1 nogil:
    """Look for kept places in a list of a place, nearest first, then by place.

    ``kept`` is the kept place of each item, which need not be the one that the list names.
    """
    cdef bint has_rests = bounds.ignore_boilerplate and lists.rests.shape[0] > 0
    cdef int64_t pair, bits, earlier
    cdef double similarity
    cdef Found found
    walked.same = walked.rest = walked.other = NOTHING
    walked.unknown = 0
    for pair in range(lists.starts[place], lists.starts[place + 1]):
        bits = lists.distance[pair]
        if bits > max_bits or (walked.same.place >= 0 and bits > walked.same.distance):
            break
        earlier = kept[members.items[lists.earlier[pair]]]
        if earlier == NONE:
            continue
        similarity = lists.similarity[pair]
        walked.unknown += bounds.verify and similarity < 0.0
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
    Members members, Lists lists, Lists candidates, int32_t[::1] kept, Bounds bounds,
    int64_t place, Walked *walked,
) except -1 nogil:
    """Look among the near fingerprints, and where similarity confirms, among the candidates.

    ``other`` of the result is the page that the place resembles: a crawl reads texts of other names
    only where it found nothing else.
    """
    cdef Walked farther
    walk(members, lists, kept, bounds, bounds.max_distance, place, walked)
    if walked.same.place < 0 and bounds.verify:
        walk(members, candidates, kept, bounds, 64, place, &farther)
        walked.same = farther.same
        walked.rest = either(walked.rest, farther.rest)
        walked.other = either(walked.other, farther.other)
        walked.unknown += farther.unknown
    walked.other = either(walked.rest, walked.other)
    return 0


cdef int64_t container_of(
    Members members, const int64_t[::1] starts, const int32_t[::1] containers,
    const uint8_t[::1] is_other, int32_t[::1] kept, Bounds bounds, int64_t place,
) except -2 nogil:
    """Return the first kept place of no other name that a place is a part of; -1: there is none."""
    cdef int64_t pair, item
    if not (bounds.drop_contained and bounds.verify and starts.shape[0] > 0):
        return -1
    for pair in range(starts[place], starts[place + 1]):
        item = members.items[containers[pair]]
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

    Returns:
        How many places could not be compared with one that is kept, since a text is not stored.

    Complexity: O(places + pairs).
    """
    cdef const int32_t[::1] texts = columns.texts, payloads = columns.payloads
    cdef const int32_t[::1] words = columns.words
    cdef const uint8_t[::1] is_changed = columns.is_changed, is_other = near.containers.is_other
    cdef Members members = Members(near.members)
    cdef Lists lists = Lists(near.lists, near.list_rests)
    cdef Lists candidates = Lists(near.candidates, near.candidate_rests)
    cdef const int64_t[::1] starts = near.containers.starts
    cdef const int32_t[::1] containers = near.containers.earlier
    cdef Bounds bounds = given_bounds._asdict()
    cdef uint8_t[::1] is_kept = verdicts.kept, layers = verdicts.layer
    cdef int64_t[::1] original = verdicts.original, resembles = verdicts.resembles
    cdef int16_t[::1] distance = verdicts.distance
    cdef float[::1] similarity = verdicts.similarity
    cdef int64_t[::1] of_payloads = np.full(columns.payloads.max(initial=-1) + 1, -1, np.int64)
    cdef int64_t[::1] of_texts = np.full(columns.texts.max(initial=-1) + 1, -1, np.int64)
    cdef int32_t[::1] kept = np.full(len(near.members.first_of_item), NONE, np.int32)
    cdef int64_t place, payload, text, container, not_compared = 0
    cdef int layer
    cdef bint is_long, is_compared
    cdef Walked walked
    cdef Found found
    with nogil:
        for place in range(texts.shape[0]):
            payload = first_of(of_payloads, payloads[place])
            text = first_of(of_texts, texts[place])
            is_long = words[place] >= bounds.min_words
            is_compared = is_long and members.classes[place] >= 0 and bounds.max_distance >= 0
            walked, container = Walked(NOTHING, NOTHING, NOTHING, 0), -1
            if is_compared and payload < 0 and text < 0:
                look(members, lists, candidates, kept, bounds, place, &walked)
                container = container_of(
                    members, starts, containers, is_other, kept, bounds, place
                )
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
            not_compared += walked.unknown > 0
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
                    kept[members.items[place]] = <int32_t>place
    return not_compared
