"""Pack a mirror in one file: zip for any computer, ZIM for Kiwix.

Packed are the files of the mirror and its entry pages, without its state and its archive. Pages
keep their paths, so that the links within the mirror hold in the packed file too.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import time
import zipfile
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.filesize import decimal

from crawler.console.escaping import say_or_go_on
from crawler.console.options import CommandError
from crawler.mirror.endings import is_text_name
from crawler.mirror.errors import MirrorError, MirrorStorageError
from crawler.mirror.mirror_files import open_mirror
from crawler.mirror.paths import INDEX, OUR_FILES, SEARCH_FOLDER, STATE_FOLDER, VERSIONS
from crawler.mirror.reports import index_without
from crawler.pages.export import choices_met
from crawler.storage import meta_names
from crawler.storage.database import meta_of
from crawler.storage.directory import lock_held
from crawler.suggestions import did_you_mean
from neardup.files.durable import replacing
from neardup.installing import install_command
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO

    from crawler.console.progress import ProgressLine
    from crawler.mirror.mirror_files import OpenMirror

_COMPRESSED = ("image/", "video/", "audio/", "font/", "application/zip", "application/gzip")
_NOT_COMPRESSED = ("image/svg", "image/bmp", "font/ttf", "font/otf")
_OUR_TYPES = {"html": "text/html;charset=utf-8", "json": "application/json"}
_UNKNOWN_TYPE = "application/octet-stream"
# The first date that a zip file can have: that of the packing would make each file another one.
_DATE = (1980, 1, 1, 0, 0, 0)
_MODE = 0o100644
_PIECE_BYTES = 2**20
_ICON = Path(__file__).with_name("templates") / "icon.png"
_ICON_PIXELS = 48


class PackedFile(NamedTuple):
    """A file of a mirror to be packed.

    Attributes:
        path: Path below the folder of the mirror.
        content_type: The type that the site sent with it.
        is_page: Whether it is a page.
        title: Title of a page, where that is known.
        content: Digest and size, equal for the same bytes; "" where that is not known.
        body: The bytes, or None: those of the file in the folder.
    """

    path: str
    content_type: str
    is_page: bool = False
    title: str = ""
    content: str = ""
    body: bytes | None = None

    @property
    def is_compressed(self) -> bool:
        """Whether the format of the file is one that compresses."""
        kind = self.content_type
        return kind.startswith(_COMPRESSED) and not kind.startswith(_NOT_COMPRESSED)


class Packer:
    """Writes a mirror to one file.

    Args:
        mirror: The mirror.
        watch: Called with the share that is done, 0 to 1, and words for what is being done.
    """

    def __init__(self, mirror: OpenMirror, watch: Callable[[float, str], None]) -> None:
        self._folder, self._table, _, self._connection = mirror
        self._watch = watch
        self._total = self._table.count()

    def write_zip(self, target: Path) -> int:
        """Write a zip file whose bytes are the same for the same files; return their number.

        Complexity: O(bytes); a megabyte is in memory.

        Raises:
            MirrorError: A file is missing, or the target cannot be written.
        """
        count = 0
        with _replaced(target) as partial, zipfile.ZipFile(partial, "w") as to:
            for file in self._files():
                info = zipfile.ZipInfo(f"{target.stem}/{file.path}", _DATE)
                info.external_attr = _MODE << 16
                info.create_system = 3
                kind = zipfile.ZIP_STORED if file.is_compressed else zipfile.ZIP_DEFLATED
                info.compress_type = kind
                info.file_size = self._folder.stat(file.path).st_size
                with self._opened(file) as source, to.open(info, "w") as written:
                    shutil.copyfileobj(source, written, _PIECE_BYTES)
                count += 1
        return count

    def write_zim(self, target: Path, url: str) -> int:
        """Write a ZIM file with an index of its texts; return the number of its files.

        The same bytes are in it once. Its id is a new one each time.

        Args:
            target: Path of the file.
            url: URL that is mirrored.

        Raises:
            MirrorError: A file is missing, or the target cannot be written.
            ImportError: libzim is not installed.
        """
        from libzim.writer import Creator, Hint  # noqa: PLC0415  # of the extra zim

        count, stored = 0, dict[str, str]()
        language = self._language()
        with _replaced(target) as partial, _silenced():
            creator = Creator(partial).config_indexing(True, language)
            with creator.set_mainpath(INDEX) as to:
                for file in self._files():
                    title = file.title or file.path
                    if file.content in stored:
                        hints = {Hint.FRONT_ARTICLE: file.is_page}
                        to.add_alias(file.path, title, stored[file.content], hints)
                    else:
                        self._folder.stat(file.path)  # no symbolic link, and there
                        to.add_item(_item(self._folder.root / file.path, file))
                    if file.content:
                        stored.setdefault(file.content, file.path)
                    count += 1
                for name, value in _metadata(url, language):
                    to.add_metadata(name, value)
                to.add_illustration(_ICON_PIXELS, _ICON.read_bytes())
        return count

    def _files(self) -> Iterator[PackedFile]:
        for path in sorted(OUR_FILES - {VERSIONS}):  # those are not packed
            if self._folder.exists(path):
                kind = _OUR_TYPES[path.rpartition(".")[2]]
                body = None
                if path == INDEX:  # it may lead to what is not packed
                    body = index_without(self._folder.read(path), (VERSIONS,))
                yield PackedFile(path, kind, body=body)
        for path in self._folder.paths(SEARCH_FOLDER):
            yield PackedFile(path, "text/javascript")
        for number, file in enumerate(self._table.pages(), 1):
            kind = _type_of(file.content_type, file.path, is_page=bool(file.is_page))
            content = f"{file.digest.hex()} {file.size} {kind}"
            yield PackedFile(file.path, kind, bool(file.is_page), file.title or "", content)
            self._watch(number / self._total, "packing")

    def _opened(self, file: PackedFile) -> BinaryIO:
        return self._folder.open(file.path) if file.body is None else io.BytesIO(file.body)

    def _language(self) -> str:
        """Return the language of most pages in three letters, as ZIM has it; else ``eng``."""
        from babel.core import get_global  # noqa: PLC0415  # its data take a while to load

        declared = next(filter(None, choices_met(self._connection, "language")), "en")
        tag = declared.replace("_", "-").partition("-")[0].lower()
        if len(tag) == 3:
            return tag
        codes = get_global("language_aliases").items()
        return next((code for code, short in codes if short == tag and len(code) == 3), "eng")


def _type_of(content_type: str | None, path: str, *, is_page: bool) -> str:
    """Return the type of a file in ZIM, where a character of others would part the list of types.

    What is a page by its first bytes alone is one, but not plain text that is named so.
    """
    kind = "".join(filter(str.isprintable, content_type or "")).strip().lower()
    is_text = kind.startswith("text/plain") and is_text_name(path)
    if is_page and not is_text and not kind.startswith(("text/html", "application/xhtml")):
        return "text/html"
    return kind or _UNKNOWN_TYPE


def _metadata(url: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield what every ZIM file has to say of itself."""
    host = url.partition("://")[2].partition("/")[0]
    yield "Title", host[:30]
    yield "Name", f"{host}_{language}_all"
    yield "Language", language
    yield "Creator", host
    yield "Publisher", "crawl-once"
    yield "Description", f"Mirror of {url}"[:80]
    yield "Source", url
    yield "Date", time.strftime("%Y-%m-%d", time.gmtime())


