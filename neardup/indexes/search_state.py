"""The state of the compiled search: one array of numbers and addresses.

A call of a compiled function costs 0.1 microseconds for each array that it is given, and a query
may look into a dozen segments of twenty arrays each. So their addresses stand in one int64 array,
and the code that fills it keeps alive what they point to. The compiled functions
contain these numbers.
"""

SEGMENTS = 0
RADIUS = 1
LIMIT = 2
"""The largest number of matches to return; 0: all."""
BUFFER_ROWS = 3
BUFFER_FINGERPRINTS = 4
BUFFER_IDS = 5
OUT_IDS = 6
OUT_DISTANCES = 7
CAPACITY = 8
"""The number of matches that fit into the arrays at OUT_IDS and OUT_DISTANCES."""
QUERIES = 9
"""The address of the fingerprints of many queries, uint64."""
ENDS_OF_QUERIES = 10
"""The address of the array that takes the end of each query's matches, int64."""
SHARES = 12
"""The share of each block in the plan that is being followed: four fields."""
HEAD = 16
"""The first segment's fields begin here; the following numbers are relative to a segment's."""

ROWS = 0
"""The number of distinct fingerprints."""
BITS = 1
"""The number of bits of each block that are the number of a bucket."""
IDS = 2
RUNS = 3
"""The address of the starts of each fingerprint's ids; 0: each fingerprint has one id."""
DEAD = 4
"""The address of a bit for each id, set when it was deleted; 0: none was."""
FLIPS = 5
ENDS = 6
"""The number of flips of each share 0 to 4: five fields."""
TABLES = 12
"""The fields of four tables begin here, TABLE of each."""
SEGMENT = 28

STARTS = 0
HIGH = 1
LOW = 2
KEYS = 3
"""The address of the remaining bits of each row's block; 0 where buckets have all 16 bits."""
TABLE = 4
