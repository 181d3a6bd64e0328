import pytest

from neardup import payload_digest, text_digest
from neardup.fingerprints.digest import EMPTY_DIGEST


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The cat", "  the\nCAT "),
        ("café", "cafe\u0301"),
        ("", " \u200b\ufeff\n"),
        ("\ud800", "\ud800 "),
    ],
)
def test_texts_that_fold_alike_have_one_digest(first: str, second: str) -> None:
    assert text_digest(first) == text_digest(second)


@pytest.mark.parametrize(
    ("first", "second"), [("a b", "ab"), ("cat.", "cat"), ("", "\0"), ("\ud800", "\udfff")]
)
def test_texts_that_fold_apart_have_two_digests(first: str, second: str) -> None:
    assert text_digest(first) != text_digest(second)


def test_digests_are_pinned() -> None:
    assert EMPTY_DIGEST == text_digest("") == payload_digest(b"")
    assert payload_digest(b"").hex() == "99aa06d3014798d86001c324468d497f"
    assert payload_digest(b"abc").hex() == "06b05ab6733a618578af5f94892f3950"
    assert text_digest("Straße №5 — café").hex() == "7eeaa0265e8ce3ec9008a7e9f4143084"
