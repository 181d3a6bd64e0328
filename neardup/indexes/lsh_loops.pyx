"""Adds signatures to the tables of an index, and finds the candidates of queries.

A key has 32 bits. Its low bits are the number of its bucket, as many as there are buckets for
(linear hashing: Litwin, VLDB 1980); bits 12 to 31 are its tag, and the upper 6 its mark. Each
bucket has a line for each band, and a word for each band with a bit for the mark of each entry:
what is not marked is not looked for. A line is 64 bytes, eight words:

====  ==================================================================================
0, 1  the low 16 bits of the tags of the first eight entries
2     the same of the last two; 28 bits: the line behind this one, from 1; 4 bits: entries
3..7  ten entries, from the lower half of a word to the upper: 28 bits: the row; 4 bits: the
      upper bits of the tag
====  ==================================================================================

A bucket's own line holds what came last. When it is full its content moves to a line behind it, so
those are always full. The first word of a line that is free is the number of the next free one.

The number of a bucket is to tell the low 12 bits of its keys, for which 4,096 buckets are needed.
As long as there are fewer, there are so few rows that 16 bits hold their numbers, and the other 12
hold the low bits of the key.

Some queries go together, step by step: the keys and their marks, then the lines that may hold them,
then the rows that do. Each step asks for all the memory of the next, so that the processor waits
for many places at once.
"""

from cython cimport final
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

from neardup.kernels cimport highest_bit, lowest_bit, prefetch

import numpy as np

from neardup.indexes.lsh_rows import MAX_ROWS

