"""Mirrors of large files, which go to the disk as they come and go on after a kill."""

from __future__ import annotations

import gzip
import random
import sqlite3
from contextlib import closing, suppress
from functools import cache, partial
from pathlib import Path
from subprocess import CompletedProcess
from typing import TYPE_CHECKING

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard
from warcio.archiveiterator import ArchiveIterator

from crawler.warc.record_writing import payload_digest as warc_digest
from neardup.fingerprints.digest import payload_digest
from tests.crawls.command import killed, start_scrapy
from tests.crawls.mirrored import Mirrored, check
from tests.crawls.test_mirror_cut import QUICK, links, site, start, told
from tests.sites.needing import PIXEL, body
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.sites.exchange import Exchange
    from tests.sites.needing import NeedingSite

pytestmark = pytest.mark.slow

__all__ = ["site"]

BYTES = "application/octet-stream"
LARGE = ("--max-file-bytes", "1GB")
NOTED = 4 * 2**20


@cache
def large_content() -> bytes:
    """Make more than a mirror takes of memory."""
    return random.Random(5).randbytes(NOTED + 2**20) * 50


@cache
def packable() -> bytes:
    """Make as much, in an eighth as many bytes in a coding."""
    return b"".join(random.Random(seed).randbytes(2**12) * 8 for seed in range(2**9)) * 8


MAX_PEAK_MB = 350


class Served:
    """A large file, in ranges; of the first answers only so many bytes come."""

    def __init__(self, content: bytes, etag: str, *ends: int, hangs: bool = False) -> None:
        self._content, self._etag, self._ends, self._hangs = content, etag, list(ends), hangs
        self.firsts: list[int] = []
        """The first byte that each request wanted."""

    def __call__(self, exchange: Exchange) -> None:
        wanted, size = exchange.headers.get("Range"), len(self._content)
        is_same = exchange.headers.get("If-Range") == self._etag
        first = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and is_same else 0
        self.firsts.append(first)
        headers = {"Content-Type": BYTES, "Content-Length": str(size - first), "ETag": self._etag}
        if first:
            headers["Content-Range"] = f"bytes {first}-{size - 1}/{size}"
        exchange.head(206 if first else 200, headers)
        end = self._ends.pop(0) if self._ends else size
        with suppress(OSError):
            exchange.wfile.write(self._content[first:end])
            exchange.wfile.flush()
            if end < size and self._hangs:
                exchange.rfile.read(1)  # until the client is gone
        exchange.hang_up()


def noted_bytes(folder: Path) -> int:
    """How much of a download would be there after a kill."""
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"file:{folder}/.mirror/crawl.db?mode=ro", uri=True)) as database,
    ):
        return int(database.execute("SELECT coalesce(sum(size), 0) FROM downloads").fetchone()[0])
    return 0


