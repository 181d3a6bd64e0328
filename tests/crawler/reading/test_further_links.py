from __future__ import annotations

import json
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.further_links import MAX_GUESSES, further_links
from crawler.reading.html_parsing import parse
from crawler.reading.link_kinds import NAMES
from crawler.reading.page_elements import collect


def found(body: str, *kinds: str) -> dict[str, str]:
    utf8 = body.encode()
    return further_links(collect(parse(utf8)), utf8, kinds or NAMES)


def scripted(code: str) -> list[str]:
    return list(found(f"<script>{code}</script>", "script"))


@pytest.mark.parametrize(
    ("code", "addresses"),
    [
        ('go("/a/b")', ["/a/b"]),
        ("go('./a')", ["./a"]),
        ("go(`../a`)", ["../a"]),
        ('go("?page=2")', ["?page=2"]),
        ('go("https://host.example/x")', ["https://host.example/x"]),
        ('go("//host.example/x")', ["//host.example/x"]),
        ('go("list.html#top")', ["list.html#top"]),
        ('go("\\/a\\/b")', ["/a/b"]),
        ('go("\\u002Fa")', ["/a"]),
        ('go("/a\\x26b")', ["/a&b"]),
        ('x = "it\\"s"; go("/a")', ["/a"]),
        ('go("/")', []),
        ('go("//")', []),
        ('go("a b/c")', []),
        ('go("text/html")', []),
        ('go("application/json")', []),
        ('go("/app.js")', []),
        ('go("/style.css?v=2")', []),
        ('go("/<b>")', []),
        ("go(`/users/${id}`)", []),
        ('go("/users/{id}")', []),
        ('re = "/^[a-z]+$/"', []),
        ("// it's /not/quoted", []),
    ],
)
def test_addresses_in_scripts(code: str, addresses: list[str]) -> None:
    assert scripted(code) == addresses


@given(st.text(alphabet="\"'`\\/a.{}$<>u0x \n", max_size=60))
def test_any_script_can_be_read(code: str) -> None:
    for address in scripted(code.replace("<", "")):
        assert address.strip()


def test_json_is_read_as_what_it_says() -> None:
    addresses = ["/a/ä", "/b?c=d&e=f", "https://host.example/g"]
    data = json.dumps({"pages": addresses})
    assert list(found(f'<script type="application/json">{data}</script>', "script")) == addresses


@pytest.mark.parametrize(
    ("handler", "value", "kind"),
    [
        ("location = this.value", "a/b", "anchor"),
        ("window.open(this.options[this.selectedIndex].value)", "a.html", "anchor"),
        ("MM_jumpMenu('parent', this, 0)", "?page=2", "anchor"),
        ("location = this.value", "12", None),
        ("location = this.value", "either / or", None),
        ("location.hash = this.value", "a/b", None),
        ("location = '/at?zone=' + this.value", "Europe/London", None),
        ("this.form.submit()", "Europe/London", None),
        ("this.form.submit()", "12", None),
        ("go(this)", "/a/b", "script"),
        ("go(this)", "/style.css", None),
    ],
)
def test_options_that_are_urls_are_links(handler: str, value: str, kind: str | None) -> None:
    menu = f'<select onchange="{escape(handler)}"><option value="{value}">on</option></select>'
    assert found(menu).get(value) == kind


def test_a_form_is_sent_as_it_is() -> None:
    form = (
        '<form action="/list?old=1"><input type="hidden" name="a" value="1 2">'
        '<input type="checkbox" name="b" checked><input type="checkbox" name="c">'
        '<select name="d"><option value="x">X<option value="y" selected>Y</select>'
        '<select name="e"><option>first</select><button formaction="/other">go</button></form>'
    )
    query = "a=1+2&b=on&d=y&e=first"
    assert found(form, "form") == {f"/list?{query}": "form", f"/other?{query}": "form"}


def test_a_form_with_a_field_to_write_in_is_of_another_kind() -> None:
    form = '<form action="/find"><input name="q"></form>'
    assert found(form, "form") == {}
    assert found(form, "open-form") == {"/find": "open-form"}


def test_a_form_that_is_posted_leads_nowhere() -> None:
    assert found('<form method="POST" action="/buy"><input type="submit"></form>') == {}
    posted = '<form method="post" action="/buy"><button formmethod="get" formaction="/see"></form>'
    assert found(posted, "form") == {"/see": "form"}


def test_references_of_one_page_are_bounded() -> None:
    links = "".join(f'<i data-url="/{number}"></i>' for number in range(2 * MAX_GUESSES))
    assert len(found(links, "data")) == MAX_GUESSES


def test_links_to_pages_are_not_bounded_by_guesses() -> None:
    script = (
        "<script>" + "".join(f"'/s/{number}'" for number in range(2 * MAX_GUESSES)) + "</script>"
    )
    anchors = "".join(f"&lt;a href=/p/{number}&gt;x&lt;/a&gt;" for number in range(2 * MAX_GUESSES))
    kinds = list(found(f"{script}<iframe srcdoc='{anchors}'></iframe>").values())
    assert kinds.count("frame") == 2 * MAX_GUESSES


def test_a_document_within_asks_not_to_follow() -> None:
    inner = "<a href=/a rel=NoFollow>a</a><link rel=stylesheet href=/b><form action=/c method=post>"
    assert found(f'<iframe srcdoc="{escape(inner)}"></iframe>') == {}


def test_capital_letters_make_no_difference() -> None:
    assert found('<BLOCKQUOTE CITE="/a">x</BLOCKQUOTE>') == {"/a": "citation"}


def test_values_that_are_no_addresses_are_left_out() -> None:
    page = '<i data-action="open menu" data-link="true" data-url="12" data-href="{{url}}"></i>'
    assert found(page, "data") == {}


def test_comments_may_hold_anything() -> None:
    page = "<!-- <a href=/a>x</a> --><!-- /b and b/c.html -->x<!----><!-- <<< -->"
    assert found(page, "comment") == {"/a": "comment", "/b": "comment", "b/c.html": "comment"}


def test_kinds_that_are_not_wanted_are_not_read() -> None:
    page = "<frame srcdoc='<a href=/a>'><form action=/b></form><script>'/c'</script><embed src=/d>"
    assert found(page, "citation") == {}


@pytest.mark.parametrize(
    "body",
    [
        '<frameset><frame srcdoc="&lt;a href=/a&gt;"></frameset>',
        "<script>" + '"/\\' * 200_000 + "</script>",
        "<script>" + "\"/a'/b" * 100_000 + "</script>",
        "<!--" * 200_000,
        "<form>"
        + "<button formaction=/a>" * 800
        + f"<input type=hidden name=a value={'b' * 500_000}>",
    ],
)
def test_hostile_pages_take_little(body: str) -> None:
    assert len(found(body)) <= MAX_GUESSES


def test_texts_within_texts_are_read() -> None:
    assert scripted('f("{\\"u\\":\\"/blog/x\\"}")') == ["/blog/x"]
