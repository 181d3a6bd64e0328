"""Patterns of gitignore for URLs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from crawler.urls.patterns import UrlPatterns
from crawler.urls.scope import EXCLUDED, NOT_INCLUDED, OUT_OF_SCOPE, Scope


@pytest.mark.parametrize(
    ("written", "path", "is_match"),
    [
        ("*.iso", "/a/b.iso", True),
        ("*.iso", "/b.iso?mirror=2", True),
        ("*.iso", "/b.iso.txt", False),
        ("downloads/*.iso", "/downloads/b.iso", True),
        ("downloads/*.iso", "/x/downloads/b.iso", False),
        ("**/downloads/*.iso", "/x/downloads/b.iso", True),
        ("/docs/**", "/docs/", True),
        ("/docs/**", "/docs/a/b", True),
        ("/docs/**", "/x/docs/a", False),
        ("docs/", "/x/docs/a", True),
        ("docs/", "/x/docs", False),
        ("*.org", "/x", False),
        ("host.org/", "/x", True),
        ("*.org/x", "/x", True),
        ("cdn.host.org/", "/x", False),
        ("v1.2/x", "/v1.2/x", True),
        (r"*\?print=*", "/a?print=1", True),
        (r"*\?print=*", "/a?printed=1", False),
        ("next", "/a?from=/next", False),
        ("a b/", "/a%20b/c", True),
        ("é", "/%C3%A9", True),
        ("*.png\n!small.png", "/a/small.png", False),
        ("*.png\n!small.png", "/a/large.png", True),
        ("# *.png\n\n", "/a.png", False),
        ("X", "/x", False),
        ("secret/**/x", "/secret/%0A/x", True),
    ],
)
def test_pattern_matches_as_in_the_folder_of_a_host(
    written: str, path: str, is_match: bool
) -> None:
    assert UrlPatterns(written).match(f"https://host.org{path}") is is_match


@pytest.mark.parametrize(
    ("written", "path", "is_match"),
    [
        ("/a[!b]c", "/a/c", False),
        ("/a[!b]c", "/axc", True),
        ("/a[^b]c", "/a/c", False),
        ("/a[+-9]c", "/a/c", False),
        ("/a[+-9]c", "/a.c", True),
        ("/a[+-9]c", "/a0c", True),
        ("/a[/]c", "/a/c", False),
        ("/a[[:digit:]]", "/a5", True),
        ("/a[[:digit:]]", "/a:", False),
        ("/a[![:alpha:]_]", "/ab", False),
        ("/a[![:alpha:]_]", "/a5", True),
        ("/a[]b]", "/a]", True),
        ("/a[!]b]", "/a]", False),
        (r"/a[\]b]", "/a]", True),
        (r"/a\[b]", "/a[b]", True),
        ("/a[b-]", "/a-", True),
        ("/a/**/", "/a/b", False),
        ("/a/**/", "/a/b/", True),
        ("/a/**/", "/a/b/c", True),
        ("/**/", "/a", False),
    ],
)
def test_sets_and_folders_match_as_git_has_them(written: str, path: str, is_match: bool) -> None:
    assert UrlPatterns(written).match(f"http://h.org{path}") is is_match


@pytest.mark.parametrize(
    "written", ["a\\", "!", "/", "*.png\n!", "[z-a]", "[[:odd:]]", "\U000f0000"]
)
def test_what_is_no_pattern_is_named(written: str) -> None:
    with pytest.raises(ValueError, match="is no pattern as in gitignore"):
        UrlPatterns(written)


@pytest.mark.parametrize("written", ["https://h.org/a/*", "!HTTP://h.org/"])
def test_url_is_refused_as_pattern(written: str) -> None:
    with pytest.raises(ValueError, match="is a URL; write the pattern from its host on"):
        UrlPatterns(written)


@pytest.mark.parametrize("written", ["*a" * 20 + "*b", "**/a/" * 20 + "b", "*a" * 20 + "*b/"])
def test_stars_take_linear_time(written: str) -> None:
    patterns = UrlPatterns(written)
    for text in ("a" * 50_000, "a/" * 25_000):
        assert not patterns.match(f"http://h.org/{text}")
        assert not patterns.match(f"http://h.org/?{text}")
    assert patterns.match(f"http://h.org/{'a/' * 50}b") is written.startswith("**")


@given(
    st.text(alphabet="ab*?/!-é", min_size=1, max_size=12),
    st.text(alphabet="ab/é", max_size=12),
)
def test_patterns_match_as_those_of_gitignore(written: str, path: str) -> None:
    try:
        expected = GitIgnoreSpec.from_lines([f"/*/{written}"], backend="simple")
        patterns = UrlPatterns(f"/{written}")
    except ValueError:
        return
    if written.endswith("**/"):
        return  # pathspec takes these for all files of the folder, git for folders alone
    assert patterns.match(f"http://h.org/{path}") is expected.match_file(f"h.org/{path}")


@given(st.text(min_size=1).map(lambda text: f"http://h.org/{text}"))
def test_no_url_raises_in_a_scope(url: str) -> None:
    scope = Scope(["http://h.org/"], include="a*\n!ab", exclude="b/\n!c")
    assert scope.allows(url) in (True, False)
    assert scope.excludes(url) in (True, False)


def test_half_a_surrogate_pair_is_matched() -> None:
    assert UrlPatterns("a*").match("http://h.org/a\ud800")


def test_scope_includes_excludes_and_never_loses_its_seed() -> None:
    scope = Scope(["http://h/start.iso"], include="/docs/**", exclude="*.iso")
    assert scope.refusal("http://h/docs/a") is None
    assert scope.refusal("http://h/docs/a.iso") == EXCLUDED
    assert scope.refusal("http://h/other") == NOT_INCLUDED
    assert scope.refusal("http://other/docs/a") == OUT_OF_SCOPE
    assert scope.refusal("http://h/start.iso") is None
    assert not scope.excludes("http://h/start.iso")
    elsewhere = scope.with_seeds(["http://other/"])
    assert elsewhere.refusal("http://other/docs/a.iso") == EXCLUDED
    assert elsewhere.refusal("http://other/x") == NOT_INCLUDED
