"""Store each answer as a file, as it came; the links are rewritten at the end of a visit."""

from __future__ import annotations

from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

import zstandard

from crawler.downloading.compressed_streams import GZIP_MAGIC
from crawler.mirror.documents.linked_document import XML_TYPES, read_document
from crawler.mirror.documents.places import PatchError, undo
from crawler.mirror.downloads import Download, Downloads, may_go_to_disk
from crawler.mirror.endings import is_text_name
from crawler.mirror.errors import MirrorError, MissingFileError
from crawler.mirror.file_table import OWN, FileRow, FileTable
from crawler.mirror.paths import path_key, path_of
from crawler.pages.page_context import LARGE_BYTES, StoredPart
from crawler.pages.reasons import Reason
from crawler.reading.content_types import type_of_foreign, why_not_html
from crawler.reading.reading import Extract, Reading
from crawler.storage import meta_names
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from crawler.mirror.documents.linked_document import LinkedDocument
    from crawler.mirror.folder import MirrorFolder
    from crawler.pages.page_context import Fetched
    from crawler.storage.database import Database


_WITHOUT_CONTENT = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.RESET_CONTENT})
_NO_TEXT = zstandard.ZstdCompressor().compress(b"")

_ROOM_BYTES = 2**25
"""Hold documents of at most this many bytes, without their bodies."""


class ReadDocuments:
    """Documents that were read for their links, so that rewriting does not read them once more.

    The first ones are held, without their bytes, as far as there is room for their links.
    """

    def __init__(self, room_bytes: int = _ROOM_BYTES) -> None:
        self._room = room_bytes
        self._cached: dict[int, _CachedDocument] = {}

    def put(self, row: FileRow, document: LinkedDocument) -> None:
        """Hold the document of a file if there is room, in place of an earlier one."""
        self._drop(row.id)
        size = document.held_bytes()
        if size <= self._room:
            self._room -= size
            document.put_away()
            self._cached[row.id] = _CachedDocument(_content(row), document, size)

    def take(self, row: FileRow, served: bytes) -> LinkedDocument | None:
        """Return the document of a file and let go of it; None where this content was not read."""
        found = self._drop(row.id)
        if found is None or found.content != _content(row) or found.document.size != len(served):
            return None
        found.document.take_up(served)
        return found.document

    def _drop(self, file_id: int) -> _CachedDocument | None:
        found = self._cached.pop(file_id, None)
        if found is not None:
            self._room += found.size
        return found


class _CachedDocument(NamedTuple):
    content: tuple[object, ...]
    document: LinkedDocument
    size: int


def _content(row: FileRow) -> tuple[object, ...]:
    return row.payload_digest, row.url, row.content_type


