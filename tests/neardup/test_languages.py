"""Which declared languages a wanted one is."""

from __future__ import annotations

import pytest

from neardup.languages import is_of_language, language_tag


@pytest.mark.parametrize(
    ("language", "wanted", "expected"),
    [
        ("en", "en", True),
        ("en-GB", "en", True),
        ("en_US", "EN", True),
        ("eng", "en", True),
        ("eng_Latn", "en", True),
        ("ger", "de", True),
        ("de", "deu", True),
        ("gsw", "gsw", True),
        ("pt", "pt-BR", False),
        ("pt-PT", "pt-BR", False),
        ("pt-BR", "pt-BR", True),
        ("ens", "en", False),
        ("fr", "en", False),
        (None, "en", False),
        ("", "en", False),
    ],
)
def test_a_language_is_a_wanted_one(language: str | None, wanted: str, *, expected: bool) -> None:
    assert is_of_language(language, wanted) is expected


@pytest.mark.parametrize("language", [None, "", "und", "mul", "english", "e", "en,de", "*", "x-no"])
def test_what_names_no_language_is_none(language: str | None) -> None:
    assert language_tag(language) is None
