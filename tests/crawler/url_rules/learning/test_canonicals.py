"""When the rel=canonical of a host is not to be trusted."""

from __future__ import annotations

from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.canonicals import (
    _MAX_COUNTED,
    _MAX_NAMED,
    MIN_WRONG,
    Canonicals,
    Declaration,
    UntrustedHost,
)

HOME = "http://a.test/"


def said(text: int, named: str, *, its_text: bool | None = None) -> Declaration:
    page = Address.parse(f"http://a.test/p/{text}")
    return Declaration(page, Address.parse(named), text, its_text)


def test_pages_of_many_texts_that_name_a_page_of_another_are_not_true() -> None:
    canonicals = Canonicals()
    for text in range(1, MIN_WRONG):
        assert canonicals.note(said(text, HOME, its_text=False)) is None
    found = canonicals.note(said(MIN_WRONG, HOME, its_text=False))
    assert found == UntrustedHost("a.test", MIN_WRONG, f"http://a.test/p/{MIN_WRONG}", HOME, True)


def test_a_page_that_is_never_fetched_has_no_more_than_one_text() -> None:
    canonicals = Canonicals()
    assert [canonicals.note(said(text, HOME)) for text in range(MIN_WRONG)] == [None] * MIN_WRONG
    assert canonicals.note(said(MIN_WRONG, HOME)) is not None


def test_pages_that_name_each_other_are_told_with_an_example() -> None:
    canonicals, found = Canonicals(), None
    for text in range(MIN_WRONG):
        found = canonicals.note(said(text, f"http://a.test/p/{text ^ 1}", its_text=False))
    assert found == UntrustedHost(
        "a.test", MIN_WRONG, "http://a.test/p/4", "http://a.test/p/5", False
    )


def test_a_text_counts_once_whatever_the_number_of_its_urls() -> None:
    canonicals = Canonicals()
    for _ in range(50):
        assert canonicals.note(said(1, HOME, its_text=False)) is None


def test_a_few_wrong_names_among_more_true_ones_are_forgiven() -> None:
    canonicals = Canonicals()
    for text in range(3 * MIN_WRONG):
        is_wrong = text % 3 == 2
        named = f"http://a.test/p/{0 if is_wrong else text}"
        assert canonicals.note(said(text, named, its_text=not is_wrong)) is None


def test_memory_is_bounded() -> None:
    canonicals = Canonicals()
    for text in range(5_000):
        canonicals.note(said(text, f"http://a.test/{text}", its_text=None))
        canonicals.note(said(text, f"http://a.test/{text}", its_text=True))
    assert len(canonicals._texts) == _MAX_NAMED
    assert len(canonicals._counted) == _MAX_COUNTED
