"""Write what a mirror adds to the files of a site: entry pages, reports and earlier versions.

The reports are changes.json and duplicates.json. Each earlier version is a tree of hard links to
files as they were. Files of a mirror are replaced and never written in place, so that a second name
of a file keeps its earlier content. A version takes entries of folders, and content only where it
differs from the next one. Its links are relative, and lead to the other files of the same version.
"""

from __future__ import annotations

import io
import json
import os
import shutil
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.mirror.errors import MirrorStorageError, SymbolicLinkError
from crawler.mirror.paths import (
    CHANGES,
    CONTENTS,
    DUPLICATES,
    INDEX,
    OUR_FOLDERS,
    SEARCH,
    STATE_FOLDER,
    VERSIONS,
    address_between,
)
from crawler.pages.reasons import in_words
from crawler.pages.verdicts import OUTCOMES
from neardup.files.durable import write_whole

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from crawler.mirror.file_table import FileRow, FileTable
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


class Version(NamedTuple):
    """An earlier version of a mirror: when it was the newest state, and its pages below the root.

    Attributes:
        name: The moment.
        entry: Its first page.
        changes: The page of the changes by the update after it; None until that is finished.
    """

    name: str
    entry: str
    changes: str | None


def kept_versions(root: Path) -> Iterator[Version]:
    """Yield the versions of a mirror, the latest first."""
    for name in reversed(version_names(root)):
        place = f"{STATE_FOLDER}/{FOLDER}/{name}"
        is_told = (root / f"{place}.html").is_file()
        yield Version(name, f"{place}/{INDEX}", f"{place}.html" if is_told else None)


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
    for each in kept_versions(root):
        line = f'<li><a href="{escape(each.entry)}">{escape(each.name)}</a>'
        if each.changes is not None:
            line += f', and <a href="{escape(each.changes)}">what changed then</a>'
        lines.append(f"{line}</li>\n")
    listed = f"<ul>\n{''.join(lines)}</ul>\n" if lines else "<p>There are none yet.</p>\n"
    head = f"{HEAD.format(title=_TITLE, more='')}<h1>{_TITLE}</h1>\n"
    page = f'{head}{listed}<p><a href="{INDEX}">As it is now</a></p>\n{END}'
    folder.write(VERSIONS, page.encode())


def _kept_paths(folder: MirrorFolder) -> Iterator[str]:
    for path in folder.paths():
        if path not in _NOT_KEPT and path.partition("/")[0] not in OUR_FOLDERS:
            yield path


HEAD = (
    "<!doctype html>\n<html><head><meta charset=utf-8>"
    '<meta name="viewport" content="width=device-width">\n'
    "<title>{title}</title>{more}</head>\n<body>\n"
)
_NEEDS_SERVER = (
    "<p>Some pages run scripts that browsers do not load from a disk (modules). With"
    " <code>crawl-once mirror serve DIR</code>, where DIR is this folder, they run.</p>\n"
)
END = "</body></html>\n"


def write_entries(
    table: FileTable, folder: MirrorFolder, start: FileRow | None, others: Mapping[str, str]
) -> None:
    """Write index.html, and contents.html for what no page leads to.

    Args:
        table: Table of the mirror's files.
        folder: Folder of the mirror.
        start: File of the first seed, or None if it leads to no file.
        others: Titles of further pages of ours by their paths.

    Complexity: O(files).
    """
    first = start or next(table.rows("is_seed = 1 AND state = 'own'"), None)
    has_others = next(_others(table, first), None) is not None
    if has_others:
        folder.write(CONTENTS, _contents(_others(table, first)))
    elif folder.exists(CONTENTS):
        folder.remove(CONTENTS)
    further = {CONTENTS: "What no page of it leads to"} if has_others else {}
    folder.write(INDEX, _index(table, first, {**further, **others}))


def index_without(page: bytes, paths: Collection[str]) -> bytes:
    """Return index.html without its links to further pages of ours."""
    links = tuple(f'<p><a href="{path}">'.encode() for path in paths)
    return b"".join(line for line in page.splitlines(True) if not line.startswith(links))


def _others(table: FileTable, first: FileRow | None) -> Iterator[FileRow]:
    """Return the other seeds and the files that no document links to."""
    rows = table.rows("(is_seed = 1 OR is_linked = 0) AND state = 'own'")
    return (row for row in rows if first is None or row.id != first.id)


def _index(table: FileTable, first: FileRow | None, further: Mapping[str, str]) -> bytes:
    address = CONTENTS if first is None else address_between(INDEX, first.path)
    title = "A mirror" if first is None else first.url
    # Headless Chromium waits for ever for a refresh after 0 seconds.
    refresh = (
        f'\n<meta http-equiv="refresh" content="1; url={escape(address)}">'
        f"<script>location.replace({json.dumps(address)})</script>"
    )
    served = table.has_modules()
    if served:  # what is said below is read before the first page is opened
        refresh = (
            '\n<script>if (location.protocol !== "file:")'
            f" location.replace({json.dumps(address)})</script>"
        )
    if first is None and CONTENTS not in further:
        address, refresh = "", ""
    page = io.StringIO()
    page.write(HEAD.format(title=escape(title), more=refresh))
    if address:
        page.write(f'<p><a href="{escape(address)}">{escape(title)}</a></p>\n')
    else:
        page.write("<p>Nothing was mirrored yet.</p>\n")
    if served:
        page.write(_NEEDS_SERVER)
    for name, title in further.items():
        page.write(f'<p><a href="{name}">{title}</a></p>\n')
    page.write(END)
    return page.getvalue().encode()


def _contents(rows: Iterator[FileRow]) -> Iterator[bytes]:
    yield HEAD.format(title="What no page leads to", more="").encode() + b"<ul>\n"
    for row in rows:
        address = escape(address_between(CONTENTS, row.path))
        line = f'<li><a href="{address}">{escape(row.url)}</a></li>\n'
        yield line.encode("utf-8", "replace")
    yield b"</ul>\n" + END.encode()


def write_changes(table: FileTable, folder: MirrorFolder, visit: int) -> None:
    """Write the changes of a visit: a list of each outcome, page by page."""
    lists = {outcome: _changes(table.changes(visit, outcome)) for outcome in OUTCOMES}
    folder.write(CHANGES, _object({"visit": visit, **lists}))


def _changes(rows: sqlite3.Cursor) -> Iterator[dict[str, Any]]:
    for found in _objects(rows):
        found |= {"reason": in_words(found["reason"]), "is_part": bool(found["is_part"]) or None}
        yield {name: value for name, value in found.items() if value is not None}


def write_duplicates(table: FileTable, folder: MirrorFolder) -> None:
    folder.write(DUPLICATES, _object({"duplicates": _objects(table.duplicates())}))


def _objects(rows: sqlite3.Cursor) -> Iterator[dict[str, Any]]:
    names = [column[0] for column in rows.description]
    return (dict(zip(names, row, strict=True)) for row in rows)


def _object(members: Mapping[str, int | Iterator[dict[str, Any]]]) -> Iterator[bytes]:
    """Yield a JSON object with a row of each list on a line of its own."""
    comma = b"{\n"
    for name, value in members.items():
        yield comma + b"  " + _json(name) + b": "
        comma = b",\n"
        if isinstance(value, int):
            yield _json(value)
            continue
        yield b"["
        inner = b"\n    "
        for row in value:
            yield inner + _json(row)
            inner = b",\n    "
        yield b"]"
    yield b"\n}\n"


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
