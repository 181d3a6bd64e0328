"""The memory layout that the compiled loops of an index of signatures share.

``state`` is one int64 array: the fields below, then the factors and summands of 64 bits that make
the keys of bands. Addresses lead to memory that ``LshTables`` keeps alive; it grows by chunks, so
that no row ever moves. Chunks are listed by their addresses, BUCKETS_A_CHUNK buckets, LINES_A_CHUNK
lines and ROWS_A_CHUNK rows in each. The compiled functions
contain these numbers.

A key has 32 bits: the low 12 are in the number of its bucket, the other 20 are its tag. The upper 6
bits of the tag are its mark. A chunk of buckets has a line for each band of each bucket. Behind all
lines it has a word for each of them, with a bit for the mark of each entry: what is not marked is
not looked for. A line is 64 bytes, eight words:

====  ==================================================================================
0, 1  the low 16 bits of the tags of the first eight entries
2     the same of the last two; 28 bits: the line behind this one, from 1; 4 bits: entries
3..7  ten entries, from the lower half of a word to the upper: 28 bits: the row; 4 bits: the
      upper bits of the tag
====  ==================================================================================

A bucket's own line holds what came last. When it is full its content moves to a line behind it, so
those are always full. The first word of a line that is free is the number of the next free one.
"""

PERMUTATIONS = 0
BANDS = 1
ROWS = 2
"""The number of values of a band."""
COUNT = 3
"""The number of rows held."""
BUCKETS = 4
"""The number of buckets of each band."""
HALF = 5
"""The largest power of two up to the number of buckets."""
BEHIND = 6
"""The number of lines behind others that were ever in use."""
FREE = 7
"""The first free line among those behind others; 0: none is free."""
BUCKET_CHUNKS = 8
LINE_CHUNKS = 9
ROW_CHUNKS = 10
"""The lists of addresses of chunks. A row is its id and its sketch: four bits of each value."""
SEEN = 11
"""The address of a bit for each row, all 0 between queries."""
OUT_POSITIONS = 12
OUT_IDS = 13
OUT_UNEQUAL = 14
CAPACITY = 15
"""The number of candidates that fit into the arrays at OUT."""
WORK = 16
"""The address of 64-bit numbers for keys and places: 3 * GROUP * bands, and a line."""
FRESH_KEYS = 17
"""The address that takes the keys of rows, 64 bits each; 0: they are not wanted."""
FRESH_FROM = 18
"""The row whose keys stand first at FRESH_KEYS."""
NOTHING_ALIKE = 19
"""The number of unequal values from which on a similarity of 0 is estimated."""
ROOM = 20
"""The number of rows for which there is memory."""
LIMIT = 21
"""The largest number of candidates of one query, and of rows looked at in one band."""
MAX_UNEQUAL = 22
"""The largest number of values in which the sketch of a candidate may differ."""
DONE = 23
"""The number of queries that the last search has answered."""
FOUND = 24
"""The number of candidates that the last search has put out."""
FACTORS = 25

FIRST_BUCKETS = 1 << 12
BUCKET_BITS = 15
LINE_BITS = 20
ROW_BITS = 20
"""The logarithms of the sizes of chunks: a chunk has two to this power buckets, lines or rows."""
BUCKETS_A_CHUNK = 1 << BUCKET_BITS
LINES_A_CHUNK = 1 << LINE_BITS
ROWS_A_CHUNK = 1 << ROW_BITS
MAX_ROWS = 1 << 28

LOAD = 6
"""The number of rows a bucket: with 6 a band takes 13 bytes a row. With 8 it takes 11, and one
bucket in five has a second line, where now one in thirteen has: a batch of queries then took 0.62
us each, not 0.45."""

GROUP = 8
"""The number of queries whose memory is asked for at once."""

SLOTS = 10
LINE_WORDS = 8
LINE_BYTES = 64
VALUES_A_WORD = 16


def words_of(permutations: int) -> int:
    """Return the 64-bit words of a sketch."""
    return -(-permutations // VALUES_A_WORD)
