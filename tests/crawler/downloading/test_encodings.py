from __future__ import annotations

import gzip
import random
import struct
import zlib
from contextlib import suppress
from itertools import pairwise

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from crawler.downloading.encodings import (
    AnswerError,
    DamagedBodyError,
    Opened,
    Opening,
    TooLargeError,
    codings,
    open_body,
)

PAGE = b"<!DOCTYPE html><title>Page</title>" + bytes(range(32, 127)) * 90
ROOM = 2**20
PACKERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda body: brotli.compress(body, quality=3),
    "zstd": zstandard.compress,
}
BOTTOMLESS = bytes(64 * ROOM)
NOISE = random.Random(1).randbytes(2**16)
UNPACKED = [
    b"noise",
    PAGE,
    b"<!DOCTYPE html><p>Gr\xfc\xdfe",
    "<p>\u043f\u0440\u0438\u0432\u0435\u0442".encode("cp1251"),
    "plain text, h\u00e4ufig ".encode("latin-1") * 30,
    b"; a line of an INI file\n",
    b"x^ begins as a stream does",
    b'{"a": 1}',
    "<p>wide".encode("utf-16"),
    b"<html>" + bytes(range(32, 127)) * 9_000,
    b"%PDF-1.7\n\xff\xfe\0\1",
    b"\x89PNG\r\n\x1a\n\0\0",
]


@pytest.mark.parametrize(
    ("headers", "names"),
    [
        (["gzip"], ["gzip"]),
        (["GZIP ", " deflate"], ["gzip", "deflate"]),
        (["gzip, br"], ["gzip", "br"]),
        (["identity, utf-8,,none"], []),
        (["ISO-8859-1", "br, x-unheard-of"], ["br", "x-unheard-of"]),
        ([], []),
    ],
)
def test_codings_are_what_the_header_names_and_no_character_encodings(
    headers: list[str], names: list[str]
) -> None:
    assert codings(headers) == names


@pytest.mark.parametrize("coding", PACKERS)
class TestEveryCoding:
    def test_is_opened(self, coding: str) -> None:
        assert open_body(PACKERS[coding](PAGE), [coding], len(PAGE)) == Opened(PAGE)

    def test_one_byte_too_many_is_too_large(self, coding: str) -> None:
        with pytest.raises(TooLargeError, match="when decompressed"):
            open_body(PACKERS[coding](PAGE), [coding], len(PAGE) - 1)

    def test_bomb_is_too_large(self, coding: str) -> None:
        with pytest.raises(TooLargeError):
            open_body(PACKERS[coding](BOTTOMLESS), [coding], ROOM)

    def test_bomb_within_another_coding_is_too_large(self, coding: str) -> None:
        packed = gzip.compress(PACKERS[coding](BOTTOMLESS))
        with pytest.raises(TooLargeError):
            open_body(packed, [coding, "gzip"], ROOM)

    def test_bomb_comes_in_pieces_up_to_its_bound(self, coding: str) -> None:
        sizes: list[int] = []
        pieces = Opening([coding], 32 * ROOM).pieces([PACKERS[coding](BOTTOMLESS)])
        with pytest.raises(TooLargeError):
            sizes.extend(map(len, pieces))
        assert sum(sizes) == 32 * ROOM
        assert max(sizes) <= 17 * ROOM

    def test_nothing_stays_nothing(self, coding: str) -> None:
        assert open_body(b"", [coding], ROOM) == Opened(b"")

    @pytest.mark.parametrize("body", UNPACKED)
    def test_a_body_without_it_is_as_it_came(self, coding: str, body: bytes) -> None:
        for layers in ([coding], ["gzip", coding], [coding, coding]):
            assert open_body(body, layers, ROOM) == Opened(body, is_as_it_came=True)

    def test_a_body_that_has_it_once_is_opened_once(self, coding: str) -> None:
        opened = open_body(PACKERS[coding](PAGE), [coding, coding], ROOM)
        assert opened == Opened(PAGE, is_as_it_came=True)

    @pytest.mark.parametrize("kept", [3, 9, 60, 200, 3_000])
    def test_a_stream_that_breaks_off_is_not_taken_for_a_body(self, coding: str, kept: int) -> None:
        try:
            opened = open_body(PACKERS[coding](NOISE)[:kept], [coding], ROOM)
        except DamagedBodyError as error:
            opened = Opened(b"", is_cut="breaks off" in str(error))
        assert opened.is_cut
        assert NOISE.startswith(opened.body)

    def test_noise_is_damaged_or_as_it_came(self, coding: str) -> None:
        if coding in {"deflate", "br"}:
            with pytest.raises(DamagedBodyError, match=f"damaged {coding}: "):
                open_body(b"\xff\0" + NOISE, [coding], ROOM)
        else:
            noise = b"\xff\0" + NOISE
            assert open_body(noise, [coding], ROOM) == Opened(noise, is_as_it_came=True)


