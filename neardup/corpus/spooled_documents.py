"""Kept texts in temporary files, found by arrays of 49 bytes a text."""

import os
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from neardup.document import Document
from neardup.files.durable import open_itself
from neardup.fingerprints.digest import DIGEST_BYTES
from neardup.indexes.arrays import Column, Ids
from neardup.kept_facts import StoredFacts

_HELD_NAMES = 1 << 12
"""The number of names that are held in memory: 5 MB of long ones in ASCII, 20 MB at most."""


class _Spool:
    """Strings one behind the other in a file.

    Files:
        ``path``: their UTF-8; nothing is made durable.
    """

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = open_itself(path, "x+b", buffering=0)
        self._size = 0

    def add(self, strings: Any) -> NDArray[np.int64]:
        """Write an array of Arrow; return the ends of each string: int64, (strings, 2)."""
        offsets = np.frombuffer(strings.buffers()[1], np.int32)
        offsets = offsets[strings.offset : strings.offset + len(strings) + 1].astype(np.int64)
        data = strings.buffers()[2]
        if data is not None:
            rest = memoryview(data)[offsets[0] : offsets[-1]]
            while len(rest):
                rest = rest[self._file.write(rest) :]
        offsets += self._size - offsets[0]
        self._size = int(offsets[-1])
        return np.stack([offsets[:-1], offsets[1:]], axis=1)

    def read(self, start: int, end: int) -> str:
        found = b""
        while start < end and (piece := os.pread(self._file.fileno(), end - start, start)):
            found, start = found + piece, start + len(piece)
        return found.decode()

    def close(self) -> None:
        self._file.close()


