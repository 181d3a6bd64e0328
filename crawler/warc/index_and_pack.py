"""Index and pack the WARC files of a folder after the last write."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.warc import cdxj
from crawler.warc.archive import lock
from crawler.warc.errors import ArchiveError
from crawler.warc.sources import find_sources
from crawler.warc.wacz import write_wacz
from crawler.warc.warc_files import mend

if TYPE_CHECKING:
    from pathlib import Path


class Finished(NamedTuple):
    """The files that were made, and the number of captures in them."""

    cdxj: Path
    wacz: Path | None
    captures: int


def finish(folder: Path, wacz: bool = False, *, title: str | None = None) -> Finished:
    """Mend and index the files of a folder, and pack them if wanted. Can be repeated.

    Args:
        folder: Folder with the WARC files.
        wacz: Whether to pack them in the folder, as ``NAME.wacz`` after its name.
        title: Title that players show; by default the name of the folder.

    Raises:
        ArchiveInUseError: A process still writes to it.
        ArchiveError: There are no WARC files in it, or it cannot be written to.
    """
    if not folder.is_dir():
        raise ArchiveError(f"{folder}: no such directory")
    taken = lock(folder)
    try:
        mend(folder)
        sources = find_sources(str(folder))
        index = folder / cdxj.FILE_NAME
        captures = cdxj.write_cdxj(sources, index)
        name = folder.resolve().name
        packed = folder / f"{name}.wacz" if wacz else None
        if packed is not None:
            write_wacz(packed, [source.path for source in sources], index, title or name)
    except OSError as error:
        raise ArchiveError(f"{folder}: cannot be written: {error.strerror}") from error
    finally:
        taken.release()
    return Finished(index, packed, captures)
