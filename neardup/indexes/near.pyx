"""Searches the newest entries and segments: the way from Python to near.h and back."""

from cython cimport final
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

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

    struct search:
        int64_t radius
        int64_t limit
        int64_t newest
        const uint64_t *newest_fingerprints
        const int64_t *newest_ids
        int64_t capacity
        int64_t *ids
        uint8_t *distances
        int64_t segments
        const segment **segment

    int64_t find(
        const search *where, const uint64_t *values, int64_t queries, int64_t *ends
    ) noexcept
    void find_entry(
        const segment *where, uint64_t value, int64_t id, int64_t *first, int64_t *last
    ) noexcept


@final
cdef class Columns:
    """The columns of a segment, kept alive as long as this.

    Args:
        tables: A ``neardup.indexes.columns.Tables``: its arrays have what their docstrings say.
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
        ids: int64, (room,): those of the matches of the last question.
        distances: uint8, (room,): their distances.
    """

    cdef search where
    cdef object kept
    cdef readonly object ids
    cdef readonly object distances

    def __cinit__(self, const uint64_t[::1] fingerprints, const int64_t[::1] ids, list segments):
        cdef Columns one
        self.kept = (fingerprints, ids, segments)
        self.where.newest_fingerprints, self.where.newest_ids = &fingerprints[0], &ids[0]
        self.where.segment = <const segment **>calloc(len(segments) + 1, sizeof(segment *))
        if self.where.segment is NULL:
            raise MemoryError
        for one in segments:
            self.where.segment[self.where.segments] = &one.columns
            self.where.segments += 1

    def __dealloc__(self):
        free(<void *>self.where.segment)

    @property
    def radius(self):
        return self.where.radius

    @radius.setter
    def radius(self, int64_t bits):
        assert 0 <= bits < 16
        self.where.radius = bits

    @property
    def room(self):
        """The number of matches for which there is room."""
        return self.where.capacity

    def put_into(self, ids, distances):
        """Put the matches into these arrays from now on: int64 and uint8, (room,)."""
        cdef int64_t[::1] to_ids = ids
        cdef uint8_t[::1] to_distances = distances
        assert to_ids.shape[0] == to_distances.shape[0]
        self.where.ids, self.where.distances = &to_ids[0], &to_distances[0]
        self.where.capacity = to_ids.shape[0]
        self.ids, self.distances = ids, distances

    def find(self, uint64_t value, int64_t limit, int64_t newest):
        """Put out the matches of a fingerprint, sorted by distance, then by id.

        Args:
            value: The fingerprint.
            limit: The largest number of matches; 0: all.
            newest: The number of the newest entries.

        Returns:
            The number of matches; where there is no room for all, nothing else is of use.
        """
        cdef int64_t end
        self.where.limit, self.where.newest = limit, newest
        with nogil:
            find(&self.where, &value, 1, &end)
        return end

    def find_many(
        self, const uint64_t[::1] values, int64_t limit, int64_t newest, int64_t[::1] ends
    ):
        """Put out the matches of fingerprints, until those of one have no room.

        Args:
            values: uint64, (queries,), at least one.
            limit: The largest number of matches of each; 0: all.
            newest: The number of the newest entries.
            ends: int64, (queries,): takes where the matches of each end, that of the first one
                without room included.

        Returns:
            The number of fingerprints that are answered.
        """
        cdef int64_t done
        assert ends.shape[0] >= values.shape[0]
        self.where.limit, self.where.newest = limit, newest
        with nogil:
            done = find(&self.where, &values[0], values.shape[0], &ends[0])
        return done