cdef extern from *:
    """
    #include "neardup/kernels.h"

    /* Writes four bits of each value, those of sixteen values in a word: as sketches_of does. */
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
    void sketch(const uint32_t *values, int64_t permutations, uint64_t *words) noexcept nogil
    int64_t unequal_values(
        const uint64_t *first, const uint64_t *second, int64_t words
    ) noexcept nogil

cdef enum:
    SLOTS = 10
    LINE_WORDS = 8
    # The smallest number of items that are provided at once, and the logarithm of it.
    FIRST_BITS = 4
    FIRST_ITEMS = 1 << FIRST_BITS
    # The number of rows a bucket: with 6 a band takes 13 bytes a row. With 8 it takes 11, and one
    # bucket in five has a second line, where now one in thirteen has: a batch of queries then took
    # 0.62 us each, not 0.45.
    LOAD = 6
    # The number of queries whose memory is asked for at once.
    GROUP = 8
    # A query with a limit reads at most this many lines of a bucket more than its limit.
    LINES_BEYOND = 4
    UNLIMITED = 1 << 30
    # From this number of buckets on, theirs tell the low 12 bits of keys. An index begins with as
    # many lines, or with a few buckets.
    WHOLE_BUCKETS = 1 << 12
    MASK_16 = 0xFFFF

cdef:
    uint64_t MASK_32 = 0xFFFFFFFF
    uint64_t UPPER_4 = 0xF0000000
    uint64_t ROW_28 = MAX_ROWS - 1
    uint64_t ONES = 0x0001000100010001
    uint64_t HIGHS = 0x8000800080008000

cdef enum:
    BUCKETS
    MARKS
    LINES
    ROWS
    KINDS

cdef struct Chunks:
    # Pieces of memory, each with twice the items of the one before.
    int64_t words
    int64_t room
    uint64_t *pieces[32]

cdef struct Hit:
    # A key whose mark is set in its bucket.
    uint64_t key
    int64_t bucket
    int64_t asker
    uint64_t *line


@final
cdef class Loops:
    """Rows of id and sketch, and for each band the rows by key: memory, and the loops over it.

    Args:
        permutations: Values of a signature.
        bands: Bands of a signature.
        band_rows: Values of a band.
        factors: uint64: those that ``factors_of`` returns.
        nothing_alike: The number of unequal values from which on a similarity of 0 is estimated.

    Attributes:
        count: The number of rows held.
        behind: The number of lines behind others that were ever in use.
        room: The number of rows for which memory is provided.
        fresh_from: The row whose keys stand first among those of ``keep_keys``.
        done: The number of queries that the last search has answered.
        found: The number of candidates that the last search has put out.
    """

    cdef:
        readonly int64_t count, behind, done, found
        public int64_t room, fresh_from
        # What the search in hand was asked for.
        int64_t limit, max_unequal
        # words: those of a sketch. buckets: those of each band.
        int64_t permutations, bands, band_rows, words, nothing_alike, capacity, buckets
        # The largest power of two up to the number of buckets.
        int64_t half
        # The first free line among those behind others; 0: none is free.
        int64_t free_line
        # The bits of an entry that are the row, and the bits of a key that an entry holds.
        uint64_t row_mask, low_mask
        const uint64_t *factors
        Chunks chunks[KINDS]
        # A bit for each row, all 0 between queries.
        uint64_t *seen
        uint64_t *fresh_keys
        int64_t *out_positions
        int64_t *out_ids
        int64_t *out_unequal
        Hit *hits
        uint64_t *keys
        uint64_t *asked
        dict kept

    def __cinit__(
        self,
        int64_t permutations,
        int64_t bands,
        int64_t band_rows,
        const uint64_t[::1] factors,
        int64_t nothing_alike,
    ):
        assert factors.shape[0] == bands * (band_rows + 1) and bands * band_rows <= permutations
        self.permutations, self.bands, self.band_rows = permutations, bands, band_rows
        self.words, self.nothing_alike = (permutations + 15) >> 4, nothing_alike
        self.half = FIRST_ITEMS
        while 2 * self.half * bands <= WHOLE_BUCKETS:
            self.half *= 2
        self.buckets = self.half
        if self.half < WHOLE_BUCKETS:
            self.row_mask, self.low_mask = MASK_16, WHOLE_BUCKETS - 1
        else:
            self.row_mask, self.low_mask = ROW_28, 0
        self.factors = &factors[0]
        self.kept = {"factors": factors}
        self.chunks[BUCKETS].words = bands * LINE_WORDS
        self.chunks[MARKS].words = bands
        self.chunks[LINES].words = LINE_WORDS
        self.chunks[ROWS].words = 1 + self.words
        self.hits = <Hit *>calloc(GROUP * bands, sizeof(Hit))
        self.keys = <uint64_t *>calloc(bands, sizeof(uint64_t))
        self.asked = <uint64_t *>calloc(self.words, sizeof(uint64_t))
        if self.hits is NULL or self.keys is NULL or self.asked is NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.hits)
        free(self.keys)
        free(self.asked)

    def provide(self, int64_t rows, int64_t lines):
        """Provide memory for some rows in all, and for some lines behind others."""
        buckets = max(self.buckets, rows // LOAD + 2)
        self._provide(BUCKETS, buckets)
        self._provide(MARKS, buckets)
        self._provide(LINES, lines)
        self._provide(ROWS, rows)

    cdef _provide(self, int kind, int64_t items):
        """Provide items; memory is taken only where something is written."""
        cdef Chunks *chunks = &self.chunks[kind]
        cdef int64_t size
        cdef uint64_t[::1] piece
        pieces = self.kept.setdefault(kind, [])
        while chunks.room < items:
            size = chunks.words * (FIRST_ITEMS << len(pieces))
            array = np.zeros(size + LINE_WORDS, np.uint64)
            # A line of a table never lies in two of the memory's.
            start = -(array.ctypes.data // 8) % LINE_WORDS
            piece = array[start : start + size]
            chunks.pieces[len(pieces)] = &piece[0]
            chunks.room += FIRST_ITEMS << len(pieces)
            pieces.append(piece)

    @property
    def size_bytes(self):
        """Bytes of memory that is written to."""
        cdef int64_t words = self.buckets * self.bands * (LINE_WORDS + 1)
        return 8 * (words + self.behind * LINE_WORDS + self.count * (1 + self.words))

    def stored_rows(self, int64_t first, int64_t end):
        """Return copies of some rows: uint64, (rows, 1 + words): the id, then the sketch."""
        parts, start = [np.zeros((0, 1 + self.words), np.uint64)], 0
        for piece in self.kept.get(ROWS, []):
            rows = np.asarray(piece).reshape(-1, 1 + self.words)
            parts.append(rows[max(0, first - start) : max(0, end - start)])
            start += len(rows)
        return np.concatenate(parts)

    def see_with(self, uint64_t[::1] seen):
        """Use a bit for each row, all of them 0: uint64, (rows / 64,)."""
        self.kept["seen"] = seen
        self.seen = &seen[0]

    def keep_keys(self, uint64_t[:, ::1] keys):
        """Put the keys of rows from ``fresh_from`` on here: uint64, (rows, bands)."""
        self.kept["keys"] = keys
        self.fresh_keys = &keys[0, 0]

    def put_into(self, int64_t[::1] positions, int64_t[::1] ids, int64_t[::1] unequal):
        """Put the candidates into these arrays from now on: int64, of one length."""
        assert positions.shape[0] == ids.shape[0] == unequal.shape[0]
        self.kept["out"] = (positions, ids, unequal)
        self.out_positions, self.out_ids = &positions[0], &ids[0]
        self.out_unequal, self.capacity = &unequal[0], ids.shape[0]

    def clear(self):
        """Let go of all rows and of all memory: nothing else is to be called any more."""
        self.count = self.fresh_from = self.room = 0
        self.kept.clear()

    def add(self, const uint32_t[::1] signature not None, int64_t number):
        """Hold a signature of an id, if there is room.

        Returns:
            1; 0: there is no room; -1: the signature is of another length.

        Raises:
            TypeError, ValueError: It is no array of uint32.
        """
        if signature.shape[0] != self.permutations:
            return -1
        if self.count >= self.room:
            return 0
        with nogil:
            hold(self, &signature[0], number)
        return 1

    def add_many(self, const uint32_t[:, ::1] signatures, const int64_t[::1] ids):
        """Hold signatures, for which there is room: uint32, (rows, permutations)."""
        cdef Py_ssize_t row
        assert signatures.shape[0] == ids.shape[0] <= self.room - self.count
        assert signatures.shape[1] == self.permutations
        with nogil:
            for row in range(ids.shape[0]):
                hold(self, &signatures[row, 0], ids[row])

    def restore(
        self,
        const int64_t[::1] ids,
        const uint32_t[:, ::1] keys,
        const uint64_t[:, ::1] sketches,
    ):
        """Add rows whose keys and sketches are known; there must be room for them.

        Args:
            ids: int64, (rows,).
            keys: uint32, (rows, bands).
            sketches: uint64, (rows, words).
        """
        cdef Py_ssize_t row, band, word
        cdef uint64_t *at
        assert keys.shape[0] == sketches.shape[0] == ids.shape[0] <= self.room - self.count
        assert keys.shape[1] == self.bands and sketches.shape[1] == self.words
        with nogil:
            for row in range(ids.shape[0]):
                at = item(&self.chunks[ROWS], self.count)
                at[0] = <uint64_t>ids[row]
                for word in range(self.words):
                    at[1 + word] = sketches[row, word]
                for band in range(self.bands):
                    self.keys[band] = keys[row, band]
                link(self)

    def search(
        self,
        const uint32_t[::1] signatures not None,
        int64_t queries,
        int64_t limit=UNLIMITED,
        int64_t max_unequal=UNLIMITED,
    ):
        """Put out the candidates of queries, until there is no room for those of one.

        Each query's are sorted by unequal values, then by id. ``done`` and ``found`` tell how far
        it came.

        Args:
            signatures: uint32, (queries * permutations,).
            queries: The number of queries.
            limit: The largest number of candidates of one query, and of rows looked at in one band.
            max_unequal: The largest number of values in which the sketch of a candidate may differ.

        Returns:
            How many candidates there are; -1: no room for all, or signatures of another length.

        Raises:
            TypeError, ValueError: It is no array of uint32.
        """
        if signatures.shape[0] != queries * self.permutations or not self.room:
            return -1
        self.limit, self.max_unequal = limit, max_unequal
        self.done = self.found = 0
        if queries:
            with nogil:
                search_all(self, &signatures[0], queries)
        return self.found if self.done == queries else -1


cdef inline uint64_t *item(Chunks *chunks, int64_t number) noexcept nogil:
    """Return where an item is."""
    cdef int64_t place = number + FIRST_ITEMS
    cdef int bits = highest_bit(<uint64_t>place)
    return chunks.pieces[bits - FIRST_BITS] + (place - (<int64_t>1 << bits)) * chunks.words


cdef inline uint64_t *line_at(Loops self, int64_t bucket, int64_t band) noexcept nogil:
    """Return a bucket's own line."""
    return item(&self.chunks[BUCKETS], bucket) + band * LINE_WORDS


