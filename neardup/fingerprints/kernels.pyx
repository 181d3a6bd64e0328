"""Loops over the hashes of a text: the bits of SimHash, the least values of MinHash and windows."""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

from neardup.kernels cimport FIRST

cdef extern from *:
    """
    #include <string.h>
    #include "neardup/kernels.h"

    FOR_EACH_PROCESSOR static void least_products(
        const uint64_t *hashes, int64_t count,
        const uint32_t *factors, uint32_t *least, int64_t rows)
    {
        for (int64_t place = 0; place < count; place++) {
            uint32_t value = (uint32_t)(hashes[place] >> 32) | 1;
            for (int64_t row = 0; row < rows; row++) {
                uint32_t product = value * factors[row];
                least[row] = product < least[row] ? product : least[row];
            }
        }
    }

    FOR_EACH_PROCESSOR static void weigh_bits(
        const uint64_t *hashes, const double *weights, int64_t count, double *sums)
    {
        /* The sums of 32 bits fit into registers. */
        for (int first = 0; first < 64; first += 32)
            for (int64_t place = 0; place < count; place++)
                for (int bit = 0; bit < 32; bit++) {
                    /* The sign is turned without a branch. */
                    uint64_t signed_bits;
                    double weight;
                    memcpy(&signed_bits, &weights[place], 8);
                    signed_bits ^= (~hashes[place] >> (first + bit) & 1) << 63;
                    memcpy(&weight, &signed_bits, 8);
                    sums[first + bit] += weight;
                }
    }
    """
    void least_products(
        const uint64_t *hashes, int64_t count,
        const uint32_t *factors, uint32_t *least, int64_t rows
    ) noexcept nogil
    void weigh_bits(
        const uint64_t *hashes, const double *weights, int64_t count, double *sums
    ) noexcept nogil


def distinct(uint64_t[::1] hashes, Py_ssize_t count, uint64_t salt):
    """Move the distinct ones of the first values to the front, in their order; return how many.

    The values go into a table with open addressing, half full at most. The place of a value in it
    depends on the salt, an odd number that the author of a text cannot know. Without it all
    shingles of a text could be made to want the same place, and the time would grow with the square
    of its length.

    Raises:
        MemoryError: There is no room for the table.

    Complexity: O(count) on average, whatever the values.
    """
    cdef Py_ssize_t place, slots = 16, found = 0, zeros = 0
    cdef int shift = 60
    cdef uint64_t value, spread, slot
    cdef bint is_new
    while slots < 2 * count:
        slots, shift = slots * 2, shift - 1
    cdef uint64_t *table = <uint64_t *>calloc(slots, sizeof(uint64_t))
    if table is NULL:
        raise MemoryError
    try:
        with nogil:
            for place in range(count):
                value = hashes[place]
                if value == 0:
                    # 0 is what an empty slot holds.
                    zeros += 1
                    is_new = zeros == 1
                else:
                    spread = value * salt
                    slot = (spread ^ spread >> 32) * FIRST >> shift
                    while table[slot] != 0 and table[slot] != value:
                        slot = (slot + 1) & (slots - 1)
                    is_new = table[slot] == 0
                    table[slot] = value
                if is_new:
                    hashes[found] = value
                    found += 1
    finally:
        free(table)
    return found


cdef uint64_t EACH = 0x0101010101010101ULL


def of_set(uint64_t[::1] hashes, Py_ssize_t count):
    """Return the SimHash of the first hashes, which weigh the same.

    Eight counters of a byte share one number, so eight numbers count the ones of 64 bits, and
    another takes each of them one step on.
    """
    cdef Py_ssize_t start, place
    cdef int64_t ones[64]
    cdef uint64_t sums[8]
    cdef uint64_t value, fingerprint = 0
    cdef int bit
    for bit in range(64):
        ones[bit] = 0
    with nogil:
        # A byte counts to 255.
        for start in range(0, count, 255):
            for bit in range(8):
                sums[bit] = 0
            for place in range(start, min(count, start + 255)):
                value = hashes[place]
                sums[0] += value & EACH
                sums[1] += value >> 1 & EACH
                sums[2] += value >> 2 & EACH
                sums[3] += value >> 3 & EACH
                sums[4] += value >> 4 & EACH
                sums[5] += value >> 5 & EACH
                sums[6] += value >> 6 & EACH
                sums[7] += value >> 7 & EACH
            for bit in range(64):
                ones[bit] += sums[bit & 7] >> (bit & 56) & 255
        for bit in range(64):
            # More ones than zeros is what a positive sum of +1 and -1 means.
            if 2 * ones[bit] > count:
                fingerprint |= <uint64_t>1 << bit
    return fingerprint


def of_weights(uint64_t[::1] hashes, double[::1] weights):
    """Return the SimHash of hashes with a finite weight each, summed in their order.

    None stands for that of hashes that weigh nothing.
    """
    cdef Py_ssize_t place, zeros = 0
    cdef uint64_t fingerprint = 0
    cdef int bit
    cdef double sums[64]
    assert weights.shape[0] == hashes.shape[0]
    for bit in range(64):
        sums[bit] = 0
    for place in range(weights.shape[0]):
        zeros += weights[place] == 0
    if zeros == weights.shape[0]:
        return None
    with nogil:
        weigh_bits(&hashes[0], &weights[0], hashes.shape[0], sums)
        for bit in range(64):
            if sums[bit] > 0:
                fingerprint |= <uint64_t>1 << bit
    return fingerprint


def minima(uint64_t[::1] hashes, const uint32_t[::1] factors, uint32_t[::1] signature):
    """Write the least product of each factor with the upper halves of hashes.

    Modulo 2**32, of odd factors: each multiplication permutes the odd numbers. A summand as well
    would be of no use: no odd value is the least for all factors.
    """
    cdef Py_ssize_t row
    assert signature.shape[0] == factors.shape[0]
    with nogil:
        for row in range(signature.shape[0]):
            signature[row] = 0xFFFFFFFFU
        if hashes.shape[0] and factors.shape[0]:
            least_products(
                &hashes[0], hashes.shape[0], &factors[0], &signature[0], factors.shape[0]
            )


def least_of_windows(uint64_t[::1] hashes, Py_ssize_t window, uint32_t[::1] least):
    """Write the upper half of the least hash of each window, once for windows in a row.

    Args:
        hashes: uint64, in the order of the text. Fewer than ``window`` are one window.
        window: Hashes in a row, at least 1.
        least: uint32, (hashes,): takes the values.

    Returns:
        The number of values written.

    Complexity: O(hashes) on average, O(hashes * window) where each hash is larger than the last.
    """
    cdef Py_ssize_t end, start, place, last, count = hashes.shape[0], chosen = -1, found = 0
    with nogil:
        for end in range(min(window, count), count + 1):
            start = max(0, end - window)
            last = chosen
            if chosen < start:
                chosen = start
                for place in range(start + 1, end):
                    if hashes[place] <= hashes[chosen]:
                        chosen = place
            elif hashes[end - 1] <= hashes[chosen]:
                chosen = end - 1
            if chosen != last and chosen < count:
                least[found] = <uint32_t>(hashes[chosen] >> 32)
                found += 1
    return found
