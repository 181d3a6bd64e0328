from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from crawler.mirror.documents.linked_document import Addresses, as_ascii, is_local
from crawler.reading.link_extraction import resolve

_BASES = st.builds(
    "{}{}{}".format,
    st.sampled_from(["http://h.example", "HTTPS://h.example:8/", "http://h.example/"]),
    st.text(alphabet="ab./~ ;", max_size=12),
    st.sampled_from(["", "?q/r", "#f/g"]),
)


class TestAddressesProperties:
    @given(_BASES, st.text(alphabet="ab./?#:;~\\ -", max_size=12))
    @example("http://h.example/a b/c", "d")
    @example("http://h.example/a/", "../../../b")
    @example("http://h.example/a//b/c", "../d")
    def test_urls_are_those_that_reading_finds(self, base: str, written: str) -> None:
        try:
            expected = resolve(base, written.partition("#")[0])
        except ValueError:
            expected = None
        found, fragment = Addresses(base, "utf-8").resolve(written)
        assert found == (None if expected is None else expected.partition("#")[0])
        assert fragment == written.partition("#")[2].rstrip()


def test_what_nobody_would_ask_for_has_no_url() -> None:
    assert Addresses("http://h.example/", "utf-8").resolve("x" * 9000) == (None, "")
    long = Addresses("http://h.example/" + "x" * 8000 + "/", "utf-8")
    urls = [long.resolve(f"?{number}")[0] for number in range(10_000)]
    assert urls[0] is not None
    assert urls[-1] is None


def test_addresses_are_told_apart_and_written_in_ascii() -> None:
    assert [is_local(each) for each in ("a/b", "//h/a", "http://h/a", "a?b:c", "#a")] == [
        True,
        False,
        False,
        True,
        True,
    ]
    assert as_ascii("http://h/ä b?c=%41#d") == "http://h/%C3%A4%20b?c=%41#d"
