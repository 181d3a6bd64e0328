"""The tables of an index of signatures: memory for the compiled loops, and the way into them."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from neardup.errors import ClosedError, DocumentError
from neardup.indexes import lsh_layout as field
from neardup.indexes.arrays import Ids, Positions, Signatures
from neardup.indexes.banding import Banding
from neardup.indexes.lsh_layout import (
    BUCKETS_A_CHUNK,
    FIRST_BUCKETS,
    GROUP,
    LINE_WORDS,
    LINES_A_CHUNK,
    LOAD,
    MAX_ROWS,
    ROWS_A_CHUNK,
    SLOTS,
    words_of,
)
from neardup.indexes.lsh_rows import StoredRows, factors_of, nothing_alike

_ALIGNED_WORDS = 8
"""The words of a cache line: a line of a table never lies in two of them."""

_WORD_BYTES = 8

Numbers = npt.NDArray[np.int64]

UNLIMITED = 1 << 30
BATCH_ROWS = 1 << 16
"""The largest number of rows in a batch: 10 MB with 128 permutations in 18 bands."""

ROOM = 256
"""The number of rows for which memory is provided at once, when they come one by one."""

_CAPACITY = 1 << 10

LOOPS = tuple(f"neardup.indexes.lsh_{name}" for name in ("adding", "searching"))
"""The modules of compiled loops that tables need."""


class Chunks:
    """Pieces of zeros, listed by their addresses for the compiled loops.

    Args:
        items: The number of items of a piece.
        words: 64-bit words of an item.
        most: The largest number of items that there may ever be.
    """

    def __init__(self, items: int, words: int, most: int) -> None:
        self._items, self._words = items, words
        self._pieces: list[npt.NDArray[np.uint64]] = []
        self._addresses = np.zeros(-(-most // items), np.int64)

    def __getitem__(self, number: int) -> npt.NDArray[np.uint64]:
        """Return a piece: uint64, (items * words,)."""
        return self._pieces[number]

    @property
    def address(self) -> int:
        """The address of the list of addresses."""
        return int(self._addresses.ctypes.data)

    def provide(self, items: int) -> None:
        """Provide at least ``items`` items; memory is taken only where something is written."""
        while len(self._pieces) * self._items < items:
            size = self._items * self._words
            room = np.zeros(size + _ALIGNED_WORDS, np.uint64)
            start = -(room.ctypes.data // _WORD_BYTES) % _ALIGNED_WORDS
            piece = room[start : start + size]
            self._addresses[len(self._pieces)] = piece.ctypes.data
            self._pieces.append(piece)

    def clear(self) -> None:
        """Let go of all pieces."""
        self._pieces.clear()


class LshTables:
    """Rows of id and sketch, and for each band the rows by key.

    No row is ever moved; now and then one that is added divides a bucket of each band, so that no
    call waits for all tables to grow.

    Args:
        permutations: Values of a signature.
        shape: The bands, and the values of each.
        keep_fresh: Whether :meth:`fresh` is wanted.

    Attributes:
        at: The address of ``state``.
        add: The compiled function.
        search: The compiled function; ``ids`` and ``unequal`` have then what it found.
    """

    def __init__(self, permutations: int, shape: Banding, *, keep_fresh: bool) -> None:
        # numba takes a third of a second to import.
        from neardup.indexes.lsh_adding import add  # noqa: PLC0415
        from neardup.indexes.lsh_searching import search  # noqa: PLC0415

        self.closed = False
        self._room = self._line_room = 0
        self.add: Callable[..., int] = add
        self.search: Callable[..., int] = search
        self._permutations, self._bands = permutations, shape.bands
        self._words = words_of(permutations)
        self._keep_fresh = keep_fresh
        self._buckets = Chunks(
            BUCKETS_A_CHUNK, shape.bands * (LINE_WORDS + 1), MAX_ROWS // LOAD + BUCKETS_A_CHUNK
        )
        self._lines = Chunks(LINES_A_CHUNK, LINE_WORDS, MAX_ROWS)
        self._rows = Chunks(ROWS_A_CHUNK, 1 + self._words, MAX_ROWS)
        self._work = np.zeros(3 * GROUP * shape.bands + max(LINE_WORDS, self._words), np.int64)
        self._seen = np.zeros(0, np.int64)
        self._fresh = np.zeros((0, shape.bands), np.uint64)
        self._state = self._first_state(shape)
        self.at = int(self._state.ctypes.data)
        self._bound(UNLIMITED, permutations)
        self.provide()
        self._provide_out(_CAPACITY)

    def __len__(self) -> int:
        return int(self._state[field.COUNT])

    @property
    def size_bytes(self) -> int:
        """Bytes of memory in use, without the untouched memory that is set aside for growth."""
        arrays = (self._state, self._work, self._seen, self._fresh, *self._out)
        bucket = self._bands * 8 * (LINE_WORDS + 1)
        tables = int(self._state[field.BUCKETS]) * bucket
        behind = int(self._state[field.BEHIND]) * 8 * LINE_WORDS
        rows = len(self) * 8 * (1 + self._words)
        return sum(array.nbytes for array in arrays) + tables + behind + rows

    @property
    def fresh_from(self) -> int:
        """The first row whose keys are still at hand."""
        return int(self._state[field.FRESH_FROM])

    def extend(self, signatures: Signatures, ids: Ids) -> None:
        """Hold more rows: uint32, (rows, permutations), and int64, (rows,), in one piece each."""
        self._check_room(len(ids))
        values = signatures.reshape(-1)
        for some in self._steps(len(ids)):
            part = values[some.start * self._permutations : some.stop * self._permutations]
            self.add(self.at, part, len(some), ids[some.start :].ctypes.data, 0)

    def restore(self, rows: StoredRows, fresh: int = 0) -> None:
        """Hold rows whose keys are known, the arrays in one piece each.

        Args:
            rows: The rows.
            fresh: The number of the last of them that no file holds.
        """
        from neardup.indexes.lsh_adding import restore  # noqa: PLC0415  (numba takes long)

        for some in self._steps(len(rows.ids)):
            addresses = (part[some.start :].ctypes.data for part in rows)
            restore(self.at, len(some), *addresses)
        self.forget_fresh(len(self) - self.fresh_from - fresh)
        self._fresh[:fresh] = rows.keys[len(rows.ids) - fresh :]

    def stored_ids(self) -> Ids:
        """Return a copy of the ids of all rows, in order."""
        stride = 1 + self._words
        parts = [np.zeros(0, np.uint64)]
        for row in range(0, len(self), ROWS_A_CHUNK):
            chunk = self._rows[row // ROWS_A_CHUNK].reshape(-1, stride)
            parts.append(chunk[: len(self) - row, 0])
        return np.concatenate(parts).astype(np.int64)

    def fresh(self) -> StoredRows:
        """Return copies of the first rows whose keys are still at hand, at most BATCH_ROWS."""
        first, stride = self.fresh_from, 1 + self._words
        end = min(len(self), first + BATCH_ROWS)
        parts = [np.zeros((0, stride), np.uint64)]
        for row in range(first - first % ROWS_A_CHUNK, end, ROWS_A_CHUNK):
            chunk = self._rows[row // ROWS_A_CHUNK].reshape(-1, stride)
            parts.append(chunk[max(0, first - row) : end - row])
        stored = np.concatenate(parts)
        keys = self._fresh[: end - first].astype(np.uint32)
        return StoredRows(stored[:, 0].astype(np.int64), keys, np.ascontiguousarray(stored[:, 1:]))

    def forget_fresh(self, count: int) -> None:
        """Let go of the keys of the first rows of :meth:`fresh`."""
        left = len(self) - self.fresh_from - count
        if left:
            self._fresh[:left] = self._fresh[count : count + left].copy()
        self._state[field.FRESH_FROM] += count

    def find(self, signature: Signatures, limit: int, max_unequal: int) -> Ids:
        """Return the ids of the candidates of one query, as :meth:`find_many` does."""
        self._bound(limit, max_unequal)
        try:
            count = self.search(self.at, signature, 1)
            if count >= 0:
                return self._out[1][:count].copy()
        finally:
            self._bound(UNLIMITED, self._permutations)
        return self.find_many(signature[np.newaxis], limit, max_unequal)[1]

    def find_many(
        self, signatures: Signatures, limit: int, max_unequal: int
    ) -> tuple[Positions, Ids, Numbers]:
        """Return the candidates of queries, by query, then by unequal values, then by id.

        Args:
            signatures: uint32, (queries, permutations), in one piece.
            limit: Candidates wanted of each query, and rows looked at in one band.
            max_unequal: Values in which the sketch of a candidate may differ.

        Returns:
            Which query, the id, and the values of the sketches that differ, of each candidate.
        """
        self._bound(limit, max_unequal)
        try:
            count = self.search(self.at, signatures.reshape(-1), len(signatures))
            if count >= 0:
                positions, ids, unequal = self._out
                return positions[:count].copy(), ids[:count].copy(), unequal[:count].copy()
            parts, query = [tuple(part[:0].copy() for part in self._out)], 0
            while query < len(signatures):
                left = signatures[query:]
                self.search(self.at, left.reshape(-1), len(left))
                found = int(self._state[field.FOUND])
                positions, ids, unequal = (part[:found].copy() for part in self._out)
                parts.append((positions + query, ids, unequal))
                query += int(self._state[field.DONE])
                if query < len(signatures):
                    self._provide_out(4 * len(self._out[0]))
        finally:
            self._bound(UNLIMITED, self._permutations)
        positions, ids, unequal = map(np.concatenate, zip(*parts, strict=True))
        return positions, ids, unequal

    def close(self) -> None:
        """Let go of all memory; whatever is asked for from now on is refused."""
        self.closed = True
        self.add = self.search = self._refuse
        self._state[field.COUNT] = self._state[field.FRESH_FROM] = 0
        for chunks in (self._buckets, self._lines, self._rows):
            chunks.clear()

    def _refuse(self, *_: object) -> int:
        raise ClosedError("the index is closed")

    def _steps(self, count: int) -> Iterator[range]:
        """Cut ``count`` rows into spans, and provide memory for each span before it is yielded."""
        step = max(1, LINES_A_CHUNK // self._bands)
        for start in range(0, count, step):
            some = range(start, min(count, start + step))
            self.provide(len(some))
            yield some

    def has_room(self, count: int) -> bool:
        """Whether ``count`` more rows fit for certain."""
        behind = int(self._state[field.BEHIND]) + count * self._bands // SLOTS
        return len(self) + count <= MAX_ROWS and behind + LINES_A_CHUNK <= MAX_ROWS

    def _check_room(self, count: int) -> None:
        if not self.has_room(count):
            raise DocumentError(f"the index is full with {len(self)} entries; begin another one")

    def provide(self, count: int = ROOM) -> None:
        """Provide memory for ``count`` more rows.

        Raises:
            DocumentError: The index is full.
        """
        rows = len(self) + count
        lines = int(self._state[field.BEHIND]) + count * self._bands
        if rows <= self._room and lines <= self._line_room:
            return
        self._check_room(count)
        self._buckets.provide(max(FIRST_BUCKETS, rows // LOAD + 2))
        self._lines.provide(lines)
        self._rows.provide(rows)
        if rows > 64 * len(self._seen):
            self._seen = np.zeros(rows // 32 + 1, np.int64)
            self._state[field.SEEN] = self._seen.ctypes.data
        fresh = rows - self.fresh_from
        if self._keep_fresh and fresh > len(self._fresh):
            longer = np.zeros((2 * fresh, self._bands), np.uint64)
            longer[: len(self._fresh)] = self._fresh
            self._fresh = longer
            self._state[field.FRESH_KEYS] = longer.ctypes.data
        # What was provided stays: a call for one row must not make the next one ask again.
        self._room = self._state[field.ROOM] = max(rows, self._room)
        self._line_room = max(lines, self._line_room)

    def _bound(self, limit: int, max_unequal: int) -> None:
        """Set the bounds of searches from now on."""
        self._state[field.LIMIT], self._state[field.MAX_UNEQUAL] = limit, max_unequal

    def _provide_out(self, capacity: int) -> None:
        """Provide room for ``capacity`` candidates."""
        self._out = tuple(np.zeros(capacity, np.int64) for _ in range(3))
        # To read one number from these takes a third of the time that an array takes.
        _, self.ids, self.unequal = (part.data for part in self._out)
        addresses = [array.ctypes.data for array in self._out]
        self._state[field.OUT_POSITIONS : field.CAPACITY + 1] = [*addresses, capacity]

    def _first_state(self, shape: Banding) -> Numbers:
        factors = factors_of(shape)
        state = np.zeros(field.FACTORS + len(factors), np.int64)
        state[field.FACTORS :] = factors.view(np.int64)
        state[field.PERMUTATIONS] = self._permutations
        state[field.NOTHING_ALIKE] = nothing_alike(self._permutations)
        state[field.BANDS], state[field.ROWS] = shape
        state[field.BUCKETS] = state[field.HALF] = FIRST_BUCKETS
        state[field.BUCKET_CHUNKS] = self._buckets.address
        state[field.LINE_CHUNKS] = self._lines.address
        state[field.ROW_CHUNKS] = self._rows.address
        state[field.WORK] = self._work.ctypes.data
        return state
