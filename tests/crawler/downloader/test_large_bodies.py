"""Which bodies in a coding may go to the disk, told by their first bytes."""

from __future__ import annotations

import gzip
import random
import zlib
from base64 import b64encode
from typing import TYPE_CHECKING

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from crawler.downloader.large_bodies import start_of, telling_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstandard.compress,
    "br": lambda body: bytes(brotli.compress(body, quality=5)),
}
BODIES = {
    "noise": random.Random(1).randbytes(2**21),
    "text": b64encode(random.Random(2).randbytes(2**21)),
    "sparse": bytes(2**27),
}


@pytest.mark.parametrize("is_long", [True, False])
@pytest.mark.parametrize("coding", PACKERS)
@pytest.mark.parametrize("body", BODIES)
def test_first_bytes_of_a_body_in_a_coding_tell_what_it_is(
    body: str, coding: str, is_long: bool
) -> None:
    packed = PACKERS[coding](BODIES[body])
    head = packed[: telling_bytes([coding], is_long=is_long)]
    assert start_of(head, [coding]) == BODIES[body][:2048]
