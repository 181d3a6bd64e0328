"""The tables of an index of signatures: adds rows, and finds the candidates of queries.

A row is an id, a sketch with four bits of each value, and for each band a link: the key of the band
in its upper 32 bits, and in its lower ones the number of an earlier row of the same bucket. Rows
are numbered from 1; 0 is none. So the rows of a bucket are a chain, and its head is the row that
was put there last, in 28 bits. The other 4 bits of a head mark the upper two bits of the keys in
the chain: what is not marked is not looked for.

The low bits of a key are the number of its bucket, as many as there are buckets for. A row that is
added divides one bucket of each band, so that no call waits for all buckets (linear hashing:
Litwin, VLDB 1980). Rows share one memory, buckets another, which the system makes larger.

Some queries go together, step by step: the heads of their buckets, then the rows that these name.
Each step asks for all the memory of the next, so that the processor waits for many places at once.
"""

from cython cimport final
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, qsort, realloc
from libc.string cimport memset

from neardup.kernels cimport prefetch

import numpy as np

from neardup.errors import ClosedError, DocumentError
from neardup.features.hashing import GOLDEN, mix
from neardup.indexes.arrays import StoredRows

cdef extern from *:
    """
    #include <stdlib.h>

    #include "neardup/kernels.h"

    #if defined(__linux__)
    #include <sys/mman.h>
    #endif

    /* Returns memory of another size with the old content; much of it in large pages, if it can. */
    static void *resized_memory(void *memory, size_t size)
    {
        void *resized = realloc(memory, size);
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        /* A search reads here and there: with small pages it takes a quarter longer. */
        if (resized && size >= 1 << 22)
            madvise((void *)(((uintptr_t)resized + 4095) & ~(uintptr_t)4095), size - 4096,
                    MADV_HUGEPAGE);
    #endif
        return resized;
    }

    /* Writes four bits of each value, those of sixteen values in a word. */
    FOR_EACH_PROCESSOR static void sketch(
        const uint32_t *values, int64_t permutations, uint64_t *words)
    {
        int64_t first = 0;
        for (; first + 16 <= permutations; first += 16) {
            uint64_t bits = 0;
            for (int place = 0; place < 16; place++)
                bits |= values[first + place] * GOLDEN >> 60 << 4 * place;
            words[first >> 4] = bits;
        }
        if (first < permutations)
            words[first >> 4] = 0;
        for (int64_t place = first; place < permutations; place++)
            words[first >> 4] |= values[place] * GOLDEN >> 60 << 4 * (place & 15);
    }

    /* Returns in how many values two sketches differ. */
    FOR_EACH_PROCESSOR static int64_t unequal_values(
        const uint64_t *first, const uint64_t *second, int64_t words)
    {
        int64_t total = 0;
        for (int64_t word = 0; word < words; word++) {
            uint64_t bits = first[word] ^ second[word];
            bits |= bits >> 1;
            bits |= bits >> 2;
            total += set_bits(bits & 0x1111111111111111ULL);
        }
        return total;
    }
    """
    void *resized_memory(void *memory, size_t size) noexcept nogil
    void sketch(const uint32_t *values, int64_t permutations, uint64_t *words) noexcept nogil
    int64_t unequal_values(
        const uint64_t *first, const uint64_t *second, int64_t words
    ) noexcept nogil

cdef enum:
    FIRST_BUCKETS = 16
    FIRST_FOUND = 1024
    # The number of keys whose memory is asked for at once: those of several queries, if need be.
    KEYS_AT_ONCE = 128
    # So many links of each bucket are followed side by side; of one in a hundred there are more.
    ROUNDS = 4
    # A query with a limit follows at most this many links of a bucket for each row that it wants,
    # and this many in any case: rows of another key may fill the bucket.
    LINKS_A_ROW = 16
    LINKS_A_BUCKET = 1 << 10
    NUMBER_BITS = 28

cdef:
    uint64_t MASK_32 = 0xFFFFFFFF
    uint32_t NUMBER = (1 << NUMBER_BITS) - 1

MAX_ROWS = (1 << NUMBER_BITS) - 1
"""The largest number of rows of an index."""


cdef struct Hit:
    # A key that a query asks for, and the row of its bucket that is looked at next.
    uint64_t key
    int64_t query
    int64_t band
    int64_t number
    const uint32_t *head

cdef struct Found:
    # A candidate: before sketches are compared, its number; then its id.
    int64_t query
    int64_t id
    int64_t unequal