cdef inline uint64_t *marks_at(Loops self, int64_t bucket, int64_t band) noexcept nogil:
    """Return a bucket's marks."""
    return item(&self.chunks[MARKS], bucket) + band


cdef inline uint64_t *line_behind(Loops self, int64_t number) noexcept nogil:
    """Return a line that stands behind another."""
    return item(&self.chunks[LINES], number - 1)


cdef inline uint64_t key_of(Loops self, const uint32_t *values, int64_t band) noexcept nogil:
    """Return the key of a band of a signature (Dietzfelbinger, STACS 1996)."""
    cdef int64_t place
    cdef uint64_t total = self.factors[self.bands * self.band_rows + band]
    for place in range(band * self.band_rows, (band + 1) * self.band_rows):
        total += values[place] * self.factors[place]
    return total >> 32


cdef inline int64_t bucket_of(Loops self, uint64_t key) noexcept nogil:
    """Return the number of a key's bucket."""
    cdef int64_t bucket = <int64_t>key & (2 * self.half - 1)
    return bucket if bucket < self.buckets else bucket - self.half


cdef inline uint64_t mark_of(uint64_t key) noexcept nogil:
    """Return the bit that a key sets among the marks of its bucket."""
    return <uint64_t>1 << (key >> 26)


cdef inline uint64_t entry_of(Loops self, uint64_t key, int64_t row) noexcept nogil:
    """Return the entry of a key and a row."""
    return (key & UPPER_4) | (key & self.low_mask) << 16 | <uint64_t>row


