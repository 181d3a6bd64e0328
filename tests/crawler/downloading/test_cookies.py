"""Cookie files, and the bounds of cookies."""

from __future__ import annotations

import stat
import time
from http.cookiejar import Cookie as StoredCookie
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.downloading.cookies import (
    JAR,
    BoundedJar,
    read_cookies,
    shortened,
    stored_cookies,
    write_cookies,
)
from crawler.rendering.rendered_pages import Cookie
from crawler.spiders.page_rendering import browser_cookies

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
    shown = {each.name: each for each in browser_cookies(str(file))}
    assert shown["session"] == Cookie("session", "s1", "www.example.com")
    assert shown["token"] == Cookie(
        "token", "t1", ".example.com", "/a", 4e9, is_secure=True, is_http_only=True
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # wget
        ("h.example:8080\tFALSE\t/\tFALSE\t0\tsid\t1", ("h.example", "8080", "sid", "1")),
        (".h.example:8443\tTRUE\t/\tTRUE\t0\tsid\t1", (".h.example", "8443", "sid", "1")),
        ("127.0.0.1:80\tTRUE\t/\tFALSE\t0\tsid\t1", ("127.0.0.1", "80", "sid", "1")),
        # httrack: no full stop before a domain that is for its hosts too
        ("h.example\tTRUE\t/\tFALSE\t1999999999\tsid\t1", (".h.example", None, "sid", "1")),
        # extensions of browsers
        ("h.example\tFALSE\t/\tFALSE\t4000000000.25\tsid\t", ("h.example", None, "sid", "")),
        ("h.example\tFALSE\t/\tFALSE\t-1\tsid", ("h.example", None, "sid", "")),
        ("h.example FALSE / FALSE 0 sid a b", ("h.example", None, "sid", "a b")),
        ("localhost\tFALSE\t/\tFALSE\t0\tsid\t1", ("localhost.local", None, "sid", "1")),
    ],
)
def test_files_of_other_tools_are_read(
    line: str, expected: tuple[str | None, ...], tmp_path: Path
) -> None:
    file = tmp_path / "cookies.txt"
    file.write_text(f"# HTTrack Website Copier Cookie File\n\n{line}\n")
    (found,) = read_cookies(str(file))
    assert (found.domain, found.port, found.name, found.value) == expected


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / JAR
    file.write_text(HEAD + SESSION + HTTP_ONLY + "h.example:81\tFALSE\t/\tFALSE\t1\told\tv\n")
    before = stored_cookies(tmp_path)
    assert [one.name for one in before] == ["session", "token", "old"]
    assert write_cookies(file, [*before, cookie("tab", value="a\tb")]) == 3
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [vars(one) for one in stored_cookies(tmp_path)] == [vars(one) for one in before]
    file.write_text("damaged")
    assert stored_cookies(tmp_path) == []


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


def cookie(name: str, domain: str = "a.example", path: str = "/", value: str = "v") -> StoredCookie:
    rest: dict[str, Any] = {"secure": False, "expires": None, "discard": True}
    return StoredCookie(
        0, name, value, None, False, domain, True, False, path, True,
        rest["secure"], rest["expires"], rest["discard"], None, None, {},
    )  # fmt: skip


def names(jar: BoundedJar) -> set[str]:
    return {held.name for held in jar}


def test_the_oldest_cookies_of_a_domain_go_first() -> None:
    jar = BoundedJar(3)
    for name in "abcdaef":
        jar.set_cookie(cookie(name))
    assert names(jar) == set("aef")


def test_a_cookie_that_is_set_again_is_young() -> None:
    jar = BoundedJar(2)
    for name in "abac":
        jar.set_cookie(cookie(name))
    assert names(jar) == set("ac")


def test_a_cookie_whose_time_is_over_is_taken_once_and_can_be_gained_again() -> None:
    jar, now = BoundedJar(5), int(time.time())
    for name, expires in (("session", None), ("ended", now - 1), ("lasting", now + 3600)):
        held = cookie(name)
        held.expires = expires
        jar.set_cookie(held)
    assert [name.name for name in jar.take_ended()] == ["ended"]
    assert jar.take_ended() == []
    assert names(jar) == {"session", "lasting"}
    jar.gained.clear()
    jar.set_cookie(cookie("ended"))
    jar.set_cookie(cookie("lasting"))
    assert {name.name for name in jar.gained} == {"ended"}


def test_a_cookie_that_is_too_long_is_not_kept() -> None:
    jar = BoundedJar(3)
    jar.set_cookie(cookie("long", value="v" * 5000))
    assert not names(jar)


def test_folders_without_cookies_are_not_kept() -> None:
    jar = BoundedJar(5)
    for number in range(100):
        jar.set_cookie(cookie("a", path=f"/{number}/"))
    assert len(jar._cookies["a.example"]) == 5  # type: ignore[attr-defined]


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 99), st.integers(0, 3))))
def test_a_jar_has_a_bottom(cookies: list[tuple[str, int, int]]) -> None:
    jar = BoundedJar(2)
    for name, domain, path in cookies:
        jar.set_cookie(cookie(name, f"{domain}.example", f"/{path}"))
        of_domain = [held for held in jar if held.domain == f"{domain}.example"]
        assert len(of_domain) <= 2
        assert (name, f"/{path}") in {(held.name, held.path) for held in of_domain}
    assert len(jar) <= 60


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=20))
def test_as_many_cookies_are_sent_as_servers_take(lengths: list[int]) -> None:
    pairs = [b"n%d=" % number + b"v" * length for number, length in enumerate(lengths)]
    header = b"; ".join(pairs)
    sent = shortened(header)
    assert len(sent) <= 8000
    assert header.startswith(sent)
    assert sent == header if len(header) <= 8000 else sent.split(b"; ")[-1] in pairs


def test_cookies_that_came_while_the_jar_was_closed_end_like_others() -> None:
    jar = BoundedJar(3)
    jar.is_closed = True
    for name in "abcde":
        held = cookie(name)
        held.expires = int(time.time()) - 1
        jar.set_cookie(held)
    assert names(jar) == set("cde")
    jar.is_closed = False
    assert {name.name for name in jar.take_ended()} == set("cde")