def factors_of(int64_t bands, int64_t band_rows):
    """Return an odd factor for each value of all bands, then a summand for each band: uint64."""
    used = bands * band_rows
    factors = mix(np.arange(1, used + bands + 1, dtype=np.uint64) * GOLDEN)
    factors[:used] |= np.uint64(1)
    return factors


@final
cdef class LshTables:
    """Rows of id and sketch, and for each band the rows by key.

    Args:
        permutations: Values of a signature.
        bands: Bands of a signature.
        band_rows: Values of a band.

    Attributes:
        closed: Whether :meth:`close` was called.
    """

    cdef:
        readonly bint closed
        # words: those of a sketch. width: those of a row.
        int64_t permutations, bands, band_rows, words, width, nothing_alike
        # buckets: those of each band. half: the largest power of two up to their number.
        int64_t count, buckets, half
        int64_t row_room, bucket_room, found_room, found_count
        # What the search in hand was asked for.
        int64_t limit, max_unequal
        const uint64_t *factors
        uint64_t *rows
        uint32_t *heads
        # A bit for each row, all 0 between queries.
        uint64_t *seen
        uint64_t *asked
        Hit *hits
        Found *found
        # The row of each band that is to move to one of two buckets next.
        int64_t *moving
        object kept_factors

    def __cinit__(self, int64_t permutations, int64_t bands, int64_t band_rows):
        cdef const uint64_t[::1] factors = factors_of(bands, band_rows)
        assert bands * band_rows <= permutations
        self.kept_factors, self.factors = factors, &factors[0]
        self.permutations, self.bands, self.band_rows = permutations, bands, band_rows
        self.words = (permutations + 15) >> 4
        self.width = 1 + self.words + bands
        # From this number of unequal values on a similarity of 0 is estimated.
        self.nothing_alike = (15 * permutations + 15) // 16
        self.asked = <uint64_t *>resized(NULL, self.words * sizeof(uint64_t))
        self.hits = <Hit *>resized(NULL, max(bands, KEYS_AT_ONCE) * sizeof(Hit))
        self.moving = <int64_t *>resized(NULL, bands * sizeof(int64_t))
        self.found_room = FIRST_FOUND
        self.found = <Found *>resized(NULL, FIRST_FOUND * sizeof(Found))
        self.buckets = self.half = FIRST_BUCKETS
        self.provide(FIRST_BUCKETS)
        memset(self.heads, 0, FIRST_BUCKETS * bands * sizeof(uint32_t))

    def __dealloc__(self):
        self.close()
        free(self.asked)
        free(self.hits)
        free(self.moving)
        free(self.found)

    def __len__(self):
        return self.count

    @property
    def size_bytes(self):
        """Bytes of memory that is written to."""
        rows = self.count * self.width * sizeof(uint64_t) + self.row_room // 8
        return rows + self.buckets * self.bands * sizeof(uint32_t)

    def close(self):
        """Let go of all rows; whatever is asked for from now on is refused."""
        self.closed = True
        self.count = 0
        free(self.rows)
        free(self.heads)
        free(self.seen)
        self.rows = self.seen = NULL
        self.heads = NULL

    cdef provide(self, int64_t more):
        """Provide memory for some more rows; it is taken only where something is written."""
        cdef int64_t rows = self.count + more, buckets = max(rows + 1, self.buckets + 1)
        cdef int64_t words
        if self.closed:
            raise ClosedError("the index is closed")
        if rows > NUMBER:
            raise DocumentError(f"the index is full with {self.count} entries; begin another one")
        if rows > self.row_room:
            words = ((rows + (rows >> 1)) >> 6) + 1
            self.rows = <uint64_t *>resized(
                self.rows, (words << 6) * self.width * sizeof(uint64_t)
            )
            self.seen = <uint64_t *>resized(self.seen, words * sizeof(uint64_t))
            memset(self.seen, 0, words * sizeof(uint64_t))
            # Rows are counted from 1.
            self.row_room = (words << 6) - 1
        if buckets > self.bucket_room:
            buckets += buckets >> 1
            self.heads = <uint32_t *>resized(self.heads, buckets * self.bands * sizeof(uint32_t))
            self.bucket_room = buckets

    def add(self, const uint32_t[::1] signature not None, int64_t number):
        """Hold a signature: uint32, (permutations,).

        Raises:
            TypeError, ValueError: It is no such array in one piece.
        """
        check_length(self, signature.shape[0])
        self.provide(1)
        hold(self, &signature[0], number)

    def add_many(self, const uint32_t[:, ::1] signatures, const int64_t[::1] ids):
        """Hold signatures: uint32, (rows, permutations); int64, (rows,)."""
        cdef Py_ssize_t row
        assert signatures.shape[0] == ids.shape[0]
        check_length(self, signatures.shape[1])
        self.provide(ids.shape[0])
        with nogil:
            for row in range(ids.shape[0]):
                hold(self, &signatures[row, 0], ids[row])

    def restore(
        self, const int64_t[:] ids, const uint32_t[:, :] keys, const uint64_t[:, :] sketches
    ):
        """Add rows that files kept: (rows,), (rows, bands) and (rows, words)."""
        cdef Py_ssize_t row, place
        cdef uint64_t *at
        assert keys.shape[0] == sketches.shape[0] == ids.shape[0]
        assert keys.shape[1] == self.bands and sketches.shape[1] == self.words
        self.provide(ids.shape[0])
        with nogil:
            for row in range(ids.shape[0]):
                at = row_at(self, self.count + 1)
                at[0] = <uint64_t>ids[row]
                for place in range(self.words):
                    at[1 + place] = sketches[row, place]
                for place in range(self.bands):
                    link_at(self, self.count + 1, place)[0] = <uint64_t>keys[row, place] << 32
                link(self)

    def stored_rows(self, int64_t first, int64_t end):
        """Return copies of some rows, counted from 0, as a ``StoredRows``."""
        cdef const uint64_t[::1] memory
        stored = np.zeros((0, self.width), np.uint64)
        if first < end <= self.count:
            memory = <uint64_t[:(end - first) * self.width]>row_at(self, first + 1)
            stored = np.asarray(memory).reshape(-1, self.width)
        sketches, links = stored[:, 1 : 1 + self.words], stored[:, 1 + self.words :]
        keys = (links >> np.uint64(32)).astype(np.uint32)
        return StoredRows(stored[:, 0].astype(np.int64), keys, sketches.copy())

    def find(
        self, const uint32_t[::1] signature not None, int64_t limit, int64_t max_unequal
    ):
        """Return the candidates of one query, sorted by unequal values, then by id.

        Args:
            signature: uint32, (permutations,).
            limit: The largest number of candidates, and of rows that share one band.
            max_unequal: The largest number of values in which the sketch of a candidate may differ.

        Returns:
            The id, and the number of values in which the sketches differ, of each.

        Raises:
            TypeError, ValueError: It is no such array in one piece.
        """
        cdef int64_t place
        check_length(self, signature.shape[0])
        self.search(&signature[0], 1, limit, max_unequal)
        return [
            (self.found[place].id, self.found[place].unequal) for place in range(self.found_count)
        ]

    def find_many(self, const uint32_t[:, ::1] signatures, int64_t limit, int64_t max_unequal):
        """Return the candidates of queries, by query, then as :meth:`find` does.

        Args:
            signatures: uint32, (queries, permutations).
            limit: The largest number of candidates of one query, and of rows that share one band.
            max_unequal: The largest number of values in which the sketch of a candidate may differ.

        Returns:
            Which query, the id, and the number of unequal values, of each: int64, (candidates,).
        """
        cdef int64_t[:, ::1] found
        cdef int64_t place
        check_length(self, signatures.shape[1])
        if signatures.shape[0]:
            self.search(&signatures[0, 0], signatures.shape[0], limit, max_unequal)
        else:
            self.found_count = 0
        columns = np.empty((3, self.found_count), np.int64)
        found = columns
        for place in range(self.found_count):
            found[0, place] = self.found[place].query
            found[1, place] = self.found[place].id
            found[2, place] = self.found[place].unequal
        return tuple(columns)

    cdef search(
        self, const uint32_t *values, int64_t queries, int64_t limit, int64_t max_unequal
    ):
        """Put the candidates of queries among the found."""
        cdef bint has_memory
        if self.closed:
            raise ClosedError("the index is closed")
        self.limit, self.max_unequal = limit, max_unequal
        with nogil:
            has_memory = search_all(self, values, queries)
        if not has_memory:
            raise MemoryError


