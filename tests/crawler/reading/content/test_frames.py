"""Frames of zstd that may be damaged."""

from __future__ import annotations

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.content.content_xml import (
    MAX_BYTES,
    ContentError,
    compress,
    decompress,
    pack_lines,
    unpack_content,
)
from tests.sites.prose import prose


class TestFrameProperties:
    @given(st.binary(max_size=2000))
    def test_what_is_compressed_comes_back(self, data: bytes) -> None:
        assert decompress(compress(data)) == data


@pytest.mark.parametrize("words", [5, 300])
def test_a_flipped_bit_gives_no_other_content(words: int) -> None:
    packed = pack_lines(prose("a page", words))
    body = zstandard.decompress(packed)
    for place in range(len(packed) * 8):
        flipped = bytearray(packed)
        flipped[place // 8] ^= 1 << place % 8
        try:
            unpack_content(bytes(flipped))
        except ContentError:
            continue
        # Of a few bits of the head nothing depends.
        assert decompress(bytes(flipped)) == body


@pytest.mark.parametrize("size", [MAX_BYTES + 1, (1 << 63) - 1])
def test_a_frame_that_says_that_it_is_huge_takes_no_memory(size: int) -> None:
    packed = b"\x28\xb5\x2f\xfd\xe0" + size.to_bytes(8, "little") + b"\x01\x00\x00"
    with pytest.raises(zstandard.ZstdError, match="at most 1,073,741,824 bytes expected"):
        decompress(packed)
