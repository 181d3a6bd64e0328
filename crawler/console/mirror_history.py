"""Keep the earlier versions of a mirror, and write pages that show what changed from each."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.console.escaping import template_environment
from crawler.maintenance.tally import count_queued
from crawler.mirror.errors import MirrorError
from crawler.mirror.folder import MirrorFolder
from crawler.mirror.paths import CHANGES, STATE_FOLDER
from crawler.mirror.reports import (
    drop_if_same,
    keep_version,
    version_names,
    versions_folder,
    write_versions,
)
from crawler.reading.decoding import decode
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse
from crawler.reading.text import tidy
from crawler.reading.visible_text import read_visible
from crawler.storage.database import open_for_reading
from neardup.files.durable import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from crawler.watch.differences import Difference

MAX_COMPARED = 1_000
"""Compare the texts of at most this many changed pages."""

_MAX_PASSAGES = 20
_MAX_CHARACTERS = 1_000
_MAX_BYTES = 4 * 2**20
_LISTED = ("new", "gone", "moved")


class ChangedPage(NamedTuple):
    """A page that changed.

    Attributes:
        url: Its URL.
        path: Path of its file.
        was_there: Whether the version has a file at this path.
        difference: What differs between the texts, or None if they were not compared.
    """

    url: str
    path: str
    was_there: bool
    difference: Difference | None


def _is_wanted(arguments: Mapping[str, str]) -> bool:
    return arguments.get("keep_versions") == "yes"


def begin_version(root: Path, arguments: Mapping[str, str]) -> None:
    """Keep the state of a mirror that is about to be updated, if that is wanted.

    Args:
        root: Folder of the mirror.
        arguments: Arguments of its spider.

    Raises:
        MirrorError: It cannot be kept.
    """
    if not _is_wanted(arguments):
        return
    with MirrorFolder(root) as folder:
        _conclude(root, folder)  # where the process of the last update was killed before it did so
        keep_version(root, folder)


def end_version(root: Path, arguments: Mapping[str, str]) -> None:
    """Show what changed since the last version, or remove it where nothing did.

    An update that was stopped may change something yet: the run that finishes it does so.
    """
    if not _is_wanted(arguments):
        return
    with closing(open_for_reading(root / STATE_FOLDER)) as connection:
        is_whole = not count_queued(connection)
    with MirrorFolder(root) as folder:
        if is_whole:
            _conclude(root, folder)
        write_versions(root, folder)


def _conclude(root: Path, folder: MirrorFolder) -> None:
    """Write the page of the last version, which is written once, or remove the version."""
    place = versions_folder(root)
    name = next(reversed(version_names(root)), None)
    if name is None or (place / f"{name}.html").exists() or not folder.exists(CHANGES):
        return
    if drop_if_same(root, folder):
        return
    changes = json.loads(folder.read(CHANGES))
    page = place / f"{name}.html"
    with replacing(page, f"{name}.partial") as file:
        for piece in _page(name, changes, folder, place / name):
            file.write(piece.encode("utf-8", "replace"))


def _page(name: str, changes: dict[str, Any], folder: MirrorFolder, version: Path) -> Iterator[str]:
    """Yield the pieces of a page; one difference at a time is in memory."""
    rows = changes.get("changed", ())
    optional = {"path": "", "moved_to": ""}
    listed = {kind: [optional | row for row in changes.get(kind, ())] for kind in _LISTED}
    template = template_environment().get_template("changes.html")
    return template.generate(
        name=name,
        has_changed=bool(rows),
        changed=_changed_pages(rows, folder, version),
        listed=listed,
        max_passages=_MAX_PASSAGES,
        max_characters=_MAX_CHARACTERS,
    )


def _changed_pages(
    rows: list[dict[str, Any]], folder: MirrorFolder, version: Path
) -> Iterator[ChangedPage]:
    from crawler.watch.differences import find_difference  # noqa: PLC0415  # slow

    for number, row in enumerate(rows):
        path = row.get("path", "")
        before = version / path
        is_file = bool(path) and before.is_file() and not before.is_symlink()
        difference = None
        if is_file and path.endswith(".html") and number < MAX_COMPARED:
            try:
                difference = find_difference(_text(before.read_bytes()), _text(folder.read(path)))
            except (MirrorError, OSError):  # one of them was removed meanwhile
                difference = None
        yield ChangedPage(row["url"], path, is_file, difference)


def _text(body: bytes) -> str:
    """Return the visible text of a stored page, whose encoding it declares itself."""
    root = parse(decode(body[:_MAX_BYTES], "text/html").utf8)
    return tidy(read_visible(flatten(root)).text)
