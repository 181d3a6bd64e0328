"""A kept text as bytes: the head that is compared, and the record that is stored.

::

    head    owner (16), text digest (16), flags (1), payload digest (16), fingerprint (8), sketch of
            the signature (64), marks of the name (5 of 4; ``neardup.kept_facts``)
            flags: 1, it has a payload digest; 2, a fingerprint; 4, a sketch; zeros are what it
            lacks; 8, its heading is a segment of its title
    record  head, words (4), length of about (4), length of name (4), about, name (UTF-8), a zstd
            frame of the text

Numbers are big endian.
"""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import xxhash
from numpy.typing import NDArray

from neardup.document import Document
from neardup.errors import ServerError
from neardup.indexes.arrays import Ids
from neardup.indexes.banding import max_unequal
from neardup.kept_facts import MARKS, all_marks_of
from neardup.names import unpacked
from neardup.parameters import Parameters
from neardup.storage.documents import ENCODING, compress, decompress
from neardup.storage.redis.postings import SKETCH_BYTES, sketch_of
from neardup.titles import names_segment, words_of

_HEAD = struct.Struct(f">16s16sB16sQ{SKETCH_BYTES}s{MARKS}I")
_ROW = np.dtype([
    ("owner", "V16"),
    ("digest", "V16"),
    ("flags", "u1"),
    ("payload", "V16"),
    ("fingerprint", ">u8"),
    ("sketch", "u1", (SKETCH_BYTES,)),
    ("marks", ">u4", (MARKS,)),
])  # fmt: skip
_REST = struct.Struct(">III")
HAS_PAYLOAD, HAS_FINGERPRINT, HAS_SKETCH, _IS_HEADED_BY_TITLE = 1, 2, 4, 8
HEAD_BYTES = _HEAD.size
OWNER_BYTES = 16


class Limits(NamedTuple):
    """The limits within which two kept texts are near each other by their heads.

    Attributes:
        radius: The largest distance of their fingerprints, in bits.
        unequal: The largest number of values in which sketches that share a band may differ.
        names: 1 where texts of other names are not near; 0 where names are not compared.
    """

    radius: int
    unequal: int
    names: int


def limits_of(parameters: Parameters) -> Limits:
    """Return the limits beyond which parameters make no verdict."""
    unequal = max_unequal(1.0 - parameters.min_similarity)
    return Limits(parameters.max_distance, unequal, int(parameters.compare_names))


@dataclass(frozen=True, slots=True)
class Head:
    """The properties by which two texts are compared before they are read.

    Attributes:
        owner: The owner, 16 bytes.
        digest: The digest of the text, 16 bytes.
        payload: The digest of the bytes that the text was taken from, 16 bytes, or None.
        fingerprint: The fingerprint; None for a short text.
        sketch: The sketch of the signature (``postings``), 64 bytes; None where texts are not
            found by their bands.
        marks: The marks of the name.
        is_headed_by_title: Whether the heading is a segment of the title.
    """

    owner: bytes
    digest: bytes
    payload: bytes | None
    fingerprint: int | None
    sketch: bytes | None
    marks: tuple[int, ...]
    is_headed_by_title: bool

    @property
    def name_key(self) -> bytes | None:
        """The digest of the marks, 8 bytes, which texts of one name share; None without marks."""
        packed = struct.pack(f">{MARKS}I", *self.marks)
        return xxhash.xxh3_64_digest(packed) if any(self.marks) else None

    def packed(self) -> bytes:
        """Return it as bytes."""
        flags = HAS_PAYLOAD * (self.payload is not None)
        flags += HAS_FINGERPRINT * (self.fingerprint is not None)
        flags += HAS_SKETCH * (self.sketch is not None)
        flags += _IS_HEADED_BY_TITLE * self.is_headed_by_title
        return _HEAD.pack(
            self.owner,
            self.digest,
            flags,
            self.payload or b"",
            self.fingerprint or 0,
            self.sketch or b"",
            *self.marks,
        )


