"""Pack a mirror in one file, for ``crawl-once mirror --format`` and ``--pack``."""

from __future__ import annotations

from contextlib import closing, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from rich.filesize import decimal

from crawler.console.command_line import CommandError
from crawler.console.escaping import say_or_go_on
from crawler.console.progress_line import ProgressLine
from crawler.mirror.folder import MirrorFolder
from crawler.mirror.packing import Packer, remove_unfinished
from crawler.mirror.paths import STATE_FOLDER
from crawler.storage import meta_names
from crawler.storage.database import meta_of, open_for_reading
from crawler.storage.directory import lock_held
from crawler.suggestions import did_you_mean
from neardup.installing import install_command
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ZIP, ZIM, WACZ = "zip", "zim", "wacz"


def formats_of(written: str, known: Sequence[str], option: str) -> list[str]:
    """Return the formats that an option names, separated by commas.

    Raises:
        CommandError: One is unknown, or what it needs is not installed.
    """
    names = [name.strip().lower() for name in written.split(",")]
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            among = f"{', '.join(known[:-1])} or {known[-1]}"
            raise CommandError(f"{option} must be {among}, got {name!r}{hint}")
    if ZIM in names and find_spec("libzim") is None:
        raise CommandError(f"{option} zim needs libzim: {install_command('zim')}")
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


def pack(folder: Path, formats: Sequence[str]) -> None:
    """Write a mirror to a file of each format, beside its folder.

    Args:
        folder: Folder of the mirror.
        formats: ``zip`` and ``zim``.

    Raises:
        MirrorError: A file of the mirror is missing, or the packed file cannot be written.
        JobError: The database of the mirror cannot be read, or the mirror is being written.
    """
    folder = folder.resolve()
    with (
        lock_held(folder / STATE_FOLDER),
        closing(open_for_reading(folder / STATE_FOLDER)) as connection,
        MirrorFolder(folder, read_only=True) as files,
    ):
        clear_unfinished(folder)
        for name in formats:
            target = packed_name(folder, name)
            with ProgressLine(f"packing {target.name}") as steps:
                packer = Packer(files, connection, steps.show)
                if name == ZIP:
                    count = packer.write_zip(target)
                else:
                    url = meta_of(connection.execute, meta_names.MIRROR_URL)
                    count = packer.write_zim(target, url or folder.name)
            size = decimal(target.stat().st_size)
            say_or_go_on(f"packed: {target}, {many(count, 'file')}, {size}")
