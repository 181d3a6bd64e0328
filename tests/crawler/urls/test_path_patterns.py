"""Path patterns: what varies is told by its digits, or by how many there are."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.urls.path_patterns import PathPatterns, fits

pieces = st.sampled_from(["", "a", "b", "a.html", "*", "**", "*.html", ".", "a\n"])


def segments(path: str) -> tuple[str, ...]:
    return tuple(path[1:].split("/"))


def oracle(pattern: list[str], path: list[str]) -> bool:
    """By trying, a segment at a time."""
    if pattern == ["**"]:
        return bool(path)
    if not pattern or not path:
        return pattern == path
    first, segment = pattern[0], path[0]
    ends = {segment[place:] for place in range(len(segment) + 1)}
    is_fit = first[1:] in ends if first.startswith("*") else first == segment
    return is_fit and oracle(pattern[1:], path[1:])


class TestPathPatterns:
    @pytest.mark.parametrize(
        ("path", "pattern"),
        [
            ("/", "/"),
            ("/a", "/a"),
            ("/a/", "/a/"),
            ("/a/12", "/a/*"),
            ("/t12.html", "/*.html"),
            ("/2026/index.php", "/*/index.php"),
            ("/a/b/c/d/e", "/a/b/c/d/e"),
            ("/a/b/c/d/e/f/g", "/a/b/c/d/e/**"),
        ],
    )
    def test_a_digit_varies(self, path: str, pattern: str) -> None:
        assert PathPatterns()(segments(path)) == pattern

    def test_more_than_forty_names_vary(self) -> None:
        patterns = PathPatterns()
        words = ["".join(letters) for letters in product("abcdefgh", repeat=2)]
        found = [patterns(segments(f"/wiki/{word}.html")) for word in words]
        assert found[:40] == [f"/wiki/{word}.html" for word in words[:40]]
        assert set(found[40:]) == {"/wiki/*.html"}
        assert patterns(segments(f"/wiki/{words[0]}.html")) == "/wiki/*.html"
        assert patterns(segments(f"/{words[0]}")) == f"/{words[0]}"

    def test_folders_are_bounded(self) -> None:
        patterns = PathPatterns()
        letters = "abcdefghijklm"
        for names in product(letters, repeat=4):
            patterns(segments("/" + "/".join(names)))
        assert len(patterns._names) <= 2_000
        assert all(len(names) <= 41 for names in patterns._names.values())

    def test_numbers_have_the_pattern_that_is_asked_for(self) -> None:
        patterns = PathPatterns("#")
        found = [patterns(segments(path)) for path in ("/a/b", "/7/x.html", "/a/7.html")]
        assert found == ["/a/b", "/#/x.html", "/a/#.html"]


class TestFits:
    @given(st.lists(pieces, min_size=1, max_size=4), st.lists(pieces, min_size=1, max_size=4))
    def test_equals_trying_segment_by_segment(self, pattern: list[str], path: list[str]) -> None:
        found = fits("/" + "/".join(pattern), "/" + "/".join(path))
        assert found is oracle(pattern, path)

    @given(
        st.lists(
            st.lists(st.sampled_from(["", "a", "b1", "c.html", "d2.html"]), min_size=1, max_size=7),
            min_size=1,
        )
    )
    def test_a_path_is_of_every_pattern_that_it_is_given(self, paths: list[list[str]]) -> None:
        patterns = PathPatterns()
        for path in paths:
            written = "/" + "/".join(path)
            assert fits(patterns(segments(written)), written)

    def test_a_strangers_pattern_takes_no_time(self) -> None:
        pattern, path = "/**" * 60 + "/x", "/a" * 600
        assert not fits(pattern, path)
