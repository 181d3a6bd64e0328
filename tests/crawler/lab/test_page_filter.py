"""Pages are found by words of their URLs and titles."""

import pytest

from crawler.lab.near_pairs import ListFilter

URL, TITLE = "https://shop.example/Shoes?id=7", "Red Shoe, STRASSE"


@pytest.mark.parametrize(
    ("written", "is_taken"),
    [
        ("", True),
        ("shoes", True),
        ("SHOES red", True),
        ("red id=7", True),
        ("straße", True),
        ("blue", False),
        ("red blue", False),
        ("7red", False),
        (None, True),
    ],
)
def test_all_words_must_stand_in_the_url_or_the_title(written: str | None, is_taken: bool) -> None:
    assert ListFilter.of(written).takes(URL, TITLE) is is_taken


def test_a_page_without_a_title_is_found_by_its_url() -> None:
    assert ListFilter.of("example").takes(URL, None)
    assert not ListFilter.of("none").takes(URL, None)
