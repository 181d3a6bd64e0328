"""Open the ZIP archives that documents are, with a limit on what they unpack to."""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from lxml import etree

from crawler.reading.documents.document_text import UnreadableError
from crawler.reading.reading import NoText

Element = Any  # lxml has no types

MAX_UNPACKED_BYTES = 64 << 20
"""Unpack at most this many bytes of one document, the sum of all entries that are read."""

MAX_ENTRIES = 10_000
"""Open no archive with more entries."""

_DIRECTORY_ENTRY = b"PK\x01\x02"
_ENCRYPTED = 0x1
_FAULTS = (
    BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,
    ValueError,
    OverflowError,
    OSError,
)


class Package:
    """The entries of a document; archives within it stay closed.

    Raises:
        UnreadableError: It is no archive, or has too many entries.
    """

    def __init__(self, body: bytes) -> None:
        # ZipFile makes an object of each entry, whatever number the archive declares.
        if body.count(_DIRECTORY_ENTRY) > MAX_ENTRIES:
            raise UnreadableError(
                NoText.TOO_LARGE, f"an archive of more than {MAX_ENTRIES} entries"
            )
        try:
            self._zip = ZipFile(BytesIO(body))
        except _FAULTS as error:
            raise _damaged(error) from None
        self._room = MAX_UNPACKED_BYTES
        self._names = {name.lstrip("/"): name for name in self._zip.namelist()}

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def names(self) -> list[str]:
        return list(self._names)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of an entry, None where there is none of this name.

        Raises:
            UnreadableError: It is encrypted or damaged, or unpacks to more than is read.
        """
        if name not in self._names:
            return None
        info = self._zip.getinfo(self._names[name])
        if info.flag_bits & _ENCRYPTED:
            raise UnreadableError(NoText.ENCRYPTED, "needs a password")
        if info.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
            words = f"{name}: compressed by method {info.compress_type}"
            raise UnreadableError(NoText.DAMAGED, words)
        try:
            with self._zip.open(info) as stream:
                found = stream.read(self._room + 1)
        except _FAULTS as error:
            raise _damaged(error) from None
        self._room -= len(found)
        if self._room < 0:
            limit = f"unpacks to more than {MAX_UNPACKED_BYTES >> 20} MB"
            raise UnreadableError(NoText.TOO_LARGE, limit)
        return found

    def tree(self, name: str) -> Element | None:
        """Return the root of an XML entry, None where there is none of this name.

        Raises:
            UnreadableError: It is encrypted or damaged, or unpacks to more than is read.
        """
        found = self.read(name)
        return None if found is None else parse_xml(found)

    def needed(self, name: str) -> Element:
        """Return the root of an XML entry without which there is no document.

        Raises:
            UnreadableError: It is missing, encrypted or damaged, or unpacks to more than is read.
        """
        root = self.tree(name)
        if root is None:
            raise UnreadableError(NoText.DAMAGED, f"it has no {name}")
        return root


def parse_xml(content: bytes, *, recover: bool = False) -> Element:
    """Return the root of an XML document, with no entity of its own and nothing of the network.

    Args:
        content: The bytes; their XML declaration names the encoding.
        recover: Whether faults are passed over.

    Raises:
        UnreadableError: It is no XML, or nested more than 256 deep.
        MemoryError: The tree does not fit.
    """
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        recover=recover,
    )
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        last = parser.error_log.last_error
        if last is not None and last.type == etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from None
        raise _damaged(error) from None
    if root is None:
        raise UnreadableError(NoText.DAMAGED, "no XML in it")
    return root


def _damaged(error: Exception) -> UnreadableError:
    return UnreadableError(NoText.DAMAGED, " ".join(str(error).split())[:200] or "damaged")
