"""What a page in one file writes of what the server says."""

from __future__ import annotations

import pytest

from crawler.console.temporary_mirror import _data_type
from crawler.mirror.file_table import FileRow


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("image/png", "image/png"),
        ("Text/CSS; charset=UTF-8", "text/css;charset=UTF-8"),
        ('text/css; charset=a,b"', "text/css;charset=ab"),
        ("image/png,<svg onload=x>", "application/octet-stream"),
        ('image/png" onerror="x', "application/octet-stream"),
        ("image/png onerror=x", "application/octet-stream"),
    ],
)
def test_a_type_that_is_none_begins_no_data(said: str, written: str) -> None:
    row = FileRow(1, b"", "http://h/a", "h/a", "h/a", said)
    assert _data_type(row, b"\x89PNG\0\0") == written
