from __future__ import annotations

import pytest

from crawler.mirror.documents.linked_document import read_document
from crawler.reading.further_links import further_links
from crawler.reading.html_parsing import parse
from crawler.reading.link_kinds import (
    ANY,
    FORM,
    FRAME,
    LAZY,
    NAMES,
    RESOURCE,
    URL_ATTRIBUTES,
)
from crawler.reading.page_elements import collect

URL = "http://host.example/folder/page"


@pytest.mark.parametrize(
    ("attribute", "element"),
    [(attribute, element) for attribute, of in URL_ATTRIBUTES.items() for element in of],
)
def test_crawls_and_mirrors_read_each_attribute(attribute: str, element: str) -> None:
    kind = URL_ATTRIBUTES[attribute][element]
    name = "some-element" if element == ANY else element
    markup = f'<{name} type="image" {attribute}="/there/page"></{name}>'
    body = (f"<form>{markup}</form>" if kind == FORM and name != "form" else markup).encode()
    page = collect(parse(body))
    read = further_links(page, body, NAMES) | page.related | dict.fromkeys(page.followed, "")
    is_late_frame = kind == FRAME and attribute in LAZY
    assert read["/there/page"] in {kind, "", RESOURCE if is_late_frame else kind}
    document = read_document(body, URL, "text/html; charset=utf-8")
    assert document is not None
    of_mirror = [link.written for link in document.links]
    is_for_scripts = element == ANY and attribute in {"src", "srcset", "cite", "longdesc"}
    assert of_mirror == ([] if is_for_scripts else ["/there/page"])


def test_a_late_attribute_is_one_address_and_a_late_set_several() -> None:
    body = b'<img data-src="/my photo"><img data-srcset="/one 1x, /two 2x">'
    assert list(further_links(collect(parse(body)), body, NAMES)) == ["/one", "/two"]


def test_late_attributes_that_hold_no_url_lead_nowhere() -> None:
    body = b'<div data-lazy="true" data-bg="5" data-image="{}" data-thumb="a word">'
    assert not further_links(collect(parse(body)), body, NAMES)
