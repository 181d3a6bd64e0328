"""The search itself, compiled: which rows of all segments are within the radius?

A fingerprint is cut into 4 blocks of 16 bits. Give each block a share s, 0 or more, such that the
shares add up to radius + 1. Were two fingerprints s or more bits apart in *every* block, they
would be radius + 1 or more bits apart in all: so whatever is within the radius differs from the
query in fewer than s bits in some block. A block with share s is therefore asked for all values
that are at most s - 1 bits from the query's; a block with share 0 is not asked. With a radius of 3
and shares (1, 1, 1, 1) these are the four tables of Manku, Jain, Das Sarma (WWW 2007), section 3.1.
Other shares serve larger radii with the same four tables, as multi-index hashing does (Norouzi,
Punjani, Fleet, CVPR 2012), and steer around a block whose value is shared by all (general
pigeonhole principle: Qin et al., ICDE 2018).

What a function calls ``state`` is the array that ``search_state`` describes, ``at`` the place in it
where a segment's fields begin. A fingerprint is rotated for a table so that the table's block comes
first; its other 48 bits are the upper 32, which filter, and the lower 16, which decide.
"""

import numpy as np
import numpy.typing as npt

from neardup.compiled import compiled
from neardup.indexes import search_state as field
from neardup.indexes.newest import Int, State, compare_newest, sort_matches
from neardup.instructions import (
    LANES,
    load_i64,
    load_place,
    load_u8,
    load_u16,
    load_u32,
    load_u64,
    lowest_bit,
    near_u32,
    near_u48,
    part,
    prefetch,
    set_bits,
    store_i64,
    store_u8,
)

SCAN = 17
"""The share that reaches every bucket: more than a block has bits."""

PROBE_COST = 48
"""Opening one more bucket takes as long as comparing this many rows of one."""

PLAN_COST = 16_384
"""A better plan for fewer rows than this costs more than it saves."""

AHEAD = 4
"""Memory for a query's rows is asked for this many queries ahead."""

FETCHED_LINES = 12
"""The search asks for this many cache lines of each bucket; the processor guesses the rest."""

MASK16 = np.uint64(0xFFFF)
MASK32 = np.uint64(0xFFFFFFFF)
BLOCK = np.uint64(16)


@part
def rotated(value: Int, table: Int) -> Int:
    """Return the fingerprint with the table's block first; table 4 - t undoes table t."""
    bits = np.uint64(16 * table & 63)
    return value << bits | value >> (np.uint64(64) - bits & np.uint64(63))


@part
def emit(state: State, at: Int, row: Int, distance: Int, count: Int) -> Int:
    """Put out the ids of a row of table 0 and return how many matches there are by now."""
    first, last = row, row + 1
    if state[at + field.RUNS]:
        first = load_place(state[at + field.RUNS], row)
        last = load_place(state[at + field.RUNS], row + 1)
    dead, limit, enough = state[at + field.DEAD], state[field.LIMIT], count + state[field.LIMIT]
    for place in range(first, last):
        if dead and load_u8(dead, place >> 3) >> (place & 7) & 1:
            continue
        if count < state[field.CAPACITY]:
            store_i64(state[field.OUT_IDS], count, load_i64(state[at + field.IDS], place))
            store_u8(state[field.OUT_DISTANCES], count, distance)
        count += 1
        if limit and count == enough:
            break
    return count


@part
def row_of(state: State, at: Int, value: Int) -> Int:
    """Return the row of table 0 that holds a fingerprint, -1 where none does."""
    table = at + field.TABLES
    keys, high, low = state[table + field.KEYS], state[table + field.HIGH], state[table + field.LOW]
    block, rest = value >> np.uint64(48), value & np.uint64(0xFFFFFFFFFFFF)
    cut = 16 - state[at + field.BITS]
    bucket = np.int64(block) >> cut
    wanted_key = np.int64(block) & ((1 << cut) - 1)
    first = load_place(state[table + field.STARTS], bucket)
    end = load_place(state[table + field.STARTS], bucket + 1)
    last = end
    while first < last:
        middle = (first + last) >> 1
        key = load_u8(keys, middle) if keys else 0
        stored = load_u32(high, middle) << BLOCK | load_u16(low, middle)
        if key < wanted_key or (key == wanted_key and stored < rest):
            first = middle + 1
        else:
            last = middle
    if first == end or load_u32(high, first) << BLOCK | load_u16(low, first) != rest:
        return -1
    return first if not keys or load_u8(keys, first) == wanted_key else -1


