from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.urls.scope import Scope, scope_folder, scope_name

NAMES = [
    (["http://h.org/a/"], "prefix", "h.org/a/", "h.org+a"),
    (["https://H.org:443/a/x.html?q#f"], "prefix", "h.org/a/", "h.org+a"),
    (["http://h.org/3.12/library/"], "prefix", "h.org/3.12/library/", "h.org+3.12+library"),
    (["http://h.org"], "prefix", "h.org/", "h.org++host"),
    (["http://h.org/a/b"], "host", "h.org/", "h.org++host"),
    (["http://localhost:8000/b/"], "prefix", "localhost:8000/b/", "localhost_8000+b"),
    (["http://docs.h.org/a/"], "domain", "*.h.org", "docs.h.org++domain"),
    (["http://127.0.0.1/a/"], "domain", "*.127.0.0.1", "127.0.0.1++domain"),
    (["http://h.org/a/", "http://h.org/a/b/"], "prefix", "h.org/a/", "h.org+a"),
]


@pytest.mark.parametrize(("seeds", "kind", "name", "folder"), NAMES)
def test_a_scope_and_its_folder_are_named(
    seeds: list[str], kind: str, name: str, folder: str
) -> None:
    assert scope_name(seeds, kind) == name
    assert scope_folder(seeds, kind) == folder


def test_several_seeds_have_one_name_in_any_order() -> None:
    seeds = ["http://h.org/b/", "http://h.org/a/"]
    assert scope_name(seeds, "prefix") == scope_name(seeds[::-1], "prefix") == "h.org/a/, h.org/b/"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://h.org/A/", "http://h.org/a/"),
        ("http://h.org/a%20b/", "http://h.org/a_b/"),
        ("http://h.org/a+b/", "http://h.org/a/b/"),
        ("http://h.org//host/", "http://h.org/"),
        ("http://h.org/%E7%81%AF/", "http://h.org/%E5%A1%94/"),
        (f"http://h.org/{'x' * 80}/", f"http://h.org/{'x' * 81}/"),
    ],
)
def test_other_scopes_have_other_folders(one: str, other: str) -> None:
    assert scope_name([one], "prefix") != scope_name([other], "prefix")
    assert scope_folder([one], "prefix") != scope_folder([other], "prefix")


PATHS = st.lists(st.sampled_from(["a", "b", "A", "a+b", "a b", ".", "..", "host"]), max_size=3).map(
    lambda segments: "/" + "".join(f"{segment}/" for segment in segments)
)


class TestScopeNameProperties:
    @given(PATHS, PATHS)
    def test_two_scopes_have_one_name_just_where_they_cover_each_other(
        self, one: str, other: str
    ) -> None:
        first, second = (f"http://h.org{path}".replace(" ", "%20") for path in (one, other))
        covers = Scope([first]).allows(second) and Scope([second]).allows(first)
        assert (scope_name([first], "prefix") == scope_name([second], "prefix")) == covers
        assert (scope_folder([first], "prefix") == scope_folder([second], "prefix")) == covers
