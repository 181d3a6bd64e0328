"""What tells translations apart in their URLs."""

from __future__ import annotations

import pytest

from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.transforms import (
    DropArguments,
    ReplaceHost,
    ReplaceSegments,
    ReplaceValues,
    Transform,
)
from crawler.url_rules.learning.versions import (
    MIN_TEXTS,
    Versions,
    difference,
    language_of,
    one_of_each,
)


def address(target: str) -> Address:
    return Address.parse(f"http://{target}")


@pytest.mark.parametrize(
    ("hreflang", "language"),
    [
        ("en", "en"),
        ("en-GB", "en"),
        ("pt_BR", "pt"),
        ("zh-Hant-TW", "zh-hant"),
        ("es-419", "es"),
        ("x-default", ""),
    ],
)
def test_regions_are_of_one_language(hreflang: str, language: str) -> None:
    assert language_of(hreflang) == language


def test_one_url_of_each_language_is_taken_in_turn() -> None:
    alternates = [("x-default", "/"), ("en-US", "/us"), ("en-GB", "/gb"), ("de", "/de")]
    assert one_of_each(alternates, 3, 0) == ["/us", "/de"]
    assert one_of_each(alternates, 3, 1) == ["/de", "/us"]
    assert one_of_each(alternates, 1, 3) == ["/de"]
    assert one_of_each([("x-default", "/")], 3, 7) == []


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("a.test/en/x", "a.test/de/x", ReplaceSegments(False, 0, ("en",), ("de",))),
        ("a.test/x", "a.test/de/x", ReplaceSegments(False, 0, ("de",), ())),
        ("a.test/x/de", "a.test/x", ReplaceSegments(False, 1, ("de",), ())),
        ("a.test/x?l=en", "a.test/x?l=de", ReplaceValues("l", ("en",), ("de",))),
        ("a.test/x", "a.test/x?l=de", ReplaceValues("l", (), ("de",))),
        ("a.test/x", "de.a.test/x", ReplaceHost("http", "a.test", "http", "de.a.test")),
        ("a.test/x", "a.test/x", None),
        ("a.test/en/about", "a.test/de/ueber", None),
        ("a.test/x?l=en&sid=1", "a.test/x?l=de&sid=2", None),
        ("a.test/x?sid=1", "a.test/de/x", None),
        ("a.test/x", "de.a.test/y", None),
    ],
)
def test_only_one_difference_tells(one: str, other: str, found: Transform | None) -> None:
    assert difference(address(one), address(other)) == found


@pytest.mark.parametrize(
    ("one", "other", "hopeless", "possible"),
    [
        (
            "a.test/x?l=en",
            "a.test/x?l=de",
            [DropArguments(("l",)), ReplaceValues("l", ("fr",), ("it",))],
            [DropArguments(("sid",)), ReplaceSegments(False, 0, ("print",), ("x",))],
        ),
        (
            "a.test/en/x",
            "a.test/de/x",
            [ReplaceSegments(False, 0, ("fr",), ("it",))],
            [DropArguments(("l",)), ReplaceSegments(False, 1, ("x",), ("y",))],
        ),
        (
            "a.test/x",
            "de.a.test/x",
            [ReplaceHost("http", "de.a.test", "http", "a.test")],
            [ReplaceHost("http", "a.test", "http", "www.a.test")],
        ),
    ],
)
def test_rules_that_would_fold_languages_have_no_hope(
    one: str, other: str, hopeless: list[Transform], possible: list[Transform]
) -> None:
    found, versions = difference(address(one), address(other)), Versions()
    assert found is not None
    for text in range(MIN_TEXTS):
        assert not any(map(versions.choose, hopeless))
        assert versions.note_translations(found, text) == (text == MIN_TEXTS - 1)
    assert all(map(versions.choose, hopeless))
    assert not any(map(versions.choose, possible))
