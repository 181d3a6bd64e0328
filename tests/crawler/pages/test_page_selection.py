from __future__ import annotations

import sqlite3
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.pages.export import ALL, PageSelection

HOSTS = ["h.org", "h.org:8000", "h.org.uk", "www.h.org", "h-x.org"]
PATHS = ["/", "/a", "/a/", "/ab", "/a/b", "/a?x=1", "/a/?x=1", "/a-b/", "/b"]
URLS = [
    f"{scheme}://{host}{path}" for scheme in ("http", "https") for host in HOSTS for path in PATHS
]


def chosen(selection: PageSelection, rows: list[tuple[object, ...]]) -> set[str]:
    condition, values = selection.condition()
    with sqlite3.connect(":memory:") as connection:
        connection.execute(
            "CREATE TABLE pages (canonical_url, status, fetched_at, seen_at, page_type)"
        )
        connection.executemany("INSERT INTO pages VALUES (?, ?, ?, ?, ?)", rows)
        found = connection.execute(f"SELECT canonical_url FROM pages WHERE {condition}", values)
        return {url for (url,) in found}


def rows_of(urls: list[str]) -> list[tuple[object, ...]]:
    return [(url, 200, 0.0, 0.0, None) for url in urls]


def is_below(url: str, under: str) -> bool:
    """Compare as a person does: by the host, then by what follows."""
    one, base = urlsplit(url), urlsplit(under)
    if one.netloc != base.netloc:
        return False
    if base.path.endswith("/"):
        return one.path.startswith(base.path)
    return one.path == base.path or one.path.startswith(f"{base.path}/")


class TestPageSelectionProperties:
    @given(st.sampled_from([url for url in URLS if "?" not in url]))
    def test_under_equals_a_scan(self, under: str) -> None:
        expected = {url for url in URLS if is_below(url, under)}
        assert chosen(PageSelection(under=under), rows_of(URLS)) == expected

    @given(st.sampled_from(HOSTS))
    def test_host_equals_a_scan(self, host: str) -> None:
        taken = {host} if ":" in host else {host, f"{host}:8000"}
        expected = {url for url in URLS if urlsplit(url).netloc in taken}
        assert chosen(PageSelection(host=host), rows_of(URLS)) == expected


def test_a_query_is_a_prefix_and_spellings_are_canonical() -> None:
    assert chosen(PageSelection(under="http://H.ORG:80/a?x=1#f"), rows_of(URLS)) == {
        "http://h.org/a?x=1",
        "https://h.org/a?x=1",
    }


def test_times_statuses_and_types() -> None:
    rows: list[tuple[object, ...]] = [
        ("old", 200, 10.0, 10.0, "article"),
        ("seen", 204, 10.0, 20.0, "article"),
        ("gone", 404, 20.0, 20.0, None),
        ("none", None, 20.0, 20.0, None),
    ]
    assert chosen(ALL, rows) == {"old", "seen", "gone", "none"}
    assert chosen(PageSelection(since=20.0), rows) == {"seen", "gone", "none"}
    assert chosen(PageSelection(statuses=((200, 200), (400, 499))), rows) == {"old", "gone"}
    both = PageSelection(since=20.0, page_type="article")
    assert chosen(both, rows) == {"seen"}


@pytest.mark.parametrize("selection", [PageSelection(under="h"), PageSelection(host="a b")])
def test_what_is_no_url_is_refused(selection: PageSelection) -> None:
    with pytest.raises(ValueError, match="h"):
        selection.condition()
