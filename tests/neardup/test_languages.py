"""Which languages documents declare or tell, and which of them a wanted one is."""

from __future__ import annotations

import pytest

from neardup import languages
from neardup.errors import ParameterError
from neardup.languages import declared_or_told, is_of_language, language_codes, language_tag


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
    assert is_of_language(language, [wanted]) is expected


def test_one_of_several_languages_is_a_wanted_one() -> None:
    assert is_of_language("und, de-AT", ["en", "de"])
    assert not is_of_language("fr, de", ["en", "pt"])
    assert not is_of_language("de", [])


def test_codes_are_parted_by_commas() -> None:
    assert language_codes(None) == ()
    assert language_codes("en,pt-BR, ger") == ("en", "pt-BR", " ger")


@pytest.mark.parametrize("written", ["", "en,", "english", "en;de", "*"])
def test_what_is_no_code_is_refused(written: str) -> None:
    with pytest.raises(ParameterError, match=r"languages are codes such as en, pt-BR or en,de"):
        language_codes(written)


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
        (None, " ".join(f"{number * 7919 % 65536:04x}" for number in range(80)), None),
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
