from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.documents import package
from crawler.reading.documents.document_text import UnreadableError
from crawler.reading.documents.package import MAX_ENTRIES, MAX_UNPACKED_BYTES, Package
from crawler.reading.reading import NoText
from tests.crawler.reading.documents.made import packed


def why(body: bytes, name: str = "a") -> NoText:
    with pytest.raises(UnreadableError) as caught:
        Package(body).read(name)
    return caught.value.why


def test_an_entry_is_read_and_a_missing_one_is_none() -> None:
    found = Package(packed({"a": "text"}))
    assert found.read("a") == b"text"
    assert found.read("b") is None


def test_a_bomb_is_not_unpacked() -> None:
    body = packed({"a": bytes(MAX_UNPACKED_BYTES + 1)})
    assert len(body) < 100_000
    assert why(body) == NoText.TOO_LARGE


def test_entries_count_together() -> None:
    body = Package(packed({"a": bytes(MAX_UNPACKED_BYTES - 10), "b": bytes(20)}))
    body.read("a")
    with pytest.raises(UnreadableError, match="unpacks to more than 64 MB"):
        body.read("b")


def test_more_entries_than_documents_have_are_refused() -> None:
    assert why(packed({str(number): "" for number in range(MAX_ENTRIES + 1)})) == NoText.TOO_LARGE


def test_a_size_that_is_a_lie_is_no_way_around_the_limit() -> None:
    body = bytearray(packed({"a": bytes(MAX_UNPACKED_BYTES + 1)}))
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = body.index(mark) + place
        body[at : at + 4] = struct.pack("<I", 10)
    with suppress(UnreadableError):
        assert len(Package(bytes(body)).read("a") or b"") <= MAX_UNPACKED_BYTES


def test_an_encrypted_entry_has_a_reason() -> None:
    body = bytearray(packed({"a": "text"}))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        body[body.index(mark) + place] |= 1
    assert why(bytes(body)) == NoText.ENCRYPTED


def test_a_damaged_entry_has_a_reason() -> None:
    body = packed({"a": "text " * 1000})
    at = 30 + len("a") + 4  # behind the header, whose time of day may have any byte
    assert why(body[:at] + b"\xff\xff\xff" + body[at + 3 :]) == NoText.DAMAGED


class TestDamagedProperties:
    @given(st.binary(max_size=400))
    def test_any_bytes_are_opened_or_refused(self, body: bytes) -> None:
        with suppress(UnreadableError):
            Package(b"PK\x03\x04" + body)

    @given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=9))
    def test_any_damage_is_read_or_refused(self, damage: list[tuple[int, int]]) -> None:
        body = bytearray(packed({"a": "text " * 50, "b.xml": "<a><b>c</b></a>"}))
        for place, value in damage:
            body[place % len(body)] = value
        with suppress(UnreadableError):
            opened = package.Package(bytes(body))
            for name in opened.names():
                opened.read(name)
                opened.tree(name)
