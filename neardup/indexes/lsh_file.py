"""The file of an index of signatures, which only grows; docs/lsh_format.md has the grammar."""

import mmap
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neardup.checks import MAX_VALUES, checked_shingle_size, checked_whole
from neardup.errors import ParameterError
from neardup.files.batches import AppendingFile, BatchFormat, StoredBatch
from neardup.files.durable import TEMPORARY_SUFFIX, lock_directory, origin_of, write_durably
from neardup.files.sealed import CHECKSUM, FileKind, digest_of, sealed, unusable
from neardup.indexes.arrays import StoredRows
from neardup.indexes.banding import MAX_BANDS, Banding, banding, check_wanted
from neardup.indexes.lsh_tables import LshTables

FILE_NAME = "documents.lsh"
PERMUTATIONS = 128

_HEADER = struct.Struct("<8sIIIIIIdQ")
_KIND = FileKind("documents of an LshIndex", b"NDUPLSH\n", 3, _HEADER.size + CHECKSUM.size)


class Header(NamedTuple):
    """The first 56 bytes of the file.

    Attributes:
        permutations: Values of a signature.
        shape: Its bands, and the values of each.
        shingle_size: Words in a row that make one feature of a text.
        min_similarity: The similarity for which the bands were chosen.
        probe: A number that tells whether keys and sketches are still made as they were then.
    """

    permutations: int
    shape: Banding
    shingle_size: int
    min_similarity: float
    probe: int = 0

    @property
    def words(self) -> int:
        """The 64-bit words of a sketch, which has four bits of each value."""
        return -(-self.permutations // 16)

    @property
    def batches(self) -> BatchFormat:
        """The format of the batches behind this header."""
        entry_bytes = 8 + 8 * self.words + 4 * self.shape.bands
        return BatchFormat("document", _KIND.header_bytes, entry_bytes)

    def empty_file(self) -> bytes:
        """Return a file without documents."""
        numbers = (self.permutations, *self.shape, self.shingle_size, 0, *self[3:])
        header = sealed(_HEADER.pack(_KIND.magic, _KIND.version, *numbers))
        return header + self.batches.empty.to_bytes()

    def rows(self, batch: StoredBatch) -> StoredRows:
        """Return copies of the rows of a batch."""
        payload, count = batch.payload, batch.added
        ids = np.frombuffer(payload, "<i8", count)
        sketches = np.frombuffer(payload, "<u8", count * self.words, 8 * count)
        keys = np.frombuffer(payload, "<u4", count * self.shape.bands, 8 * count * (1 + self.words))
        return StoredRows(
            ids.astype(np.int64),
            keys.astype(np.uint32).reshape(count, self.shape.bands),
            sketches.astype(np.uint64).reshape(count, self.words),
        )


def read_header(path: Path) -> Header:
    """Return the header of a file of documents.

    Raises:
        IndexFileError: The header is damaged, foreign or of another version.
    """
    with path.open("rb") as file:
        fields = _KIND.fields(path, file.read(_KIND.header_bytes))
    _, _, permutations, bands, rows, shingle_size, _, *rest = _HEADER.unpack(fields)
    header = Header(permutations, Banding(bands, rows), shingle_size, *rest)
    if not 0 < rows * bands <= permutations <= MAX_VALUES or bands > MAX_BANDS:
        raise unusable(path, f"bands within at most {MAX_VALUES:,} values", _words(header))
    return header


class Asked(NamedTuple):
    """The arguments of ``LshIndex``, as given."""

    min_similarity: float | None
    permutations: int | None
    min_recall: float
    shape: tuple[int, int] | None
    shingle_size: int

    def header(self, stored: Header | None = None) -> Header:
        """Return the header of an index; the stored one fills in the parameters that are None.

        Raises:
            ParameterError: A number is out of range, or one is missing.
        """
        permutations = PERMUTATIONS if stored is None else stored.permutations
        if self.permutations is not None:
            permutations = checked_whole("permutations", self.permutations, 1, MAX_VALUES)
        shape = self._shape(permutations) or (stored and stored.shape)
        if shape is None:
            raise ParameterError("a new index needs min_similarity, or a shape")
        similarity = self.min_similarity
        if similarity is None:
            similarity = stored.min_similarity if stored else shape.similarity_at(self.min_recall)
        return Header(permutations, shape, checked_shingle_size(self.shingle_size), similarity)

    def _shape(self, permutations: int) -> Banding | None:
        """Return the shape asked for, None where none is."""
        check_wanted(1.0 if self.min_similarity is None else self.min_similarity, self.min_recall)
        if self.shape is not None:
            rows = checked_whole("rows", self.shape[1], 1, permutations)
            most = min(MAX_BANDS, permutations // rows)
            return Banding(checked_whole("bands", self.shape[0], 1, most), rows)
        if self.min_similarity is not None:
            return banding(self.min_similarity, permutations, self.min_recall)
        return None


class SignatureDirectory:
    """The files of an index of signatures, locked until it is closed.

    Files:
        index.lock: Locked while the directory is open; otherwise without meaning.
        documents.lsh: All documents, in the order in which they came.
        documents.lsh.tail-1: A torn tail of it, which was never promised; kept for inspection.

    Args:
        path: The directory, made where it is absent.
        asked: What the index is opened with.

    Attributes:
        header: The header of the file.

    Raises:
        ParameterError: The file holds documents of other signatures.
        IndexLockedError: It is open already.
        IndexFileError: It holds other files, or the file is damaged, foreign or of another version.
    """

    def __init__(self, path: Path, asked: Asked) -> None:
        self._path = path / FILE_NAME
        if not self._path.exists():
            asked.header()  # refuses bad numbers before a directory is made
        self._lock = lock_directory(path, "an LshIndex", _is_ours)
        try:
            for half in filter(_is_ours, (found.name for found in path.iterdir())):
                if half.endswith(TEMPORARY_SUFFIX):
                    (path / half).unlink()
            if self._path.exists():
                self.header = _checked(path, read_header(self._path), asked)
            else:
                self.header = _probed(asked.header())
                write_durably(self._path, [self.header.empty_file()])
            self._stored = _stored_batches(self._path, self.header)
            whole = self._stored[-1].whole if self._stored else self.header.batches.empty
            self._file = AppendingFile(self._path, _KIND.header_bytes, whole)
        except BaseException:
            self._lock.release()
            raise

    def restore(self, tables: LshTables) -> None:
        """Add the documents that the file held when it was opened."""
        for batch in self._stored:
            tables.restore(*self.header.rows(batch))
        self._stored = []

    def append(self, rows: StoredRows) -> None:
        """Make documents durable, in the order in which they came.

        Raises:
            OSError: The disk is full, or the like; the next call starts where this one did.
        """
        payload = b"".join(
            (
                rows.ids.astype("<i8", copy=False).tobytes(),
                rows.sketches.astype("<u8", copy=False).tobytes(),
                rows.keys.astype("<u4", copy=False).tobytes(),
            )
        )
        self._file.append(0, len(rows.ids), payload)

    def clear(self) -> None:
        """Let go of all documents."""
        self._file.close()
        write_durably(self._path, [self.header.empty_file()])
        self._file = AppendingFile(self._path, _KIND.header_bytes, self.header.batches.empty)

    def close(self) -> None:
        """Let go of the file and the lock."""
        self._file.close()
        self._lock.release()


def _is_ours(name: str) -> bool:
    return origin_of(name) == FILE_NAME


def _stored_batches(path: Path, header: Header) -> list[StoredBatch]:
    """Return the batches that were promised, mapped into memory."""
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return list(header.batches.batches(path, data))


def remove_files(folder: Path) -> None:
    """Delete the files of an index that is not open; those of other programs stay."""
    for file in folder.iterdir():
        if _is_ours(file.name):
            file.unlink()


def _checked(path: Path, stored: Header, asked: Asked) -> Header:
    """Return the header of an index whose file has one, unless something else is asked for."""
    header = asked.header(stored)
    if header[:2] != stored[:2]:
        raise ParameterError(
            f"{path} holds signatures of {_words(stored)}, asked for are {_words(header)}; open it "
            "with no numbers, or add the documents to another index"
        )
    if header.shingle_size != stored.shingle_size:
        raise ParameterError(
            f"{path} holds signatures of shingles of {stored.shingle_size} words, asked for are "
            f"{header.shingle_size}; make signatures with shingle_size={stored.shingle_size} and "
            "open it so, or add the documents to another index"
        )
    header = _probed(header)
    if header.probe != stored.probe:
        found = f"others (probe {stored.probe:016x})"
        remedy = "use the version that wrote it, or add its documents to another index"
        raise unusable(path, "keys of bands as this version makes them", found, remedy)
    return header


def _probed(header: Header) -> Header:
    """Return the header with a checksum of keys and sketch of one signature as made now."""
    values = np.arange(header.permutations, dtype=np.uint32) * np.uint32(0x9E3779B1)
    tables = LshTables(header.permutations, *header.shape)
    tables.add(values, 0)
    _, keys, sketches = tables.stored_rows(0, 1)
    parts = (keys.astype("<u4").tobytes(), sketches.astype("<u8").tobytes())
    return header._replace(probe=digest_of(*parts))


def _words(header: Header) -> str:
    bands, rows = header.shape
    return f"{header.permutations} permutations in {bands} bands of {rows}"
