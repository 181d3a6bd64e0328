from __future__ import annotations

import time

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from crawler.mirror.documents.places import (
    Edit,
    LinkRole,
    PatchError,
    apply_edits,
    kind_of,
    kind_of_relation,
    undo,
)
from crawler.reading.value_addresses import read_srcset, write_srcset


def _addresses(value: str) -> list[str]:
    text = value.encode()
    return [text[start:end].decode() for start, end in read_srcset(text)]


@pytest.mark.parametrize(
    ("value", "addresses"),
    [
        ("a.png", ["a.png"]),
        ("a.png 1x, b.png 2x", ["a.png", "b.png"]),
        ("a.png,b.png 2x", ["a.png,b.png"]),
        ("a.png, b.png", ["a.png", "b.png"]),
        (",, a.png ,,b.png,", ["a.png", "b.png"]),
        ("a,b.png 100w,\n c,d.png 200w", ["a,b.png", "c,d.png"]),
        ("data:image/png;base64,AAA= 1x, b.png 2x", ["data:image/png;base64,AAA=", "b.png"]),
        ("a (x, y) 1x, b", ["a", "b"]),
        ("a (x, b", ["a"]),
        ("a,, b", ["a", "b"]),
        ("", []),
        (" , ,", []),
    ],
)
def test_candidates_are_cut_as_the_standard_cuts_them(value: str, addresses: list[str]) -> None:
    assert _addresses(value) == addresses


class TestSrcsetProperties:
    @given(st.lists(st.text(alphabet="ab,./", min_size=1), min_size=1))
    def test_written_addresses_are_read_again(self, addresses: list[str]) -> None:
        written = [write_srcset(address) for address in addresses]
        assert _addresses(", ".join(f"{each} 2x" for each in written)) == written


@pytest.mark.parametrize(
    ("element", "attribute", "kind"),
    [
        (b"q", b"cite", LinkRole.OTHER),
        (b"div", b"cite", None),
        (b"img", b"srcset", LinkRole.REQUISITE),
        (b"div", b"srcset", None),
        (b"img", b"longdesc", LinkRole.OTHER),
        (b"td", b"background", LinkRole.REQUISITE),
        (b"div", b"data-src", LinkRole.REQUISITE),
        (b"div", b"src", None),
    ],
)
def test_attributes_hold_urls_where_browsers_read_them(
    element: bytes, attribute: bytes, kind: LinkRole | None
) -> None:
    assert kind_of(element, attribute) is kind


@pytest.mark.parametrize(
    ("relation", "media_type", "kind"),
    [
        ("stylesheet canonical", "text/css", LinkRole.REQUISITE),
        ("search", "application/opensearchdescription+xml", LinkRole.REQUISITE),
        ("search", "application/json", LinkRole.OTHER),
        ("search", "", LinkRole.FORM),
        ("next", "", LinkRole.PAGE),
    ],
)
def test_relations_say_what_a_mirror_needs(relation: str, media_type: str, kind: LinkRole) -> None:
    assert kind_of_relation(relation, media_type) is kind


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
