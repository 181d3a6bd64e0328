"""Write pages as documents: each into a file that is named like its URL, or all into one."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xxhash

from crawler.feeds.exporters import whole_file
from crawler.feeds.page_writers import MEDIA_TYPES
from crawler.mirror.paths import digest, free_path, path_key
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.feeds.page_writers import PageWriter

_ENDINGS = {"markdown": ".md", "text": ".txt", "xml": ".xml", "html": ".html"}


class PagePaths:
    """Chooses a path for each page, different on every file system; the same pages get the same.

    Args:
        kind: A key of ``MEDIA_TYPES``.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        # Digests of the keys: millions of paths fit.
        self._files: set[int] = set()
        self._folders: set[int] = set()

    def path_of(self, url: str) -> str:
        """Return the path of the next page, parts joined by "/"."""
        try:
            path = free_path(url, MEDIA_TYPES[self._kind], self._is_file, self._is_folder)
        except MalformedUrl:  # of an item of another spider
            path = self._plain_path(url)
        self._files.add(_hash(path_key(path)))
        folder = path
        while folder := folder.rpartition("/")[0]:
            self._folders.add(_hash(path_key(folder)))
        return path

    def has(self, path: str) -> bool:
        """Return whether a page has this path."""
        return self._is_file(path_key(path))

    def _plain_path(self, url: str) -> str:
        name, number = f"page~{digest(url)}", 1
        path = f"{name}{_ENDINGS[self._kind]}"
        while self._is_file(path_key(path)):
            number += 1
            path = f"{name}-{number}{_ENDINGS[self._kind]}"
        return path

    def _is_file(self, key: str) -> bool:
        return _hash(key) in self._files

    def _is_folder(self, key: str) -> bool:
        return _hash(key) in self._folders


def _hash(key: str) -> int:
    return xxhash.xxh3_64_intdigest(key.encode("utf-8", "surrogatepass"))


def write_files(
    pages: Iterable[tuple[dict[str, Any], bytes]],
    writer: PageWriter,
    folder: Path,
    paths: PagePaths,
) -> Iterator[int]:
    """Write each page into a file below a folder, which is made; yield how many there are so far.

    A file appears under its name only when it is complete, and takes the place of one that an
    earlier export left there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for count, (page, content) in enumerate(pages, 1):
        path = folder / paths.path_of(page["url"])
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(writer.write(page, content).encode("utf-8", "replace"))
        yield count


def others_in(folder: Path, paths: PagePaths) -> Counter[str]:
    """Return how many documents of no page lie below a folder, by the endings of their names."""
    others, endings = Counter[str](), frozenset(_ENDINGS.values())
    for place, _, names in os.walk(folder):
        for name in names:
            ending = os.path.splitext(name)[1].lower()
            path = Path(place, name).relative_to(folder).as_posix()
            if ending in endings and not paths.has(path):
                others[ending] += 1
    return others


def write_together(
    pages: Iterable[tuple[dict[str, Any], bytes]], writer: PageWriter, name: str
) -> int:
    """Write all pages into one file, ``-`` for standard output; return how many."""
    count = 0
    with whole_file(name, writer.kind) as file:
        for page, content in pages:
            separator = b"\n" if count else b""
            file.write(separator + writer.write(page, content).encode("utf-8", "replace"))
            count += 1
    return count
