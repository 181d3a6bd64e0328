"""What hostile archives cost: memory by the head, reading by the size of the file."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from typing import TYPE_CHECKING

import pytest
import zstandard

from crawler.warc.record_reading import read_records
from tests.crawler.warc.foreign import answer, record

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.warc.record_reading import WholeRecord

ZSTD = zstandard.ZstdCompressor()
MB = 1 << 20
GOOD = [answer(f"/{number}", b"<p>good %d" % number) for number in range(8)]
HEAD = b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/odd\r\n"


class CountedFile(io.BytesIO):
    """A file that counts the bytes that are read of it."""

    counted = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.counted += len(data)
        return data


def read(content: bytes, max_bytes: int = MB) -> tuple[list[WholeRecord], list[str], CountedFile]:
    file, complaints = CountedFile(content), list[str]()
    return list(read_records(file, complaints.append, max_bytes=max_bytes)), complaints, file


def bodies(found: list[WholeRecord]) -> list[bytes | None]:
    return [each.payload for each in found if not each.url.endswith("/odd")]


BOMBS: dict[str, Callable[[], bytes]] = {
    "one line": lambda: HEAD + b"A: " + b"a" * (128 * MB),
    "a version without end": lambda: b"WARC/1.1" + b" " * (128 * MB),
    "many fields": lambda: HEAD + b"A: b\r\n" * (8 * MB),
    "folded lines": lambda: HEAD + b"A: b\r\n" + b" c\r\n" * (8 * MB),
    "blank lines": lambda: answer("/odd", b"<p>") + b"\n" * (16 * MB),
    "a field of HTTP": lambda: answer("/odd", b"<p>", "A: " + "a" * (128 * MB)),
    "one chunk": lambda: answer(
        "/odd", b"7ffffff\r\n" + bytes(128 * MB), "Transfer-Encoding: chunked"
    ),
    "a body": lambda: answer("/odd", bytes(128 * MB)),
}


@pytest.mark.parametrize("pack", [gzip.compress, ZSTD.compress])
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_record_that_unpacks_to_much_costs_little_and_no_other(
    bomb: str, pack: Callable[[bytes], bytes]
) -> None:
    content = pack(BOMBS[bomb]()) + b"".join(map(pack, GOOD))
    tracemalloc.start()
    try:
        found, complaints, file = read(content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert bodies(found) == [b"<p>good %d" % number for number in range(8)]
    assert complaints or any(each.payload is None for each in found)
    assert peak < 96 * MB, "some 16 MB are unpacked at once"
    assert file.counted < 4 * len(content) + 32 * MB


def stored(data: bytes) -> bytes:
    """A block of deflate that is stored as it is."""
    size = len(data)
    return b"\x00" + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little") + data


def spanning(count: int, body_bytes: int) -> bytes:
    """Beginnings of records in one stream of deflate, from each of which the rest can be read."""
    block = gzip.compress(b"", mtime=0)[:10] + stored(HEAD + b"Content-Length: 99999999\r\n\r\n")
    return (block * count) + b"".join(stored(b"x" * 60_000) for _ in range(body_bytes // 60_000))


@pytest.mark.parametrize("size", [MB, 4 * MB])
@pytest.mark.parametrize(
    "piece",
    [
        b"\x1f\x8b\x08",
        gzip.compress(b"")[:10],
        gzip.compress(b"WARC/1.1\r\n" * 9)[:-8],
        gzip.compress(HEAD)[:-8],
        b"\x28\xb5\x2f\xfd",
        ZSTD.compress(HEAD)[:-1],
        b"\nWARC/1.1",
        b"\n" + HEAD + b"Content-Length: 10000000\r\n\r\n",
        b"\n" + HEAD + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n",
    ],
)
def test_repeated_beginnings_are_read_in_proportion_to_the_file(piece: bytes, size: int) -> None:
    content = piece * (size // len(piece))
    _, complaints, file = read(gzip.compress(GOOD[0]) + content)
    assert complaints
    assert file.counted < 16 * size + 64 * MB


def test_members_that_reach_over_each_other_are_read_in_proportion_to_the_file() -> None:
    content = spanning(2_000, 8 * MB)
    first = read(content)[2].counted
    assert first < 6 * len(content) + 64 * MB
    content = spanning(4_000, 8 * MB)
    assert read(content)[2].counted < 1.5 * first + MB


@pytest.mark.parametrize("pack", [bytes, gzip.compress, ZSTD.compress])
def test_false_lengths_cost_no_record_however_many_they_are(
    pack: Callable[[bytes], bytes],
) -> None:
    filler = answer("/long", b"x" * 65_536)
    odd = answer("/odd", b"<p>", Content_Length="99999999999")
    wrong = answer("/odd", b"<p>", Content_Length=str(3 * MB))
    parts = [part for good in GOOD for part in (odd, wrong, filler, *[filler] * 16, good)]
    content = b"".join(map(pack, parts * 8))
    found, complaints, file = read(content, 1 << 10)
    good = [each for each in bodies(found) if each is not None]
    assert good == [b"<p>good %d" % number for number in range(8)] * 8
    assert len(complaints) == 64, "one for both, since nothing lies between them"
    assert file.counted < 4 * len(content) + 64 * MB


def test_a_dictionary_that_unpacks_to_much_is_none() -> None:
    packed = ZSTD.compress(bytes(256 * MB))
    told = b"\x5d\x2a\x4d\x18" + len(packed).to_bytes(4, "little") + packed
    tracemalloc.start()
    try:
        read(told + b"".join(map(ZSTD.compress, GOOD)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 96 * MB


def test_members_within_a_body_that_is_damaged_cost_no_later_record() -> None:
    """A page's body may hold what seems to be an archive; a bit of its record is then changed."""
    body = gzip.compress(HEAD)[:-8] * 4_000
    whole = bytearray(gzip.compress(answer("/odd", body), 0))
    whole[-6] ^= 1
    found, complaints, _ = read(bytes(whole) + b"".join(map(gzip.compress, GOOD)))
    assert bodies(found) == [b"<p>good %d" % number for number in range(8)]
    assert complaints


def test_a_record_as_large_as_a_crawl_writes_is_read() -> None:
    fields = [f"X-{number}: {'a' * 50}" for number in range(4_000)]
    large = record(
        "response",
        ("HTTP/1.1 200 OK\r\n" + "".join(f"{each}\r\n" for each in fields) + "\r\n").encode(),
        WARC_Target_URI=f"http://example.org/{'a' * 100_000}",
    )
    found, complaints, _ = read(large + GOOD[0])
    assert len(found) == 2
    assert not complaints