def test_deflate_without_its_header_is_opened() -> None:
    assert open_body(zlib.compress(PAGE)[2:-4], ["deflate"], ROOM) == Opened(PAGE)


def test_members_one_after_the_other_are_opened() -> None:
    packed = b"".join(gzip.compress(PAGE[a:b]) for a, b in pairwise((0, 9, 9, 300, len(PAGE))))
    assert open_body(packed, ["gzip"], ROOM) == Opened(PAGE)
    frames = zstandard.compress(PAGE[:50]) + zstandard.compress(PAGE[50:])
    assert open_body(frames, ["zstd"], ROOM) == Opened(PAGE)


@pytest.mark.parametrize("coding", PACKERS)
@pytest.mark.parametrize("after", [bytes(512), b"<!-- 0.2 s -->", b"\x1f", b"\n", bytes(2**15)])
@pytest.mark.parametrize("page", [PAGE, bytes(range(256)) * 900, NOISE[: 2**15 + 100]])
def test_what_follows_the_end_is_left(page: bytes, after: bytes, coding: str) -> None:
    assert open_body(PACKERS[coding](page) + after, [coding], ROOM) == Opened(page)


@pytest.mark.parametrize("kept", [2**14 + 9, 2**15 + 9])
def test_damaged_brotli_gives_what_stands_before_the_damage(kept: int) -> None:
    opened = open_body(PACKERS["br"](NOISE)[:kept] + b"\xff" * 99, ["br"], ROOM)
    assert opened.is_cut
    assert NOISE.startswith(opened.body[: kept - 100])
    assert len(opened.body) > kept - 100


