"""A path that is still free: what two URLs would share, the first has, and others get a digest."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from crawler.mirror.paths import path_key, path_of
from crawler.mirror.segments import digest, with_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def free_path(
    url: str,
    media_type: str | None,
    is_file: Callable[[str], bool],
    is_folder: Callable[[str], bool],
) -> str:
    """Choose the path of a URL's file beside the files that are there.

    The preferred path (`path_of`) if it is free on every file system. Else the file's name, or that
    of a folder which is a file already, gets ``~`` and a digest: of the URL, or of the folder's
    path, so that all that belongs into a folder stays together. The same questions answered alike
    give the same path.

    Args:
        url: Address of the file.
        media_type: As it was served; None where nothing is known.
        is_file: Is there a file with this key (`path_key`)?
        is_folder: Is there a file somewhere below the folder with this key?

    Raises:
        MalformedUrl: It is no http or https URL with a host.
    """
    *folders, name = path_of(url, media_type).split("/")
    way = ""
    for folder in folders:
        way = next(path for path in _variants(way, folder, way + folder) if not _is(is_file, path))
        way += "/"
    address = url.partition("#")[0]
    return next(
        path
        for path in _variants(way, name, address)
        if not (_is(is_file, path) or _is(is_folder, path))
    )


def _variants(way: str, name: str, source: str) -> Iterator[str]:
    yield way + name
    yield way + with_digest(name, digest(source))
    for number in count(2):
        yield way + with_digest(name, digest(f"{number} {source}"))


def _is(question: Callable[[str], bool], path: str) -> bool:
    return question(path_key(path))
