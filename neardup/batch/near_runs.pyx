"""The loop over rows of a join, which compares each with those of its key before it."""

from libc.stdint cimport int64_t, uint64_t

cdef extern from *:
    """
    #include "neardup/kernels.h"

    /* How many of 32 values of two bits differ. */
    static inline int unequal_values(uint64_t one, uint64_t other)
    {
        uint64_t different = one ^ other;
        return set_bits((different | different >> 1) & 0x5555555555555555ULL);
    }

    /*
     * Returns the first row from one on, and before another, that is within both limits of a third
     * one, and in how many values and bits the two differ; the end where none is.
     */
    FOR_EACH_PROCESSOR static int64_t next_near(
        const uint64_t *fingerprints, const uint64_t *sketch0, const uint64_t *sketch1, int64_t row,
        int64_t one, int64_t end, int64_t radius, int64_t most, int64_t *distance, int64_t *unequal)
    {
        for (; one < end; one++) {
            *distance = set_bits(fingerprints[one] ^ fingerprints[row]);
            if (*distance > radius)
                continue;
            *unequal = unequal_values(sketch0[one], sketch0[row]);
            *unequal += unequal_values(sketch1[one], sketch1[row]);
            if (*unequal <= most)
                break;
        }
        return one;
    }
    """
    int64_t next_near(
        const uint64_t *fingerprints, const uint64_t *sketch0, const uint64_t *sketch1, int64_t row,
        int64_t one, int64_t end, int64_t radius, int64_t most, int64_t *distance,
        int64_t *unequal,
    ) noexcept nogil

cdef:
    # Under a key with more rows before a row than this, few are taken.
    int64_t MANY = 64
    # No further rows are looked at under a key where so many are similar.
    int64_t ENOUGH = 64


cdef bint is_first(
    uint64_t different, uint64_t key, const uint64_t[::1] masks
) except -1 nogil:
    """Whether two fingerprints, by the bits that differ, do not meet in an earlier table."""
    cdef Py_ssize_t table
    for table in range(min(masks.shape[0], <Py_ssize_t>(key >> 48))):
        if not different & masks[table]:
            return False
    return True


cdef int put(
    int64_t[:, ::1] pairs, int64_t at, int64_t one, int64_t other, int64_t unequal
) except -1 nogil:
    pairs[at, 0], pairs[at, 1], pairs[at, 2] = one, other, unequal
    return 0


def near_in_runs(
    rows, Py_ssize_t begin, const uint64_t[::1] masks, limits, int64_t[:, ::1] pairs
):
    """Compare each row from ``begin`` on with those of its key before it; return how many are near.

    A row of which not all before it are compared is found once with itself.

    Args:
        rows: ``JoinRows``, sorted by key, then by id.
        begin: The first row that was not compared yet.
        masks: uint64: the masks of the tables; only the first table in which a pair meets finds it.
        limits: The ``Limits`` of the search.
        pairs: int64, (pairs, 3): takes the smaller place of each pair that is found, the larger
            one, and in how many values they differ; with room for 2 * max_found + 1 a row.

    Complexity: O(min(length of run, 2 * max_compared)) a row.
    """
    cdef const uint64_t[::1] keys, fingerprints, sketch0, sketch1
    cdef const int64_t[::1] ids
    cdef int64_t radius, max_unequal, max_similar, first_new, max_compared
    cdef int64_t max_found, max_of_many, nearest_of_many
    radius, max_unequal, max_similar, first_new, *of_key = limits
    max_compared, max_found, max_of_many, nearest_of_many = of_key
    cdef int64_t row, start = 0, found = 0, room, others, similar, nearest, end, other, stop, at
    cdef int64_t near, distance = 0, unequal = 0, enough = max(ENOUGH, max_found)
    cdef bint is_cut
    keys, ids, fingerprints, sketch0, sketch1 = rows
    assert len(set(map(len, rows))) == 1
    with nogil:
        for row in range(keys.shape[0]):
            if row and keys[row] != keys[row - 1]:
                start = row
            if row < begin or ids[row] < first_new:
                continue
            is_cut = row - start > 2 * max_compared
            if is_cut:
                put(pairs, found, row, row, 0)
                found += 1
            room = others = max_found
            if row - start > MANY:
                room, others = max_of_many, nearest_of_many
            similar, nearest, end = 0, found + room, found + room
            other, stop = start, start + max_compared if is_cut else row
            while similar < enough:
                other = next_near(
                    &fingerprints[0], &sketch0[0], &sketch1[0], row, other, stop,
                    radius, max_unequal, &distance, &unequal,
                )
                if other == stop:
                    if stop == row:
                        break
                    other, stop = row - max_compared, row
                    continue
                # A radius of all bits leaves it to the sketches.
                near = unequal if radius == 64 else distance
                if is_first(fingerprints[other] ^ fingerprints[row], keys[other], masks):
                    similar += near <= max_similar
                    if near <= max_similar and similar <= room:
                        put(pairs, found + similar - 1, other, row, near)
                    elif end < nearest + others or near < pairs[end - 1, 2]:
                        # It comes behind those that are as near, which are earlier.
                        at = min(end, nearest + others - 1)
                        end = at + 1
                        while at > nearest and pairs[at - 1, 2] > near:
                            put(pairs, at, pairs[at - 1, 0], row, pairs[at - 1, 2])
                            at -= 1
                        put(pairs, at, other, row, near)
                other += 1
            found += min(similar, room)
            for at in range(nearest, end):
                put(pairs, found, pairs[at, 0], row, pairs[at, 2])
                found += 1
    return found
