"""Which languages documents declare or tell, and which of them a wanted one is."""

from __future__ import annotations

import pytest

from neardup import languages
from neardup.languages import declared_or_told, is_of_language, language_tag


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


ENGLISH = "The keeper writes into the book when the lamp was lit and when the fog came in."
GERMAN = "Der Wärter schreibt in das Buch, wann die Lampe brannte und wann der Nebel kam."


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ("fr", ENGLISH, "fr"),
        ("und, de", ENGLISH, "und, de"),
        (None, ENGLISH, "en"),
        ("", GERMAN, "de"),
        ("english", GERMAN, "de"),
        (None, f"{ENGLISH * 40} {GERMAN * 200}", "en"),
        (None, "", None),
        (None, "404", None),
        (None, "Home | About | Contact", None),
        (None, "int main(void) { return 0; }", None),
    ],
)
def test_a_text_tells_its_language_where_none_is_declared(
    declared: str | None, text: str, expected: str | None
) -> None:
    assert declared_or_told(declared, text) == expected


def test_no_text_tells_a_language_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "TELLS_TEXTS", False)
    assert declared_or_told(None, ENGLISH) is None
    assert declared_or_told("de", ENGLISH) == "de"
