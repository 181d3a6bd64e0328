from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Document, Features, Parameters, analyse, minhash, simhash, tokens
from neardup.document import signed
from neardup.errors import DocumentError, FingerprintError
from neardup.fingerprints.digest import text_digest
from neardup.fingerprints.minhash import unpacked_signature
from neardup.names import name_of
from neardup.whole import with_whole
from tests.neardup.texts import prose

DIGEST = bytes(16)


@pytest.mark.parametrize(("words", "has_fingerprint"), [(49, False), (50, True), (51, True)])
def test_a_fingerprint_begins_at_min_words(words: int, has_fingerprint: bool) -> None:
    assert (analyse(prose(1, words)).fingerprint is not None) == has_fingerprint


@pytest.mark.parametrize("text", ["", " ", "\u200b", "!?", "\0", "\ud800", "one"])
def test_short_and_odd_texts_are_analysed_without_a_fingerprint(text: str) -> None:
    document = analyse(text)
    name = name_of(text).packed()
    assert document == Document(len(tokens(text)), text_digest(text), None, text, name=name)


def test_a_page_of_symbols_alone_has_no_fingerprint_whatever_min_words_says() -> None:
    assert analyse("☃ " * 1000, Parameters(min_words=1)).fingerprint is None


def test_the_text_is_kept_as_it_came_and_stays_out_of_the_representation() -> None:
    document = analyse("  The CAT\n")
    assert document.text == "  The CAT\n"
    assert "CAT" not in repr(document)


@pytest.mark.parametrize(
    ("words", "digest", "fingerprint", "error"),
    [
        (-1, DIGEST, None, DocumentError),
        (5, b"short", None, DocumentError),
        (5, DIGEST, -1, FingerprintError),
        (5, DIGEST, 2**64, FingerprintError),
    ],
)
def test_a_document_that_cannot_be_is_refused(
    words: int, digest: bytes, fingerprint: int | None, error: type[Exception]
) -> None:
    with pytest.raises(error, match="must be"):
        Document(words, digest, fingerprint, "text")


def test_a_signature_of_another_length_is_refused() -> None:
    with pytest.raises(DocumentError, match="signature must be 256 bytes, got 4"):
        Document(60, DIGEST, 1, "text", signature=b"four")


def test_only_a_text_with_a_fingerprint_has_a_signature() -> None:
    assert analyse(prose(1, 49)).signature is None
    assert analyse(prose(1, 50)).signature is not None


@pytest.mark.parametrize("unit", ["word", "character"])
def test_a_signature_is_of_the_first_part_of_a_text(unit: str) -> None:
    text, parameters = prose(1, 80), Parameters(Features(unit=unit, size=3))
    signature = analyse(with_whole(text, prose(2, 300)), parameters).signature
    assert signature == analyse(text, parameters).signature
    assert signature is not None


@pytest.mark.parametrize("words", [10, 80])
def test_a_missing_signature_is_computed_for_what_has_a_fingerprint(words: int) -> None:
    document = analyse(with_whole(prose(1, words), "caption"))
    assert signed(replace(document, signature=None), Parameters()) == document


def expected_signature(text: str, size: int) -> list[int]:
    return [int(value) for value in minhash(text, permutations=64, shingle_size=size)]


class TestAnalyseProperties:
    @settings(deadline=None)
    @given(st.text(max_size=200), st.integers(1, 5), st.integers(1, 16))
    def test_one_pass_finds_what_each_function_finds(
        self, text: str, size: int, verify_size: int
    ) -> None:
        parameters = Parameters(Features(size=size), min_words=1, verify_shingle_size=verify_size)
        document = analyse(text, parameters)
        assert document.words == len(tokens(text))
        assert document.digest == text_digest(text)
        if document.words:
            assert document.fingerprint == simhash(text, Features(size=size))
            assert document.signature is not None
            values = unpacked_signature(document.signature)
            assert values.tolist() == expected_signature(text, verify_size)
        else:
            assert document.fingerprint is None
            assert document.signature is None
