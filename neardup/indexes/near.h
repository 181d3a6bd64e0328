/*
 * The search itself: which rows of all segments are within the radius?
 *
 * A fingerprint is cut into 4 blocks of 16 bits. Give each block a share s, 0 or more, such that
 * the shares add up to radius + 1. Were two fingerprints s or more bits apart in *every* block,
 * they would be radius + 1 or more bits apart in all: so whatever is within the radius differs from
 * the query in fewer than s bits in some block. A block with share s is therefore asked for all
 * values that are at most s - 1 bits from the query's; a block with share 0 is not asked. With a
 * radius of 3 and shares (1, 1, 1, 1) these are the four tables of Manku, Jain, Das Sarma (WWW
 * 2007), section 3.1. Other shares serve larger radii with the same four tables, as multi-index
 * hashing does (Norouzi, Punjani, Fleet, CVPR 2012), and steer around a block whose value is shared
 * by all (general pigeonhole principle: Qin et al., ICDE 2018).
 *
 * A fingerprint is rotated for a table so that the table's block comes first; its other 48 bits are
 * the upper 32, which filter, and the lower 16, which decide.
 */

#ifndef NEARDUP_NEAR
#define NEARDUP_NEAR

#include <stdlib.h>
#include <string.h>

#include "neardup/kernels.h"

enum {
    BLOCKS = 4,
    /* The number of rows that are compared at once; arrays end with this many rows to spare. */
    LANES = 16,
    /* The largest share: up to 3 flipped bits in a block; above it a scan is cheaper. */
    MAX_SHARE = 4,
    /* The share that reaches every bucket: more than a block has bits. */
    SCAN = 17,
    /* Opening one more bucket takes as long as comparing this many rows of one. */
    PROBE_COST = 48,
    /* A better plan for fewer rows than this costs more than it saves. */
    PLAN_COST = 16384,
    /* Memory for a query's rows is asked for this many queries ahead. */
    AHEAD = 4,
    /* The search asks for this many cache lines of each bucket; the processor guesses the rest. */
    FETCHED_LINES = 12,
    ROWS_A_LINE = 16,
};

/* The columns of a table; keys is NULL where the number of a bucket has all bits of a block. */
struct table {
    const uint32_t *starts;
    const uint32_t *high;
    const uint16_t *low;
    const uint8_t *keys;
};

/*
 * The columns of a segment. bits: those of a block that are the number of a bucket. runs: where the
 * ids of each row start; NULL: each has one. dead: a bit for each id, set when it was deleted;
 * NULL: none was. ends: the number of flips of each share.
 */
struct segment {
    int64_t rows;
    int64_t bits;
    const int64_t *ids;
    const uint32_t *runs;
    const uint8_t *dead;
    const uint16_t *flips;
    int64_t ends[MAX_SHARE + 1];
    struct table tables[BLOCKS];
};

/* A stored entry near a query. */
struct match {
    int64_t id;
    int64_t distance;
};

/*
 * Where to search, and the matches. radius: at most 15, since blocks share 16 at most. limit: the
 * largest number of matches of a query, 0: all. room: the number of matches for which there is
 * memory. lacks_memory: whether there was none for more.
 */
struct search {
    int64_t radius;
    int64_t limit;
    int64_t newest;
    const uint64_t *newest_fingerprints;
    const int64_t *newest_ids;
    int64_t room;
    struct match *matches;
    int64_t lacks_memory;
    int64_t segments;
    const struct segment **segment;
};

/* A fingerprint that is asked for, and the shares of its blocks in the segment searched. */
struct query {
    struct search *search;
    uint64_t value;
    int64_t shares[BLOCKS];
};

PART int64_t least(int64_t first, int64_t second)
{
    return first < second ? first : second;
}

/* Return the fingerprint with the table's block first; table 4 - t undoes table t. */
PART uint64_t rotated(uint64_t value, int table)
{
    int bits = 16 * table & 63;
    return value << bits | value >> ((64 - bits) & 63);
}

/* Return the number of the bucket in a table that a fingerprint belongs to. */
PART int64_t bucket_of(const struct segment *in, int table, uint64_t value)
{
    return (int64_t)(rotated(value, table) >> (64 - in->bits));
}

/* Functions of lanes are parts of those that call them: it does not matter how they are called. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

/* As many numbers of 32 bits as are calculated with at once; one, where C has no word for more. */
#if defined(__GNUC__)
typedef uint32_t lanes __attribute__((vector_size(32)));
#else
typedef uint32_t lanes;
#endif

