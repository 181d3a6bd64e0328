"""Metadata of documents: which place gives a value, and what is taken of it."""

from __future__ import annotations

from crawler.reading.documents.document_text import DocumentBlock, DocumentProperties, DocumentText
from crawler.reading.documents.plain import read_markdown
from crawler.reading.metadata.metadata_record import NO_METADATA


def test_the_first_place_that_says_something_counts() -> None:
    found = DocumentProperties(
        title=[("a", None), ("b", "  "), ("c", " The  captain "), ("d", "Other")],
        date=[("a", "soon"), ("b", "2024-05-31T10:00:00Z")],
    ).metadata()
    assert (found.title, found.date) == ("The captain", "2024-05-31")
    assert found.sources == (("date", "b"), ("title", "c"))


def test_the_day_of_a_change_stands_for_that_of_publication() -> None:
    found = DocumentProperties(modified=[("a", "2024-05-31")]).metadata()
    assert (found.date, found.modified) == ("2024-05-31", "2024-05-31")
    assert dict(found.sources) == {"date": "a", "modified": "a"}


def test_keywords_are_a_list_of_bounded_length() -> None:
    found = DocumentProperties(tags=[("a", "tea; ferry, tea,, quay")]).metadata()
    assert found.tags == ("tea", "ferry", "quay")
    many = DocumentProperties(tags=[("a", ",".join(map(str, range(1000))))]).metadata()
    assert len(many.tags) == 50


def test_a_document_that_says_nothing_has_no_metadata() -> None:
    assert DocumentProperties().metadata() == NO_METADATA


def test_the_first_heading_stands_for_a_missing_title() -> None:
    blocks = [DocumentBlock("p", "Tea"), DocumentBlock("h2", "The harbour")]
    found = DocumentText(blocks).headed()
    assert (found.title, found.heading) == ("The harbour", "The harbour")
    assert dict(found.sources) == {"h1": "h2", "title": "h2"}
    titled = DocumentProperties(title=[("a", "The captain")]).metadata()
    found = DocumentText(blocks, titled).headed()
    assert (found.title, found.heading) == ("The captain", "The harbour")
    assert dict(found.sources) == {"title": "a", "h1": "h2"}


def test_front_matter_tells_when_a_text_was_changed() -> None:
    text = "---\ntitle: Tea\ndate: 2024-05-01\nlastmod: 2024-05-31\n---\nWarm."
    found = read_markdown(text.encode(), None).metadata
    assert (found.date, found.modified) == ("2024-05-01", "2024-05-31")
    assert dict(found.sources)["modified"] == "front:lastmod"
