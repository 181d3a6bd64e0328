"""Where the text of a page is: with it, beside it, or with a page that says the same."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import zstandard

from crawler.pages.page_context import Fetched, blank_row
from crawler.pages.page_store import PageStore
from crawler.pages.stored_texts import find_text, text_of_page
from crawler.reading.content.content_xml import StoredText
from crawler.storage.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator

DIGEST = b"d" * 16


class Pages:
    """Pages that say the same, with texts that tell where they were found."""

    def __init__(self, database: Database) -> None:
        self.store = PageStore(database)
        self.read = database.read

    def add(
        self,
        text: str | None = None,
        near: str | None = None,
        *,
        words: int = 7,
        original: int | None = None,
        digest: bytes | None = DIGEST,
    ) -> int:
        number = self.store.new_id()
        fetched = Fetched("http://h/", "http://h/", bytes([number]) * 16, 1, 200, b"")
        row = replace(
            blank_row(number, fetched, 1),
            text_digest=digest,
            words=words,
            duplicate_of=original,
            text=None if text is None else zstandard.compress(text.encode()),
            content=None if text is None else f"content of {text}".encode(),
            page_type="article",
            content_source="ours",
        )
        self.store.insert(row)
        if near is not None:
            self.store.keep_near_text(
                number, StoredText(zstandard.compress(near.encode()), f"content of {near}".encode())
            )
        return number

    def found(self, number: int) -> tuple[tuple[int, int] | None, str | None]:
        row = self.store.get(number)
        assert row is not None
        held = find_text(self.read, number, row.text_digest, row.words)
        if held is None:
            assert text_of_page(self.read, number) is None
            return None, None
        assert text_of_page(self.read, number) == held.stored
        text = zstandard.decompress(held.stored.text).decode()
        assert held.stored[1:] == (f"content of {text}".encode(), "article", "ours")
        return (held.page, held.is_near), text


@pytest.fixture
def pages() -> Iterator[Pages]:
    with closing(Database(None)) as database:
        yield Pages(database)


def test_own_text_comes_first(pages: Pages) -> None:
    pages.add("of an equal page")
    own = pages.add("its own", "beside it")
    assert pages.found(own) == ((own, 0), "its own")


def test_text_beside_a_duplicate_comes_before_those_of_others(pages: Pages) -> None:
    pages.add("of an equal page")
    own = pages.add(near="beside it", original=1)
    assert pages.found(own) == ((own, 1), "beside it")


def test_first_equal_page_has_the_text(pages: Pages) -> None:
    pages.add(near="beside a duplicate", original=9)
    first, _ = pages.add("of an equal page"), pages.add("of another equal page")
    assert pages.found(pages.add(original=first)) == ((first, 0), "of an equal page")


def test_text_beside_an_equal_duplicate_is_the_last_resort(pages: Pages) -> None:
    near = pages.add(near="beside a duplicate", original=9)
    assert pages.found(pages.add(original=9)) == ((near, 1), "beside a duplicate")


def test_page_with_another_number_of_words_is_not_equal(pages: Pages) -> None:
    pages.add("of another main text", words=8)
    assert pages.found(pages.add()) == (None, None)


def test_page_without_a_text_equals_no_other(pages: Pages) -> None:
    pages.add("a text without a digest", digest=None)
    assert pages.found(pages.add(digest=None)) == (None, None)


def test_page_that_is_not_stored_has_no_text(pages: Pages) -> None:
    assert text_of_page(pages.read, 5) is None
