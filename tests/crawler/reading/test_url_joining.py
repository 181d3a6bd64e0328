"""Tests of joining plain references."""

from __future__ import annotations

import time
import tracemalloc
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.link_extraction import resolve
from crawler.reading.url_joining import PlainJoiner

_BASES = st.sampled_from(
    [
        "http://a.example/",
        "http://a.example/b",
        "https://A.example:8080/b/c/d.html",
        "http://a.example/b/c/?d=e/../f;g",
        "http://a.example/b/c/?d#f",
        "http://a.example/b//c/d",
        "http://a.example/b/../c",
        "http://a.example/b/./",
        "http://a.example/b;c/d",
        "http://a.example/b:c/d:e",
        "http://a.example/b?",
        "http://a.example",
        "http://é.example/b",
        "HTTP://a.example/b",
        "file:///b/c",
        "",
    ]
)
_PIECES = st.sampled_from(
    [
        "a",
        "bc",
        ".",
        "..",
        "/",
        "//",
        "../",
        "?",
        "#",
        ";",
        ":",
        "=",
        "&",
        "%",
        "\\",
        "é",
        "[",
        "]",
        "~",
        "@",
        " ",
        "\t",
        "http:",
        "https://h.example",
        "HTTP://",
        "//h/",
        "mailto:",
    ]
)
_REFERENCES = st.lists(_PIECES, max_size=8).map("".join) | st.text(max_size=8)


class TestPlainJoiner:
    @pytest.mark.parametrize(
        "reference",
        [
            "e.html",
            "../e.html#f",
            "../../../../e/",
            "./",
            "../",
            "./../e?f",
            "../?f#g",
            "/e?f=/../g",
            "#f",
            "?g=h",
            "https://h.example/e/f?g#h",
            "http://h.example/",
            "..e/.f/g..",
            "",
            "/",
            "/?e",
            "/e:f/g",
            "e/f:g",
            "//h/a",
            "//h",
            "https://h.example",
            "https://h.example//e/../f:g/?h",
        ],
    )
    def test_plain_references_are_joined(self, reference: str) -> None:
        base = "http://a.example/b/c/d.html?x=y"
        assert PlainJoiner(base).join(reference) == urljoin(base, reference)

    @pytest.mark.parametrize(
        "reference", [".", "a/../b", "a//b", "///a", "mailto:a@b", "a:b", "a;b", "a b", "é", "a?"]
    )
    def test_other_references_are_left_to_others(self, reference: str) -> None:
        assert PlainJoiner("http://a.example/b/c").join(reference) is None

    def test_long_references_take_linear_time(self) -> None:
        joiner = PlainJoiner("http://a.example/" + "b/" * 100_000)
        started = time.process_time()
        for reference in ("../" * 300_000, "a/" * 300_000 + ";", "/a" * 300_000 + " ", "." * 10**6):
            joiner.join(reference)
        assert time.process_time() - started < 2

    def test_folders_of_a_long_base_are_not_all_held(self) -> None:
        joiner = PlainJoiner("http://a.example/" + "b/" * 250_000)
        tracemalloc.start()
        try:
            for ups in range(200):
                assert joiner.join("../" * ups + "c") is not None
            peak_bytes = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak_bytes < 40_000_000


class TestPlainJoinerProperties:
    @given(_BASES, _REFERENCES)
    def test_join_equals_that_of_the_library(self, base: str, reference: str) -> None:
        joined = PlainJoiner(base).join(reference)
        assert joined is None or joined == urljoin(base, reference)

    @given(_BASES.filter(lambda base: base.startswith("http:")), _REFERENCES)
    def test_join_equals_what_is_resolved(self, base: str, reference: str) -> None:
        joined = PlainJoiner(base).join(reference)
        assert joined is None or joined == resolve(base, reference)
