"""What is shown of a page, packed beside the text that a fleet keeps of it."""

from __future__ import annotations

import random

import zstandard
from hypothesis import given
from hypothesis import strategies as st

from crawler.fleet.deduplication import MAX_BESIDE_BYTES, pack_beside, unpack_beside
from crawler.reading.content.content_xml import pack_lines
from neardup.whole import with_whole
from tests.sites.prose import prose

TEXTS = st.text(st.characters(codec=None), min_size=1)


class TestRoundTripProperties:
    @given(TEXTS, TEXTS)
    def test_a_content_comes_back_whatever_the_text_is(self, shown: str, text: str) -> None:
        content = pack_lines(shown.encode("utf-8", "replace").decode())
        assert unpack_beside(pack_beside(content, text), text) == content


def test_words_that_stand_in_the_text_cost_little() -> None:
    lines = [prose(f"line {number}", 60) for number in range(10)]
    content = pack_lines("\n".join(lines))
    packed = pack_beside(content, with_whole("\n".join(lines), "Menu."))
    assert len(packed) * 5 < len(content)


def test_another_wording_of_the_text_gives_nothing() -> None:
    text = prose("a text", 300)
    packed = pack_beside(pack_lines(text), text)
    assert unpack_beside(packed, text.upper()) is None
    assert unpack_beside(packed[:-9], text) is None
    assert unpack_beside(None, text) is None


def test_what_is_too_large_or_damaged_is_left_out() -> None:
    noise = random.Random(1)
    large = pack_lines(
        "".join(chr(noise.randrange(0x4E00, 0x9FFF)) for _ in range(MAX_BESIDE_BYTES))
    )
    assert pack_beside(large, "a text") == b""
    assert pack_beside(zstandard.compress(b"<body/>" + b" " * (1 << 23)), "a text") == b""
    assert pack_beside(b"", "a text") == pack_beside(b"\x28\xb5\x2f\xfd", "a text") == b""
