"""What an address keeps of a canonical URL, and what it takes for the same."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crawler.url_rules.learning.address import Address
from crawler.urls.canonical import Canonicalizer, MalformedUrl
from tests.crawler.urls import strategies as urls

CANONICAL = Canonicalizer()


def canonical(url: str) -> str:
    with suppress(MalformedUrl):
        return CANONICAL(url)
    assume(False)
    raise AssertionError


canonical_urls = st.builds(
    canonical,
    urls.texts
    | st.builds(
        "http://h.org/{}?{}".format,
        st.text("ab/.%;=", max_size=5),
        st.text("ab=&;/?+%41", max_size=8),
    ),
)


class TestParse:
    @pytest.mark.parametrize(
        ("url", "segments", "arguments"),
        [
            ("http://h.org/", ("",), ()),
            ("http://h.org/a", ("a",), ()),
            ("http://h.org/a/", ("a", ""), ()),
            ("http://h.org/a//b", ("a", "", "b"), ()),
            ("http://h.org/a?b", ("a",), (("b", None),)),
            ("http://h.org/a?b=", ("a",), (("b", ""),)),
            ("http://h.org/a?b=c=d&b=", ("a",), (("b", "c=d"), ("b", ""))),
            ("http://h.org/a?b=/c?d", ("a",), (("b", "/c?d"),)),
            ("http://h.org/a?p=x;a=y;h", ("a",), (("p", "x"), ("a", "y"), ("h", None))),
            ("http://h.org/a?q=x;;y", ("a",), (("q", "x;;y"),)),
            ("http://h.org/a?=x;a=y", ("a",), (("", "x;a=y"),)),
            ("http://h.org/a/5;v=x/b", ("a", "5;v=", "b"), ((";v", "x"),)),
            (
                "http://h.org/5;a=1;b;c=2?c=3",
                ("5;a=;b;c=",),
                ((";a", "1"), (";c", "2"), ("c", "3")),
            ),
            ("http://h.org/;=?;", (";=",), ((";", None),)),
            ("http://h.org/5;v?;v=x", ("5;v",), ((";v", "x"),)),
        ],
    )
    def test_takes_it_apart(
        self,
        url: str,
        segments: tuple[str, ...],
        arguments: tuple[tuple[str, str | None], ...],
    ) -> None:
        assert Address.parse(url) == ("http", "h.org", segments, arguments)

    @pytest.mark.parametrize(
        ("url", "host", "name"),
        [
            ("http://h.org:8080/", "h.org:8080", "h.org"),
            ("http://h.org/:80", "h.org", "h.org"),
            ("https://[::1]:81/", "[::1]:81", "::1"),
            ("https://[::1]/", "[::1]", "::1"),
        ],
    )
    def test_the_port_belongs_to_the_host(self, url: str, host: str, name: str) -> None:
        address = Address.parse(url)
        assert (address.host, address.hostname) == (host, name)

    def test_twelve_of_each_are_learnable(self) -> None:
        assert Address.parse("http://h/" + "/".join("a" * 12)).is_learnable
        assert not Address.parse("http://h/" + "/".join("a" * 13)).is_learnable
        assert Address.parse("http://h/?" + "&".join("a" * 12)).is_learnable
        assert not Address.parse("http://h/?" + "&".join("a" * 13)).is_learnable


def test_what_is_asked_of_an_address_is_computed_once() -> None:
    address = Address.parse("http://h.org:8080/a/b?c=d&e=f")
    for name in ("digest", "hostname", "names", "path", "text"):
        assert getattr(address, name) is getattr(address, name)
    other = address._replace(segments=("x",))
    assert (other.path, other.text) == ("/x", "x\nc\td\ne\tf")
    assert other.digest != address.digest


class TestAddressProperties:
    @given(canonical_urls)
    def test_nothing_is_lost_but_which_separator_it_was(self, url: str) -> None:
        query = url.partition("?")[2]
        written = str(Address.parse(url))
        assert written.replace(";", "&") == url.replace(";", "&")
        if ";" not in query:
            assert written == url

    @given(canonical_urls, canonical_urls)
    def test_two_urls_have_one_digest_where_they_have_the_same_parts(
        self, one: str, other: str
    ) -> None:
        addresses = Address.parse(one), Address.parse(other)
        assert (addresses[0].digest == addresses[1].digest) is (addresses[0] == addresses[1])

    @given(canonical_urls)
    def test_its_values_are_those_of_its_names(self, url: str) -> None:
        address = Address.parse(url)
        found = {name: address.values(name) for name in address.names}
        assert sum(map(len, found.values())) == len(address.arguments)
        assert all((n, v) in address.arguments for n, values in found.items() for v in values)