enum { WIDTH = sizeof(lanes) / sizeof(uint32_t) };

/* Return the bits that are set, by arithmetic alone: few processors count them in lanes. */
PART lanes count_bits(lanes value)
{
    value -= value >> 1 & 0x55555555U;
    value = (value & 0x33333333U) + (value >> 2 & 0x33333333U);
    value = (value + (value >> 4)) & 0x0F0F0F0FU;
    return value * 0x01010101U >> 24;
}

/* Return which of some distances are small enough, a bit each. */
PART uint32_t near_bits(lanes distances, int32_t left)
{
    if (left < 0)
        return 0;
#if defined(__GNUC__)
    const lanes places = {1, 2, 4, 8, 16, 32, 64, 128};
    lanes bits = (lanes)(distances <= (uint32_t)left) & places;
    uint64_t pairs[WIDTH / 2];
    memcpy(pairs, &bits, sizeof bits);
    uint64_t all = pairs[0] | pairs[1] | pairs[2] | pairs[3];
    return (uint32_t)(all | all >> 32);
#else
    return distances <= (uint32_t)left;
#endif
}

/* Return which of sixteen rows are near in their upper 32 bits. */
PART uint32_t near_in_32(const uint32_t *high, uint32_t wanted, int32_t left)
{
    uint32_t hits = 0;
    for (int row = 0; row < LANES; row += WIDTH) {
        lanes values;
        memcpy(&values, &high[row], sizeof values);
        hits |= near_bits(count_bits(values ^ wanted), left) << row;
    }
    return hits;
}

/* Return whether one of sixteen fingerprints is near. */
PART int any_is_near(const uint64_t *values, uint64_t wanted, int radius)
{
    int any = 0;
    for (int row = 0; row < LANES; row++)
        any |= set_bits(values[row] ^ wanted) <= radius;
    return any;
}

/* Have memory for twice as many matches; return whether there is. */
static int double_room(struct search *to)
{
    size_t size = 2 * (size_t)to->room * sizeof(struct match);
    struct match *matches = (struct match *)realloc(to->matches, size);
    if (!matches) {
        to->lacks_memory = 1;
        return 0;
    }
    to->matches = matches;
    to->room *= 2;
    return 1;
}

/* Put out a match. */
PART int64_t put_out(struct search *to, int64_t id, int distance, int64_t count)
{
    if (count == to->room && !double_room(to))
        return count;
    to->matches[count].id = id;
    to->matches[count].distance = distance;
    return count + 1;
}

/* Put out the ids of a row of table 0 and return how many matches there are by now. */
PART int64_t emit(
    struct search *to, const struct segment *in, int64_t row, int distance, int64_t count)
{
    int64_t first = in->runs ? in->runs[row] : row;
    int64_t last = in->runs ? in->runs[row + 1] : row + 1;
    int64_t enough = count + to->limit;
    for (int64_t place = first; place < last; place++) {
        if (in->dead && in->dead[place >> 3] >> (place & 7) & 1)
            continue;
        count = put_out(to, in->ids[place], distance, count);
        if (to->limit && count == enough)
            break;
    }
    return count;
}

/* Return the row of table 0 that holds a fingerprint, -1 where none does. */
PART int64_t row_of(const struct segment *in, uint64_t value)
{
    const struct table *table = &in->tables[0];
    uint64_t rest = value & 0xFFFFFFFFFFFFULL;
    int64_t bucket = bucket_of(in, 0, value);
    int64_t wanted_key = (int64_t)(value >> 48) & ((1 << (16 - in->bits)) - 1);
    int64_t first = table->starts[bucket];
    int64_t end = table->starts[bucket + 1];
    int64_t last = end;
    while (first < last) {
        int64_t middle = (first + last) >> 1;
        int64_t key = table->keys ? table->keys[middle] : 0;
        uint64_t stored = (uint64_t)table->high[middle] << 16 | table->low[middle];
        if (key < wanted_key || (key == wanted_key && stored < rest))
            first = middle + 1;
        else
            last = middle;
    }
    if (first == end || ((uint64_t)table->high[first] << 16 | table->low[first]) != rest)
        return -1;
    return !table->keys || table->keys[first] == wanted_key ? first : -1;
}