@part
def _place(ids: Int, first: Int, last: Int, wanted: Int) -> Int:
    """Return the first of some sorted places whose id is not below the wanted one."""
    while first < last:
        middle = (first + last) >> 1
        if load_i64(ids, middle) < wanted:
            first = middle + 1
        else:
            last = middle
    return first


@part
def _checked(  # noqa: PLR0913, PLR0917  (what stands in registers)
    state: State, at: Int, table: Int, bucket: Int, row: Int, value: Int, count: Int
) -> Int:
    """Put out a row that passed the filter, if it is near and no earlier table reaches it."""
    fields = at + field.TABLES + table * field.TABLE
    cut = 16 - state[at + field.BITS]
    block = bucket << cut
    if cut:
        block |= load_u8(state[fields + field.KEYS], row)
    stored = np.uint64(block) << np.uint64(48) | load_u32(state[fields + field.HIGH], row) << BLOCK
    stored |= load_u16(state[fields + field.LOW], row)
    difference = rotated(stored, 4 - table) ^ value
    distance = set_bits(difference)
    if distance > state[field.RADIUS]:
        return count
    for earlier in range(table):
        apart = (difference >> np.uint64(48 - 16 * earlier) & MASK16) >> np.uint64(cut)
        if set_bits(apart) < state[field.SHARES + earlier]:
            return count
    return emit(
        state, at, row if table == 0 else row_of(state, at, difference ^ value), distance, count
    )


@part
def _bucket(state: State, at: Int, table: Int, bucket: Int, value: Int, count: Int) -> Int:
    """Compare a bucket's rows, sixteen at once."""
    fields = at + field.TABLES + table * field.TABLE
    first = load_place(state[fields + field.STARTS], bucket)
    last = load_place(state[fields + field.STARTS], bucket + 1)
    high, low = state[fields + field.HIGH], state[fields + field.LOW]
    turned = rotated(value, table)
    prefix = np.int64(turned >> np.uint64(64 - state[at + field.BITS]))
    left = state[field.RADIUS] - set_bits(np.uint64(prefix ^ bucket))
    wanted = turned >> BLOCK & MASK32
    for row in range(first, last, LANES):
        hits = near_u32(high + 4 * row, wanted, left)
        if hits:
            # Where fingerprints resemble one another, 32 bits tell little.
            hits = near_u48(high + 4 * row, low + 2 * row, turned, left)
            if last - row < LANES:
                hits &= (1 << (last - row)) - 1
            while hits:
                found = row + lowest_bit(hits)
                hits &= hits - 1
                count = _checked(state, at, table, bucket, found, value, count)
    return count


@part
def _rows_of_share(state: State, at: Int, table: Int, value: Int, share: Int) -> Int:
    """Return the number of rows that a block's share makes the search compare."""
    starts = state[at + field.TABLES + table * field.TABLE + field.STARTS]
    prefix = np.int64(rotated(value, table) >> np.uint64(64 - state[at + field.BITS]))
    rows = 0
    for flip in range(state[at + field.ENDS + share]):
        bucket = prefix ^ np.int64(load_u16(state[at + field.FLIPS], flip))
        rows += load_place(starts, bucket + 1) - load_place(starts, bucket)
    return rows


@part
def _plan(state: State, at: Int, value: Int) -> None:
    """Share radius + 1 among the blocks so that the fewest rows are compared."""
    wanted = state[field.RADIUS] + 1
    largest = min(4, wanted)
    costs = np.zeros((4, 5), np.int64)
    for table in range(4):
        for share in range(1, largest + 1):
            rows = _rows_of_share(state, at, table, value, share)
            costs[table, share] = rows + PROBE_COST * state[at + field.ENDS + share]
    best = state[at + field.ROWS] + (4 << state[at + field.BITS])
    shares = (SCAN, 0, 0, 0)
    for a in range(largest + 1):
        for b in range(largest + 1):
            for c in range(largest + 1):
                d = wanted - a - b - c
                if 0 <= d <= largest:
                    cost = costs[0, a] + costs[1, b] + costs[2, c] + costs[3, d]
                    if cost < best:
                        best, shares = cost, (a, b, c, d)
    for table in range(4):
        state[field.SHARES + table] = shares[table]


@part
def _share_out(state: State, at: Int, value: Int) -> None:
    """Choose the shares: even ones, unless their buckets hold far more rows than they should."""
    wanted = state[field.RADIUS] + 1
    rows = probes = 0
    for table in range(4):
        share = (wanted + 3 - table) >> 2
        state[field.SHARES + table] = share
        probes += state[at + field.ENDS + share]
        rows += _rows_of_share(state, at, table, value, share)
    if rows > PLAN_COST + (4 * probes * state[at + field.ROWS] >> state[at + field.BITS]):
        _plan(state, at, value)


