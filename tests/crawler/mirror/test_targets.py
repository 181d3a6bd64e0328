"""Which files are fetched, by their names; and how sizes are written."""

from __future__ import annotations

import pytest

from crawler.mirror.targets import WantedNames, byte_count


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
    ],
)
def test_names_are_accepted_and_rejected(
    accept: str, reject: str, url: str, *, allowed: bool
) -> None:
    assert WantedNames(accept, reject).allows(url) is allowed


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("1", 1),
        ("500M", 500_000_000),
        ("1.5 GB", 1_500_000_000),
        ("2k", 2_000),
        ("3MiB", 3 * 2**20),
    ],
)
def test_sizes_are_read(written: str, count: int) -> None:
    assert byte_count(written) == count


@pytest.mark.parametrize("written", ["", "0", "-1", "many", "1e9", "5 X", "M", "0.1"])
def test_what_is_no_size_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="a size such as"):
        byte_count(written)
