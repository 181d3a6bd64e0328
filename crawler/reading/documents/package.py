"""Open the ZIP archives that documents are, with a limit on what they unpack to."""

from __future__ import annotations

import posixpath
import re
import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from lxml import etree

from crawler.reading.documents.document_text import DocumentProperties, UnreadableError
from crawler.reading.reading import NoText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.reading.metadata.metadata_record import Metadata

Element = Any  # lxml has no types

MAX_UNPACKED_BYTES = 64 << 20
"""Unpack at most this many bytes of one document, the sum of all entries that are read."""

MAX_ENTRIES = 10_000
"""Open no archive with more entries."""

_DIRECTORY_ENTRY = b"PK\x01\x02"
_ENCRYPTED = 0x1
_DC = "{http://purl.org/dc/elements/1.1/}"
_CORE = "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}"
_TERMS = "{http://purl.org/dc/terms/}"
# Strict documents have these names in the place of the usual ones.
_STRICT = re.compile(
    rb"http://purl\.oclc\.org/ooxml/(?:(\w+ml)/main|officeDocument/(math|relationships))"
)
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


class OfficePackage(Package):
    """The parts of a document of Office Open XML, which name each other by relationships."""

    def read(self, name: str) -> bytes | None:
        found = super().read(name)
        if found is not None and b"http://purl.oclc.org/ooxml/" in found[:4096]:
            found = _STRICT.sub(_usual, found)
        return found

    def main_part(self, usual: str) -> str:
        """Return the name of the main part, which few writers name otherwise."""
        if usual in self:
            return usual
        for kind, target, _ in self._relationships(""):
            if kind.endswith("/officeDocument"):
                return target
        return usual

    def targets(self, name: str) -> dict[str, str]:
        """Return the parts that a part names, by their ids."""
        return {number: target for _, target, number in self._relationships(name)}

    def links(self, name: str) -> list[str]:
        """Return the targets of the hyperlinks of a part."""
        root = self.tree(_relationships_of(name))
        found = () if root is None else root
        return [
            one.get("Target")
            for one in found
            if one.get("TargetMode") == "External"
            and one.get("Target")
            and one.get("Type", "").endswith("/hyperlink")
        ]

    def _relationships(self, name: str) -> Iterator[tuple[str, str, str]]:
        root = self.tree(_relationships_of(name))
        folder = posixpath.dirname(name)
        for one in () if root is None else root:
            target = one.get("Target")
            if target and one.get("TargetMode") != "External":
                path = posixpath.normpath(posixpath.join("/" + folder, target)).lstrip("/")
                yield one.get("Type", ""), path, one.get("Id", "")

    def metadata(self, language: str | None) -> Metadata:
        """Return what the core properties say; a bad part of them says nothing."""
        of_styles = ("styles:lang", language)
        root = self.tree("docProps/core.xml")
        if root is None:
            return DocumentProperties(language=[of_styles]).metadata()
        return DocumentProperties(
            title=[("dc:title", root.findtext(f"{_DC}title"))],
            author=[("dc:creator", root.findtext(f"{_DC}creator"))],
            date=[("dcterms:created", root.findtext(f"{_TERMS}created"))],
            modified=[("dcterms:modified", root.findtext(f"{_TERMS}modified"))],
            language=[("dc:language", root.findtext(f"{_DC}language")), of_styles],
            description=[("dc:description", root.findtext(f"{_DC}description"))],
            tags=[("cp:keywords", root.findtext(f"{_CORE}keywords"))],
        ).metadata()


def _usual(strict: re.Match[bytes]) -> bytes:
    kind, of_all = strict.groups()
    path = b"officeDocument/2006/" + of_all if of_all else kind + b"/2006/main"
    return b"http://schemas.openxmlformats.org/" + path


def _relationships_of(name: str) -> str:
    folder, base = posixpath.split(name)
    return posixpath.join(folder, "_rels", f"{base}.rels")


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
