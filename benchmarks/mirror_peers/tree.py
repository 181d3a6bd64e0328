"""What a mirror put on the disk: files, bytes, texts, and links that lead nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mirror_peers.pages import PAGES, read_page, target_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mirror_peers.sites import Original

STATE = ("hts-cache", ".mirror")
"""Folders with what a mirror needs to go on or to be brought up to date."""


@dataclass(frozen=True)
class Tree:
    """The figures of one mirror. What is hard linked counts once in bytes.

    Attributes:
        files: Without those of its state, as are ``pages`` and ``tree_bytes``.
        tree_bytes: The sizes of files.
        disk_bytes: The blocks that they occupy.
        disk_bytes_with_state: The same with all that is in the folder.
        distinct: How many different texts of the site it has.
        broken: Links to files that are not there, each target once a page.
        online: Links to the network for pages whose text is there, likewise.
    """

    files: int
    pages: int
    tree_bytes: int
    disk_bytes: int
    disk_bytes_with_state: int
    distinct: int
    broken: int
    online: int


def weigh(root: Path, site: Original) -> Tree:
    """Read a whole mirror."""
    everything = [file for file in root.rglob("*") if file.is_file() and not file.is_symlink()]
    files = [file for file in everything if file.relative_to(root).parts[0] not in STATE]
    read = {file: read_page(file) for file in files if file.suffix in PAGES}
    texts = {page.text for page in read.values()} & set(site.texts.values())
    present = set(files)
    broken = online = 0
    for file, page in read.items():
        targets = {target_of(file, link) for link in page.links}
        broken += sum(isinstance(one, Path) and one not in present for one in targets)
        named = {site.file_at(one) for one in targets if isinstance(one, str)}
        online += sum(one is not None and site.texts.get(one) in texts for one in named)
    sizes, blocks = _bytes(files)
    return Tree(
        files=len(files),
        pages=len(read),
        tree_bytes=sizes,
        disk_bytes=blocks,
        disk_bytes_with_state=_bytes(everything)[1],
        distinct=len(texts),
        broken=broken,
        online=online,
    )


def _bytes(files: Iterable[Path]) -> tuple[int, int]:
    by_inode = {status.st_ino: status for status in (file.stat() for file in files)}.values()
    return sum(one.st_size for one in by_inode), 512 * sum(one.st_blocks for one in by_inode)