cdef inline uint64_t entry_in(const uint64_t *line, int slot) noexcept nogil:
    """Return the entry in a slot."""
    return line[3 + (slot >> 1)] >> 32 * (slot & 1) & MASK_32


cdef inline uint64_t tag_in(const uint64_t *line, int slot) noexcept nogil:
    """Return the low 16 bits of the tag in a slot."""
    return line[slot >> 2] >> 16 * (slot & 3) & MASK_16


cdef inline int64_t more_of(const uint64_t *line) noexcept nogil:
    """Return the line behind one, and in the lower 4 bits the number of its entries."""
    return <int64_t>(line[2] >> 32)


cdef inline void put(uint64_t *word, int shift, uint64_t mask, uint64_t value) noexcept nogil:
    """Overwrite some bits of a word."""
    word[0] = (word[0] & ~(mask << shift)) | value << shift


cdef inline int64_t put_behind(Loops self, const uint64_t *line) noexcept nogil:
    """Copy a full line to one behind it, and return that one's number."""
    cdef int64_t number = self.free_line
    cdef uint64_t *to
    cdef int word
    if number:
        self.free_line = <int64_t>line_behind(self, number)[0]
    else:
        self.behind += 1
        number = self.behind
    to = line_behind(self, number)
    for word in range(LINE_WORDS):
        to[word] = line[word]
    return number


cdef inline void push(
    Loops self, int64_t bucket, int64_t band, uint64_t key, uint64_t entry
) noexcept nogil:
    """Put an entry into a bucket."""
    cdef uint64_t *line = line_at(self, bucket, band)
    cdef int64_t more = more_of(line)
    cdef int slot
    marks_at(self, bucket, band)[0] |= mark_of(key)
    if more & 15 == SLOTS:
        more = put_behind(self, line) << 4
    slot = more & 15
    put(&line[slot >> 2], 16 * (slot & 3), MASK_16, key >> 12 & MASK_16)
    put(&line[3 + (slot >> 1)], 32 * (slot & 1), MASK_32, entry)
    put(&line[2], 32, MASK_32, <uint64_t>(more + 1))


cdef void split(Loops self, int64_t band) noexcept nogil:
    """Move what belongs there from a band's next bucket to a new one.

    All is taken out line by line and put in again: no line more is in use at any time.
    """
    cdef int64_t new = self.buckets, old = new - self.half, number = 0, more, bucket
    cdef uint64_t *line = line_at(self, old, band)
    cdef uint64_t own[LINE_WORDS]
    cdef uint64_t entry, key
    cdef int slot, word
    marks_at(self, old, band)[0] = 0
    while True:
        for word in range(LINE_WORDS):
            own[word] = line[word]
        if number:
            line[0] = <uint64_t>self.free_line
            self.free_line = number
        else:
            line[2] = 0
        more = more_of(own)
        for slot in range(more & 15):
            entry = entry_in(own, slot)
            key = (entry & UPPER_4) | tag_in(own, slot) << 12 | (entry >> 16 & self.low_mask)
            bucket = new if key & <uint64_t>self.half else old
            push(self, bucket, band, key, entry)
        number = more >> 4
        if not number:
            break
        line = line_behind(self, number)


