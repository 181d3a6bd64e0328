from __future__ import annotations

from http.cookiejar import Cookie
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from crawler.downloading.cookies import BoundedJar, shortened


def cookie(name: str, domain: str = "a.example", path: str = "/", value: str = "v") -> Cookie:
    rest: dict[str, Any] = {"secure": False, "expires": None, "discard": True}
    return Cookie(
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
