"""Signs of a page that may be none: what kind it is, and what it says whatever its URL is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.reading.content_types import WallKind
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse
from crawler.reading.visible_text import read_visible
from crawler.reading.wall_signs import MAX_WORDS, WORDINGS, read_wall_signs, returned_to

if TYPE_CHECKING:
    from crawler.reading.reading import WallSigns

FORM = '<form><input name="user"><input type="PASSWORD"></form>'
LONG = " ".join(f"word{number}" for number in range(MAX_WORDS + 1))
SHORT = "A few words that say nothing of the kind. " * 10


def signs(body: str, title: str = "A site", url: str = "http://a.example/x/y") -> WallSigns | None:
    root = parse(f"<html><head><title>{title}</title></head><body>{body}</body></html>".encode())
    return read_wall_signs(root, read_visible(flatten(root)), url)


def kind(body: str, title: str = "A site") -> str:
    found = signs(body, title)
    assert found is not None
    return found.kind


@pytest.mark.parametrize(
    ("body", "title", "expected"),
    [
        ("<h1>Page not found</h1>", "Oops", WallKind.NOT_FOUND),
        (f"<p>{SHORT}</p>", "404 - Seite nicht gefunden", WallKind.NOT_FOUND),
        ("<p>お探しのページは見つかりません</p>", "", WallKind.NOT_FOUND),
        (f"<p>Please sign in.</p>{FORM}", "Members", WallKind.LOGIN),
        (f"<p>Members</p>{FORM}", "", WallKind.LOGIN),
        ("<p>Bitte einloggen, um weiterzulesen.</p>", "", WallKind.LOGIN),
        ("<p>Before you continue: we use cookies.</p>", "", WallKind.CONSENT),
        ("<p>Are you a robot?</p><div class='x g-recaptcha'></div>", "", WallKind.CAPTCHA),
        ("<p>Ray ID 12</p>", "Just a moment...", WallKind.CAPTCHA),
        ("<p>Please enable JavaScript.</p><script src=a></script>", "", WallKind.JAVASCRIPT),
        ("<div id=root></div><script src=a></script>", "App", WallKind.SHELL),
        ("<div id=root></div><script src=a></script>", "Sign in", WallKind.SHELL),
        ("<div id=a></div><p>Not found</p><script src=a></script>", "App", WallKind.NOT_FOUND),
        ("<div id=a></div><script src=a></script>", "Just a moment...", WallKind.CAPTCHA),
    ],
)
def test_a_wording_or_the_fields_tell_the_kind(body: str, title: str, expected: WallKind) -> None:
    assert kind(body, title) == expected


@pytest.mark.parametrize(
    ("body", "title"),
    [
        (f"<p>{SHORT}</p>{FORM}", "A lamp"),
        (f"<p>{SHORT} Set the status to not found where no row matches.</p>", "Rows"),
        (f"<p>{SHORT} Click on sign in.</p>", "Orders"),
        ("<img src=photo.jpg><script src=a></script>", "A photo"),
        ("<audio src=song.mp3></audio><script src=a></script>", "A song"),
        ("", "Nothing at all"),
        (f"<noscript>Enable JavaScript for comments</noscript><p>{SHORT}</p><script></script>", ""),
    ],
)
def test_a_page_that_only_mentions_them_is_of_no_kind(body: str, title: str) -> None:
    assert kind(body, title) == ""


def test_a_page_with_many_words_has_no_signs() -> None:
    assert signs(f"<p>{LONG}</p>", "Page not found") is None


def test_links_and_controls_are_no_words_of_a_page() -> None:
    assert kind(f"<nav>{LONG}</nav><a href=/>{LONG}</a><h1>Not found</h1>") == WallKind.NOT_FOUND


@pytest.mark.parametrize(
    "echo",
    [
        "<p>{url} was not found</p>",
        "<p>No {path} here</p>",
        "<p>No page named {name} here</p>",
        "<p>Nothing is called {words}.</p>",
        "<p>Incident ID: {number}-4{number}. Ray {number}f</p>",
        "<p>Reference #18.2d3{number}ab8.1557333295.a4e16ab</p>",
        "<p>Trace 0d9c{number}f7e-11aa-4c3b-9d2e-1f0a2b3c4d5e</p>",
    ],
)
def test_what_repeats_the_url_makes_no_difference(echo: str) -> None:
    found = set()
    for number, name in enumerate(("blue-lamp", "green-vase.html", "old%20clock")):
        url = f"http://a.example/shop/{name}?from={number}"
        plain = name.replace("%20", " ")
        words = plain.removesuffix(".html").replace("-", " ")
        body = echo.format(url=url, path=f"/shop/{name}", name=plain, words=words, number=number)
        found.add(signs(body, url=url))
    assert len(found) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("<h1>Lamp</h1>", "Shop"), ("<h1>Vase</h1>", "Shop")),
        (("<p>Sold out</p>", "Lamp"), ("<p>Sold out</p>", "Vase")),
        (("<p>A red lamp</p>", "Shop"), ("<p>A blue vase</p>", "Shop")),
        (("<p>Sold out</p>", "Lamp 12"), ("<p>Sold out</p>", "Lamp 13")),
        (("<p>12.50 EUR</p>", "Shop"), ("<p>13.50 EUR</p>", "Shop")),
        (("<p>Since 1990</p>", "Shop"), ("<p>Since 1991</p>", "Shop")),
        (("<p>Open at 12:30:00</p>", "Shop"), ("<p>Open at 13:00:00</p>", "Shop")),
        (
            ("<p>ISBN 978-3-16-148410-0</p>", "Shop"),
            ("<p>ISBN 978-0-306-40615-7</p>", "Shop"),
        ),
        (("<p>1990年在北京</p>", "人物"), ("<p>1991年在广州</p>", "人物")),
        (("<p>เกิดปี 2500 ที่กรุงเทพ</p>", "ชีวประวัติ"), ("<p>เกิดปี 2500 ที่ลำปาง</p>", "ชีวประวัติ")),
        (("<a href=/1.pdf>A report</a>", "Files"), ("<a href=/2.pdf>A map</a>", "Files")),
    ],
)
def test_what_names_a_page_makes_a_difference(
    first: tuple[str, str], second: tuple[str, str]
) -> None:
    assert signs(*first, url="http://a.example/12") != signs(*second, url="http://a.example/13")


def test_a_heading_that_repeats_the_last_name_of_the_url_is_a_name() -> None:
    found = {
        signs(f"<h1>{name}</h1><p>No entries.</p>{FORM}", url=f"http://a.example/{name}")
        for name in ("lamps", "vases")
    }
    assert len(found) == 2


def test_every_kind_has_wordings_and_each_is_folded_as_pages_are() -> None:
    assert set(WORDINGS) == set(WallKind) - {WallKind.SHELL}
    assert kind("<h1>PAGE NOT FOUND</h1>") == WallKind.NOT_FOUND


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("next=/a/b", "/a/b"),
        ("returnUrl=https://b.example/x", "https://b.example/x"),
        ("next=http://[bad", None),
        ("target=https://exa\u2100mple.com/", None),
        ("page=/a/b", None),
    ],
)
def test_a_way_back_is_a_url_that_can_be_split(query: str, expected: str | None) -> None:
    assert returned_to(f"http://a.example/login?{query}") == expected
