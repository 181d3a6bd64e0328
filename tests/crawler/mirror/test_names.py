from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.mirror.paths import free_path, path_key, path_of
from crawler.urls.parts import MalformedUrl
from tests.crawler.mirror.strategies import crowded_urls, media_types, nasty_urls

_HTML = "text/html"


class _Names:
    """The files of a mirror, by key, and what follows from them."""

    def __init__(self) -> None:
        self.paths: dict[str, str] = {}
        self.folders: set[str] = set()

    def add(self, url: str, media_type: str | None) -> str:
        path = free_path(url, media_type, self.paths.__contains__, self.folders.__contains__)
        key = path_key(path)
        assert key not in self.paths
        self.paths[key] = path
        parts = key.split("/")
        self.folders |= {"/".join(parts[:count]) for count in range(1, len(parts))}
        return path


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("https://h/a", "https://h/a.html"),
        ("https://h/a", "https://h/A"),
        ("https://h/a", "http://h/a"),
        ("https://h/", "https://h/index.html"),
        ("https://h/%C3%A9", "https://h/e%CC%81"),
    ],
)
def test_the_second_url_of_a_name_has_a_digest(first: str, second: str) -> None:
    names = _Names()
    assert names.add(first, _HTML) == path_of(first, _HTML)
    path = names.add(second, _HTML)
    stem = path_of(second, _HTML).removesuffix(".html")
    assert path.startswith(stem + "~")
    assert path.endswith(".html")
    again = _Names()
    again.add(first, _HTML)
    assert again.add(second, _HTML) == path


def test_a_folder_that_is_a_file_already_has_another_name_for_all_that_is_in_it() -> None:
    names = _Names()
    assert names.add("https://h/a", "text/x-a") == "h/a"
    first, second = (names.add(f"https://h/a/{name}.png", "image/png") for name in "bc")
    assert first.startswith("h/a~")
    assert first.rpartition("/")[0] == second.rpartition("/")[0]


def test_a_file_that_is_a_folder_already_has_another_name() -> None:
    names = _Names()
    names.add("https://h/A/b.png", "image/png")
    assert names.add("https://h/a", "text/x-a").startswith("h/a~")


def test_a_name_is_found_however_many_are_taken() -> None:
    taken: list[str] = []

    def is_file(key: str) -> bool:
        if key.count("/") and len(taken) < 50:
            taken.append(key)
            return True
        return False

    path = free_path("https://h/" + "x" * 300, _HTML, is_file, lambda _: False)
    assert path_key(path) not in taken
    assert len(set(taken)) == 49  # cut, the name has the first digest already
    assert max(len(key) for key in [*taken, path]) <= 2 + 200


class TestFreePathProperties:
    @given(
        st.lists(
            st.tuples(crowded_urls | nasty_urls, media_types),
            max_size=30,
            unique_by=lambda pair: pair[0],
        )
    )
    @settings(max_examples=200)
    def test_no_file_is_another_file_or_its_folder(
        self, pairs: list[tuple[str, str | None]]
    ) -> None:
        names = _Names()
        for url, media_type in pairs:
            try:
                names.add(url, media_type)
            except MalformedUrl:
                continue
        assert not names.folders & names.paths.keys()
