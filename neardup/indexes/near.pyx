"""Searches the newest entries and segments: the way from Python to near.h and back."""

from cython cimport final
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc

import numpy as np

cdef enum:
    # The number of matches for which there is always memory.
    ROOM = 1024

cdef extern from "neardup/indexes/near.h" nogil:
    struct table:
        const uint32_t *starts
        const uint32_t *high
        const uint16_t *low
        const uint8_t *keys

    struct segment:
        int64_t rows
        int64_t bits
        const int64_t *ids
        const uint32_t *runs
        const uint8_t *dead
        const uint16_t *flips
        int64_t ends[5]
        table tables[4]

    struct match:
        int64_t id
        int64_t distance

    struct search:
        int64_t radius
        int64_t limit
        int64_t newest
        const uint64_t *newest_fingerprints
        const int64_t *newest_ids
        int64_t room
        match *matches
        int64_t segments
        const segment **segment

    bint find(
        search *where, const uint64_t *values, int64_t queries, int64_t *ends
    ) noexcept
    void find_entry(
        const segment *where, uint64_t value, int64_t id, int64_t *first, int64_t *last
    ) noexcept


@final
cdef class Columns:
    """The columns of a segment, kept alive as long as this.

    Args:
        tables: A ``neardup.indexes.segment.Tables``: its arrays have what their docstrings say.
        flips: uint16, (masks,): the bits to flip in a bucket's number, the fewest first.
        ends: The number of flips of each share 0 to 4.
    """

    cdef segment columns
    cdef object kept
    cdef object dead

    def __init__(self, tables, const uint16_t[::1] flips, ends):
        cdef const int64_t[::1] ids = tables.ids
        cdef const uint32_t[::1] runs = tables.runs
        cdef const uint32_t[::1] starts, high
        cdef const uint16_t[::1] low
        cdef const uint8_t[::1] keys
        cdef table *to
        self.kept = (tables, flips)
        self.columns.rows, self.columns.bits = tables.shape.rows, tables.shape.bits
        self.columns.ends = ends
        self.columns.flips = &flips[0]
        self.columns.ids = &ids[0] if ids.shape[0] else NULL
        self.columns.runs = &runs[0] if runs.shape[0] else NULL
        for number, (starts, high, low, keys) in enumerate(tables.tables):
            to = &self.columns.tables[number]
            to.starts, to.high, to.low = &starts[0], &high[0], &low[0]
            to.keys = &keys[0] if keys.shape[0] else NULL

    def note_dead(self, const uint8_t[::1] dead):
        """Leave out the ids whose bits are set from now on: uint8, (ids / 8,)."""
        self.dead = dead
        self.columns.dead = &dead[0]

    def find_entries(
        self,
        const uint64_t[::1] fingerprints,
        const int64_t[::1] ids,
        int64_t[::1] firsts,
        int64_t[::1] lasts,
    ):
        """Find the places of entries among the ids.

        Args:
            fingerprints: uint64, (entries,).
            ids: int64, (entries,).
            firsts: int64, (entries,): takes the first place of each.
            lasts: int64, (entries,): takes the place after the last; the first, where there is
                none.
        """
        cdef Py_ssize_t entry
        with nogil:
            for entry in range(fingerprints.shape[0]):
                find_entry(
                    &self.columns, fingerprints[entry], ids[entry], &firsts[entry], &lasts[entry]
                )


@final
cdef class Near:
    """Finds what is near in a buffer of entries and in segments.

    Args:
        fingerprints: uint64, (room + 16,): those of the newest entries.
        ids: int64, (room,): their ids.
        segments: The ``Columns`` of all others.

    Attributes:
        radius: The largest distance of a match, in bits, 0 to 15.
    """

    cdef search where
    cdef object kept

    def __cinit__(self, const uint64_t[::1] fingerprints, const int64_t[::1] ids, list segments):
        cdef Columns one
        self.kept = (fingerprints, ids, segments)
        self.where.newest_fingerprints, self.where.newest_ids = &fingerprints[0], &ids[0]
        self.where.segment = <const segment **>calloc(len(segments) + 1, sizeof(segment *))
        self.where.matches = <match *>calloc(ROOM, sizeof(match))
        self.where.room = ROOM
        if self.where.segment is NULL or self.where.matches is NULL:
            raise MemoryError
        for one in segments:
            self.where.segment[self.where.segments] = &one.columns
            self.where.segments += 1

    def __dealloc__(self):
        free(<void *>self.where.segment)
        free(self.where.matches)

    @property
    def radius(self):
        return self.where.radius

    @radius.setter
    def radius(self, int64_t bits):
        assert 0 <= bits < 16
        self.where.radius = bits

    def find(self, uint64_t value, int64_t limit, int64_t newest):
        """Return the matches of a fingerprint, sorted by distance, then by id.

        Args:
            value: The fingerprint.
            limit: The largest number of matches; 0: all.
            newest: The number of the newest entries.

        Returns:
            The id and the distance of each.
        """
        cdef int64_t end = 0, place
        try:
            self.look_for(&value, 1, limit, newest, &end)
            return [
                (self.where.matches[place].id, self.where.matches[place].distance)
                for place in range(end)
            ]
        finally:
            self.let_go()

    def find_many(self, const uint64_t[::1] values, int64_t limit, int64_t newest):
        """Return the matches of fingerprints, by fingerprint, then as :meth:`find` does.

        Args:
            values: uint64, (queries,), at least one.
            limit: The largest number of matches of each; 0: all.
            newest: The number of the newest entries.

        Returns:
            Where the matches of each fingerprint end: int64, (queries,); their ids and distances:
            int64 and uint8, (matches,).
        """
        all_ends = np.zeros(values.shape[0], np.int64)
        cdef int64_t[::1] ends = all_ends
        cdef int64_t[::1] ids
        cdef uint8_t[::1] distances
        cdef int64_t count, place
        try:
            self.look_for(&values[0], values.shape[0], limit, newest, &ends[0])
            count = ends[values.shape[0] - 1]
            all_ids, all_distances = np.zeros(count, np.int64), np.zeros(count, np.uint8)
            ids, distances = all_ids, all_distances
            for place in range(count):
                ids[place] = self.where.matches[place].id
                distances[place] = <uint8_t>self.where.matches[place].distance
            return all_ends, all_ids, all_distances
        finally:
            self.let_go()

    cdef look_for(
        self, const uint64_t *values, int64_t queries, int64_t limit, int64_t newest, int64_t *ends
    ):
        """Put out the matches of queries."""
        cdef bint has_memory
        self.where.limit, self.where.newest = limit, newest
        with nogil:
            has_memory = find(&self.where, values, queries, ends)
        if not has_memory:
            raise MemoryError

    cdef let_go(self):
        """Give the memory of many matches back."""
        cdef void *less
        if self.where.room > ROOM:
            less = realloc(self.where.matches, ROOM * sizeof(match))
            if less is not NULL:
                self.where.matches, self.where.room = <match *>less, ROOM
