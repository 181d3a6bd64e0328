from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from crawler.pages.items import PAGE_FIELDS, page_of_capture
from crawler.pages.page_context import Captured, Fetched, blank_row
from crawler.pages.page_row import COLUMNS, packed_metadata
from crawler.reading.html_parsing import parse
from crawler.reading.metadata.metadata_reader import read_metadata
from crawler.reading.metadata.metadata_record import NO_METADATA
from crawler.reading.page_elements import collect

PAGE = """<html lang=en><title>Brass lamps | Acme</title><h1>Brass lamps</h1>
<meta property=og:site_name content=Acme><meta property=og:type content=product>
<meta name=author content="Ada"><meta name=date content=2024-05-31>
<meta property=article:modified_time content=2024-06-01><meta name=keywords content="brass, lamps">
<link rel=alternate hreflang=de href=/de><link rel=canonical href=/lamps>
<script type=application/ld+json>{"@type": "Product", "sku": "L-1"}</script>"""

URL = "http://acme.example/lamps/1"


def fields_of(body: str) -> dict[str, Any]:
    metadata = read_metadata(collect(parse(body.encode())), URL)
    return exported(packed_metadata(metadata), metadata.title, metadata.date)


def exported(packed: str | None, title: str | None, date: str | None) -> dict[str, Any]:
    row = blank_row(1, Fetched(URL, URL, bytes(16), 0, 200, b""), 1)
    row.metadata, row.title, row.date = packed, title, date
    return asdict(page_of_capture(Captured(row, "new")))


def test_what_a_page_says_is_flat() -> None:
    fields = fields_of(PAGE)
    expected = {
        "full_title": "Brass lamps | Acme",
        "h1": "Brass lamps",
        "published": "2024-05-31",
        "modified": "2024-06-01",
        "sitename": "Acme",
        "description": None,
        "image": None,
        "tags": ["brass", "lamps"],
        "categories": None,
        "alternates": [{"hreflang": "de", "url": "http://acme.example/de"}],
        "identifiers": ["sku:l-1"],
        "schema_type": "Product",
        "declared_type": "product",
        "sources": {
            "declared_url": "link:canonical",
            "title": "title",
            "modified": "article:modified_time",
            "date": "meta:date",
            "author": "meta:author",
            "language": "html:lang",
            "h1": "h1",
            "sitename": "og:site_name",
            "alternates": "link:alternate",
            "tags": "meta:keywords",
            "schema_type": "json-ld:@type",
            "declared_type": "og:type",
        },
    }
    assert {name: fields[name] for name in expected} == expected


def test_a_page_without_metadata_takes_no_room() -> None:
    assert packed_metadata(NO_METADATA) is None
    fields = exported(None, None, None)
    assert {fields[name] for name in PAGE_FIELDS if name not in COLUMNS} == {None}


def test_each_field_is_a_column_or_computed_or_said_by_the_page() -> None:
    more = """<meta name=description content="Lamps of brass"><meta property=article:section
    content=Lamps><meta property=og:image content=/lamp.png>"""
    fields = fields_of(PAGE + more)
    unknown = {name for name in PAGE_FIELDS if name not in COLUMNS and fields[name] is None}
    assert unknown == {"comments", "away", "better_url"}


def test_metadata_that_are_no_object_say_nothing() -> None:
    fields = exported("[1]", None, None)
    assert {fields[name] for name in PAGE_FIELDS if name not in COLUMNS} == {None}


def test_a_day_of_change_alone_is_no_day_of_publication() -> None:
    fields = fields_of("<meta property=article:modified_time content=2024-06-01>")
    assert (fields["published"], fields["modified"]) == (None, "2024-06-01")
    fields = fields_of("<time datetime=2024-06-01>")
    assert (fields["published"], fields["modified"]) == ("2024-06-01", None)


def test_a_title_is_stored_once_where_nothing_was_cut() -> None:
    metadata = read_metadata(collect(parse(b"<title>Lamps</title>")), URL)
    assert "full_title" not in json.loads(packed_metadata(metadata) or "{}")
    assert exported(None, "Lamps", None)["full_title"] == "Lamps"