def _item(place: Path, file: PackedFile) -> object:
    from libzim.writer import FileProvider, Hint, Item, StringProvider  # noqa: PLC0415

    class FileItem(Item):  # type: ignore[misc]  # of a library without types
        def get_path(self) -> str:
            return file.path

        def get_title(self) -> str:
            return file.title or file.path

        def get_mimetype(self) -> str:
            return file.content_type

        def get_contentprovider(self) -> object:
            return FileProvider(place) if file.body is None else StringProvider(file.body)

        def get_hints(self) -> dict[object, bool]:
            return {Hint.FRONT_ARTICLE: file.is_page, Hint.COMPRESS: not file.is_compressed}

    return FileItem()


@contextmanager
def _silenced() -> Iterator[None]:
    """Keep from standard output what libzim says there of its steps."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def _replaced(target: Path) -> Iterator[Path]:
    """Yield a path to write to, which becomes the target when all is written, and else nothing.

    Raises:
        MirrorStorageError: The system refuses.
    """
    partial = _partial(target)
    try:
        with replacing(target, partial.name):
            yield partial
            with partial.open("rb") as file:  # libzim made another one of that name
                os.fsync(file.fileno())
    except MirrorError:
        raise
    except (OSError, RuntimeError) as error:  # libzim raises the latter
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise MirrorStorageError(f"{target} cannot be written: {why}") from error
    finally:
        remove_unfinished(target)


def remove_unfinished(target: Path) -> None:
    """Remove what a killed process left of a packed file. No other process may be packing."""
    partial = _partial(target)
    for path in (partial, partial.with_name(f"{partial.name}.tmp")):
        path.unlink(missing_ok=True)


def _partial(target: Path) -> Path:
    return target.with_name(f".{target.name}.part")


ZIP, ZIM, WACZ = "zip", "zim", "wacz"


def formats_of(written: str, known: Sequence[str]) -> list[str]:
    """Return the formats that ``--format`` names, separated by commas.

    Raises:
        CommandError: One is unknown, or what it needs is not installed.
    """
    names = list(dict.fromkeys(name.strip().lower() for name in written.split(",")))
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            among = f"{', '.join(known[:-1])} or {known[-1]}"
            raise CommandError(f"--format must be {among}, got {name!r}{hint}")
    if ZIM in names and find_spec("libzim") is None:
        raise CommandError(f"--format zim needs libzim: {install_command('zim')}")
    return names


def clear_unfinished(folder: Path) -> None:
    """Remove what killed processes left of packed files beside a mirror that this one locks."""
    folder = folder.resolve()
    with suppress(OSError):  # it may not be ours to write there
        for name in (ZIP, ZIM):
            remove_unfinished(packed_name(folder, name))


def packed_name(folder: Path, name: str) -> Path:
    """Return the path of a mirror packed in a format, beside its folder."""
    return folder.with_name(f"{folder.name}.{name}")


def tell_outdated(folder: Path, formats: Sequence[str]) -> None:
    """Name the packed files that are older than the mirror beside them."""
    for name in (ZIP, ZIM):
        target = packed_name(folder.resolve(), name)
        if name not in formats and target.exists():
            say_or_go_on(f"{target} is older than the mirror; --format {name} makes it again")


def pack(folder: Path, formats: Sequence[str], progress: ProgressLine) -> int:
    """Write a mirror to a file of each format, beside its folder; return the exit status.

    Args:
        folder: Folder of the mirror.
        formats: ``zip`` and ``zim``.
        progress: Shows how far it is.

    Raises:
        MirrorError: A file of the mirror is missing, or the packed file cannot be written.
        JobError: The database of the mirror cannot be read, or the mirror is being written.
    """
    folder = folder.resolve()
    with lock_held(folder / STATE_FOLDER), open_mirror(folder) as mirror:
        clear_unfinished(folder)
        if not mirror.table.count():
            say_or_go_on(f"{folder}: nothing is mirrored, nothing was packed", to_stderr=True)
            return 1
        packer = Packer(mirror, progress)
        for name in formats:
            target = packed_name(folder, name)
            if name == ZIP:
                count = packer.write_zip(target)
            else:
                url = meta_of(mirror.connection.execute, meta_names.MIRROR_URL)
                count = packer.write_zim(target, url or folder.name)
            progress.end()
            size = decimal(target.stat().st_size)
            say_or_go_on(f"packed: {target}, {many(count, 'file')}, {size}")
    return os.EX_OK
