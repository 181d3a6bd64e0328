"""Reading Netscape cookie files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.downloading.cookies import read_cookies
from crawler.page_rendering import browser_cookies
from crawler.rendering.rendered_pages import Cookie

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "# Netscape HTTP Cookie File\n"
SESSION = "www.example.com\tFALSE\t/\tFALSE\t0\tsession\ts1\n"
HTTP_ONLY = "#HttpOnly_.example.com\tTRUE\t/a\tTRUE\t4000000000\ttoken\tt1\n"


def test_cookies_of_a_session_and_of_http_alone_are_read(tmp_path: Path) -> None:
    file = tmp_path / "cookies.txt"
    file.write_text(HEAD + SESSION + HTTP_ONLY)
    assert {(each.domain, each.name, each.value) for each in read_cookies(str(file))} == {
        ("www.example.com", "session", "s1"),
        (".example.com", "token", "t1"),
    }
    given = {each.name: each for each in browser_cookies(str(file))}
    assert given["session"] == Cookie("session", "s1", "www.example.com")
    assert given["token"] == Cookie(
        "token", "t1", ".example.com", "/a", 4e9, is_secure=True, is_http_only=True
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        (b"<html>", "is no Netscape cookie file"),
        (HEAD.encode() + b"a\tb\n", "is no Netscape cookie file"),
        (HEAD.encode() + b"\xff\xfe", "is no text in UTF-8"),
        (HEAD.encode(), "has no cookie that is still valid"),
    ],
)
def test_a_wrong_file_is_named_in_one_line(
    content: bytes | None, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "cookies.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ValueError, match=said) as raised:
        read_cookies(str(file))
    assert str(file) in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1