/* Put out a row that passed the filter, if it is near and no earlier table reaches it. */
PART int64_t checked(
    const struct query *query, const struct segment *in, int table, int64_t bucket, int64_t row,
    int64_t count)
{
    const struct table *rows = &in->tables[table];
    int64_t cut = 16 - in->bits;
    uint64_t block = (uint64_t)bucket << cut;
    if (cut)
        block |= rows->keys[row];
    uint64_t stored = block << 48 | (uint64_t)rows->high[row] << 16 | rows->low[row];
    uint64_t apart = rotated(stored, BLOCKS - table) ^ query->value;
    int distance = set_bits(apart);
    if (distance > query->search->radius)
        return count;
    for (int earlier = 0; earlier < table; earlier++)
        if (set_bits((apart >> (48 - 16 * earlier) & 0xFFFF) >> cut) < query->shares[earlier])
            return count;
    if (table != 0)
        row = row_of(in, apart ^ query->value);
    return emit(query->search, in, row, distance, count);
}

/* Compare a bucket's rows, sixteen at once. */
PART int64_t search_bucket(
    const struct query *query, const struct segment *in, int table, int64_t bucket, int64_t count)
{
    const struct table *rows = &in->tables[table];
    int64_t last = rows->starts[bucket + 1];
    uint64_t turned = rotated(query->value, table);
    int apart = set_bits((uint64_t)(bucket_of(in, table, query->value) ^ bucket));
    int32_t left = (int32_t)query->search->radius - apart;
    for (int64_t row = rows->starts[bucket]; row < last; row += LANES) {
        uint32_t hits = near_in_32(&rows->high[row], (uint32_t)(turned >> 16), left);
        if (last - row < LANES)
            hits &= (1U << (last - row)) - 1;
        while (hits) {
            count = checked(query, in, table, bucket, row + lowest_bit(hits), count);
            hits &= hits - 1;
        }
    }
    return count;
}

/* Return the number of rows that a block's share makes the search compare. */
PART int64_t rows_of_share(
    const struct segment *in, int table, uint64_t value, int64_t share)
{
    const uint32_t *starts = in->tables[table].starts;
    int64_t own = bucket_of(in, table, value);
    int64_t rows = 0;
    for (int64_t flip = 0; flip < in->ends[share]; flip++) {
        int64_t bucket = own ^ in->flips[flip];
        rows += (int64_t)starts[bucket + 1] - (int64_t)starts[bucket];
    }
    return rows;
}

/* Share radius + 1 among the blocks so that the fewest rows are compared. */
PART void plan(struct query *query, const struct segment *in)
{
    int64_t wanted = query->search->radius + 1;
    int64_t largest = least(MAX_SHARE, wanted);
    int64_t costs[BLOCKS][MAX_SHARE + 1] = {{0}};
    for (int table = 0; table < BLOCKS; table++)
        for (int64_t share = 1; share <= largest; share++)
            costs[table][share] = rows_of_share(in, table, query->value, share)
                + PROBE_COST * in->ends[share];
    int64_t best = in->rows + ((int64_t)BLOCKS << in->bits);
    query->shares[0] = SCAN;
    query->shares[1] = query->shares[2] = query->shares[3] = 0;
    for (int64_t a = 0; a <= largest; a++)
        for (int64_t b = 0; b <= largest; b++)
            for (int64_t c = 0; c <= largest; c++) {
                int64_t d = wanted - a - b - c;
                if (d < 0 || d > largest)
                    continue;
                int64_t cost = costs[0][a] + costs[1][b] + costs[2][c] + costs[3][d];
                if (cost < best) {
                    best = cost;
                    query->shares[0] = a;
                    query->shares[1] = b;
                    query->shares[2] = c;
                    query->shares[3] = d;
                }
            }
}

/* Choose the shares: even ones, unless their buckets hold far more rows than they should. */
PART void share_out(struct query *query, const struct segment *in)
{
    int64_t wanted = query->search->radius + 1;
    int64_t rows = 0;
    int64_t probes = 0;
    for (int table = 0; table < BLOCKS; table++) {
        int64_t share = (wanted + 3 - table) >> 2;
        query->shares[table] = share;
        probes += in->ends[share];
        rows += rows_of_share(in, table, query->value, share);
    }
    if (rows > PLAN_COST + (4 * probes * in->rows >> in->bits))
        plan(query, in);
}