class Heads(NamedTuple):
    """Heads of kept texts.

    Attributes:
        ids: int64, (heads,): the numbers of the texts.
        rows: (heads,): the heads, with fields like those of ``Head``.
    """

    ids: Ids
    rows: NDArray[Any]

    @classmethod
    def of(cls, numbers: Sequence[int], packed: Iterable[bytes]) -> Self:
        """Return heads from the beginnings of their bytes."""
        joined = b"".join(each[:HEAD_BYTES] for each in packed)
        return cls(np.array(numbers, np.int64), np.frombuffer(joined, _ROW))

    @classmethod
    def empty(cls, count: int = 0) -> Self:
        """Return heads that are to be filled; no text has the number -1."""
        return cls(np.full(count, -1, np.int64), np.zeros(count, _ROW))

    def where(self, wanted: NDArray[np.bool_]) -> "Heads":
        """Return some of them."""
        return Heads(self.ids[wanted], self.rows[wanted])

    def joined(self, others: "Heads") -> "Heads":
        """Return them with others behind them."""
        return Heads(*map(np.concatenate, zip(self, others, strict=True)))

    def has(self, field: str, digest: bytes | None, flag: int = 0) -> NDArray[np.bool_]:
        """Return which of them have some bytes in a field, and a flag: bool, (heads,)."""
        if digest is None:
            return np.zeros(len(self.ids), np.bool_)
        found: NDArray[np.bool_] = self.rows[field] == np.void(digest)
        found &= (self.rows["flags"] & flag) == flag
        return found


@dataclass(frozen=True, slots=True)
class Record:
    """A kept text with what is known of it.

    Attributes:
        head: The head by which it is compared.
        words: The number of its tokens.
        about: The bytes that its owner stores with it.
        name: What the text is called, packed.
        frame: The text, compressed.
    """

    head: Head
    words: int
    about: bytes
    name: str
    frame: bytes

    @property
    def text(self) -> str:
        """The text.

        Raises:
            ServerError: It is damaged.
        """
        try:
            return decompress(self.frame)
        except ValueError as error:
            raise ServerError(f"{error} in Redis, {self.head.digest.hex()}") from error

    def packed(self) -> bytes:
        """Return it as bytes."""
        name = self.name.encode(*ENCODING)
        rest = _REST.pack(self.words, len(self.about), len(name))
        return b"".join((self.head.packed(), rest, self.about, name, self.frame))


def recorded(owner: bytes, document: Document, about: bytes) -> Record:
    """Return the record of a document."""
    sketch = None if document.signature is None else sketch_of(document.signature)
    name = unpacked(document.name)
    head = Head(
        owner,
        document.digest,
        document.payload,
        document.fingerprint,
        sketch,
        all_marks_of(name),
        names_segment(name.title, words_of(name.heading)),
    )
    return Record(head, document.words, about, document.name, compress(document.text))


def unpack_head(packed: bytes) -> Head:
    """Return the head that bytes begin with."""
    owner, digest, flags, payload, fingerprint, sketch, *marks = _HEAD.unpack_from(packed)
    return Head(
        owner,
        digest,
        payload if flags & HAS_PAYLOAD else None,
        fingerprint if flags & HAS_FINGERPRINT else None,
        sketch if flags & HAS_SKETCH else None,
        tuple(marks),
        bool(flags & _IS_HEADED_BY_TITLE),
    )


def unpack_record(packed: bytes) -> Record:
    """Return the record of bytes."""
    words, about_length, name_length = _REST.unpack_from(packed, HEAD_BYTES)
    about_at = HEAD_BYTES + _REST.size
    name_at = about_at + about_length
    text_at = name_at + name_length
    name = packed[name_at:text_at].decode(*ENCODING)
    return Record(unpack_head(packed), words, packed[about_at:name_at], name, packed[text_at:])