class MirrorStore:
    """The files of a mirror while it is being made.

    A file is written before its row: a process that is killed in between leaves a file that the
    next one writes again, since the request was not acknowledged.

    Args:
        database: The crawl's database.
        folder: Folder of the mirror.

    Attributes:
        repaired: Number of files that were written again, since they were missing or changed.
        downloads: The large bodies that are on their way.
        documents: Documents that were kept, for ``finish``.
        resumes: Whether the rest of a body may be requested, which an archive would lack.
    """

    def __init__(self, database: Database, folder: MirrorFolder) -> None:
        self.repaired = 0
        self.resumes = True
        self._database = database
        self._folder = folder
        self.table = FileTable(database.read, database.write)
        self.downloads = Downloads(database, folder)
        self.documents = ReadDocuments()
        self.bytes = self.table.size()

    def close(self) -> None:
        """Close the folder; nothing more is written."""
        self.downloads.close()
        self._folder.close()

    def keep(self, fetched: Fetched, *, is_seed: bool) -> LinkedDocument | None:
        """Write an answer to its file.

        A part is marked, and never replaces more content; nor does a page without a byte. An
        answer that has none by its status makes no file: browsers stay where they are.

        Args:
            fetched: The answer.
            is_seed: Whether the user asked for it, so that no link to it is needed.

        Returns:
            The document, for its links, or None for a body that can hold none.

        Raises:
            MirrorError: The file cannot be written.
        """
        is_without = fetched.status in _WITHOUT_CONTENT
        is_blank = not fetched.size and why_not_html(fetched.content_type, b"") is None
        if is_without or ((fetched.cut is not None or is_blank) and self._stays(fetched)):
            with suppress(MirrorError):
                return self.still(fetched.key)
            if is_without:
                return None
            return read_document(fetched.body, fetched.url, fetched.content_type)
        document = None
        if fetched.file is None:
            document = read_document(fetched.body, fetched.url, fetched.content_type)
        digest = fetched.payload_digest
        row = self._row(fetched)
        if (row.content_type, row.is_document) != (fetched.content_type, int(document is not None)):
            self.note_stale()  # the same bytes may be read otherwise, in another encoding
        row.content_type = fetched.content_type
        row.is_document, row.is_seed = int(document is not None), int(row.is_seed or is_seed)
        if fetched.cut is not None or row.is_cut:
            self.table.put_part(row, _etag_of_part(fetched))
        row.is_cut = int(fetched.cut is not None)
        row.has_modules = int(document is not None and document.has_modules)
        row.is_page = int(why_not_html(fetched.content_type, fetched.body) is None)
        is_same = row.state == OWN and row.payload_digest == digest
        if not is_same or not self._is_intact(row):
            self.repaired += is_same
            self._write(row, fetched, digest)
            self.note_stale()
        elif isinstance(fetched.file, Download):
            fetched.file.drop()
        if fetched.file is None and fetched.cut is None:
            self.downloads.drop_earlier(fetched.key)
        self.table.put(row)
        if document is not None:
            self.documents.put(row, document)
        return document

    async def part(self, key: bytes) -> StoredPart | None:
        """Return the stored part of a file whose rest can be requested, or None."""
        row = self.table.of_key(key)
        if row is None or row.state != OWN or not row.is_cut:
            return None
        etag = self.table.etag_of_part(row)
        if etag is None:
            return None
        try:
            if row.size >= LARGE_BYTES and not row.is_document:
                return await self.downloads.copy(key, etag, row.path, row.size, row.payload_digest)
            body = original(self._folder, row)
            return StoredPart(etag, len(body), body)
        except MirrorError:  # what is there is no part of it any more
            return None

    def takes(self, head: bytes, url: str, content_type: str | None) -> bool:
        """Return whether a body with these first bytes may go to a file, unread."""
        return may_go_to_disk(head, url, content_type)

    def begin(self, key: bytes, etag: str | None) -> Download | None:
        """Return a file for a body, or None. Raises as `Downloads.begin`."""
        return self.downloads.begin(key, etag if self.resumes else None)

    def go_on(self, key: bytes) -> Download | None:
        """Return the file that takes the rest of a body, as `Downloads.go_on` does."""
        return self.downloads.go_on(key)

    def _stays(self, fetched: Fetched) -> bool:
        """Return whether the stored file has more content than the part that came."""
        row = self.table.of_key(fetched.key)
        if row is None:
            return False
        try:
            if row.is_cut:
                return served_size(self._folder, row) > fetched.size
            if row.state == OWN:  # any other row has no file of its own
                self._folder.stat(row.path)
        except MissingFileError:
            return False
        except MirrorError:  # it was changed, or replaced by a link
            return not row.is_cut
        return True

    def _row(self, fetched: Fetched) -> FileRow:
        known = self.table.of_key(fetched.key)
        suffix = _suffix(fetched.url, fetched.content_type, fetched.body)
        if known is not None and known.path.endswith(suffix):
            known.url = fetched.url
            return known
        if known is not None:  # another kind of file than it was: another name
            self._remove(known)
        path = self.table.free_path(
            fetched.url, media_type(fetched.content_type, fetched.body, fetched.url)
        )
        return FileRow(
            id=self.table.new_id() if known is None else known.id,
            key=fetched.key,
            url=fetched.url,
            path=path,
            path_key=path_key(path),
            content_type=fetched.content_type,
            is_seed=0 if known is None else known.is_seed,
        )

    def _is_intact(self, row: FileRow) -> bool:
        try:
            check_intact(self._folder, row)
        except MirrorError:
            return False
        return True

    def _write(self, row: FileRow, fetched: Fetched, digest: bytes) -> None:
        """Write the bytes, or link to a file with the same bytes."""
        size, file = fetched.size, fetched.file
        same = None if row.is_document else self.table.with_content(digest, size, row.id)
        # A file changed by the user is not the same, and may share its inode with this path.
        if same is not None and self._is_in(same.path, fetched):
            self._folder.link(row.path, same.path)
            if isinstance(file, Download):
                file.drop()
        elif isinstance(file, Download):
            self.downloads.put(file, row.path)
        else:
            self._folder.write(row.path, fetched.body)
        self.bytes += size - row.size
        row.state, row.stand_in, row.size = OWN, None, size
        row.digest = row.payload_digest = digest
        row.patch, row.old_digest, row.old_patch = b"", None, None

    def _is_in(self, path: str, fetched: Fetched) -> bool:
        if isinstance(fetched.file, Download):
            return self.downloads.is_same(fetched.file, path)
        return holds(self._folder, path, fetched.body)

    def _remove(self, row: FileRow) -> None:
        if row.state == OWN and self._folder.exists(row.path):
            self._folder.remove(row.path)
        self.table.remove(row)
        self.bytes -= row.size

    def still(self, key: bytes) -> LinkedDocument | None:
        """Return the stored document under a key, for its links, or None for another file.

        Raises:
            MirrorError: It is not stored as it was served.
        """
        row = self.table.of_key(key)
        if row is None or row.state != OWN:
            raise MirrorError("it has no file")
        if not row.is_document:
            check_intact(self._folder, row)
            return None
        return read_document(original(self._folder, row), row.url, row.content_type)

    def holds(self, key: bytes) -> bool:
        row = self.table.of_key(key)
        return row is not None and row.state == OWN and self._folder.exists(row.path)

    def holds_whole(self, key: bytes) -> bool:
        row = self.table.of_key(key)
        return self.holds(key) and row is not None and not row.is_cut

    def is_no_page(self, key: bytes) -> bool:
        """Return whether the stored file of a URL is no page, but needed or linked by pages."""
        row = self.table.of_key(key)
        return row is not None and not row.is_page

    def note_stale(self) -> None:
        if self._database.meta(meta_names.MIRROR_STALE) != "1":
            self._database.set_meta(meta_names.MIRROR_STALE, "1")