@part
def _segment(state: State, at: Int, value: Int, count: Int) -> Int:
    """Search one segment."""
    _share_out(state, at, value)
    bits = state[at + field.BITS]
    for table in range(4):
        share = state[field.SHARES + table]
        prefix = np.int64(rotated(value, table) >> np.uint64(64 - bits))
        if share == SCAN:
            for bucket in range(1 << bits):
                if set_bits(np.uint64(prefix ^ bucket)) <= state[field.RADIUS]:
                    count = _bucket(state, at, table, bucket, value, count)
        else:
            for flip in range(state[at + field.ENDS + share]):
                near = prefix ^ np.int64(load_u16(state[at + field.FLIPS], flip))
                count = _bucket(state, at, table, near, value, count)
    return count


@part
def _near(state: State, value: Int, start: Int) -> Int:
    """Put a query's matches out from ``start`` on and return where they end."""
    count = compare_newest(state, value, start)
    for segment in range(state[field.SEGMENTS]):
        count = _segment(state, field.HEAD + segment * field.SEGMENT, value, count)
    if count - start > 1 and count <= state[field.CAPACITY]:
        sort_matches(state, start, count)
        if state[field.LIMIT]:
            count = min(count, start + state[field.LIMIT])
    return count


@part
def _fetch(state: State, value: Int, rows: bool) -> None:
    """Have the memory bring what a query will look at first: places of rows, then the rows."""
    for segment in range(state[field.SEGMENTS]):
        at = field.HEAD + segment * field.SEGMENT
        for table in range(4):
            fields = at + field.TABLES + table * field.TABLE
            bucket = np.int64(rotated(value, table) >> np.uint64(64 - state[at + field.BITS]))
            if not rows:
                prefetch(state[fields + field.STARTS] + 4 * bucket)
                continue
            first = load_place(state[fields + field.STARTS], bucket)
            last = load_place(state[fields + field.STARTS], bucket + 1)
            for row in range(first, min(last, first + 16 * FETCHED_LINES), 16):
                prefetch(state[fields + field.HIGH] + 4 * row)


@compiled("int64(int64[::1],uint64,int64,int64,int64)")
def find(state: State, value: Int, limit: Int, buffered: Int, queries: Int) -> Int:
    """Put out the matches of one query, or of many until those of one have no room.

    The matches of a query are sorted by distance, then by id. One function does both, since
    otherwise all that it calls would be compiled twice.

    Args:
        state: Room for the matches included; for many queries also these, and where the matches
            of each end, that of the first one that has no room included.
        value: The fingerprint, for one query.
        limit: The largest number of matches of a query; 0: all.
        buffered: Entries in the buffer.
        queries: The number of queries; 0: the one.

    Returns:
        For one query how many matches there are; where there is no room for all, nothing else is
        of use. For many, how many are answered.
    """
    state[field.LIMIT], state[field.BUFFER_ROWS] = limit, buffered
    count = 0
    for place in range(max(1, queries)):
        if queries:
            value = load_u64(state[field.QUERIES], place)
            if place + 2 * AHEAD < queries:
                _fetch(state, load_u64(state[field.QUERIES], place + 2 * AHEAD), False)
                _fetch(state, load_u64(state[field.QUERIES], place + AHEAD), True)
        end = _near(state, value, count)
        if queries:
            store_i64(state[field.ENDS_OF_QUERIES], place, end)
            if end > state[field.CAPACITY]:
                return place
        count = end
    return queries or count


@compiled("void(int64[::1],uint64[::1],int64[::1],int64[::1],int64[::1])")
def find_entries(
    state: State, fingerprints: npt.NDArray[np.uint64], ids: State, firsts: State, lasts: State
) -> None:
    """Find the places of entries among the ids of the only segment.

    Args:
        state: The state of the segment.
        fingerprints: uint64, (entries,).
        ids: int64, (entries,).
        firsts: int64, (entries,): takes the first place of each.
        lasts: int64, (entries,): takes the place after the last; the first, where there is none.
    """
    at = field.HEAD
    for entry in range(len(fingerprints)):
        firsts[entry] = lasts[entry] = 0
        row = row_of(state, at, fingerprints[entry])
        if row < 0:
            continue
        first, last = row, row + 1
        if state[at + field.RUNS]:
            first = load_place(state[at + field.RUNS], row)
            last = load_place(state[at + field.RUNS], row + 1)
        firsts[entry] = _place(state[at + field.IDS], first, last, ids[entry])
        lasts[entry] = firsts[entry]
        while lasts[entry] < last and load_i64(state[at + field.IDS], lasts[entry]) == ids[entry]:
            lasts[entry] += 1
