"""The item of a captured page, whose text is made of its content when it is asked for."""

from __future__ import annotations

import pickle
from dataclasses import asdict, replace

import pytest
from itemadapter import ItemAdapter

from crawler.pages.items import Page, page_of_capture
from crawler.pages.page_context import Captured, Fetched, blank_row
from crawler.reading.content.content_xml import (
    ContentError,
    compress,
    pack_content,
    pack_lines,
    unpack_content,
)

URL = "http://host.example/"


def captured(content: bytes | None) -> Captured:
    row = blank_row(1, Fetched(URL, URL, bytes(16), 0, 200, b""), 1)
    row.content = content
    return Captured(row, "new")


def test_the_text_of_an_item_is_that_of_its_content_in_each_form() -> None:
    capture = captured(pack_lines("One.\nTwo."))
    page = page_of_capture(capture)
    assert isinstance(page, Page)
    assert page.text == "One.\nTwo."
    assert pickle.loads(pickle.dumps(page_of_capture(capture))) == page
    assert replace(page_of_capture(capture), depth=0) == page
    assert ItemAdapter(page_of_capture(capture)).asdict() == asdict(page)
    assert page_of_capture(captured(None)).text is None


def test_the_comments_of_an_item_are_those_beside_its_content() -> None:
    page = page_of_capture(captured(pack_content(unpack_content(pack_lines("One.")), "Two.")))
    assert (page.text, page.comments) == ("One.", "Two.")
    assert page_of_capture(captured(pack_lines("One."))).comments is None
    assert page_of_capture(captured(None)).comments is None


def test_the_text_of_an_item_can_be_changed() -> None:
    page = page_of_capture(captured(pack_lines("One.")))
    ItemAdapter(page)["text"] = "Another."
    assert page.text == "Another."


def test_no_text_is_made_before_it_is_asked_for() -> None:
    page = page_of_capture(captured(compress(b"<body>never closed")))
    assert page.verdict == "new"
    with pytest.raises(ContentError):
        _ = page.text