def _etag_of_part(fetched: Fetched) -> str | None:
    """Return the ETag by which the rest of a part can be requested, or None.

    A weak one is of several versions, and other parts are not the first bytes of the file.
    """
    etag = fetched.etag
    is_strong = etag is not None and etag.startswith('"')
    return etag if is_strong and fetched.cut is Reason.CUT_TRANSFER and fetched.body else None


class FileContent(NamedTuple):
    """The present content of a file.

    Attributes:
        served: Body as it was served.
        digest: Digest of the file.
        patch: Patch from the file back to the served body.
    """

    served: bytes
    digest: bytes
    patch: bytes


def file_content(folder: MirrorFolder, row: FileRow) -> FileContent:
    """Read a file and undo its edits.

    Raises:
        MirrorError: The file is missing, or was changed by another program.
    """
    body = folder.read(row.path)
    digest = payload_digest(body)
    patch = row.patch_of(digest)
    if patch is None:
        raise MirrorError(f"{row.path}: changed since it was written")
    try:
        return FileContent(undo(body, patch), digest, patch)
    except PatchError as error:
        raise MirrorError(f"{row.path}: {error}") from None


def check_intact(folder: MirrorFolder, row: FileRow) -> None:
    """Check that a file is as it was written, without its bytes in memory if none were replaced.

    Raises:
        MirrorError: The file is missing, or was changed by another program.
    """
    if row.patch or row.old_patch:
        file_content(folder, row)
    elif row.patch_of(folder.digest(row.path)) is None:
        raise MirrorError(f"{row.path}: changed since it was written")


def served_size(folder: MirrorFolder, row: FileRow) -> int:
    """Return the bytes of a body as it was served. Raises as `file_content`."""
    if row.is_document or row.patch:
        return len(original(folder, row))
    check_intact(folder, row)
    return row.size


def original(folder: MirrorFolder, row: FileRow) -> bytes:
    """Return the body as it was served, from the file. Raises as `file_content`."""
    return file_content(folder, row).served


def holds(folder: MirrorFolder, path: str, body: bytes) -> bool:
    return (
        folder.exists(path) and folder.stat(path).st_size == len(body) and folder.read(path) == body
    )


def media_type(content_type: str | None, body: bytes, url: str = "") -> str:
    """Return the media type of an answer; HTML if only its first bytes show a page."""
    declared = (content_type or "").partition(";")[0].strip().lower()
    if not body and declared:  # it may be a file of any type as well
        return declared
    if declared == "text/plain" and is_text_name(url):
        return declared
    if declared == "application/x-tar" and body.startswith(GZIP_MAGIC):
        return "application/gzip"  # its coding is the file's own
    is_page = why_not_html(content_type, body) is None
    if declared == "text/html" and not is_page:
        return type_of_foreign(body)
    # As HTML, a document written as XML would end at its first <script/>.
    return "text/html" if is_page and declared not in XML_TYPES else declared


def _suffix(url: str, content_type: str | None, body: bytes) -> str:
    name = path_of(url, media_type(content_type, body, url)).rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    return dot + ending if stem else ""


def reading_without_text(
    url: str, body: bytes, content_type: str | None, *, apart: bool
) -> Reading:
    """Return a reading that equals another only if the bytes are equal.

    Args:
        url: URL of the answer.
        body: Bytes as they came.
        content_type: Header of that name.
        apart: Whether it equals none, as that of an answer which is not whole.
    """
    reason = why_not_html(content_type, body)
    if reason is not None:
        return Reading(url, not_html=reason)
    digest = payload_digest(body + url.encode() if apart else body)
    extract = Extract(_NO_TEXT, 0, digest, None, is_main=False, visible_digest=digest)
    return Reading(url, visible_digest=digest, extract=extract)
