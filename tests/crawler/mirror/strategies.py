"""URLs made of the pieces that names of files trip over."""

from __future__ import annotations

import unicodedata
from itertools import product

from hypothesis import strategies as st

_HOSTS = ["h.org", "H.org", "h.org:80", "h.org:443", "h.org:8080", "h.org+8080", "[::1]:80"]
_ODD_HOSTS = ["nul.example", "index.html", "changes.json", ".mirror", "[--1]", "a" * 60 + ".org"]
_SEGMENTS = [
    *("a", "A", "b", "é", "E\u0301", "É", "ſ", "ı", "İ", "ß", "日本", "\U0001f600", " ", "+", "~"),
    *("index", ".html", ".HTM", ".css", ".png", ".c", ".", "..", "con", "COM1", "com¹", "nul.txt"),
    *(":", "%3A", "*", "%2A", "%2F", "%5C", "%00", "%0A", "%3F", "%25", "%", "41", "%FF", "%E2"),
    *("\u202e", "\u200b", "\ufeff", "%E2%80%AE", "@", "%40", "=", "%3D", "&", "%26", "2x", "x=1"),
    *("~0123abcd", "~1", "~", ".mirror", "C:", "|", '"', "<", ">", "'", "(", ")", "[", "#", ";"),
    *("x" * 70, "é" * 40, "changes.json", "\\", "%2e%2e", "%252e", "\u3164", "\ue000"),
]
_path = st.lists(st.sampled_from([*_SEGMENTS, "/", "/", "/"]), max_size=8).map("".join)
_query = st.none() | st.lists(st.sampled_from([*_SEGMENTS, "/", "?", "&"]), max_size=5).map("".join)


def _write(scheme: str, host: str, path: str, query: str | None) -> str:
    path = path.replace("#", "%23")
    tail = "" if query is None else "?" + query.replace("#", "%23")
    return f"{scheme}://{host}/{path}{tail}"


nasty_urls = st.builds(
    _write, st.sampled_from(["http", "https"]), st.sampled_from(_HOSTS + _ODD_HOSTS), _path, _query
)
#: Few names, so that one is another's file or folder.
crowded_urls = st.builds(
    "{}://h/{}".format,
    st.sampled_from(["http", "https"]),
    st.lists(st.sampled_from(["a", "A", "a.html", "é", "e%CC%81", ""]), min_size=1, max_size=3).map(
        "/".join
    ),
)
media_types = st.sampled_from(
    [None, "text/html; charset=utf-8", "text/css", "text/plain", "image/png", "application/x-a"]
)

# However they are joined, two texts are two URLs: none is another spelling of another.
PATH_PIECES = [
    *("a", "41", "2x", "con", "nul.", "x=1", "é", "日", "\u202e", "%FF", "%E2%80", "%25", "/"),
    *(".", "~", "~0123abcd", "@", "=", "%40", "%3D", ":", "%3A", "*", "%2A", "%2F", "%5C", "%3F"),
    *("+", "&", "%26", "%20", ".css", ".png", "x" * 90),
]
QUERY_PIECES = [
    *("a", "x=1", "=", "@", "%40", "2x", ".css", ".png", ":", "%3A", "/", "%2F", "&", "?", "%3D"),
    *("~0123abcd", "%25"),
]


def joined(pieces: list[str]) -> list[str]:
    """Join at most two of the pieces in every way."""
    return ["".join(some) for count in range(3) for some in product(pieces, repeat=count)]


def reduced(path: str, query: str | None, endings: tuple[str, ...]) -> tuple[str, str | None]:
    """Take from a URL what the name of its file need not tell."""
    folders, slash, name = path.rpartition("/")
    name = name or "index"
    for ending in endings:
        if name.lower().endswith(ending) and len(name) > len(ending):
            name = name[: -len(ending)]
            break
    folded = unicodedata.normalize("NFC", folders + slash + name).casefold()
    return folded, None if query is None else query.casefold()