/* Search one segment. */
PART int64_t search_segment(
    struct query *query, const struct segment *in, int64_t count)
{
    share_out(query, in);
    for (int table = 0; table < BLOCKS; table++) {
        int64_t own = bucket_of(in, table, query->value);
        int64_t share = query->shares[table];
        if (share == SCAN) {
            for (int64_t bucket = 0; bucket < (int64_t)1 << in->bits; bucket++)
                if (set_bits((uint64_t)(own ^ bucket)) <= query->search->radius)
                    count = search_bucket(query, in, table, bucket, count);
            continue;
        }
        for (int64_t flip = 0; flip < in->ends[share]; flip++)
            count = search_bucket(query, in, table, own ^ in->flips[flip], count);
    }
    return count;
}

/* Compare the newest entries, one and all. */
PART int64_t compare_newest(struct search *in, uint64_t value, int64_t count)
{
    const uint64_t *fingerprints = in->newest_fingerprints;
    int radius = (int)in->radius;
    for (int64_t first = 0; first < in->newest; first += LANES) {
        if (!any_is_near(&fingerprints[first], value, radius))
            continue;
        int64_t last = least(first + LANES, in->newest);
        for (int64_t row = first; row < last; row++) {
            int distance = set_bits(fingerprints[row] ^ value);
            if (distance <= radius)
                count = put_out(in, in->newest_ids[row], distance, count);
        }
    }
    return count;
}

/* Order matches by distance, then by id. */
static int by_distance(const void *first, const void *second)
{
    const struct match *one = (const struct match *)first;
    const struct match *other = (const struct match *)second;
    if (one->distance != other->distance)
        return one->distance < other->distance ? -1 : 1;
    return (one->id > other->id) - (one->id < other->id);
}

/* Put a query's matches out from a place on and return where they end. */
PART int64_t search_all(struct search *in, uint64_t value, int64_t start)
{
    struct query query = {in, value, {0}};
    int64_t end = compare_newest(in, value, start);
    for (int64_t segment = 0; segment < in->segments; segment++)
        end = search_segment(&query, in->segment[segment], end);
    if (end - start > 1)
        qsort(&in->matches[start], (size_t)(end - start), sizeof(struct match), by_distance);
    return in->limit ? least(end, start + in->limit) : end;
}

/* Have the memory bring what tells the places of the rows that a query will look at first. */
PART void fetch_starts(const struct search *in, uint64_t value)
{
    for (int64_t segment = 0; segment < in->segments; segment++)
        for (int table = 0; table < BLOCKS; table++) {
            const struct segment *one = in->segment[segment];
            prefetch(&one->tables[table].starts[bucket_of(one, table, value)]);
        }
}

/* Have the memory bring those rows. */
PART void fetch_rows(const struct search *in, uint64_t value)
{
    for (int64_t segment = 0; segment < in->segments; segment++)
        for (int table = 0; table < BLOCKS; table++) {
            const struct table *rows = &in->segment[segment]->tables[table];
            int64_t bucket = bucket_of(in->segment[segment], table, value);
            int64_t first = rows->starts[bucket];
            int64_t last = least(rows->starts[bucket + 1], first + ROWS_A_LINE * FETCHED_LINES);
            for (int64_t row = first; row < last; row += ROWS_A_LINE)
                prefetch(&rows->high[row]);
        }
}

/*
 * Put out the matches of queries, each sorted by distance, then by id. ends: takes where the matches
 * of each end. Returns whether there was memory for all.
 */
FOR_EACH_PROCESSOR static int find(
    struct search *in, const uint64_t *values, int64_t queries, int64_t *ends)
{
    int64_t count = 0;
    in->lacks_memory = 0;
    for (int64_t place = 0; place < queries; place++) {
        if (place + 2 * AHEAD < queries) {
            fetch_starts(in, values[place + 2 * AHEAD]);
            fetch_rows(in, values[place + AHEAD]);
        }
        count = search_all(in, values[place], count);
        ends[place] = count;
    }
    return !in->lacks_memory;
}

/* Find the places of an entry among the ids of a segment; none: the last is the first. */
PART void find_entry(
    const struct segment *in, uint64_t value, int64_t id, int64_t *first_place, int64_t *last_place)
{
    int64_t row = row_of(in, value);
    *first_place = *last_place = 0;
    if (row < 0)
        return;
    int64_t first = in->runs ? in->runs[row] : row;
    int64_t end = in->runs ? in->runs[row + 1] : row + 1;
    int64_t last = end;
    while (first < last) {
        int64_t middle = (first + last) >> 1;
        if (in->ids[middle] < id)
            first = middle + 1;
        else
            last = middle;
    }
    while (last < end && in->ids[last] == id)
        last++;
    *first_place = first;
    *last_place = last;
}

#endif
