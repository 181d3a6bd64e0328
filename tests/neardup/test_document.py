import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Document, Features, Parameters, analyse, simhash, tokens
from neardup.errors import DocumentError, FingerprintError
from neardup.fingerprints.digest import text_digest
from tests.neardup.texts import prose

DIGEST = bytes(16)


@pytest.mark.parametrize(("words", "has_fingerprint"), [(49, False), (50, True), (51, True)])
def test_a_fingerprint_begins_at_min_words(words: int, has_fingerprint: bool) -> None:
    assert (analyse(prose(1, words)).fingerprint is not None) == has_fingerprint


@pytest.mark.parametrize("text", ["", " ", "\u200b", "!?", "\0", "\ud800", "one"])
def test_short_and_odd_texts_are_analysed_without_a_fingerprint(text: str) -> None:
    document = analyse(text)
    assert document == Document(len(tokens(text)), text_digest(text), None, text)


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


class TestAnalyseProperties:
    @settings(deadline=None)
    @given(st.text(max_size=200), st.integers(1, 5))
    def test_one_pass_finds_what_each_function_finds(self, text: str, size: int) -> None:
        document = analyse(text, Parameters(Features(size=size), min_words=1))
        assert document.words == len(tokens(text))
        assert document.digest == text_digest(text)
        if document.words:
            assert document.fingerprint == simhash(text, Features(size=size))
        else:
            assert document.fingerprint is None
