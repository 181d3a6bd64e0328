"""A kept text as bytes: the head that is compared, and the record that is stored.

::

    head    owner (16), text digest (16), flags (1), payload digest (16), fingerprint (8)
            flags: 1, it has a payload digest; 2, it has a fingerprint; zeros are what it lacks
    record  head, words (4), length of about (4), about, a zstd frame of the text

Numbers are big endian.
"""

import struct
from dataclasses import dataclass

from neardup.document import Document
from neardup.errors import ServerError
from neardup.storage.documents import compress, decompress

_HEAD = struct.Struct(">16s16sB16sQ")
_REST = struct.Struct(">II")
_HAS_PAYLOAD, _HAS_FINGERPRINT = 1, 2
HEAD_BYTES = _HEAD.size
OWNER_BYTES = 16


@dataclass(frozen=True, slots=True)
class Head:
    """The properties by which two texts are compared before they are read.

    Attributes:
        owner: The owner, 16 bytes.
        digest: The digest of the text, 16 bytes.
        payload: The digest of the bytes that the text was taken from, 16 bytes, or None.
        fingerprint: The fingerprint; None for a short text.
    """

    owner: bytes
    digest: bytes
    payload: bytes | None
    fingerprint: int | None

    def packed(self) -> bytes:
        """Return it as bytes."""
        flags = _HAS_PAYLOAD * (self.payload is not None)
        flags += _HAS_FINGERPRINT * (self.fingerprint is not None)
        return _HEAD.pack(
            self.owner, self.digest, flags, self.payload or b"", self.fingerprint or 0
        )


@dataclass(frozen=True, slots=True)
class Record:
    """A kept text with what is known of it.

    Attributes:
        head: The head by which it is compared.
        words: The number of its tokens.
        about: The bytes that its owner stores with it.
        frame: The text, compressed.
    """

    head: Head
    words: int
    about: bytes
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
        rest = _REST.pack(self.words, len(self.about))
        return b"".join((self.head.packed(), rest, self.about, self.frame))


def recorded(owner: bytes, document: Document, about: bytes) -> Record:
    """Return the record of a document."""
    head = Head(owner, document.digest, document.payload, document.fingerprint)
    return Record(head, document.words, about, compress(document.text))


def unpack_head(packed: bytes) -> Head:
    """Return the head that bytes begin with."""
    owner, digest, flags, payload, fingerprint = _HEAD.unpack_from(packed)
    return Head(
        owner,
        digest,
        payload if flags & _HAS_PAYLOAD else None,
        fingerprint if flags & _HAS_FINGERPRINT else None,
    )


def unpack_record(packed: bytes) -> Record:
    """Return the record of bytes."""
    words, length = _REST.unpack_from(packed, HEAD_BYTES)
    about_at = HEAD_BYTES + _REST.size
    text_at = about_at + length
    return Record(unpack_head(packed), words, packed[about_at:text_at], packed[text_at:])