cdef void *resized(void *memory, size_t size) except NULL:
    """Return memory of another size with the content of the old one."""
    cdef void *new = resized_memory(memory, size)
    if new is NULL:
        raise MemoryError
    return new


cdef check_length(LshTables self, Py_ssize_t length):
    """Refuse signatures of another length."""
    if length != self.permutations:
        raise ValueError(f"{self.permutations} values expected, got {length}")


cdef inline uint64_t *row_at(LshTables self, int64_t number) noexcept nogil:
    """Return where a row is."""
    return self.rows + (number - 1) * self.width


cdef inline uint64_t *link_at(LshTables self, int64_t number, int64_t band) noexcept nogil:
    """Return where the link of a row in a band is."""
    return row_at(self, number) + 1 + self.words + band


cdef inline uint32_t *head_at(LshTables self, int64_t bucket, int64_t band) noexcept nogil:
    """Return where the head of a bucket is."""
    return self.heads + bucket * self.bands + band


cdef inline uint64_t key_of(LshTables self, const uint32_t *values, int64_t band) noexcept nogil:
    """Return the key of a band of a signature (Dietzfelbinger, STACS 1996)."""
    cdef int64_t place
    cdef uint64_t total = self.factors[self.bands * self.band_rows + band]
    for place in range(band * self.band_rows, (band + 1) * self.band_rows):
        total += values[place] * self.factors[place]
    return total >> 32