cdef void forget_low_bits(Loops self) noexcept nogil:
    """Leave all 28 bits of entries to their rows, now that buckets tell the low bits of keys."""
    cdef int64_t bucket, band, number
    cdef uint64_t *line
    cdef int word
    for bucket in range(self.buckets):
        for band in range(self.bands):
            line = line_at(self, bucket, band)
            while True:
                for word in range(3, LINE_WORDS):
                    line[word] &= (UPPER_4 | MASK_16) << 32 | UPPER_4 | MASK_16
                number = more_of(line) >> 4
                if not number:
                    break
                line = line_behind(self, number)
    self.low_mask, self.row_mask = 0, ROW_28


cdef void grow(Loops self) noexcept nogil:
    """Split one bucket of each band."""
    cdef int64_t band
    for band in range(self.bands):
        prefetch(line_at(self, self.buckets - self.half, band))
    for band in range(self.bands):
        split(self, band)
    self.buckets += 1
    if self.buckets == 2 * self.half:
        self.half *= 2
        if self.half == WHOLE_BUCKETS:
            forget_low_bits(self)


cdef void link(Loops self) noexcept nogil:
    """Put the next row into the tables; its keys are known."""
    cdef int64_t band, bucket
    cdef uint64_t key
    for band in range(self.bands):
        bucket = bucket_of(self, self.keys[band])
        prefetch(marks_at(self, bucket, band))
        prefetch(line_at(self, bucket, band))
    for band in range(self.bands):
        key = self.keys[band]
        push(self, bucket_of(self, key), band, key, entry_of(self, key, self.count))
    if self.buckets * LOAD <= self.count:
        grow(self)
    self.count += 1


cdef void hold(Loops self, const uint32_t *values, int64_t number) noexcept nogil:
    """Hold a signature as the next row."""
    cdef uint64_t *at = item(&self.chunks[ROWS], self.count)
    cdef uint64_t *fresh
    cdef int64_t band
    at[0] = <uint64_t>number
    sketch(values, self.permutations, at + 1)
    for band in range(self.bands):
        self.keys[band] = key_of(self, values, band)
    if self.fresh_keys is not NULL:
        fresh = self.fresh_keys + self.bands * (self.count - self.fresh_from)
        for band in range(self.bands):
            fresh[band] = self.keys[band]
    link(self)


cdef inline uint64_t slots_of(const uint64_t *line, uint64_t tag) noexcept nogil:
    """Return a bit for each of twelve places that may hold a tag: without any branch.

    The lowest that is set in a word is right, one above it may be set in vain.
    """
    cdef uint64_t other, zeros, four, slots = 0
    cdef int word
    for word in range(3):
        other = line[word] ^ tag * ONES
        zeros = (other - ONES) & ~other & HIGHS
        four = zeros >> 15 | zeros >> 30 | zeros >> 45 | zeros >> 60
        slots |= (four & 15) << 4 * word
    return slots


cdef int64_t look_up(Loops self, const uint32_t *values, int64_t queries) noexcept nogil:
    """Note each possible hit among ``hits``, and return how many there are."""
    cdef int64_t query, band, place, count = 0
    cdef Hit *hit = self.hits
    for query in range(queries):
        for band in range(self.bands):
            hit.key = key_of(self, values + query * self.permutations, band)
            hit.bucket = bucket_of(self, hit.key)
            prefetch(marks_at(self, hit.bucket, band))
            if queries == 1:
                # Nothing else is to be done meanwhile; of several, few lines turn out to be wanted.
                prefetch(line_at(self, hit.bucket, band))
            hit += 1
    for query in range(queries):
        for band in range(self.bands):
            place = query * self.bands + band
            if marks_at(self, self.hits[place].bucket, band)[0] & mark_of(self.hits[place].key):
                hit = &self.hits[count]
                hit.key = self.hits[place].key
                hit.line = line_at(self, self.hits[place].bucket, band)
                hit.asker = query
                prefetch(hit.line)
                count += 1
    return count


