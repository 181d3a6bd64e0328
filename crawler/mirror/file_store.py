"""What was served becomes a file, as it came; the links are rewritten when all is there."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from crawler.mirror.documents.edits import PatchError, undo
from crawler.mirror.documents.linked_document import read_document
from crawler.mirror.documents.types import XML_TYPES
from crawler.mirror.errors import MirrorError, MissingFileError
from crawler.mirror.mirror_files import OWN, FileRow, FileTable
from crawler.mirror.paths import path_key, path_of
from crawler.reading.content_types import why_not_html
from neardup import payload_digest

if TYPE_CHECKING:
    from crawler.mirror.documents.linked_document import LinkedDocument
    from crawler.mirror.folder import MirrorFolder
    from crawler.pages.fetched import Fetched
    from crawler.storage.database import Database

STALE = "mirror_stale"
"""Key of ``meta``: something was stored since the links were last rewritten."""


class MirrorStore:
    """The files of a mirror while it is being made.

    A file is there before its row: a process that is killed in between leaves
    a file that the next one writes again, since the request was not through.

    Args:
        database: The crawl's database.
        folder: Where the files go.
    """

    def __init__(self, database: Database, folder: MirrorFolder) -> None:
        self._database = database
        self._folder = folder
        self.table = FileTable(database.read, database.write)
        self.bytes = int(database.read("SELECT coalesce(sum(size), 0) FROM files").fetchone()[0])

    def keep(self, fetched: Fetched, *, is_seed: bool) -> LinkedDocument | None:
        """Write what was served to its file; a part of it is marked, and replaces no whole.

        Args:
            fetched: The answer.
            is_seed: Whether a person asked for it; nothing need link to it then.

        Returns:
            The document, for its links; None for what holds none.

        Raises:
            MirrorError: The file cannot be written.
        """
        if fetched.is_cut and self._stays(fetched):
            with suppress(MirrorError):
                return self.still(fetched.key)
            return read_document(fetched.body, fetched.url, fetched.content_type)
        document = read_document(fetched.body, fetched.url, fetched.content_type)
        digest = payload_digest(fetched.body)
        row = self._row(fetched)
        if (row.content_type, row.is_document) != (fetched.content_type, int(document is not None)):
            self.note_stale()  # the same bytes may be read otherwise, in another encoding
        row.content_type = fetched.content_type
        row.is_document, row.is_seed = int(document is not None), int(row.is_seed or is_seed)
        row.is_cut = int(fetched.is_cut)
        row.is_page = int(why_not_html(fetched.content_type, fetched.body) is None)
        if row.state != OWN or row.payload_digest != digest or not self._is_intact(row):
            self._write(row, fetched.body, digest)
            self.note_stale()
        self.table.put(row)
        return document

    def _stays(self, fetched: Fetched) -> bool:
        """Whether what is held is more than the part that came."""
        row = self.table.of_key(fetched.key)
        if row is None:
            return False
        try:
            if row.is_cut:
                return len(original(self._folder, row)) > len(fetched.body)
            if row.state == OWN:  # of any other, another file stands for it
                self._folder.stat(row.path)
        except MissingFileError:
            return False
        except MirrorError:  # somebody changed it, or put a link there
            return not row.is_cut
        return True

    def _row(self, fetched: Fetched) -> FileRow:
        """The row of the URL, with the path that it has or gets."""
        known = self.table.of_key(fetched.key)
        suffix = _suffix(fetched.url, fetched.content_type, fetched.body)
        if known is not None and known.path.endswith(suffix):
            known.url = fetched.url
            return known
        if known is not None:  # another kind of file than it was: another name
            self._remove(known)
        path = self.table.free_path(fetched.url, media_type(fetched.content_type, fetched.body))
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
            original(self._folder, row)
        except MirrorError:
            return False
        return True

    def _write(self, row: FileRow, body: bytes, digest: bytes) -> None:
        """Write the bytes, or link to a file that holds them already."""
        same = None if row.is_document else self.table.with_content(digest, len(body), row.id)
        # One that somebody changed is not the same, and may share its bytes with this one's name.
        if same is not None and holds(self._folder, same.path, body):
            self._folder.link(row.path, same.path)
        else:
            self._folder.write(row.path, body)
        self.bytes += len(body) - row.size
        row.state, row.stand_in, row.size = OWN, None, len(body)
        row.digest = row.payload_digest = digest
        row.patch, row.old_digest, row.old_patch = b"", None, None

    def _remove(self, row: FileRow) -> None:
        if row.state == OWN and self._folder.exists(row.path):
            self._folder.remove(row.path)
        self.table.remove(row)
        self.bytes -= row.size

    def still(self, key: bytes) -> LinkedDocument | None:
        """The document that was served under a key and is held, for its links.

        Raises:
            MirrorError: It is not held as it was served.
        """
        row = self.table.of_key(key)
        if row is None or row.state != OWN:
            raise MirrorError("it has no file")
        body = original(self._folder, row)
        return read_document(body, row.url, row.content_type) if row.is_document else None

    def holds(self, key: bytes) -> bool:
        """Whether there is a file of a URL's own."""
        row = self.table.of_key(key)
        return row is not None and row.state == OWN and self._folder.exists(row.path)

    def holds_whole(self, key: bytes) -> bool:
        """As ``holds``, of a file that is not only a part."""
        row = self.table.of_key(key)
        return self.holds(key) and row is not None and not row.is_cut

    def is_no_page(self, key: bytes) -> bool:
        """Whether what is held of a URL is no page, but what pages need or link to."""
        row = self.table.of_key(key)
        return row is not None and not row.is_page

    def note_stale(self) -> None:
        """Note that links are to be rewritten."""
        if self._database.meta(STALE) != "1":
            self._database.set_meta(STALE, "1")


class FileContent(NamedTuple):
    """What a file holds now.

    Attributes:
        served: What was served.
        digest: Of the file.
        patch: From the file back to what was served.
    """

    served: bytes
    digest: bytes
    patch: bytes


def held(folder: MirrorFolder, row: FileRow) -> FileContent:
    """Read a file and turn it back.

    Raises:
        MirrorError: The file is missing, or was changed by somebody else.
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


def original(folder: MirrorFolder, row: FileRow) -> bytes:
    """What was served, from the file. Raises as `held`."""
    return held(folder, row).served


def holds(folder: MirrorFolder, path: str, body: bytes) -> bool:
    """Whether a file is there and holds exactly these bytes."""
    return folder.exists(path) and folder.size(path) == len(body) and folder.read(path) == body


def media_type(content_type: str | None, body: bytes) -> str:
    """What an answer is: by its header, and a page by its first bytes where that says nothing."""
    declared = (content_type or "").partition(";")[0].strip().lower()
    is_page = why_not_html(content_type, body) is None
    # As HTML, what is written as XML would end at its first <script/>.
    return "text/html" if is_page and declared not in XML_TYPES else declared


def _suffix(url: str, content_type: str | None, body: bytes) -> str:
    """The ending that its file is to have."""
    name = path_of(url, media_type(content_type, body)).rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    return dot + ending if stem else ""