cdef inline int64_t bucket_of(LshTables self, uint64_t key) noexcept nogil:
    """Return the number of a key's bucket."""
    cdef int64_t bucket = <int64_t>key & (2 * self.half - 1)
    return bucket if bucket < self.buckets else bucket - self.half


cdef inline uint32_t mark_of(uint64_t key) noexcept nogil:
    """Return the bit that a key sets in the head of its bucket."""
    return <uint32_t>1 << (NUMBER_BITS + (key >> 30))


cdef inline void push(
    LshTables self, int64_t bucket, int64_t band, int64_t number
) noexcept nogil:
    """Put a row, whose key is known, into a bucket."""
    cdef uint32_t *head = head_at(self, bucket, band)
    cdef uint64_t *at = link_at(self, number, band)
    cdef uint64_t key = at[0] >> 32
    at[0] = key << 32 | (head[0] & NUMBER)
    head[0] = (head[0] & ~NUMBER) | mark_of(key) | <uint32_t>number


cdef void grow(LshTables self) noexcept nogil:
    """Divide one bucket of each band, all chains at once: what is next of one is read meanwhile."""
    cdef int64_t new = self.buckets, old = new - self.half, band, left = self.bands
    cdef uint64_t stored
    for band in range(self.bands):
        self.moving[band] = head_at(self, old, band)[0] & NUMBER
        prefetch(link_at(self, self.moving[band], band))
        head_at(self, old, band)[0] = head_at(self, new, band)[0] = 0
    while left:
        left = 0
        for band in range(self.bands):
            if self.moving[band]:
                stored = link_at(self, self.moving[band], band)[0]
                push(self, new if stored >> 32 & <uint64_t>self.half else old, band,
                     self.moving[band])
                self.moving[band] = stored & MASK_32
                prefetch(link_at(self, self.moving[band], band))
                left += 1
    self.buckets += 1
    if self.buckets == 2 * self.half:
        self.half *= 2
    # The next row divides this bucket.
    prefetch(head_at(self, self.buckets - self.half, 0))


cdef void link(LshTables self) noexcept nogil:
    """Put the next row into its buckets; the keys are known."""
    cdef int64_t band, number = self.count + 1
    for band in range(self.bands):
        prefetch(head_at(self, bucket_of(self, link_at(self, number, band)[0] >> 32), band))
    for band in range(self.bands):
        push(self, bucket_of(self, link_at(self, number, band)[0] >> 32), band, number)
    self.count = number
    if self.buckets <= self.count:
        grow(self)


cdef void hold(LshTables self, const uint32_t *values, int64_t id) noexcept nogil:
    """Hold a signature as the next row."""
    cdef uint64_t *at = row_at(self, self.count + 1)
    cdef int64_t band
    at[0] = <uint64_t>id
    sketch(values, self.permutations, at + 1)
    for band in range(self.bands):
        link_at(self, self.count + 1, band)[0] = key_of(self, values, band) << 32
    link(self)


