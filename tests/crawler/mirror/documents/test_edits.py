from __future__ import annotations

import time

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from crawler.mirror.documents.places import Edit, PatchError, apply_edits, undo


def _edits(places: list[int], replacements: list[bytes]) -> list[Edit]:
    ends = sorted(places)
    pairs = zip(ends[0::2], ends[1::2], strict=False)
    return [Edit(start, end, new) for (start, end), new in zip(pairs, replacements, strict=False)]


class TestEditsProperties:
    @given(st.data(), st.binary(max_size=300))
    def test_undo_gives_back_what_was_edited(self, data: st.DataObject, body: bytes) -> None:
        places = data.draw(st.lists(st.integers(0, len(body)), max_size=12, unique=True))
        new = data.draw(st.lists(st.binary(max_size=200), min_size=6, max_size=6))
        edits = _edits(places, new)
        rewritten = apply_edits(body, data.draw(st.permutations(edits)))
        assert undo(rewritten.body, rewritten.patch) == body
        expected = bytearray(body)
        for start, end, replacement in reversed(edits):
            expected[start:end] = replacement
        assert rewritten.body == bytes(expected)
        assert (rewritten.patch == b"") == (rewritten.body == body and not _changes(body, edits))

    @given(st.binary(max_size=100), st.binary(max_size=100))
    def test_what_is_no_patch_is_refused(self, body: bytes, patch: bytes) -> None:
        if patch:
            with pytest.raises(PatchError):
                undo(body, patch)


def _changes(body: bytes, edits: list[Edit]) -> bool:
    return any(body[start:end] != new for start, end, new in edits)


def test_edits_that_change_nothing_leave_no_patch() -> None:
    assert apply_edits(b"abc", [Edit(1, 2, b"b")]) == (b"abc", b"")


def test_a_patch_that_says_it_holds_more_than_there_is_memory_is_refused() -> None:
    patch = bytearray(zstandard.ZstdCompressor().compress(bytes(300)))
    assert patch[4] >> 6 == 1  # the size of the content takes two bytes
    claimed = bytes(patch[:4]) + b"\xe0" + (2**60).to_bytes(8, "little") + bytes(patch[7:])
    with pytest.raises(PatchError, match="damaged"):
        undo(b"abc", claimed)


def test_a_number_without_an_end_is_refused_in_linear_time() -> None:
    patch = zstandard.ZstdCompressor().compress(b"\xff" * 2_000_000)
    started = time.process_time()
    with pytest.raises(PatchError):
        undo(b"abc", patch)
    assert time.process_time() - started < 5


def test_a_patch_of_another_body_is_refused() -> None:
    patch = apply_edits(b"a" * 100, [Edit(90, 91, b"b")]).patch
    with pytest.raises(PatchError, match="beyond the 3 bytes"):
        undo(b"abc", patch)
