from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.mirror.documents.tags import (
    DOUBLE,
    SINGLE,
    UNQUOTED,
    escape,
    read_attributes,
    read_value,
)


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("href=x", {"href": "x"}),
        ("HREF = 'x y'", {"href": "x y"}),
        ('href\n=\t"x"', {"href": "x"}),
        ("href", {"href": ""}),
        ("href=", {"href": ""}),
        ("href=a/", {"href": "a/"}),
        ("/href=x/", {"href": "x/"}),
        ("href=one href=two", {"href": "one"}),
        ("a=\"1\"b='2'c", {"a": "1", "b": "2", "c": ""}),
        ("='x' y", {"='x'": "", "y": ""}),
        ("href==x", {"href": "=x"}),
        ("a\"b'c=d", {"a\"b'c": "d"}),
        ("a=b\"c'd", {"a": "b\"c'd"}),
        ("a = b / c", {"a": "b", "c": ""}),
    ],
)
def test_attributes_are_cut_as_browsers_cut_them(tag: str, expected: dict[str, str]) -> None:
    text = tag.encode()
    found = read_attributes(text, 0, len(text))
    values = {name.decode(): text[each.start : each.end].decode() for name, each in found.items()}
    assert values == expected
    assert all(text[a.name_start : a.name_end].lower() == name for name, a in found.items())


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("a?b=1&amp;c=2", "a?b=1&c=2"),
        ("a?b=1&copy=2", "a?b=1&copy=2"),
        ("a?b=1&copy;=2", "a?b=1©=2"),
        ("&copy", "©"),
        ("&copy2", "&copy2"),
        ("&notit;", "&notit;"),
        ("&notin;", "∉"),
        ("&unknown;", "&unknown;"),
        ("&#38;&#x26;&#X26", "&&&"),
        ("&#0;&#xD800;&#x110000;&#99999999999;", "\ufffd" * 4),
        ("&#128;", "€"),
        ("&#x81;", "\x81"),
        ("&;&#;&#x;&", "&;&#;&#x;&"),
        ("&amp&amp=1", "&&amp=1"),
    ],
)
def test_references_are_read_as_in_attributes(written: str, value: str) -> None:
    assert read_value(written.encode(), "utf-8").text.decode() == value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("caf&eacute;", "caf%C3%A9"),
        ("a?&eacute;", "a?%26%23233%3B"),
        ("a?b&amp;&eacute;&eacute;", "a?b&%26%23233%3B%26%23233%3B"),
        ("caf&eacute;?&eacute;", "caf%C3%A9?%26%23233%3B"),
        ("a?&eacute; 1x, b&eacute; 2x", "a?%26%23233%3B 1x, b%C3%A9 2x"),
        ("a?&#26085;", "a?日"),
    ],
)
def test_character_that_the_encoding_lacks_is_read_as_browsers_send_it(
    written: str, value: str
) -> None:
    assert read_value(written.encode(), "cp932").text.decode("cp932") == value


class TestValueProperties:
    @given(st.text(alphabet="ab&;=#x1 \"'<>`ampcopy"))
    def test_what_is_escaped_reads_as_it_was(self, value: str) -> None:
        for quotes in (DOUBLE, SINGLE, UNQUOTED):
            written = escape(value, quotes)
            assert read_value(written, "utf-8").text.decode() == value
            marks = {DOUBLE: b'"', SINGLE: b"'", UNQUOTED: b" >\"'"}[quotes]
            assert not set(marks) & set(written)

    @given(st.lists(st.sampled_from(["&amp;", "&#65;", "a", "b", "&quot;", "&", "&copy;"])))
    def test_places_lead_back_to_what_was_written(self, parts: list[str]) -> None:
        written = "".join(parts).encode()
        value = read_value(written, "utf-8")
        if "&&" in "".join(parts) or html.unescape(written.decode()).encode() != value.text:
            return
        for at, part in enumerate(parts):
            read = html.unescape(part).encode()
            start = len(b"".join(html.unescape(each).encode() for each in parts[:at]))
            assert value.text[start : start + len(read)] == read
            assert value.place(start) == len("".join(parts[:at]))
        assert value.place(len(value.text)) == len(written)
