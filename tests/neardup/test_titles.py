"""What of a title is its page's, and what is the site's or the moment's."""

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from neardup.titles import are_other_titles, segments, words_of

OTHER = [
    ("Widget 3000 | Shop", "Widget 4000 | Shop"),
    ("Shop | Widget 3000", "Shop | Widget 4000"),
    ("Shop: Widget 3000", "Shop: Widget 4000"),
    ("Buy Widget 3000 at Shop", "Buy Widget 4000 at Shop"),
    ("Valve 1.5 l | Shop", "Valve 2.5 l | Shop"),
    ("Section 12", "Section 13"),
    ("Section 12.3 | Act 1988", "Section 12.4 | Act 1988"),
    ("Page 2 - Archive", "Page 3 - Archive"),
    ("Prices of 2024-05", "Prices of 2024-06"),
    ("Report, 5 May 2024", "Report, 6 May 2024"),
    ("John 3:16", "John 3:17"),
    ("Cream 1%", "Cream 2.5%"),
    ("Coat (red) - Shop", "Coat (blue) - Shop"),
    ("Licence for 5 users", "Licence for 10 users"),
    ("commit 3f2a9c11d0", "commit 77aa1b2c3d"),
    ("numpy.ravel \N{EM DASH} NumPy v2.0 Manual", "numpy.sort \N{EM DASH} NumPy v2.0 Manual"),
    ("MinguoDate (Java SE 17 & JDK 17)", "ThaiBuddhistDate (Java SE 17 & JDK 17)"),
    ("Widget", "Widget | Shop"),
    ("Shop | Widget 300 documentation", "Shop | Widget 400 documentation"),
    (
        "\u0e40\u0e2a\u0e37\u0e49\u0e2d | \u0e23\u0e49\u0e32\u0e19",
        "\u0e40\u0e2a\u0e37\u0e2d | \u0e23\u0e49\u0e32\u0e19",
    ),
    ("\u0930\u093e\u091c\u093e", "\u0930\u093e\u091c\u0940"),
    ("C++ | Manual", "C# | Manual"),
    ("C | Manual", "C++ | Manual"),
    ("operator== - Reference", "operator!= - Reference"),
    ("operator| - Reference", "operator|| - Reference"),
    ("operator() - Reference", "operator[] - Reference"),
    ("Blood group A+", "Blood group A-"),
    ("Blood group A", "Blood group A\N{MINUS SIGN}"),
    ("-5 \N{DEGREE SIGN}C", "+5 \N{DEGREE SIGN}C"),
    ("-5 \N{DEGREE SIGN}C", "5 \N{DEGREE SIGN}C"),
    ("Battery 1.5 V", "Battery 1-5 V"),
    ('Pipe 5"', "Pipe 5'"),
    ("\N{BLACK STAR}\N{BLACK STAR}", "\N{BLACK STAR}\N{BLACK STAR}\N{BLACK STAR}"),
    ("\N{BLACK HEART SUIT}", "\N{BLACK SPADE SUIT}"),
    ("(500) Days of Summer | Films", "(50) Days of Summer | Films"),
    ("[2023] UKSC 5", "[2022] UKSC 5"),
    ("SID 103165894 - PubChem", "SID 103165895 - PubChem"),
    ("Copyright 1976", "Copyright 1998"),
    ("Marathon 2:01:39", "Marathon 2:03:23"),
    ("Marathon | 2:01:39", "Marathon | 2:03:23"),
    ("12:04:55", "23:59:01"),
]
"""Titles that differ, with no heading to help."""

SAME = [
    ("Widget | Shop", "widget | SHOP"),
    ("Widget | Shop", "Widget - Shop"),
    ("R\u00e9sum\u00e9 | Shop", "Re\u0301sume\u0301 | Shop"),
    ("\N{LEFT DOUBLE QUOTATION MARK}Widget\N{RIGHT DOUBLE QUOTATION MARK}", "'Widget'."),
    ("Wid\N{SOFT HYPHEN}get \N{REGISTERED SIGN}", "Widget"),
    ("2004-2005", "2004\N{EN DASH}2005"),
    ("(3 new) Widget | Shop", "Widget | Shop"),
    ("Widget | 12:04:55", "Widget | 23:59:01"),
    ("Widget | 2026-11-23 12:04:55", "Widget | 2026-11-24 01:00:00"),
    ("numpy.ravel \N{EM DASH} NumPy v1.26 Manual", "numpy.ravel \N{EM DASH} NumPy v2.0 Manual"),
    ("Thread safety - Clang 14.0.6 documentation", "Thread safety - Clang 16.0.6 documentation"),
    ("Thread safety - Clang 14.0.6 documentation", "Thread safety - Clang v2 documentation"),
    ("", "Widget"),
]
"""Titles that differ in nothing that names their page."""

SAME_BELOW_ONE_HEADING = [
    ("Widget - Clang 14 documentation", "Widget - Clang 15 documentation"),
    ("3. Widget - Clang 14 documentation", "3. Widget - Clang 15 documentation"),
]
"""Titles that differ unless both pages have the heading Widget."""

