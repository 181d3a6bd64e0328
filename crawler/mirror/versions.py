"""Keep earlier versions of a mirror, each a tree of hard links to files as they were.

Files of a mirror are replaced and never written in place, so that a second name of a file keeps its
earlier content. A version takes entries of folders, and content only where it differs from the next
one. Its links are relative, and lead to the other files of the same version.
"""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING

from crawler.mirror.errors import MirrorStorageError, SymbolicLinkError
from crawler.mirror.paths import CHANGES, INDEX, OUR_FOLDERS, SEARCH, STATE_FOLDER, VERSIONS
from crawler.mirror.reports import END, HEAD, index_without
from neardup.files.durable import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.mirror.folder import MirrorFolder

FOLDER = "versions"
"""Name of the folder of the versions, in that of the mirror's state."""

_PARTIAL = ".partial"
_NOT_KEPT = frozenset({SEARCH, VERSIONS})
_TITLE = "Earlier versions"


def versions_folder(root: Path) -> Path:
    return root / STATE_FOLDER / FOLDER


def version_names(root: Path) -> list[str]:
    """Return the names of the versions, the earliest first: when each was the newest state."""
    place = versions_folder(root)
    if not place.is_dir():
        return []
    return sorted(
        each.name for each in place.iterdir() if each.is_dir() and not each.name.startswith(".")
    )


def keep_version(root: Path, folder: MirrorFolder) -> str | None:
    """Give all files of a mirror further names in a version; return its name.

    A version is whole or not there: it is made under another name. One that a killed process left
    unfinished is removed.

    Returns:
        None if nothing was mirrored yet, or if this state has its version already.

    Raises:
        SymbolicLinkError: The folder of the versions is a symbolic link.
        MirrorStorageError: The file system refuses hard links.

    Complexity: O(files).
    """
    place = versions_folder(root)
    if place.is_symlink():
        raise SymbolicLinkError(f"{place} is a symbolic link; remove it")
    if not folder.exists(CHANGES):
        return None
    finished = datetime.fromtimestamp(folder.stat(CHANGES).st_mtime, UTC)
    name = finished.isoformat(timespec="milliseconds").replace(":", "-").replace("+00-00", "Z")
    shutil.rmtree(place / _PARTIAL, ignore_errors=True)
    if (place / name).exists():
        return None
    try:
        (place / _PARTIAL).mkdir(parents=True)
        for path in _kept_paths(folder):
            target = place / _PARTIAL / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if path == INDEX:  # it leads to what a version has not
                write_whole(target, index_without(folder.read(path), _NOT_KEPT))
            else:
                os.link(root / path, target, follow_symlinks=False)
        (place / _PARTIAL).rename(place / name)
    except OSError as error:
        raise MirrorStorageError(
            f"{place}: no version can be kept: {error.strerror}; --keep-versions needs a file "
            "system with hard links"
        ) from None
    return name


def drop_if_same(root: Path, folder: MirrorFolder) -> bool:
    """Remove the last version if no file of the site has changed since; return whether it was.

    Complexity: O(files).
    """
    names = version_names(root)
    if not names:
        return False
    place = versions_folder(root)
    now = {path: root / path for path in _kept_paths(folder) if "/" in path}
    then = {
        str(each.relative_to(place / names[-1])): each
        for each in (place / names[-1]).rglob("*/*")
        if each.is_file() and not each.is_symlink()
    }
    if now.keys() != then.keys():
        return False
    if not all(os.path.samestat(then[path].lstat(), now[path].lstat()) for path in now):
        return False
    # A process that is killed while files are removed leaves no half version.
    shutil.rmtree(place / _PARTIAL, ignore_errors=True)
    (place / names[-1]).rename(place / _PARTIAL)
    shutil.rmtree(place / _PARTIAL)
    return True


def write_versions(root: Path, folder: MirrorFolder) -> None:
    """Write the list of the versions, the latest first."""
    lines = []
    for name in reversed(version_names(root)):
        place = f"{STATE_FOLDER}/{FOLDER}/{name}"
        line = f'<li><a href="{escape(place)}/{INDEX}">{escape(name)}</a>'
        if (root / f"{place}.html").is_file():
            line += f', and <a href="{escape(place)}.html">what changed then</a>'
        lines.append(f"{line}</li>\n")
    listed = f"<ul>\n{''.join(lines)}</ul>\n" if lines else "<p>There are none yet.</p>\n"
    head = f"{HEAD.format(title=_TITLE, more='')}<h1>{_TITLE}</h1>\n"
    page = f'{head}{listed}<p><a href="{INDEX}">As it is now</a></p>\n{END}'
    folder.write(VERSIONS, page.encode())


def _kept_paths(folder: MirrorFolder) -> Iterator[str]:
    for path in folder.paths():
        if path not in _NOT_KEPT and path.partition("/")[0] not in OUR_FOLDERS:
            yield path
