"""Cookies of a browser, as a file that the crawler reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.console.login import given_cookies
from crawler.downloading.cookies import read_cookies, write_cookies

if TYPE_CHECKING:
    from pathlib import Path


def cookie(name: str, value: str, path: str = "/") -> dict[str, object]:
    return {
        "name": name,
        "value": value,
        "domain": "h.example",
        "path": path,
        "expires": -1,
        "secure": True,
        "httpOnly": True,
    }


def test_a_cookie_with_a_tab_costs_no_other(tmp_path: Path) -> None:
    file = tmp_path / "cookies.txt"
    cookies = [cookie("session", "kept"), cookie("odd", "a\tb"), cookie("far", "c", "/a\tb")]
    assert write_cookies(file, given_cookies(cookies)) == 1
    assert file.stat().st_mode & 0o777 == 0o600
    assert [(each.name, each.value) for each in read_cookies(str(file))] == [("session", "kept")]