OTHER_BELOW_ONE_HEADING = [
    ("Widget", "Widget | Red"),
    ("Widget | Shop", "Widget | Shop | Red"),
    ("Widget | Shop 1.9", "Widget | Shop 2.7"),
    ("Widget \N{EN DASH} 3.5 mm \N{EN DASH} Shop", "Widget \N{EN DASH} 4.5 mm \N{EN DASH} Shop"),
    ("Widget | 4.7 k\u03a9", "Widget | 2.2 k\u03a9"),
    ("Widget \N{EN DASH} \N{SECTION SIGN} 187.5", "Widget \N{EN DASH} \N{SECTION SIGN} 187.6"),
    ("Widget: 10.0.0.1", "Widget: 10.0.0.2"),
    ("Widget \N{EN DASH} 03.05.2024", "Widget \N{EN DASH} 04.05.2024"),
    ("Widget: SE 2", "Widget: SE 3"),
    ("Widget | Acme | 2024.01", "Widget | Acme | 2024.02"),
    ("Widget | SR 101.1", "Widget | SR 412.1"),
    ("Widget | Camera v2", "Widget | Camera v3"),
    ("Widget | Reference 116610.1", "Widget | Reference 116610.2"),
    ("Widget | Handbook \N{SECTION SIGN} 187.5", "Widget | Handbook \N{SECTION SIGN} 187.6"),
    ("Widget | Probe 3.5 mm manual", "Widget | Probe 4.5 mm manual"),
    ("(50) Films by Widget", "(51) Films by Widget"),
]
"""Titles that differ although both pages have the heading Widget."""

TITLES = st.lists(
    st.sampled_from(["Widget", "Widget 3000", "Shop 1.9", "Shop v2 Manual", "12:04:55"]),
    max_size=3,
).map(" | ".join)


CHARACTERS = [
    *"aAbzZ019 ",
    *"+%&*=!@<>?$^\\",
    *"\u00df\u00e9\u03a9\u0130\u4e2d\u3042\ud55c",
    *"\u0e40\u0e2a\u0e37\u0e49\u0e2d\u0930\u093e\u091c\u0940\u0301\u0308\u05b0\u064b",
    *"\u2605\u2665\u2660\u00b0\u20ac\u00a7\u2020\u2264\U0001f600\U0001f1e9",
]
"""Letters, digits, combining marks and symbols of several scripts."""


def as_read(text: str) -> str:
    """What of such a text a reader tells from another one, case and white space aside."""
    return unicodedata.normalize("NFC", "".join(text.casefold().split()))


@pytest.mark.parametrize(("first", "second"), OTHER)
def test_titles_of_other_pages(first: str, second: str) -> None:
    assert are_other_titles(first, second)
    assert are_other_titles(second, first)


@pytest.mark.parametrize(("first", "second"), SAME)
def test_titles_of_one_page(first: str, second: str) -> None:
    assert not are_other_titles(first, second)
    assert not are_other_titles(second, first)


@pytest.mark.parametrize(("first", "second"), SAME_BELOW_ONE_HEADING)
def test_a_common_heading_tells_the_name_from_the_site(first: str, second: str) -> None:
    assert are_other_titles(first, second)
    assert not are_other_titles(first, second, ("widget",))
    assert are_other_titles(first, second, ("gadget",))


@pytest.mark.parametrize(("first", "second"), OTHER_BELOW_ONE_HEADING)
def test_a_common_heading_hides_no_difference(first: str, second: str) -> None:
    for heading in ("widget",), ("widget", "and", "more"), ("shop",):
        assert are_other_titles(first, second, heading)
        assert are_other_titles(second, first, heading)


@pytest.mark.parametrize(("first", "second"), OTHER[:7])
def test_a_heading_that_is_the_sites_name_hides_no_number(first: str, second: str) -> None:
    assert are_other_titles(first, second, ("shop",))


def test_the_segments_of_a_title() -> None:
    found = segments("(2 new) MinguoDate (Java SE 17) | Docs » 12:00:01")
    assert [part.words for part in found] == [("minguodate",), ("java", "se", "17"), ("docs",)]


@pytest.mark.parametrize(
    "part", [" ", " (", "|-", "sid", ".1", " - ", "(3) ", "\N{COPYRIGHT SIGN} 1"]
)
def test_a_title_of_any_length_is_read_to_its_end(part: str) -> None:
    # What begins anew at each place of such a title takes an hour for it.
    title = f"Widget 1{part * 100_000}x"
    assert are_other_titles(title, f"{title} Widget")


class TestTitleProperties:
    @given(TITLES | st.text(), TITLES | st.text(), st.lists(st.sampled_from(["widget", "shop"])))
    def test_the_order_of_two_titles_does_not_matter(
        self, first: str, second: str, heading: list[str]
    ) -> None:
        words = tuple(heading)
        assert are_other_titles(first, second, words) == are_other_titles(second, first, words)

    @given(st.lists(st.sampled_from(CHARACTERS), min_size=1, max_size=12), st.data())
    def test_another_letter_mark_or_sign_is_another_name(
        self, characters: list[str], data: st.DataObject
    ) -> None:
        place = data.draw(st.integers(0, len(characters) - 1))
        other = data.draw(st.sampled_from([*CHARACTERS, ""]))
        first = "".join(characters)
        second = "".join([*characters[:place], other, *characters[place + 1 :]])
        assume(as_read(first) != as_read(second))
        assert words_of(first) != words_of(second)
        for site in ("", " | Shop", " - The Act 1988"):
            is_other = are_other_titles(f"{first}{site}", f"{second}{site}")
            assert is_other or not (as_read(first) and as_read(second))

    @given(st.from_regex(r"[a-z]{1,8}( [a-z]{1,8}){0,3}", fullmatch=True), st.data())
    def test_another_number_in_a_name_is_another_name(self, name: str, data: st.DataObject) -> None:
        first, second = data.draw(
            st.lists(st.integers(0, 99_999), min_size=2, max_size=2, unique=True)
        )
        for site in ("", " | Shop", " - The Act 1988", " (2nd edition)"):
            assert are_other_titles(f"{name} {first}{site}", f"{name} {second}{site}")