@pytest.mark.parametrize("after", [b"", b"and more"])
def test_brotli_of_many_steps_is_opened_to_its_end(after: bytes) -> None:
    body = b"".join(bytes([number]) * (ROOM // 2 + 7) for number in range(30)) + NOISE
    assert open_body(PACKERS["br"](body) + after, ["br"], 2 * len(body)) == Opened(body)


def test_bomb_followed_by_something_is_too_large() -> None:
    with pytest.raises(TooLargeError):
        open_body(PACKERS["br"](BOTTOMLESS[: ROOM + 1]) + b"x", ["br"], ROOM)


def test_too_many_members_are_an_attack() -> None:
    with pytest.raises(DamagedBodyError, match="parts"):
        open_body(gzip.compress(b"") * 100_000, ["gzip"], ROOM)


_SKIPPED = [struct.pack("<II", 0x184D2A50 + n, n) + bytes(n) for n in (0, 4, 15)]


@pytest.mark.parametrize("before", [b"", _SKIPPED[0], _SKIPPED[1] + _SKIPPED[2]])
def test_frames_of_zstd_that_are_skipped_end_no_body(before: bytes) -> None:
    """As pzstd writes them, before each frame of data, and others at the end."""
    frames = [before + zstandard.compress(piece) for piece in (PAGE[:100], PAGE[100:])]
    assert open_body(b"".join(frames) + _SKIPPED[1], ["zstd"], ROOM) == Opened(PAGE)
    assert open_body(b"".join(frames) + _SKIPPED[1][:-1], ["zstd"], ROOM) == Opened(PAGE, True)
    assert open_body(b"".join(frames) + _SKIPPED[1] + b"x", ["zstd"], ROOM) == Opened(PAGE)


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_large_file_in_many_parts_is_opened(coding: str) -> None:
    """As bgzip writes a gzip file, and pzstd one of zstd."""
    part = NOISE[:5_000]
    found = open_body(PACKERS[coding](part) * 2_500, [coding], len(part) * 2_500)
    assert found == Opened(part * 2_500)


def test_too_many_layers_are_an_attack() -> None:
    with pytest.raises(DamagedBodyError, match="compressed 5 times"):
        open_body(gzip.compress(PAGE), ["gzip"] * 5, ROOM)


@pytest.mark.parametrize("layers", [["compress"], ["gzip", "x-unheard-of"]])
def test_what_is_in_an_unknown_coding_is_not_taken_as_it_came(layers: list[str]) -> None:
    with pytest.raises(DamagedBodyError, match="in a Content-Encoding that is not known: "):
        open_body(NOISE, layers, ROOM)


def test_text_whose_bytes_are_changed_one_by_one_is_not_taken_as_it_came() -> None:
    body = bytes(byte ^ 0xA5 for byte in b"<!DOCTYPE html>" + b"a word, and one more.\n" * 30)
    with pytest.raises(DamagedBodyError, match="not known"):
        open_body(body, ["x-unheard-of"], ROOM)


@pytest.mark.parametrize("charset", ["cp1251", "koi8-r", "gb18030", "shift_jis", "euc-kr", "utf-8"])
@pytest.mark.parametrize("coding", ["br", "x-unheard-of"])
def test_text_in_any_charset_is_taken_as_it_came(charset: str, coding: str) -> None:
    words = {"gb18030": "\u6c34\u6d41", "shift_jis": "\u6c34\u306f", "euc-kr": "\ubb3c"}
    body = f'{{"1":"{words.get(charset, chr(0x43C) + chr(0x438)) * 300}"}}'.encode(charset)
    opened = open_body(body, [coding], ROOM)
    assert opened == Opened(body, is_as_it_came=coding == "br")


@pytest.mark.parametrize("start", [b"<!DOCTYPE html>", b"\xef\xbb\xbf \n<p>", b"<?xml?>"])
def test_a_page_that_names_what_is_no_coding_is_taken_as_it_came(start: bytes) -> None:
    assert open_body(start + PAGE, ["text/html"], ROOM) == Opened(start + PAGE)


def test_layers_are_undone_from_the_last() -> None:
    packed = brotli.compress(gzip.compress(zlib.compress(PAGE)))
    assert open_body(packed, ["deflate", "gzip", "br"], ROOM) == Opened(PAGE)


def test_zstd_with_a_window_larger_than_browsers_give_is_refused() -> None:
    wide = zstandard.ZstdCompressionParameters(window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    with pytest.raises(DamagedBodyError, match="zstd"):
        open_body(packer.compress(PAGE) + packer.flush(), ["zstd"], ROOM)


class TestGzipProperties:
    packed = gzip.compress(PAGE)

    @given(st.integers(2, len(packed) - 1))
    def test_cut_anywhere_it_gives_a_beginning_and_says_so(self, kept: int) -> None:
        try:
            opened = open_body(self.packed[:kept], ["gzip"], ROOM)
        except DamagedBodyError:
            return
        assert PAGE.startswith(opened.body)
        assert opened.is_cut or opened.is_as_it_came or opened.body == PAGE

    @given(st.integers(0, len(packed) - 1), st.integers(1, 255))
    def test_a_changed_byte_takes_nothing_before_it(self, place: int, mask: int) -> None:
        changed = bytearray(self.packed)
        changed[place] ^= mask
        try:
            opened = open_body(bytes(changed), ["gzip"], ROOM)
        except AnswerError:
            return
        assert opened.is_cut or opened.is_as_it_came or opened.body == PAGE

    @given(st.binary(max_size=3000), st.lists(st.sampled_from(sorted(PACKERS)), max_size=4))
    def test_what_was_packed_is_opened(self, body: bytes, layers: list[str]) -> None:
        packed = body
        for coding in layers:
            packed = PACKERS[coding](packed)
        assert open_body(packed, layers, ROOM).body == body

    @given(st.binary(max_size=300), st.lists(st.sampled_from(sorted(PACKERS)), max_size=4))
    def test_any_bytes_are_opened_or_refused(self, body: bytes, layers: list[str]) -> None:
        with suppress(AnswerError):
            assert len(open_body(body, layers, ROOM).body) <= ROOM