cdef int64_t gather(Loops self, const Hit *hit, int64_t query, int64_t count) noexcept nogil:
    """Put out the rows of a bucket that have a key, and return how many there are by now."""
    cdef int64_t left = self.limit, lines_left = self.limit + LINES_BEYOND, more, row
    cdef uint64_t wanted = entry_of(self, hit.key, 0), tag = hit.key >> 12 & MASK_16
    cdef uint64_t slots, entry, bit
    cdef uint64_t *line = hit.line
    cdef int slot
    while True:
        more = more_of(line)
        slots = slots_of(line, tag) & ((<uint64_t>1 << (more & 15)) - 1)
        while slots and left:
            slot = lowest_bit(slots)
            slots &= slots - 1
            entry = entry_in(line, slot)
            if (entry ^ wanted) & ~self.row_mask or tag_in(line, slot) != tag:
                continue
            left -= 1
            row = <int64_t>(entry & self.row_mask)
            bit = <uint64_t>1 << (row & 63)
            if self.seen[row >> 6] & bit:
                continue
            if count == self.capacity:
                return count + 1
            self.seen[row >> 6] |= bit
            self.out_positions[count] = query
            self.out_ids[count] = row
            prefetch(item(&self.chunks[ROWS], row))
            count += 1
        lines_left -= 1
        if not more >> 4 or not left or not lines_left:
            return count
        line = line_behind(self, more >> 4)


cdef void sort(int64_t *ids, int64_t *unequal, int64_t count) noexcept nogil:
    """Sort by unequal values, then by id (Shell, Communications of the ACM 2(7), 1959)."""
    cdef int64_t gap = count, place, hole, number, value, before
    while gap > 1:
        gap = max(1, gap * 5 // 11)
        for place in range(gap, count):
            number, value = ids[place], unequal[place]
            hole = place
            while hole >= gap:
                before = unequal[hole - gap]
                if before < value or (before == value and ids[hole - gap] <= number):
                    break
                ids[hole], unequal[hole] = ids[hole - gap], before
                hole -= gap
            ids[hole], unequal[hole] = number, value


cdef int64_t compare(
    Loops self, const uint32_t *values, int64_t start, int64_t end, int64_t to
) noexcept nogil:
    """Compare a query's candidates, move the near ones to ``to`` on, and return where they end."""
    cdef int64_t place, count, first = to, position = self.out_positions[start]
    cdef uint64_t *at
    sketch(values, self.permutations, self.asked)
    for place in range(start, end):
        at = item(&self.chunks[ROWS], self.out_ids[place])
        count = min(unequal_values(self.asked, at + 1, self.words), self.nothing_alike)
        if count <= self.max_unequal:
            self.out_positions[to] = position
            self.out_ids[to] = <int64_t>at[0]
            self.out_unequal[to] = count
            to += 1
    sort(self.out_ids + first, self.out_unequal + first, to - first)
    return min(to, first + self.limit)


cdef int64_t gather_all(
    Loops self, int64_t query, int64_t queries, int64_t hits, int64_t *end
) noexcept nogil:
    """Put out the candidates of queries from ``end`` on, which it moves; return how many fit."""
    cdef int64_t asker, start, count = end[0], hit = 0, place
    for asker in range(queries):
        start = count
        while hit < hits and self.hits[hit].asker == asker and count <= self.capacity:
            count = gather(self, &self.hits[hit], query + asker, count)
            hit += 1
        for place in range(start, min(count, self.capacity)):
            self.seen[self.out_ids[place] >> 6] = 0
        if count > self.capacity:
            end[0] = start
            return asker
    end[0] = count
    return queries


cdef void search_all(Loops self, const uint32_t *values, int64_t queries) noexcept nogil:
    """Answer queries in groups."""
    cdef int64_t group, done, hits, place, start, end, asker
    while self.done < queries:
        group = min(<int64_t>GROUP, queries - self.done)
        hits = look_up(self, values + self.done * self.permutations, group)
        place = end = self.found
        done = gather_all(self, self.done, group, hits, &end)
        while place < end:
            asker, start = self.out_positions[place], place
            while place < end and self.out_positions[place] == asker:
                place += 1
            self.found = compare(
                self, values + asker * self.permutations, start, place, self.found
            )
        self.done += done
        if done < group:
            break