cdef int64_t look_up(LshTables self, const uint32_t *values, int64_t queries) noexcept nogil:
    """Note the keys that their buckets may have, and return how many there are."""
    cdef int64_t query, band, place, count = 0
    cdef Hit *hit = self.hits
    for query in range(queries):
        for band in range(self.bands):
            hit.query, hit.band = query, band
            hit.key = key_of(self, values + query * self.permutations, band)
            hit.head = head_at(self, bucket_of(self, hit.key), band)
            prefetch(hit.head)
            hit += 1
    for place in range(queries * self.bands):
        hit = &self.hits[place]
        if hit.head[0] & mark_of(hit.key):
            hit.number = hit.head[0] & NUMBER
            prefetch(link_at(self, hit.number, hit.band))
            self.hits[count] = hit[0]
            count += 1
    follow(self, count)
    return count


cdef void follow(LshTables self, int64_t hits) noexcept nogil:
    """Lead keys to the first rows that have them, or some way there."""
    cdef int64_t place
    cdef uint64_t stored
    cdef Hit *hit
    for _ in range(ROUNDS):
        for place in range(hits):
            hit = &self.hits[place]
            if not hit.number:
                continue
            stored = link_at(self, hit.number, hit.band)[0]
            if stored >> 32 != hit.key:
                hit.number = stored & MASK_32
                prefetch(link_at(self, hit.number, hit.band))
    for place in range(hits):
        prefetch(row_at(self, self.hits[place].number))


cdef bint put_out(LshTables self, int64_t number) noexcept nogil:
    """Put a row among the found, if there is memory for it."""
    cdef Found *more
    if self.found_count == self.found_room:
        more = <Found *>realloc(self.found, 2 * self.found_room * sizeof(Found))
        if more is NULL:
            return False
        self.found, self.found_room = more, 2 * self.found_room
    self.found[self.found_count].id = number
    self.found_count += 1
    return True


cdef bint gather(LshTables self, const Hit *hit) noexcept nogil:
    """Put out the rows of a bucket that have a key, if there is memory for them."""
    cdef int64_t left = self.limit, links_left = max(LINKS_A_BUCKET, LINKS_A_ROW * self.limit)
    cdef int64_t number = hit.number
    cdef uint64_t stored, bit
    while number and left and links_left:
        stored = link_at(self, number, hit.band)[0]
        if stored >> 32 == hit.key:
            left -= 1
            bit = <uint64_t>1 << (number & 63)
            if not self.seen[number >> 6] & bit:
                if not put_out(self, number):
                    return False
                self.seen[number >> 6] |= bit
                prefetch(row_at(self, number))
        links_left -= 1
        number = stored & MASK_32
    return True


cdef int by_similarity(const void *first, const void *second) noexcept nogil:
    """Order candidates by unequal values, then by id."""
    cdef const Found *one = <const Found *>first
    cdef const Found *other = <const Found *>second
    if one.unequal != other.unequal:
        return -1 if one.unequal < other.unequal else 1
    return (one.id > other.id) - (one.id < other.id)


cdef void compare(
    LshTables self, const uint32_t *values, int64_t query, int64_t start
) noexcept nogil:
    """Compare a query's candidates, from ``start`` on, and leave the nearest there, sorted."""
    cdef int64_t place, count, end = start
    cdef uint64_t *at
    if start == self.found_count:
        return
    sketch(values, self.permutations, self.asked)
    for place in range(start, self.found_count):
        at = row_at(self, self.found[place].id)
        count = min(unequal_values(self.asked, at + 1, self.words), self.nothing_alike)
        if count <= self.max_unequal:
            self.found[end].query, self.found[end].unequal = query, count
            self.found[end].id = <int64_t>at[0]
            end += 1
    if end > start + 1:
        qsort(&self.found[start], end - start, sizeof(Found), &by_similarity)
    self.found_count = min(end, start + self.limit)


cdef bint search_all(LshTables self, const uint32_t *values, int64_t queries) noexcept nogil:
    """Answer queries in groups, if there is memory for the answers."""
    cdef int64_t done = 0, group, hits, hit, query, start, place
    cdef bint has_memory = True
    self.found_count = 0
    while done < queries and has_memory:
        group = min(max(1, KEYS_AT_ONCE // self.bands), queries - done)
        hits = look_up(self, values + done * self.permutations, group)
        hit = 0
        for query in range(group):
            start = self.found_count
            while hit < hits and self.hits[hit].query == query and has_memory:
                has_memory = gather(self, &self.hits[hit])
                hit += 1
            for place in range(start, self.found_count):
                self.seen[self.found[place].id >> 6] = 0
            compare(self, values + (done + query) * self.permutations, done + query, start)
        done += group
    return has_memory
