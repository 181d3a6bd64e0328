"""Files are accepted and rejected by their names."""

from __future__ import annotations

import pytest

from crawler.mirror.endings import WantedNames
from crawler.mirror.file_store import media_type


@pytest.mark.parametrize(
    ("accept", "reject", "url", "allowed"),
    [
        ("", "", "http://h/a.zip", True),
        ("", "zip,iso", "http://h/a.zip", False),
        ("", "zip,iso", "http://h/a.ZIP?x=1", False),
        ("", " .zip ", "http://h/a.zip", False),
        ("", "zip", "http://h/zip", True),
        ("", "*-large.*", "http://h/x/photo-large.png", False),
        ("", "*-large.*", "http://h/photo-large.d/x.png", True),
        ("png,css", "", "http://h/a.png", True),
        ("png,css", "", "http://h/a.gif", False),
        ("png,css", "", "http://h/page", True),
        ("png,css", "", "http://h/page.php?x=a.gif", True),
        ("png,css", "", "http://h/.hidden", True),
        ("png,css", "", "http://h/release-1.2", True),
        ("png,css", "", "http://h/John.Smithers", True),
        ("png,css", "", "http://h/and_so_on...", True),
        ("png,css", "", "http://h/a.7z", False),
        ("png,css", "", "http://h/a.woff2", False),
        ("png", "logo.*", "http://h/logo.png", False),
        ("", "b.png", "http://h/a%62.png", True),
        ("", "ab.png", "http://h/ab.png", True),
        ("", "a[b].png", "http://h/a%62.png", False),
        ("", "*a" * 20 + "*b", "http://h/" + "a" * 50_000, True),  # in linear time
    ],
)
def test_names_are_accepted_and_rejected(
    accept: str, reject: str, url: str, *, allowed: bool
) -> None:
    assert WantedNames(accept, reject).allows(url) is allowed


@pytest.mark.parametrize(
    ("declared", "body", "expected"),
    [
        ("application/octet-stream", b"", "application/octet-stream"),
        ("text/plain; charset=utf-8", b"", "text/plain"),
        ("text/html", b"", "text/html"),
        (None, b"", "text/html"),
        ("application/octet-stream", b"<!doctype html><p>A page", "text/html"),
        ("application/octet-stream", b"\0\1", "application/octet-stream"),
    ],
)
def test_empty_file_has_the_ending_of_its_declared_type(
    declared: str | None, body: bytes, expected: str
) -> None:
    assert media_type(declared, body) == expected
