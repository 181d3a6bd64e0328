"""Where the compiled search finds everything: one array of numbers and addresses.

A call of a compiled function costs 0.1 microseconds for each array that it is given, and a query
may look into a dozen segments of twenty arrays each. So their addresses stand in one int64 array,
and whoever fills it keeps alive what they point to. These numbers stand
in what ``from neardup.compiled import compiled`` has compiled.
"""

SEGMENTS = 0
RADIUS = 1
LIMIT = 2
"""At most so many matches; 0: all."""
BUFFER_ROWS = 3
BUFFER_FINGERPRINTS = 4
BUFFER_IDS = 5
OUT_IDS = 6
OUT_DISTANCES = 7
CAPACITY = 8
"""Matches that fit into the arrays at OUT_IDS and OUT_DISTANCES."""
QUERIES = 9
"""Of many queries: their fingerprints, uint64."""
ENDS_OF_QUERIES = 10
"""Where to put where the matches of each end, int64."""
SHARES = 12
"""The share of each block in the plan that is being followed: four fields."""
HEAD = 16
"""Here the first segment's fields begin; the following are relative to a segment's."""

ROWS = 0
"""Distinct fingerprints."""
BITS = 1
"""Of each block, so many bits are the number of a bucket."""
IDS = 2
RUNS = 3
"""Where each fingerprint's ids start; 0: each has one."""
DEAD = 4
"""A bit for each id, set when it was deleted; 0: none was."""
FLIPS = 5
ENDS = 6
"""How many flips belong to each share of 0..4: five fields."""
TABLES = 12
"""Four tables of TABLE fields each."""
SEGMENT = 28

STARTS = 0
HIGH = 1
LOW = 2
KEYS = 3
"""What remains of the block of each row; 0 where buckets have all 16 bits and so tell it."""
TABLE = 4