class SpooledDocuments:
    """The kept texts of a run, and those of the batch that is judged.

    A batch is begun with ``begin``; what is kept of it is found at once, and written by ``end``.

    Files:
        ``folder/texts``, ``folder/names``: the texts and what they are called.
    """

    def __init__(self, folder: Path) -> None:
        self._texts, self._names = _Spool(folder / "texts"), _Spool(folder / "names")
        # A candidate's name is asked for with its facts, and again before its text.
        self._name_at = lru_cache(_HELD_NAMES)(self._names.read)
        self._ids, self._fingerprints = Column(np.int64), Column(np.uint64)
        self._is_signed = Column(np.bool_)
        # Beginnings and ends of text and name.
        self._places = Column(np.int64, 4)
        # The columns of the batch that is judged, the places of its ids, and what is kept of it.
        self._columns: dict[str, Any] = {}
        self._places_of_rows: dict[int, int] = {}
        self._held: set[int] = set()
        self._equal: dict[bytes, int] = {}

    def __len__(self) -> int:
        return self._ids.count

    def begin(self, rows: Any, equal: dict[bytes, int]) -> None:
        """Begin a batch of analysed rows, given the kept texts that have a digest of its texts."""
        ids = rows["id"].to_pylist()
        self._columns = {name: rows[name] for name in ("text", "packed_name", "fingerprint")}
        self._places_of_rows = dict(zip(ids, range(len(ids)), strict=True))
        self._held, self._equal = set(), equal

    def end(self, ids: Ids, fingerprints: Any, texts: Any, names: Any) -> None:
        """Write what was kept of a batch, arrays of Arrow but for ``ids``."""
        self._columns, self._places_of_rows, self._held, self._equal = {}, {}, set(), {}
        self._ids.extend(ids)
        self._is_signed.extend(fingerprints.is_valid().to_numpy(zero_copy_only=False))
        signed = fingerprints.fill_null(0).to_numpy(zero_copy_only=False)
        self._fingerprints.extend(signed.view(np.uint64))
        self._places.extend(np.hstack([self._texts.add(texts), self._names.add(names)]))

    def sort(self) -> None:
        """Bring what came in another order than that of the ids into it."""
        order = np.argsort(self._ids.values)
        columns: list[Column[Any]] = [self._ids, self._fingerprints, self._is_signed, self._places]
        for column in columns:
            column.values[:] = column.values[order]

    def are_signed(self, ids: Ids) -> NDArray[np.bool_]:
        """Return which of some ids are of kept texts with a fingerprint: bool, (ids,)."""
        if not len(self):
            return np.zeros(len(ids), np.bool_)
        places = np.searchsorted(self._ids.values, ids)
        places[places == len(self)] = 0
        found: NDArray[np.bool_] = self._ids.values[places] == ids
        return found & self._is_signed.values[places]

    def find_digest(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """Return the kept text that has a digest of the batch."""
        found = self._equal.get(digest)
        return None if found is None or found in exclude else found

    def find_payload(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """Return None: the bytes of texts are not known."""
        return None

    def text(self, id: int) -> str | None:  # noqa: A002  (the field's word)
        """Return the text kept under an id; None where there is none."""
        if id in self._held:
            return str(self._value("text", id))
        place = self._place(id)
        return None if place is None else self._texts.read(*self._places.values[place, :2].tolist())

    def name(self, id: int) -> str:  # noqa: A002  (the field's word)
        """Return what the text under an id is called, packed; empty where nothing is known."""
        if id in self._held:
            return str(self._value("packed_name", id))
        place = self._place(id)
        return "" if place is None else self._name_at(*self._places.values[place, 2:].tolist())

    def facts_of(self, ids: Collection[int]) -> list[StoredFacts]:
        """Return the facts of those of some ids whose texts are kept with a fingerprint."""
        found = []
        for number in ids:
            if number in self._held:
                signed = self._value("fingerprint", number)
                if signed is not None:
                    found.append(StoredFacts(number, signed % (1 << 64), self.name(number)))
            elif (place := self._place(number)) is not None and self._is_signed.values[place]:
                fingerprint = int(self._fingerprints.values[place])
                found.append(StoredFacts(number, fingerprint, self.name(number)))
        return found

    def words_of(self, ids: Collection[int]) -> dict[int, int]:
        """Return nothing: no parts are looked for."""
        return {}

    def add(self, id: int, document: Document) -> None:  # noqa: A002  (the field's word)
        """Keep a document of the batch."""
        self._held.add(id)
        self._equal.setdefault(document.digest, id)

    def add_many(self, ids: list[int], digests: list[bytes]) -> None:
        """Keep texts of the batch whose digests are of no other kept text."""
        self._held.update(ids)
        self._equal.update(zip(digests, ids, strict=True))

    def close(self) -> None:
        """Close the files, which are of no use any more."""
        self._texts.close()
        self._names.close()

    def _value(self, column: str, number: int) -> Any:
        """Return a value of a text of the batch."""
        return self._columns[column][self._places_of_rows[number]].as_py()

    def _place(self, number: int) -> int | None:
        ids = self._ids.values
        place = int(ids.searchsorted(number))
        return place if place < len(ids) and ids[place] == number else None


NONE = -1

_Words = NDArray[np.uint64]

_RUNS_PER_SIZE = 4  # O(log n) runs, each longer than the next


class DigestTable:
    """Finds ids by digests of 16 bytes, many at a time.

    Sorted runs; a run is merged with those before it that are no longer than four times itself, so
    that there are O(log n) runs. An entry takes 24 bytes, twice as many while runs are merged.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[_Words, _Words, Ids]] = []

    def __len__(self) -> int:
        return sum(len(ids) for _, _, ids in self._runs)

    def find(self, digests: bytes) -> Ids:
        """Return the id of each digest, ``NONE`` where there is none: int64, (digests,).

        Args:
            digests: The digests, one behind the other.

        Complexity: O(digests * log n) for each of O(log n) runs.
        """
        high, low = _words(digests)
        found = np.full(len(high), NONE, np.int64)
        for highs, lows, ids in self._runs:
            places = np.searchsorted(highs, high)
            open_ones = np.arange(len(high))
            # Digests of equal first halves lie side by side; hardly ever there is more than one.
            while True:
                is_inside = places < len(highs)
                open_ones, places = open_ones[is_inside], places[is_inside]
                is_half = highs[places] == high[open_ones]
                open_ones, places = open_ones[is_half], places[is_half]
                if not len(places):
                    break
                is_equal = lows[places] == low[open_ones]
                found[open_ones[is_equal]] = ids[places[is_equal]]
                open_ones, places = open_ones[~is_equal], places[~is_equal] + 1
        return found

    def add(self, digests: bytes, ids: Ids) -> None:
        """Hold digests that are not held, each with its id."""
        if not len(ids):
            return
        run = _sorted((*_words(digests), ids))
        while self._runs and len(self._runs[-1][2]) <= _RUNS_PER_SIZE * len(run[2]):
            before = self._runs.pop()
            run = _sorted(
                (
                    np.concatenate([before[0], run[0]]),
                    np.concatenate([before[1], run[1]]),
                    np.concatenate([before[2], run[2]]),
                )
            )
        self._runs.append(run)


def _words(digests: bytes) -> tuple[_Words, _Words]:
    words = np.frombuffer(digests, np.uint64).reshape(-1, DIGEST_BYTES // 8)
    return words[:, 0], words[:, 1]


def _sorted(run: tuple[_Words, _Words, Ids]) -> tuple[_Words, _Words, Ids]:
    order = np.argsort(run[0], kind="stable")
    return run[0][order], run[1][order], run[2][order]
