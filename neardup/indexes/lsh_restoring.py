"""Restore rows of files, compiled where there are files; ``lsh_layout`` describes ``state``."""

import numpy as np

from neardup.compiled import compiled
from neardup.indexes import lsh_layout as field
from neardup.indexes.lsh_adding import link
from neardup.indexes.lsh_parts import row_at, words_in
from neardup.instructions import load_i64, load_u32, store_i64


@compiled("void(int64,int64,int64,int64,int64)")
def restore(state: int, count: int, ids: int, keys: int, sketches: int) -> None:
    """Add rows whose keys and sketches are known; there must be room for them.

    Args:
        state: The address of the state.
        count: The number of rows.
        ids: The address of their ids, int64.
        keys: The address of their keys, uint32, (count, bands).
        sketches: The address of their sketches, uint64, (count, words).
    """
    work, bands, words = load_i64(state, field.WORK), load_i64(state, field.BANDS), words_in(state)
    for place in range(count):
        at = row_at(state, load_i64(state, field.COUNT))
        store_i64(at, 0, load_i64(ids, place))
        for word in range(words):
            store_i64(at, 1 + word, load_i64(sketches, place * words + word))
        for band in range(bands):
            store_i64(work, band, np.int64(load_u32(keys, place * bands + band)))
        link(state)
