"""The tables of an index of signatures: how they grow, and what goes in and out."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from neardup.errors import ClosedError, DocumentError
from neardup.indexes.arrays import Ids, Positions, Signatures
from neardup.indexes.banding import Banding
from neardup.indexes.lsh_loops import Loops
from neardup.indexes.lsh_rows import MAX_ROWS, StoredRows, factors_of, nothing_alike

Numbers = npt.NDArray[np.int64]

UNLIMITED = 1 << 30
BATCH_ROWS = 1 << 16
"""The largest number of rows in a batch: 10 MB with 128 permutations in 18 bands."""

ROOM = 256
"""The number of rows for which memory is provided at once, when they come one by one."""

_STEP_KEYS = 1 << 20
"""The largest number of keys that are added at once, unless one row has more."""

_KEYS_A_LINE = 10

_CAPACITY = 1 << 10


class LshTables:
    """Rows of id and sketch, and for each band the rows by key.

    No row is ever moved; now and then one that is added divides a bucket of each band, so that no
    call waits for all tables to grow.

    Args:
        permutations: Values of a signature.
        shape: The bands, and the values of each.
        keep_fresh: Whether :meth:`fresh` is wanted.

    Attributes:
        closed: Whether :meth:`close` was called.
        add: Holds a signature, if there is room: see :meth:`Loops.add`.
        search: Finds candidates: see :meth:`Loops.search`; ``ids`` and ``unequal`` have them then.
    """

    def __init__(self, permutations: int, shape: Banding, *, keep_fresh: bool) -> None:
        self.closed = False
        self._bands = shape.bands
        self._loops = Loops(permutations, *shape, factors_of(shape), nothing_alike(permutations))
        self.add: Callable[[Signatures, int], int] = self._loops.add
        self.search: Callable[..., int] = self._loops.search
        self._line_room = 0
        self._keep_fresh = keep_fresh
        self._seen = np.zeros(0, np.uint64)
        self._fresh = np.zeros((0, shape.bands), np.uint64)
        self.provide()
        self._provide_out(_CAPACITY)

    def __len__(self) -> int:
        return self._loops.count

    @property
    def size_bytes(self) -> int:
        """Bytes of memory in use, without the untouched memory that is set aside for growth."""
        arrays = (self._seen, self._fresh, *self._out)
        return sum(array.nbytes for array in arrays) + self._loops.size_bytes

    @property
    def fresh_from(self) -> int:
        """The first row whose keys are still at hand."""
        return self._loops.fresh_from

    def extend(self, signatures: Signatures, ids: Ids) -> None:
        """Hold more rows: uint32, (rows, permutations), and int64, (rows,), in one piece each."""
        self._check_room(len(ids))
        for some in self._steps(len(ids)):
            self._loops.add_many(signatures[some], ids[some])

    def restore(self, rows: StoredRows) -> None:
        """Hold rows that files kept, the arrays in one piece each."""
        for some in self._steps(len(rows.ids)):
            # What lies in a file may begin anywhere; C reads numbers from their own places.
            ids = np.require(rows.ids[some], requirements="A")
            keys = np.require(rows.keys[some], requirements="A")
            sketches = np.require(rows.sketches[some], requirements="A")
            self._loops.restore(ids, keys, sketches)
        self.forget_fresh(len(self) - self.fresh_from)

    def stored_ids(self) -> Ids:
        """Return a copy of the ids of all rows, in order."""
        return self._loops.stored_rows(0, len(self))[:, 0].astype(np.int64)

    def fresh(self) -> StoredRows:
        """Return copies of the first rows whose keys are still at hand, at most BATCH_ROWS."""
        end = min(len(self), self.fresh_from + BATCH_ROWS)
        stored = self._loops.stored_rows(self.fresh_from, end)
        keys = self._fresh[: len(stored)].astype(np.uint32)
        return StoredRows(stored[:, 0].astype(np.int64), keys, np.ascontiguousarray(stored[:, 1:]))

    def forget_fresh(self, count: int) -> None:
        """Let go of the keys of the first rows of :meth:`fresh`."""
        left = len(self) - self.fresh_from - count
        if left:
            self._fresh[:left] = self._fresh[count : count + left].copy()
        self._loops.fresh_from += count

    def find(self, signature: Signatures, limit: int, max_unequal: int) -> Ids:
        """Return the ids of the candidates of one query, as :meth:`find_many` does."""
        count = self.search(signature, 1, limit, max_unequal)
        if count >= 0:
            return self._out[1][:count].copy()
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
        count = self.search(signatures.reshape(-1), len(signatures), limit, max_unequal)
        if count >= 0:
            positions, ids, unequal = self._out
            return positions[:count].copy(), ids[:count].copy(), unequal[:count].copy()
        parts, query = [tuple(part[:0].copy() for part in self._out)], 0
        while query < len(signatures):
            left = signatures[query:]
            self.search(left.reshape(-1), len(left), limit, max_unequal)
            found = self._loops.found
            positions, ids, unequal = (part[:found].copy() for part in self._out)
            parts.append((positions + query, ids, unequal))
            query += self._loops.done
            if query < len(signatures):
                self._provide_out(4 * len(self._out[0]))
        positions, ids, unequal = map(np.concatenate, zip(*parts, strict=True))
        return positions, ids, unequal

    def close(self) -> None:
        """Let go of all memory; whatever is asked for from now on is refused."""
        self.closed = True
        self.add = self.search = self._refuse
        self._loops.clear()

    def _refuse(self, *_: object) -> int:
        raise ClosedError("the index is closed")

    def _steps(self, count: int) -> Iterator[slice]:
        """Cut ``count`` rows into spans, and provide memory for each span before it is yielded."""
        step = max(1, _STEP_KEYS // self._bands)
        for start in range(0, count, step):
            some = slice(start, min(count, start + step))
            self.provide(some.stop - start)
            yield some

    def has_room(self, count: int) -> bool:
        """Whether ``count`` more rows fit for certain."""
        lines = self._loops.behind + count * self._bands // _KEYS_A_LINE
        return len(self) + count <= MAX_ROWS and lines + _STEP_KEYS <= MAX_ROWS

    def _check_room(self, count: int) -> None:
        if not self.has_room(count):
            raise DocumentError(f"the index is full with {len(self)} entries; begin another one")

    def provide(self, count: int = ROOM) -> None:
        """Provide memory for ``count`` more rows.

        Raises:
            DocumentError: The index is full.
        """
        loops = self._loops
        rows, lines = loops.count + count, loops.behind + count * self._bands
        if rows <= loops.room and lines <= self._line_room:
            return
        self._check_room(count)
        loops.provide(rows, lines)
        if rows > 64 * len(self._seen):
            self._seen = np.zeros(rows // 32 + 1, np.uint64)
            loops.see_with(self._seen)
        fresh = rows - self.fresh_from
        if self._keep_fresh and fresh > len(self._fresh):
            longer = np.zeros((2 * fresh, self._bands), np.uint64)
            longer[: len(self._fresh)] = self._fresh
            loops.keep_keys(longer)
            self._fresh = longer
        # What was provided stays: a call for one row must not make the next one ask again.
        loops.room = max(rows, loops.room)
        self._line_room = max(lines, self._line_room)

    def _provide_out(self, capacity: int) -> None:
        """Provide room for ``capacity`` candidates."""
        self._out = tuple(np.zeros(capacity, np.int64) for _ in range(3))
        # To read one number from these takes a third of the time that an array takes.
        _, self.ids, self.unequal = (part.data for part in self._out)
        self._loops.put_into(*self._out)
