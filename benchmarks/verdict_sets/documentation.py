"""Pages of Debian's documentation, by the names of their files, and pages that were read before.

Reading takes most of the time, so what was read is stored, and read again when the code of
`crawler/reading` has changed.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.quality.labelled import Labelled, document_of, read_pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from neardup import Parameters
    from tests.quality.labelled import ReadPage

DOCUMENTATION = Path("/usr/share/doc")
READING = Path(__file__).resolve().parents[2] / "crawler" / "reading"


class MissingSetError(Exception):
    """This machine lacks a set; the message says what is to be installed."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of HTML in ``/usr/share/doc``, and the package that has it."""

    name: str
    package: str


JDK = (Folder("openjdk-17-doc/api/java.base", "openjdk-17-doc"),)
CLANG = tuple(Folder(f"clang-{version}/html", f"clang-{version}-doc") for version in (14, 16))
PYTHON = (Folder("python3.11/html", "python3.11-doc"),)


def default_cache() -> Path:
    """Return the folder in the user's cache where pages are stored that were read."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "crawl-once" / "verdicts"


def labelled_folders(
    folders: Sequence[Folder], cache: Path, parameters: Parameters
) -> list[Labelled]:
    """Return the pages of some folders, one folder after the other, by the names of their files.

    Raises:
        MissingSetError: A folder is missing.
    """
    return [
        Labelled(page.url, frozenset({path}), document_of(page, parameters))
        for folder in folders
        for path, page in _read(folder, cache)
    ]


def _read(folder: Folder, cache: Path) -> Iterator[tuple[str, ReadPage]]:
    """Yield the pages of a folder with their paths in it."""
    root = DOCUMENTATION / folder.name
    if not root.is_dir():
        raise MissingSetError(f"{root} is missing: apt-get install {folder.package}")
    files = sorted(_files(root))
    bodies = [(f"http://docs/{folder.name}/{path}", file.read_bytes()) for path, file in files]
    paths = (path for path, _ in files)
    return zip(paths, stored_pages(bodies, cache), strict=True)


def stored_pages(bodies: Sequence[tuple[str, bytes]], cache: Path) -> list[ReadPage]:
    """Return pages as they were read before, or read them and store that.

    Args:
        bodies: URL and body of each page.
        cache: A folder of the user's own, since what is unpickled must not come from others.
    """
    digest = hashlib.sha256(_version_of_reading())
    for url, body in bodies:
        digest.update(hashlib.sha256(url.encode() + b"\0" + body).digest())
    stored = cache / f"{digest.hexdigest()[:32]}.pickle"
    if stored.exists():
        pages: list[ReadPage] = pickle.loads(stored.read_bytes())
        return pages
    pages = list(read_pages(bodies))
    cache.mkdir(parents=True, exist_ok=True)
    partial = stored.with_suffix(f".{os.getpid()}")
    partial.write_bytes(pickle.dumps(pages))
    partial.rename(stored)
    return pages


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    for file in root.resolve().rglob("*.html"):
        yield str(file.relative_to(root.resolve())), file


def _version_of_reading() -> bytes:
    files = [*READING.rglob("*.py"), *READING.rglob("*.npz")]
    return b"\0".join(file.read_bytes() for file in sorted(files))