def peak_mb(pid: int) -> int:
    """The most memory that a process had, which the system keeps while it runs; then 0."""
    with suppress(OSError), Path(f"/proc/{pid}/status").open() as status:
        found = [int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM")]
        return max(found, default=0)
    return 0


def test_large_file_goes_on_after_a_kill_and_is_never_in_memory(
    site: NeedingSite, tmp_path: Path
) -> None:
    served = Served(large_content(), '"v1"', NOTED, hangs=True)
    site.file("/small/", body("small", links(["/small/big.bin", "/small/moved.bin"])))
    site.added["/small/big.bin"] = served
    site.added["/small/moved.bin"] = Served(large_content(), '"v1"', NOTED, hangs=True)
    folder = tmp_path / "m"
    command = ("mirror", site.at("/small/"), str(folder), *QUICK, *LARGE)
    with killed(*command) as process:
        wait_until(lambda: noted_bytes(folder) >= 2 * NOTED, process)
    site.file("/small/other.bin", PIXEL, "image/png")
    site.added["/small/moved.bin"] = lambda exchange: exchange.answer(
        b"", status=301, headers={"Location": "/small/other.bin"}
    )
    going_on, peaks = start_scrapy(*command), [0]

    def has_ended() -> bool:
        peaks.append(peak_mb(going_on.pid))
        return going_on.poll() is not None

    wait_until(has_ended)
    output, errors = going_on.communicate()
    assert going_on.returncode == 0, output + errors
    assert served.firsts == [0, NOTED - 1]
    assert 0 < max(peaks) < MAX_PEAK_MB
    again = start(site, folder, *LARGE)
    assert again.served[site.at("/small/big.bin")] == payload_digest(large_content())
    assert check(folder).returncode == 0
    path = again.path_of(site.at("/small/big.bin"))
    assert path is not None
    assert payload_digest(again.read(path)) == payload_digest(large_content())
    assert not list((folder / ".mirror" / "downloads").iterdir())


def test_rest_of_a_large_file_that_breaks_off_is_requested_at_once_and_bounded(
    site: NeedingSite, tmp_path: Path
) -> None:
    content = large_content()[:NOTED]
    half, most = len(content) // 2, len(content) - 9
    served = {
        "/small/once.bin": Served(content, '"v1"', half),
        "/small/weak.bin": Served(content, 'W/"v1"', half),
        "/small/often.bin": Served(content, '"v2"', half, half + 5, half + 9),
    }
    site.file("/small/", body("small", links(served)))
    site.added.update(served)
    site.file("/small/", body("small", links([*served, "/small/endless.bin"])))
    site.added["/small/endless.bin"] = sending(content + content, in_chunks=True)
    limited = ("--max-file-bytes", str(len(content)))
    found = start(site, tmp_path / "m", *limited, status=1)
    assert not list((found.folder / ".mirror" / "downloads").iterdir()), "what is too large goes"
    assert served["/small/once.bin"].firsts == [0, half - 1]
    assert served["/small/weak.bin"].firsts == [0, 0]
    assert served["/small/often.bin"].firsts == [0, half - 1, half + 4]
    # What is too large never had a file.
    assert told(found, "failed") == {site.at("/small/often.bin"), site.at("/small/endless.bin")}
    for path in ("/small/once.bin", "/small/weak.bin"):
        assert found.served[site.at(path)] == payload_digest(content)
    part = part_of(found, site, content, half + 9)
    assert "files of which only a part came: 1" in check(found.folder).stdout
    found = start(site, tmp_path / "m", "--max-file-bytes", str(most), status=1)
    assert part_of(found, site, content, half + 9) == part, "with its rest it is too large"
    site.file("/small/endless.bin", PIXEL, "image/png")
    found = start(site, tmp_path / "m", *LARGE)
    assert served["/small/often.bin"].firsts[-1] == half + 8
    assert part_of(found, site, content, len(content)) == part
    assert check(found.folder).returncode == 0


def test_answers_that_are_less_or_other_than_the_rest_cost_no_more_than_themselves(
    site: NeedingSite, tmp_path: Path
) -> None:
    content = large_content()[:NOTED]
    size, half = len(content), len(content) // 2
    asked: dict[str, list[str | None]] = {"/small/portions.bin": [], "/small/other.bin": []}

    def answer(exchange: Exchange, path: str) -> None:
        wanted = exchange.headers.get("Range")
        asked[path].append(wanted)
        first = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        end, told = (min(first + 2**20 + 1, size), size) if "portions" in path else (size, size + 1)
        headers = {"Content-Type": BYTES, "ETag": '"v1"', "Content-Length": f"{end - first}"}
        if wanted:
            headers["Content-Range"] = f"bytes {first}-{end - 1}/{told}"
        else:
            headers["Content-Length"], end = f"{size}", half
        exchange.head(206 if wanted else 200, headers)
        exchange.wfile.write(content[first:end])
        exchange.wfile.flush()
        exchange.hang_up()

    site.file("/small/", body("small", links(asked)))
    for path in asked:
        site.added[path] = partial(answer, path=path)
    found = start(site, tmp_path / "m", *LARGE, "-s", "RETRY_TIMES=1", status=1)
    assert "cannot be written" not in found.done.stderr
    assert asked["/small/portions.bin"] == [None, f"bytes={half - 1}-"]
    found = start(site, tmp_path / "m", *LARGE, status=1)
    assert asked["/small/portions.bin"][2:] == [f"bytes={half + 2**20 - 1}-"]
    assert found.served[site.at("/small/portions.bin")] == payload_digest(content)
    assert told(found, "failed") == {site.at("/small/other.bin")}
    assert not list((found.folder / ".mirror" / "downloads").iterdir())


def test_large_files_in_codings_and_for_an_archive_are_not_in_memory(
    site: NeedingSite, tmp_path: Path
) -> None:
    packed = {
        "/small/gzip.bin": ("gzip", gzip.compress(packable(), 1)),
        "/small/br.bin": ("br", brotli.compress(packable(), quality=0)),
        "/small/zstd.bin": ("zstd", zstandard.compress(packable(), 1)),
        "/small/plain.bin": ("none", packable()),
    }
    site.file("/small/", body("small", links([*packed, "/small/cut.bin", "/small/no.bin"])))
    for path, (name, content) in packed.items():
        site.added[path] = coded(name, content)
    whole = gzip.compress(large_content()[:NOTED])
    site.added["/small/cut.bin"] = coded("gzip", whole[: len(whole) // 2])
    site.added["/small/no.bin"] = coded("gzip", whole[:2] + bytes(2 * 2**20))
    folder = tmp_path / "m"
    limits = (*QUICK, *LARGE, "--warc", "-s", "RETRY_TIMES=0")
    going_on, peaks = start_scrapy("mirror", site.at("/small/"), str(folder), *limits), [0]

    def has_ended() -> bool:
        peaks.append(peak_mb(going_on.pid))
        return going_on.poll() is not None

    wait_until(has_ended)
    output, errors = going_on.communicate()
    assert going_on.returncode == 1, output + errors
    assert 0 < max(peaks) < MAX_PEAK_MB
    found = Mirrored(folder, CompletedProcess(going_on.args, 1, output, errors))
    for path in packed:
        assert found.served[site.at(path)] == payload_digest(packable()), path
    part = found.path_of(site.at("/small/cut.bin"))
    assert part is not None
    assert large_content().startswith(found.read(part)), "what could be had of it"
    assert told(found, "failed") == {site.at("/small/cut.bin"), site.at("/small/no.bin")}
    assert not list((folder / ".mirror" / "downloads").iterdir())
    recorded = dict(answers(folder))
    for path, (_, content) in packed.items():
        assert recorded[site.at(path)] == warc_digest(content), path


def coded(name: str, content: bytes) -> Callable[[Exchange], None]:
    headers = {"Content-Type": BYTES, "ETag": '"v1"', "Content-Encoding": name}
    return lambda exchange: exchange.answer(content, BYTES, headers=headers)


def answers(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield URL and digest of the body as it is in the archive, and as its record says."""
    for path in folder.rglob("*.warc.gz"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                field = record.rec_headers.get_header
                if record.rec_type == "response":
                    digest = warc_digest(record.raw_stream.read())
                    assert digest == field("WARC-Payload-Digest")
                    yield field("WARC-Target-URI"), digest


def test_file_that_takes_too_long_is_kept_as_a_part_and_continued(
    site: NeedingSite, tmp_path: Path
) -> None:
    half = NOTED // 2
    large = Served(large_content()[:NOTED], '"v1"', half, hangs=True)
    small = Served(large_content()[:2000], 'W/"v1"', 1000, hangs=True)
    served = {"/small/often.bin": large, "/small/page.bin": small}
    site.file("/small/", body("small", links(served)))
    site.added.update(served)
    limits = ("-s", "DOWNLOAD_TIMEOUT=5", "-s", "RETRY_TIMES=0")
    found = start(site, tmp_path / "m", *LARGE, *limits, status=1)
    part_of(found, site, large_content(), half)
    assert "2 files are only parts of what the site has" in found.done.stdout
    assert told(found, "failed") == {site.at(path) for path in served}
    checked = check(found.folder)
    assert "files of which only a part came: 2" in checked.stdout
    assert checked.returncode == 1
    found = start(site, tmp_path / "m", *LARGE)
    assert large.firsts == [0, half - 1]
    for path, size in (("/small/often.bin", NOTED), ("/small/page.bin", 2000)):
        assert found.served[site.at(path)] == payload_digest(large_content()[:size])
    assert check(found.folder).returncode == 0


def part_of(found: Mirrored, site: NeedingSite, content: bytes, size: int) -> str:
    """Expect so many bytes of a file, and return its path."""
    path = found.path_of(site.at("/small/often.bin"))
    assert path is not None
    assert found.read(path) == content[:size]
    return path


def test_limit_of_bytes_is_exceeded_by_one_answer_at_most(
    site: NeedingSite, tmp_path: Path
) -> None:
    """All files are under way at the same time, and one in two does not announce its length."""
    size, limit = 2**20, 5 * 2**19
    paths = [f"/small/{number}.bin" for number in range(12)]
    site.file("/small/", body("small", links(paths)))
    for number, path in enumerate(paths):
        site.added[path] = sending(path.encode() * (size // len(path)), in_chunks=number % 2 == 0)
    found = start(site, tmp_path / "m", "--max-bytes", str(limit))
    assert "stopped: the limit of --max-bytes, 2.6 MB, is reached" in found.done.stdout
    sizes = [(found.folder / path).stat().st_size for path in found.files if ".bin" in path]
    assert limit - size < sum(sizes) < limit + size
    found = start(site, tmp_path / "m")
    assert len([path for path in found.files if path.endswith(".bin")]) == len(paths)
    assert check(found.folder).returncode == 0


def sending(content: bytes, *, in_chunks: bool) -> Callable[[Exchange], None]:
    def send(exchange: Exchange) -> None:
        how = {"Transfer-Encoding": "chunked"}
        exchange.head(200, how if in_chunks else {"Content-Length": str(len(content))})
        with suppress(OSError):
            for at in range(0, len(content), 2**14):
                piece = content[at : at + 2**14]
                exchange.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if in_chunks else piece)
            exchange.wfile.write(b"0\r\n\r\n" if in_chunks else b"")
        exchange.hang_up()

    return send
