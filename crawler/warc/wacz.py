"""Write WACZ 1.1.1: an archive, its indexes and its list of pages as one ZIP file.

https://specs.webrecorder.net/wacz/1.1.1/. WARC files are stored in it uncompressed, so that a
player fetches a record by its offset, also over HTTP.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zipfile
from datetime import UTC, datetime
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

WACZ_VERSION = "1.1.1"
PROFILE = "data-package"

_BLOCK_LINES = 300
_PIECE_BYTES = 1 << 20
_PAGES_HEADER = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": False}


class WaczFile:
    """Writes the parts of a WACZ file one after the other, and their description last."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._zip = file
        self._resources: list[dict[str, str | int]] = []
        self._now = datetime.now(UTC)

    def add(self, path: str, pieces: Iterable[bytes], *, stored: bool = True) -> None:
        """Write a part.

        Args:
            path: Path within the file.
            pieces: Bytes of the part.
            stored: Whether the part is stored uncompressed, so that records keep their offsets.
        """
        digest, count = hashlib.sha256(), 0
        info = zipfile.ZipInfo(path, self._now.timetuple()[:6])
        info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
        with self._zip.open(info, "w", force_zip64=True) as out:
            for piece in pieces:
                out.write(piece)
                digest.update(piece)
                count += len(piece)
        name = path.rpartition("/")[2]
        self._resources.append(
            {"name": name, "path": path, "hash": f"sha256:{digest.hexdigest()}", "bytes": count}
        )

    def end(self, title: str) -> None:
        """Write the description of the parts."""
        package = {
            "profile": PROFILE,
            "title": title,
            "resources": self._resources,
            "wacz_version": WACZ_VERSION,
            "software": "crawl-once",
            "created": self._now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        body = json.dumps(package, indent=2).encode()
        digest = {
            "path": "datapackage.json",
            "hash": f"sha256:{hashlib.sha256(body).hexdigest()}",
        }
        self._zip.writestr("datapackage.json", body, zipfile.ZIP_DEFLATED)
        described = json.dumps(digest, indent=2)
        self._zip.writestr("datapackage-digest.json", described, zipfile.ZIP_DEFLATED)


def write_wacz(path: Path, warcs: Iterable[Path], cdxj: Path, title: str) -> None:
    """Pack WARC files with their index.

    Args:
        path: Path of the new file, which appears when it is whole.
        warcs: The WARC files.
        cdxj: Index of the files.
        title: Title that players show.
    """
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
            wacz = WaczFile(archive)
            for warc in warcs:
                wacz.add(f"archive/{warc.name}", _pieces(warc))
            with cdxj.open("rb") as lines:
                summary = BytesIO()
                wacz.add("indexes/index.cdx.gz", _blocks(lines, summary))
            wacz.add("indexes/index.idx", [summary.getvalue()], stored=False)
            with cdxj.open("rb") as lines:
                wacz.add("pages/pages.jsonl", _pages(lines), stored=False)
            wacz.end(title)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _blocks(lines: Iterable[bytes], summary: BytesIO) -> Iterator[bytes]:
    """Yield the index in gzip members of some lines each; write a summary of their first lines."""
    meta = json.dumps({"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"})
    summary.write(f"!meta 0 {meta}\n".encode())
    rest, offset = iter(lines), 0
    while block := list(islice(rest, _BLOCK_LINES)):
        packed = gzip.compress(b"".join(block), mtime=0)
        where = {
            "offset": offset,
            "length": len(packed),
            "digest": f"sha256:{hashlib.sha256(packed).hexdigest()}",
            "filename": "index.cdx.gz",
        }
        first = block[0].partition(b" {")[0]
        summary.write(first + f" {json.dumps(where)}\n".encode())
        offset += len(packed)
        yield packed


def _pages(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the first capture of each HTML page, in the order of the index."""
    yield json.dumps(_PAGES_HEADER).encode() + b"\n"
    before = None
    for line in lines:
        key, stamp, entry = line.split(b" ", 2)
        capture = json.loads(entry)
        is_page = capture.get("status") == "200" and capture.get("mime") in {
            "text/html",
            "application/xhtml+xml",
        }
        if is_page and key != before:
            before = key
            yield (
                json.dumps({"id": _id(line), "url": capture["url"], "ts": _time(stamp)}).encode()
                + b"\n"
            )


def _id(line: bytes) -> str:
    return hashlib.blake2b(line, digest_size=10).hexdigest()


def _time(stamp: bytes) -> str:
    at = datetime.strptime(stamp.decode("ascii"), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
