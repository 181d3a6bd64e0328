"""No URL and no path, whatever it holds, leads out of a mirror or to its state."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler.mirror.errors import MirrorError, UnsafePathError
from crawler.mirror.folder import MirrorFolder
from crawler.mirror.paths import free_path, path_key
from crawler.urls.parts import MalformedUrl
from tests.crawler.mirror.strategies import media_types, nasty_urls

_ATTACKS = [
    *(
        "..",
        "../",
        "/..",
        "%2e%2e",
        "%2E%2E%2F",
        ".%2e/",
        "..%5c",
        "%5c",
        "\\",
        "..\\",
        "%00",
        "\0",
    ),
    *(
        "//",
        "/",
        "C:\\",
        "C:/",
        "C|/",
        "\\\\host\\share",
        "%c0%ae%c0%ae/",
        "%252e%252e%252f",
        "．．／",
    ),
    *(
        "‥/",
        "∕",
        "etc/passwd",
        ".mirror",
        "%2emirror/",
        ".mirror/crawl.db",
        ".MIRROR",
        "~",
        "a",
        "?",
    ),
    *("index.html", "changes.json", "nul", ";", "@", ":", "file:///", "\u202e", "\r\n", "\ud800"),
]
_texts = st.lists(st.sampled_from(_ATTACKS), max_size=10).map("".join) | st.text(max_size=20)
_urls = (
    nasty_urls
    | st.builds("http://h.org/{}".format, _texts)
    | st.builds("http://h.org/a?{}".format, _texts)
    | st.builds("http://{}/a".format, _texts)
)


def _outside(folder: Path) -> list[str]:
    inside = folder / "mirror"
    return [
        str(path)
        for path in folder.rglob("*")
        if (path != inside and inside not in path.parents) or path.is_symlink()
    ]


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", "a/./b", "a\0b"),
        *("a\\b", "..\\a", ".mirror", ".mirror/crawl.db", ".MIRROR/x", "a/\ud800", "//h/a"),
    ],
)
def test_unsafe_paths_are_refused_whoever_chose_them(tmp_path: Path, path: str) -> None:
    with MirrorFolder(tmp_path / "mirror") as mirror:
        mirror.write("a/b", b"")
        for deed in (
            lambda: mirror.write(path, b""),
            lambda: mirror.read(path),
            lambda: mirror.link(path, "a/b"),
            lambda: mirror.link("c", path),
            lambda: mirror.remove(path),
            lambda: mirror.exists(path),
        ):
            with pytest.raises(UnsafePathError):
                deed()
        assert list(mirror.paths()) == ["a/b"]
    assert _outside(tmp_path) == []


class TestContainmentProperties:
    @given(st.lists(st.tuples(_urls, media_types), max_size=8))
    @example([("http://h.org/../../../../etc/passwd", None), ("http://h.org/%2e%2e%5c%00", None)])
    @settings(max_examples=150, deadline=None)
    def test_no_url_leads_out(self, pairs: list[tuple[str, str | None]]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with MirrorFolder(Path(folder) / "mirror") as mirror:
                written = _write_all(mirror, pairs)
                assert sorted(mirror.paths()) == sorted(written)
                assert [mirror.read(path).decode() for path in written] == written
                # Each file is below the folder of a host.
                assert all("/" in path for path in written)
                state = Path(folder) / "mirror" / ".mirror"
                assert list(state.rglob("*")) == [state / "partial"]
            assert _outside(Path(folder)) == []

    @given(path=_texts)
    @settings(max_examples=150, deadline=None)
    def test_no_path_leads_out(self, path: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with MirrorFolder(Path(folder) / "mirror") as mirror:
                try:
                    mirror.write(path, b"text")
                except MirrorError:
                    assert list(mirror.paths()) == []
                else:
                    assert list(mirror.paths()) == [path]
            assert _outside(Path(folder)) == []


def _write_all(mirror: MirrorFolder, pairs: list[tuple[str, str | None]]) -> list[str]:
    """Write every file that a URL gives, and leave out those that are no URLs."""
    keys: set[str] = set()
    folders: set[str] = set()
    paths = []
    for url, media_type in pairs:
        try:
            path = free_path(url, media_type, keys.__contains__, folders.__contains__)
        except MalformedUrl:
            continue
        key = path_key(path)
        keys.add(key)
        parts = key.split("/")
        folders |= {"/".join(parts[:count]) for count in range(1, len(parts))}
        mirror.write(path, path.encode())
        paths.append(path)
    return paths
