"""Pack an archive as one WACZ 1.1.1 file (https://specs.webrecorder.net/wacz/1.1.1/).

Archive, indexes and lists of pages are in one ZIP file. WARC files are stored in it uncompressed,
so that a player fetches a record by its offset, also over HTTP.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import zipfile
import zlib
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from io import BytesIO
from itertools import islice
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO

from neardup.files.durable import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_BLOCK_LINES = 300
_GZIP = zlib.MAX_WBITS + 16
_PIECE_BYTES = 1 << 20

STAMP = "%Y%m%d%H%M%S"
"""The format of the times in an index."""


class WaczFile:
    """Writes the parts of a WACZ file one after the other, and their description last."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._zip = file
        self._resources: list[dict[str, str | int]] = []
        self._now = datetime.now(UTC)

    def add(self, path: str, part: BinaryIO, *, stored: bool = True) -> None:
        """Write a part.

        A part below 2 GiB has no zip64 field in its own header: the directory at the end has none
        then, by which ReplayWeb.page takes it that the part's header has none either.

        Args:
            path: Path within the file.
            part: File with the bytes of the part, from its beginning.
            stored: Whether the part is stored uncompressed, so that records keep their offsets.
        """
        digest, count = hashlib.sha256(), part.seek(0, os.SEEK_END)
        part.seek(0)
        info = zipfile.ZipInfo(path, self._now.timetuple()[:6])
        info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
        with self._zip.open(info, "w", force_zip64=count > zipfile.ZIP64_LIMIT) as out:
            while piece := part.read(_PIECE_BYTES):
                out.write(piece)
                digest.update(piece)
        name = path.rpartition("/")[2].lower()  # a rule of data packages
        self._resources.append(
            {"name": name, "path": path, "hash": f"sha256:{digest.hexdigest()}", "bytes": count}
        )

    def end(self, title: str) -> None:
        package = {
            "profile": "data-package",
            "title": title,
            "resources": self._resources,
            "wacz_version": "1.1.1",
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


def write_wacz(
    path: Path,
    warcs: Iterable[Path],
    cdxj: Path,
    title: str,
    kept: Iterable[dict[str, Any]] | None = None,
) -> None:
    """Pack WARC files with their index.

    Args:
        path: Path of the new file, which appears when it is whole.
        warcs: The WARC files.
        cdxj: Index of the files.
        title: Title that players show.
        kept: Kept pages of the crawl, as ``export_pages`` yields them, if it is known.
    """
    folder = path.parent
    with replacing(path, f"{path.name}.new") as file:
        with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
            wacz = WaczFile(archive)
            for warc in warcs:
                with warc.open("rb") as part:
                    wacz.add(f"archive/{warc.name}", part)
            summary = BytesIO()
            with cdxj.open("rb") as lines, written(_blocks(lines, summary), folder) as part:
                wacz.add("indexes/index.cdx.gz", part)
            wacz.add("indexes/index.idx", summary, stored=False)
            with cdxj.open("rb") as lines, closing(PageLists(lines, kept)) as lists:
                with written(lists.pages(), folder) as part:
                    wacz.add(PAGES, part, stored=False)
                if kept is not None:
                    with written(lists.others(), folder) as part:
                        wacz.add(OTHERS, part, stored=False)
            wacz.end(title)
        file.flush()
        os.fsync(file.fileno())


def _blocks(lines: Iterable[bytes], summary: BytesIO) -> Iterator[bytes]:
    """Yield the index in gzip members of some lines each; write a summary of their first lines.

    Both are byte for byte what cdxj-indexer makes, with which the other makers of WACZ files write.
    """
    meta = json.dumps({"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"})
    summary.write(f"!meta 0 {meta}\n".encode())
    rest, offset = iter(lines), 0
    while block := list(islice(rest, _BLOCK_LINES)):
        compressor = zlib.compressobj(wbits=_GZIP)
        packed = compressor.compress(b"".join(block)) + compressor.flush()
        where = {
            "offset": offset,
            "length": len(packed),
            "digest": f"sha256:{hashlib.sha256(packed).hexdigest()}",
        }
        first = block[0].partition(b" {")[0]
        summary.write(first + f" {json.dumps(where)}\n".encode())
        offset += len(packed)
        yield packed


@contextmanager
def written(pieces: Iterable[bytes], folder: Path) -> Iterator[BinaryIO]:
    """Return pieces as a file without a name, on the disk of a folder, that is gone at the end."""
    with TemporaryFile(dir=folder) as file:
        file.writelines(pieces)
        file.seek(0)
        yield file


PAGES = "pages/pages.jsonl"
OTHERS = "pages/otherPages.jsonl"

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_REVISIT = "warc/revisit"

_TABLE = """
CREATE TABLE captures (
    url     TEXT PRIMARY KEY,
    stamp   TEXT NOT NULL,      -- of the newest capture
    is_html INTEGER NOT NULL,   -- 1: one of them is an HTML page
    is_kept INTEGER NOT NULL    -- 1: it is in the list of kept pages
) WITHOUT ROWID;
"""
_ADD = """
INSERT INTO captures VALUES (?, ?, ?, 0) ON CONFLICT (url) DO UPDATE
SET stamp = max(stamp, excluded.stamp), is_html = max(is_html, excluded.is_html)
"""


class PageLists:
    """The two lists of an archive.

    Its captures are in a temporary database on disk, so memory does not grow with the archive.

    Args:
        lines: Lines of the CDXJ index.
        kept: Kept pages of the crawl, as ``export_pages`` yields them; None: the crawl is not
            known, and every HTML page is in the first list.
    """

    def __init__(self, lines: Iterable[bytes], kept: Iterable[dict[str, Any]] | None) -> None:
        self._kept = kept
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(f"{_TABLE} BEGIN;")
        self._database.executemany(_ADD, _captures(lines))

    def close(self) -> None:
        self._database.close()

    def pages(self) -> Iterator[bytes]:
        """Yield the lines of ``pages.jsonl``; read it before the other list."""
        yield _line(
            {
                "format": "json-pages-1.0",
                "id": "pages",
                "title": "All Pages" if self._kept is None else "Kept Pages",
                "hasText": self._kept is not None,
            }
        )
        if self._kept is None:
            yield from self._rest()
            return
        find, mark = (
            "SELECT stamp FROM captures WHERE url = ?",
            "UPDATE captures SET is_kept = 1 WHERE url = ?",
        )
        for page in self._kept:
            url = page["url"].partition("#")[0]
            row = self._database.execute(find, (url,)).fetchone()
            if row is not None:  # it is recorded
                self._database.execute(mark, (url,))
                yield _page(url, row[0], page["title"], page["text"])

    def others(self) -> Iterator[bytes]:
        """Yield the lines of the list of all other HTML pages, such as near-duplicates."""
        yield _line({"format": "json-pages-1.0", "id": "other-pages", "title": "Other Pages"})
        yield from self._rest()

    def _rest(self) -> Iterator[bytes]:
        sql = "SELECT url, stamp FROM captures WHERE is_html AND NOT is_kept ORDER BY url"
        for url, stamp in self._database.execute(sql):
            yield _page(url, stamp, None, None)


def _captures(lines: Iterable[bytes]) -> Iterator[tuple[str, str, bool]]:
    for line in lines:
        _, stamp, entry = line.split(b" ", 2)
        capture = json.loads(entry)
        # The record of an answer "not modified" has no status.
        if capture.get("status", "200") == "200":
            mime = capture.get("mime")
            if mime in _HTML or mime == _REVISIT:
                yield capture["url"], stamp.decode("ascii"), mime in _HTML


def _page(url: str, stamp: str, title: str | None, text: str | None) -> bytes:
    at = datetime.strptime(stamp, STAMP).replace(tzinfo=UTC)
    named = {
        "id": hashlib.blake2b(f"{url} {stamp}".encode(), digest_size=10).hexdigest(),
        "url": url,
        "ts": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "title": title,
        "text": text,
    }
    return _line({name: value for name, value in named.items() if value})


def _line(told: dict[str, Any]) -> bytes:
    return json.dumps(told).encode() + b"\n"
