"""The contract of a store of kept texts, the store in memory, and a text as compressed bytes."""

from collections.abc import Collection, Mapping
from typing import Protocol

import zstandard

from neardup.document import Document
from neardup.errors import DuplicateIdError
from neardup.indexes.arrays import checked_id
from neardup.kept_facts import FactSource, StoredFacts

# A page may hold half of a surrogate pair, which plain UTF-8 refuses.
ENCODING = ("utf-8", "surrogatepass")

_compressor = zstandard.ZstdCompressor(level=3, write_checksum=True)
_decompressor = zstandard.ZstdDecompressor()


def compress(text: str) -> bytes:
    """Return the text as one zstd frame."""
    return _compressor.compress(text.encode(*ENCODING))


def decompress(frame: bytes) -> str:
    """Return the text of a frame made by ``compress``.

    Raises:
        ValueError: The frame is damaged.
    """
    try:
        return _decompressor.decompress(frame).decode(*ENCODING)
    except (zstandard.ZstdError, MemoryError) as error:  # a flipped bit may claim exabytes
        raise ValueError(f"damaged text: {error}") from error


class MemoryDocuments:
    """Documents that last as long as the process; texts are held compressed (zstd)."""

    def __init__(self) -> None:
        self._texts: dict[int, bytes] = {}
        self._names: dict[int, str] = {}
        self._fingerprints: dict[int, int] = {}
        self._words: dict[int, int] = {}
        self._digests: dict[int, bytes] = {}
        self._dropped: dict[int, bytes] = {}
        # All ids of a digest, the first stored first: a page that was captured again may be kept
        # beside its earlier self.
        self._ids: dict[bytes, tuple[int, ...]] = {}
        self._payloads: dict[bytes, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self._texts)

    def find_digest(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """Return the first stored id with this text digest that is not excluded."""
        return _first(self._ids, digest, exclude)

    def find_payload(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """Return the first stored id with this payload digest that is not excluded."""
        return _first(self._payloads, digest, exclude)

    def digest(self, id: int) -> bytes | None:  # noqa: A002  (the field's word)
        """Return the text digest stored under an id; None where there is none."""
        return self._digests.get(id)

    def dropped_digest(self, id: int) -> bytes | None:  # noqa: A002  (the field's word)
        """Return the text digest with which an id was dropped; None where it never was."""
        return self._dropped.get(id)

    def drop(self, id: int, digest: bytes) -> None:  # noqa: A002  (the field's word)
        """Note that an id was judged and its text not stored."""
        self._dropped.setdefault(checked_id(id), digest)

    def name(self, id: int) -> str:  # noqa: A002  (the field's word)
        """Return what the text under an id is called, packed; empty where nothing is known."""
        return self._names.get(id, "")

    def facts_of(self, ids: Collection[int]) -> list[StoredFacts]:
        """Return the facts of those of some ids whose texts are stored with a fingerprint."""
        stored = self._fingerprints
        return [
            StoredFacts(number, stored[number], self.name(number))
            for number in ids
            if number in stored
        ]

    def words_of(self, ids: Collection[int]) -> dict[int, int]:
        """Return the numbers of words of those of some ids that are stored with a fingerprint."""
        return {number: self._words[number] for number in ids if number in self._words}

    def text(self, id: int) -> str | None:  # noqa: A002  (the field's word)
        """Return the text stored under an id; None where there is none."""
        frame = self._texts.get(id)
        return None if frame is None else decompress(frame)

    def add(self, id: int, document: Document) -> None:  # noqa: A002  (the field's word)
        """Store a document.

        Raises:
            DuplicateIdError: The id holds a document.
            DocumentError: The id does not fit in 63 bits.
        """
        number = checked_id(id)
        if number in self._texts:
            raise DuplicateIdError(f"id {number} holds a document")
        self._texts[number] = compress(document.text)
        self._digests[number] = document.digest
        if document.fingerprint is not None:
            self._fingerprints[number] = document.fingerprint
            self._words[number] = document.words
        if document.name:
            self._names[number] = document.name
        self._ids[document.digest] = (*self._ids.get(document.digest, ()), number)
        if document.payload is not None:
            stored = self._payloads.get(document.payload, ())
            self._payloads[document.payload] = (*stored, number)

    def flush(self) -> None:
        """Do nothing: memory has no durability to promise."""

    def close(self) -> None:
        """Do nothing: memory is freed with the object."""


def _first(
    ids: Mapping[bytes, tuple[int, ...]], digest: bytes, exclude: Collection[int]
) -> int | None:
    return next((found for found in ids.get(digest, ()) if found not in exclude), None)


class Documents(FactSource, Protocol):
    """A store of the texts that a deduplicator kept.

    The store is the truth: whatever the index says, a text that is not stored makes no verdict. An
    id stands for one text and never for another.
    """

    def find_digest(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """Return the first stored id with this text digest that is not excluded."""

    def find_payload(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """Return the first stored id with this payload digest that is not excluded."""

    def text(self, id: int) -> str | None:  # noqa: A002  (the field's word)
        """Return the text stored under an id; None where there is none."""

    def name(self, id: int) -> str:  # noqa: A002  (the field's word)
        """Return what the text under an id is called, packed; empty where nothing is known."""

    def add(self, id: int, document: Document) -> None:  # noqa: A002  (the field's word)
        """Store a document that a verdict kept.

        May do nothing where the owner stores the text itself; the text makes verdicts from then on.

        Raises:
            DuplicateIdError: The id holds a document.
        """


class MeasuredDocuments(Documents, Protocol):
    """A store that knows the lengths of its texts, so that parts of them are found."""

    def words_of(self, ids: Collection[int]) -> dict[int, int]:
        """Return the numbers of words of those of some ids whose texts have a fingerprint."""
